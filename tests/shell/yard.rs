//! Where the scripts run: an empty place, a PATH with nothing but a recorder, and a look at what it recorded.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::world::board::write_program;

/// `$0` and the parameters.
pub(super) const PARAMETERS: [&str; 3] = ["name", "one", "t w"];

/// What can be run. `no` fails.
const PROGRAMS: [&str; 6] = ["p", "q", "r", "s", "no", "ls"];

/// Variables whose values are written down, and with what the shell is started.
pub(super) const WATCHED: [(&str, Option<&str>); 2] = [("F", None), ("G", Some("given"))];

/// What stands for a variable that is not set.
const UNSET: &[u8] = b"-unset-";

/// Writes down where it was called, what it saw of the variables, and with what it was called, one file per call, and
/// says one word.
const RECORDER: &str = "#!/bin/sh\ntrap '' PIPE\ncd -P . && printf '%s\\0' \"$PWD\" \"${F--unset-}\" \"${G--unset-}\" \"${0##*/}\" \"$@\" >\"$RECORD/$$\"\n\
    case ${0##*/} in no) exit 1 ;; esac\necho out 2>/dev/null\nexit 0\n";

pub(super) struct Yard {
    place: tempfile::TempDir,
    shell: PathBuf,
}

/// One program that was run.
#[derive(Debug)]
pub(super) struct Call {
    /// Relative to where the script was started, or absolute.
    pub(super) directory: PathBuf,
    pub(super) words: Vec<Vec<u8>>,
    /// What it saw of each variable of [`WATCHED`].
    pub(super) variables: Vec<Option<Vec<u8>>>,
}

pub(super) struct Run {
    pub(super) calls: Vec<Call>,
    /// The files that appeared, relative to where the script was started.
    pub(super) files: Vec<PathBuf>,
    /// Where a command runs is said on the presumption that a `cd` works: that one did not, or that it may be so.
    pub(super) a_cd_may_have_failed: bool,
    /// What the shell says of the script, if it does not take it.
    pub(super) refused: Option<String>,
}

impl Yard {
    pub(super) fn new(shell: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let shell = std::env::split_paths(&path).map(|directory| directory.join(shell)).find(|file| file.is_file())?;
        let place = tempfile::tempdir().expect("temporary directory");
        fs::create_dir(place.path().join("bin")).expect("bin");
        for program in PROGRAMS {
            write_program(&place.path().join("bin").join(program), RECORDER);
        }
        Some(Self { place, shell })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The environment that scripts see.
    pub(super) fn variables(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let bytes = |path: PathBuf| path.as_os_str().as_encoded_bytes().to_vec();
        let own = [(b"HOME".to_vec(), bytes(self.path("home"))), (b"PATH".to_vec(), bytes(self.path("bin")))];
        let watched = WATCHED.into_iter().filter_map(|(name, value)| Some((name.into(), value?.into())));
        own.into_iter().chain(watched).collect()
    }

    pub(super) fn run(&self, script: &str) -> Run {
        // Deep enough that `cd ..` stays inside.
        let work = self.path("run/a/b/c/work");
        for directory in ["d/e/d/e", "e/d/e/d"] {
            fs::create_dir_all(work.join(directory)).expect("directories");
        }
        for directory in ["home/d", "record"] {
            fs::create_dir_all(self.path(directory)).expect("directories");
        }
        // `timeout` and `env` are found by our PATH; the recorder's is the script's alone.
        let mut shell = Command::new("timeout");
        shell.args(["-s", "KILL", "20", "env", "-i"]);
        shell.arg(format!("HOME={}", self.path("home").display()));
        shell.arg(format!("PATH={}", self.path("bin").display()));
        shell.arg(format!("RECORD={}", self.path("record").display()));
        shell.args(WATCHED.iter().filter_map(|(name, value)| Some(format!("{name}={}", (*value)?))));
        shell.arg(&self.shell).args(["-c", script]).args(PARAMETERS).current_dir(&work).stdin(Stdio::null());
        let output = shell.output().expect("timeout runs");
        assert!(output.status.code().is_some_and(|code| code != 137), "it took too long:\n{script}");
        let said = String::from_utf8_lossy(&output.stderr);
        let calls = fs::read_dir(self.path("record")).expect("records").map(|entry| {
            let record = fs::read(entry.expect("entry").path()).expect("record");
            let mut fields = record.strip_suffix(b"\0").unwrap_or(&record).split(|byte| *byte == 0).map(<[u8]>::to_vec);
            let directory = PathBuf::from(String::from_utf8(fields.next().expect("directory")).expect("UTF-8"));
            let variables = fields.by_ref().take(WATCHED.len()).map(|value| Some(value).filter(|value| value != UNSET));
            let variables = variables.collect();
            Call { directory: relative(&directory, &work), words: fields.collect(), variables }
        });
        let run = Run {
            calls: calls.collect(),
            files: files(&self.path("run")).iter().map(|file| relative(file, &work)).collect(),
            // Where standard error goes elsewhere a failure may be unseen.
            a_cd_may_have_failed: said.contains("can't cd")
                || said.contains(" cd: ")
                || (script.contains("cd ") && ["2>", "|&", "&>", ">&"].iter().any(|sign| script.contains(sign))),
            refused: said.lines().find(|line| line.to_lowercase().contains("syntax error")).map(str::to_owned),
        };
        for directory in ["run", "record", "home"] {
            fs::remove_dir_all(self.path(directory)).expect("clean");
        }
        run
    }
}

/// As the parser would say it: with `..` for what lies above.
fn relative(path: &Path, work: &Path) -> PathBuf {
    for (up, base) in work.ancestors().enumerate().take(5) {
        if let Ok(rest) = path.strip_prefix(base) {
            return std::iter::repeat_n("..", up).collect::<PathBuf>().join(rest);
        }
    }
    path.to_owned()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("directory") {
        let path = entry.expect("entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
