//! A healthy patient: a repository with a file that was written under a lease, shims, a shell that finds them, a hook, a key
//! for its owner alone. Tests plant what is wrong.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::run::stage::{Stage, ends, in_front, silent, text};
use crate::world::board::write_program;
use crate::world::next::mixed;

/// The tools that have shims.
pub(crate) const TOOLS: [&str; 4] = ["sops", "docker", "docker-compose", "gh"];

pub(crate) struct Bed {
    pub(crate) stage: Stage,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let bed = Self { stage: Stage::new() };
        mode(&bed.stage.world.key_file(), 0o600);
        mode(&bed.stage.world.state(), 0o700);
        fs::create_dir(bed.shims()).expect("shims");
        for tool in TOOLS {
            symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join(tool)).expect("shim");
        }
        for file in [".profile", ".bashrc"] {
            bed.rc(file, "");
        }
        let hook = bed.work().join(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().expect("parent")).expect("hooks");
        fs::write(&hook, "#!/bin/sh\nexec locked hooks run pre-commit\n").expect("hook");
        mode(&hook, 0o755);
        bed
    }

    /// One whose file was written under a lease.
    pub(crate) fn with_receipt() -> Self {
        let bed = Self::new();
        silent(bed.stage.world.locked().args(["-q", "sops", "set"]).args(crate::run::stage::DOTENV).args([
            crate::run::stage::FILE,
            "[\"FIRST\"]",
            "\"1\"",
        ]));
        bed
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.stage.world.work()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.stage.world.root().join("home")
    }

    pub(crate) fn shims(&self) -> PathBuf {
        self.stage.world.root().join("shims")
    }

    /// A file of the shell's that says this, and puts the shims first.
    pub(crate) fn rc(&self, file: &str, says: &str) {
        let text = format!("{says}\nexport PATH={}:$PATH\n", self.shims().display());
        fs::write(self.home().join(file), text).expect("rc");
    }

    /// A tracked file.
    pub(crate) fn tracked(&self, name: &str, content: &str) {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, content).expect("file");
        self.stage.world.git(&self.work(), &["add", "--", name]);
    }

    /// PATH with a program of this name before the real one, behind the shims.
    pub(crate) fn path_with(&self, name: &str, body: &str) -> OsString {
        let directory = self.stage.world.script(name, body);
        shims_first(&self.shims(), &in_front(&directory))
    }

    /// `locked doctor WORDS` in an environment of its own.
    pub(crate) fn doctor(&self, words: &[&str]) -> Command {
        let mut command = self.stage.world.locked();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.arg("doctor").args(words);
        command.env("PATH", shims_first(&self.shims(), &path)).env("LOCKED_SHIMS_DIR", self.shims());
        command.env("SHELL", "/bin/bash");
        command
    }

    /// What is found with these variables besides; no text of it may have the one word that stands for every secret.
    #[track_caller]
    pub(crate) fn findings(&self, words: &[&str], env: &[(&str, &str)]) -> Vec<Value> {
        let mut command = self.doctor(words);
        command.arg("--json").envs(env.iter().copied());
        findings(&mut command)
    }

    /// Wants this finding, with this level and this remedy.
    #[track_caller]
    pub(crate) fn finds(&self, env: &[(&str, &str)], (id, level, remedy): (&str, &str, &str)) -> Value {
        let check = id.split('.').next().expect("a check");
        let found = self.findings(&[check], env);
        wanted(&found, (id, level, remedy))
    }

    /// Wants `--fix` to mend this.
    #[track_caller]
    pub(crate) fn finds_fixed(&self, id: &str) -> Value {
        let check = id.split('.').next().expect("a check");
        let found = self.findings(&[check, "--fix"], &[]);
        let one = found.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id} is not among {found:#?}"));
        assert_eq!((&one["fixable"], &one["fixed"]), (&true.into(), &true.into()), "{one:#}");
        one.clone()
    }
}

/// Out of these the one of this name.
#[track_caller]
pub(crate) fn wanted(found: &[Value], (id, level, remedy): (&str, &str, &str)) -> Value {
    let one = found.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id} is not among {found:#?}"));
    assert_eq!(one["level"], level, "{one:#}");
    let said = one["remedy"].as_str().unwrap_or_default();
    assert!(said.contains(remedy), "{remedy:?} is no part of {said:?}");
    one.clone()
}

/// Runs it, and compares its exit status with what it found.
#[track_caller]
pub(crate) fn findings(command: &mut Command) -> Vec<Value> {
    let output = command.output().expect("it runs");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(!said.contains("hunter2"), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let found = told["findings"].as_array().expect("findings").clone();
    for remedy in found.iter().filter_map(|it| it["remedy"].as_str()) {
        assert_eq!(mixed(remedy), None, "{remedy}");
    }
    let is_wrong = |it: &Value| (it["level"] == "warning" || it["level"] == "fault") && it["fixed"] != true;
    let wrong = found.iter().any(is_wrong);
    assert_eq!(
        (output.status.code(), &told["healthy"]),
        (Some(if wrong { 78 } else { 0 }), &(!wrong).into()),
        "{said}"
    );
    found
}

/// The names of what is wrong.
pub(crate) fn wrong(found: &[Value]) -> Vec<&str> {
    let wrong = found.iter().filter(|it| it["level"] == "warning" || it["level"] == "fault");
    wrong.filter_map(|it| it["id"].as_str()).collect()
}

pub(crate) fn shims_first(shims: &Path, path: &std::ffi::OsStr) -> OsString {
    let rest = std::env::split_paths(path);
    std::env::join_paths(std::iter::once(shims.to_owned()).chain(rest)).expect("PATH")
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
}

/// A program in a directory of its own that is alone on PATH with what a shell needs.
pub(crate) fn alone(bed: &Bed, name: &str, body: &str) -> OsString {
    let directory = bed.stage.world.script(name, body);
    for tool in ["git", "sh"] {
        let real = ends(Command::new("sh").args(["-c", &format!("command -v {tool}")]), 0);
        let real = text(&real.stdout);
        write_program(&directory.join(tool), &format!("#!/bin/sh\nexec {} \"$@\"\n", real.trim()));
    }
    shims_first(&bed.shims(), directory.as_os_str())
}
