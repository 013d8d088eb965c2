//! Where the lines run: a fresh copy of the same real files for each, the real sops, and a look before and after.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use locked::rules::{Book, Classification, Command, Stdout, classify};

use super::generator::Line;
use crate::world::{World, real_sops};

/// Everything that is made once.
pub(crate) struct Yard {
    world: World,
    other: String,
    editors: PathBuf,
    files: Vec<(&'static str, Vec<u8>)>,
}

/// What came of one line.
pub(crate) struct Outcome {
    /// For a person: number, arguments, environment.
    pub(crate) shown: String,
    pub(crate) predicted: Classification,
    /// The predicted paths as they are on disk, resolved before the run.
    pub(crate) resolved: Vec<PathBuf>,
    /// The files that changed or appeared.
    pub(crate) changed: Vec<PathBuf>,
    /// None when it was killed for taking too long.
    pub(crate) exit: Option<i32>,
}

const PLAIN: [(&str, &str, &str); 5] = [
    ("env", "A=one\nb=two\n", "dotenv"),
    ("yaml", "A: one\nb: two\n", "yaml"),
    ("json", "{\"A\": \"one\", \"b\": \"two\"}\n", "json"),
    ("ini", "[main]\nA = one\nb = two\n", "ini"),
    ("bin", "one\ntwo\n", "binary"),
];

impl Yard {
    pub(crate) fn new() -> Self {
        let world = World::new();
        let other = World::new().recipient().to_owned();
        let editors = world.root().join("editors");
        fs::create_dir(&editors).expect("editors");
        script(&editors.join("change"), "#!/bin/sh\nexec sed -i -e s/two/three/g -e s/Welcome/Hello/g \"$1\"\n");
        script(&editors.join("keep"), "#!/bin/sh\nexit 0\n");
        script(&editors.join("fail"), "#!/bin/sh\nexit 3\n");
        let mut yard = Self { files: Vec::new(), world, other, editors };
        yard.files = yard.fixtures();
        yard
    }

    fn fixtures(&self) -> Vec<(&'static str, Vec<u8>)> {
        let cipher = |name: &str, kind| {
            let (_, plain, _) = PLAIN.iter().find(|(_, _, own)| *own == kind).expect("known");
            fs::read(self.world.encrypted(name, plain, kind)).expect("cipher")
        };
        let plain = |ending: &str| PLAIN.iter().find(|row| row.0 == ending).expect("known").1.as_bytes().to_vec();
        let rules = format!("creation_rules:\n  - age: {},{}\n", self.world.recipient(), self.other);
        let mut files = vec![
            ("e.env", cipher("e.env", "dotenv")),
            ("e.yaml", cipher("e.yaml", "yaml")),
            ("e.json", cipher("e.json", "json")),
            ("e.ini", cipher("e.ini", "ini")),
            ("e.bin", cipher("e.bin", "binary")),
            ("sub/e.yaml", cipher("sub-e.yaml", "yaml")),
            ("sub/e.env", cipher("sub-e.env", "dotenv")),
            ("a b.env", cipher("a b.env", "dotenv")),
            ("x.env.sops", cipher("x.env.sops", "dotenv")),
            ("decrypt", cipher("decrypt", "binary")),
            ("edit", cipher("edit", "binary")),
            ("two.yaml", self.of_two_groups()),
            ("sub/p.yaml", plain("yaml")),
            (".sops.yaml", rules.into_bytes()),
        ];
        let names = ["p.env", "p.yaml", "p.json", "p.ini", "p.bin"];
        files.extend(names.map(|name| (name, plain(name.trim_start_matches("p.")))));
        files
    }

    fn of_two_groups(&self) -> Vec<u8> {
        let path = self.world.encrypted("two.yaml", PLAIN[1].1, "yaml");
        let add = ["groups", "add", "--shamir-secret-sharing-threshold", "1", "-i", "--age", &self.other, "-f"];
        let output = self.world.sops().args(add).arg(&path).output().expect("sops runs");
        assert!(output.status.success(), "groups add: {}", String::from_utf8_lossy(&output.stderr));
        fs::read(path).expect("cipher")
    }

    /// Runs one line with the real sops and compares.
    pub(crate) fn run(&self, number: usize, line: &Line) -> Outcome {
        let place = self.world.root().join(format!("run-{number}"));
        let work = place.join("w");
        self.lay_out(&place, &work).expect("fixtures");
        let args: Vec<OsString> = line.args.iter().map(|arg| self.filled(arg, &work)).collect();
        let mut env: BTreeMap<&str, OsString> = line.env.iter().map(|(k, v)| (*k, self.filled(v, &work))).collect();
        env.insert("TMPDIR", place.join("t").into_os_string());
        env.insert("EDITOR", self.editors.join(line.editor).into_os_string());
        let redirected = line.stdout.map(|file| work.join(file));
        let output = redirected.as_deref().map(|path| open(path, line.append).expect("redirection"));

        let stdout = redirected.as_ref().map(|path| Stdout { path: path.clone(), append: line.append });
        let command = Command {
            name: OsStr::new("sops"),
            args: &args,
            cwd: &work,
            env: &|name| env.get(name).cloned(),
            stdout: stdout.as_ref(),
            stdin: None,
        };
        let predicted = classify(&command, &Book::new());
        let resolved = predicted.writes.iter().map(|write| on_disk(&write.path)).collect();
        let before = snapshot(&work);
        let mut sops = self.world.command("timeout");
        // A group of its own, killed as a whole: an editor that sops starts again and again must not outlive the run.
        sops.args(["-s", "KILL", "8"]).arg(real_sops()).args(&args).current_dir(&work).envs(&env);
        sops.stderr(Stdio::null()).stdout(output.map_or_else(Stdio::null, Stdio::from));
        if line.stdin {
            sops.stdin(fs::File::open(place.join("stdin")).expect("stdin"));
        }
        let exit = sops.status().expect("timeout runs").code().filter(|code| *code != 137);
        let mut changed = difference(&before, &snapshot(&work));
        if let Some(path) = redirected {
            // Help and plaintext in a file of the reader's own are no write; ciphertext is.
            let now = fs::read(&path).unwrap_or_default();
            let old = before.get(&path).map_or(0, |content| if now.starts_with(content) { content.len() } else { 0 });
            let is_cipher = now[old..].windows(16).any(|part| part == b"ENC[AES256_GCM,d");
            changed.retain(|file| *file != path || is_cipher);
        }
        fs::remove_dir_all(&place).expect("clean");
        let shown = format!("#{number} {:?} {:?} stdout={:?} append={}", line.args, line.env, line.stdout, line.append);
        Outcome { shown, predicted, resolved, changed, exit }
    }

    fn lay_out(&self, place: &Path, work: &Path) -> io::Result<()> {
        fs::create_dir_all(work.join("sub/deep"))?;
        fs::create_dir(place.join("t"))?;
        fs::write(place.join("stdin"), "\"piped\"\n")?;
        for (name, content) in &self.files {
            fs::write(work.join(name), content)?;
        }
        std::os::unix::fs::symlink("sub/deep", work.join("ln"))?;
        std::os::unix::fs::symlink("e.env", work.join("link.env"))
    }

    fn filled(&self, text: &str, work: &Path) -> OsString {
        let text = text.replace("%A", self.world.recipient()).replace("%B", &self.other);
        match text.strip_prefix("@/") {
            Some(rest) => work.join(rest).into_os_string(),
            None => text.into(),
        }
    }
}

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).expect("script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
}

fn open(path: &Path, append: bool) -> io::Result<fs::File> {
    OpenOptions::new().create(true).write(!append).append(append).truncate(!append).open(path)
}

/// The file that the kernel would open: links followed, `..` after them.
fn on_disk(path: &Path) -> PathBuf {
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let parent = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// Every regular file below a directory with its content; links are not followed.
fn snapshot(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("directory") {
            let entry = entry.expect("entry");
            let kind = entry.file_type().expect("kind");
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() {
                files.insert(entry.path(), fs::read(entry.path()).expect("content"));
            }
        }
    }
    files
}

fn difference(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let changed = after.iter().filter(|(path, content)| before.get(*path) != Some(content));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    changed.map(|(path, _)| path).chain(gone).cloned().collect()
}
