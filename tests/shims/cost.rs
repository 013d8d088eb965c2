//! What a shim costs before the real program runs, in what can be counted: the files that are asked for and opened, and the
//! memory that the decision takes. Times belong to `tests/bench/run`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::process::Stdio;

use locked::rules::{Book, Command, classify};

use super::Place;
use crate::counted::allocated_by;
use crate::world::apart::this_test;
use crate::world::board::write_program;
use crate::world::ends::left_out;

/// Lines that read, each of a program that has rules.
const READS: [&[&str]; 8] = [
    &["docker", "compose", "ps"],
    &["docker", "compose", "-f", "compose.yaml", "-p", "shop", "logs", "-f", "web"],
    &["docker", "ps", "-a"],
    &["docker-compose", "config"],
    &["gh", "pr", "list"],
    &["gh", "workflow", "list"],
    &["sops", "decrypt", "secrets/app.yaml"],
    &["ssh", "host", "ls"],
];

/// No more than this for any of them: a tenth of what reading the rules as they are written takes.
const MOST: usize = 120_000;

#[test]
fn a_read_is_told_without_reading_the_rules_as_they_are_written() {
    let nothing = |_: &str| None;
    for words in READS {
        let args: Vec<OsString> = words[1..].iter().map(OsString::from).collect();
        let cwd = std::path::Path::new("/");
        let command = Command { name: words[0].as_ref(), args: &args, cwd, env: &nothing, stdout: None, stdin: None };
        let (class, bytes) = allocated_by(|| classify(&command, &Book::new()));
        assert!(class.writes.is_empty() && class.claims.is_empty(), "{words:?}");
        assert!(bytes < MOST, "{words:?}: {bytes} bytes");
    }
    let (_, whole) = allocated_by(|| locked::rules::Tables::read(&Book::built_in()));
    assert!(whole > MOST, "the bound says something: {whole} bytes");
}

/// Calls that take a path, up to the real program.
fn asked(place: &Place, words: &[&str]) -> Option<Vec<String>> {
    let trace = place.at("trace");
    let mut command = place.world.command("strace");
    command.args(["-f", "-qq", "-e", "trace=%file", "-o"]).arg(&trace).arg(place.at("shims").join(words[0]));
    command
        .args(&words[1..])
        .env("PATH", place.path(&["shims", "real", "=/usr/bin", "=/bin"]))
        .env_remove("LOCKED_SHIMS_DIR")
        .env("LOCKED_STATE_DIR", place.at("none"));
    let traced = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    // Who may not trace has a trace without a call.
    let said = fs::read_to_string(&trace).unwrap_or_default();
    if !said.contains("execve(") {
        return None;
    }
    assert!(traced.is_ok_and(|status| status.success()), "{words:?}: {said}");
    let calls: Vec<String> = said.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim().to_owned())).collect();
    let execs: Vec<usize> = (0..calls.len()).filter(|&at| calls[at].starts_with("execve(")).collect();
    assert!(execs.len() == 2 && calls[execs[1]].contains("/real/"), "it becomes the program: {calls:#?}");
    Some(calls[execs[0] + 1..execs[1]].to_vec())
}

/// Of these calls those that open something which is neither a library nor a word of the system's nor in the state directory,
/// where the version of a SOPS file is noted that is read.
fn opened<'a>(place: &Place, calls: &'a [String]) -> Vec<&'a str> {
    let state = place.at("none").display().to_string();
    let path = |call: &str| -> Option<(usize, usize)> {
        let start = call.find('"')? + 1;
        Some((start, start + call[start..].find('"')?))
    };
    let opens = calls.iter().filter(|call| call.starts_with("open") && !call.contains(" = -1 "));
    let paths = opens.filter_map(|call| path(call).map(|(start, end)| &call[start..end]));
    paths
        .filter(|path| {
            !path.contains(".so")
                && !path.starts_with("/proc/")
                && !state.starts_with(path)
                && !path.starts_with(&state)
        })
        .collect()
}

/// In a repository with a project of Compose, settings of others and a SOPS file: the real program's first page is read, and
/// of a SOPS file the version; for the rest no more is asked for than before a program that no rule knows.
#[test]
fn before_a_read_no_settings_no_project_and_no_repository_is_read() {
    let place = Place::new();
    let work = place.world.work();
    place.world.git(&work, &["init", "-q"]);
    place.world.encrypted("secrets/app.yaml", "A: b\n", "yaml");
    for (name, text) in [("compose.yaml", "services: {}\n"), (".env", "COMPOSE_PROJECT_NAME=x\n")] {
        fs::write(work.join(name), text).expect("a file of the project");
    }
    for tool in ["docker", "docker-compose", "gh", "sops", "ssh"] {
        place.shim("shims", tool);
        write_program(&place.at("real").join(tool), "#!/bin/sh\nexit 0\n");
    }
    write_program(&place.at("real/tool"), "#!/bin/sh\nexit 0\n");
    let Some(unknown) = asked(&place, &["tool", "x"]) else {
        return left_out(this_test!(), "nothing can be traced here");
    };
    let program = |tool: &str| place.at("real").join(tool).display().to_string();
    assert_eq!(opened(&place, &unknown), [program("tool")]);
    // Where settings may lie, which repository this is, who called, and the program on PATH.
    assert!(unknown.len() < 60, "{} calls: {unknown:#?}", unknown.len());
    for words in READS {
        let calls = asked(&place, words).expect("it was traced before");
        if words[0] == "sops" {
            let file = fs::canonicalize(work.join("secrets/app.yaml")).expect("file").display().to_string();
            assert_eq!(opened(&place, &calls), [program("sops"), file], "{calls:#?}");
        } else {
            assert_eq!(opened(&place, &calls), [program(words[0])], "{words:?}: {calls:#?}");
            assert_eq!(calls.len(), unknown.len(), "{words:?}: {calls:#?}\n{unknown:#?}");
        }
    }
}
