//! Which project a directory full of files means: `tests/cases/compose.jsonl`, where `v2` and `v1` are what compose 5.6.1
//! (`docker-compose … config --format json`) and compose 1.29.2 (Debian 12) answered; null where they refused.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::{Command, Stdio};

use locked::compose::{Asked, Name, Sight, project};

#[cfg(unix)]
use super::real;

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    cwd: String,
    pwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    args: Vec<String>,
    v2: Option<String>,
    v1: Option<String>,
}

impl Case {
    /// Lays the files out below `root`; gives the working directory.
    fn lay_out(&self, root: &Path) -> PathBuf {
        for (path, text) in &self.files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            std::fs::write(path, text).expect("file");
        }
        for (path, to) in &self.links {
            #[cfg(unix)]
            std::os::unix::fs::symlink(to, root.join(path)).expect("link");
            #[cfg(windows)]
            let _such_a_case_is_left_out = (path, to);
        }
        root.join(&self.cwd)
    }

    fn env(&self, root: &Path) -> BTreeMap<String, OsString> {
        let pwd = self.pwd.iter().map(|pwd| ("PWD".to_owned(), root.join(pwd).into_os_string()));
        let own = self.env.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
        own.chain(pwd).collect()
    }

    fn values_of<'a>(&'a self, option: &str) -> Vec<&'a OsStr> {
        let pairs = self.args.chunks_exact(2);
        pairs.filter(|pair| pair[0] == option).map(|pair| OsStr::new(&pair[1])).collect()
    }

    /// Our answer; none where it is unknown.
    fn ours(&self, root: &Path, legacy: bool) -> Option<String> {
        let (cwd, env) = (root.join(&self.cwd), self.env(root));
        let answer = project(&Asked {
            project: self.values_of("-p").pop(),
            project_directory: self.values_of("--project-directory").pop().map(Path::new),
            files: &self.values_of("-f"),
            env_files: &self.values_of("--env-file"),
            cwd: &cwd,
            env: &|name: &str| env.get(name).cloned(),
            legacy,
            sight: Sight::Files,
        });
        match answer.name {
            Name::Known { name, .. } => Some(name),
            Name::Unknown { .. } => None,
        }
    }
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../cases/compose.jsonl").lines();
    let cases = lines.map(|line| serde_json::from_str::<Case>(line).unwrap_or_else(|error| panic!("{line}: {error}")));
    cases.filter(|case| cfg!(unix) || case.links.is_empty()).collect()
}

#[test]
fn the_project_is_the_one_that_either_compose_takes() {
    for case in cases() {
        let root = tempfile::tempdir().expect("directory");
        case.lay_out(root.path());
        for (legacy, answer) in [(false, &case.v2), (true, &case.v1)] {
            let ours = case.ours(root.path(), legacy);
            // What the program refuses may still have a name.
            assert!(answer.is_none() || ours == *answer, "{}: {ours:?}, not {answer:?} (legacy: {legacy})", case.name);
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_recorded_of_compose_is_what_it_answers() {
    let program = real("docker-compose");
    for case in cases() {
        let root = tempfile::tempdir().expect("directory");
        // As Go sees it: the temporary directory itself may be reached by a link.
        let root = root.path().canonicalize().expect("directory");
        let cwd = case.lay_out(&root);
        let mut line = Command::new(&program);
        line.args(&case.args).args(["config", "--format", "json"]).current_dir(cwd).env_clear().envs(case.env(&root));
        let output = line.env("HOME", &root).stdin(Stdio::null()).output().expect("docker-compose runs");
        let told: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        let name = told.as_ref().and_then(|told| told["name"].as_str());
        assert_eq!(name, case.v2.as_deref(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.success(), case.v2.is_some(), "{}", case.name);
    }
}

#[test]
fn a_line_that_compose_refuses_for_want_of_a_file_still_has_a_name() {
    let root = tempfile::tempdir().expect("directory");
    for (args, expected) in [
        (["-f", "/opt/stacks/monitoring-stack/docker-compose.yml"], "monitoring-stack"),
        (["--project-directory", "deploy/n8n-bms4"], "n8n-bms4"),
        (["-p", "n8n-bms4"], "n8n-bms4"),
    ] {
        let line = format!(r#"{{"name": "", "files": {{}}, "cwd": "", "v2": null, "v1": null, "args": {args:?}}}"#);
        let case: Case = serde_json::from_str(&line).expect("case");
        for legacy in [false, true] {
            assert_eq!(case.ours(root.path(), legacy).as_deref(), Some(expected), "{args:?}");
        }
    }
}
