//! The rules, by the table of cases and by laws.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use locked::rules::book::Several;
use locked::rules::{Book, Change, Classification, Command, LineEnds, Rule, Stdout, Tables, classify, hint};
use proptest::prelude::*;
use serde::Deserialize;

#[cfg(unix)]
use crate::world::World;

/// One line of `tests/cases/*.jsonl`. Paths are relative to the repository of the case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// The rule that a line which passes only just misses.
    pub(crate) beside: Option<String>,
    pub(crate) argv: Vec<String>,
    #[serde(default)]
    pub(crate) cwd: String,
    /// Files that exist in the repository: names, which are SOPS files then, or names with their content.
    #[serde(default)]
    pub(crate) files: Files,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The regular file behind descriptor 1. `explain` does not look at its own, so such a case is the library's.
    pub(crate) stdout: Option<String>,
    /// The file of the repository behind descriptor 0; `|` is a pipe in which there is nothing yet.
    #[cfg_attr(windows, allow(dead_code, reason = "it is opened for the program as built, on Unix"))]
    pub(crate) stdin: Option<String>,
    #[serde(default)]
    pub(crate) append: bool,
    pub(crate) expect: Expected,
}

/// The files of a case.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Files {
    Sops(Vec<String>),
    With(BTreeMap<String, String>),
}

impl Default for Files {
    fn default() -> Self {
        Self::Sops(Vec::new())
    }
}

impl Files {
    /// Each with its content. Made by hand instead of by sops: only that it is SOPS matters, and there are many.
    pub(crate) fn each(&self) -> Vec<(&str, &str)> {
        const SOPS: &str = "A=ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\nsops_version=3.11.0\n";
        match self {
            Self::Sops(names) => names.iter().map(|name| (name.as_str(), SOPS)).collect(),
            Self::With(files) => files.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect(),
        }
    }
}

/// The answer.
#[cfg_attr(windows, allow(dead_code, reason = "some of it is compared with what the program as built says, on Unix"))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) decision: Decision,
    /// Sorted; what the names of the written files come to in the end.
    pub(crate) resources: Vec<String>,
    /// In the order of the command line.
    #[serde(default)]
    pub(crate) writes: Vec<String>,
    pub(crate) rule: Option<String>,
    /// Whether it is said that a part of the line is not known.
    pub(crate) note: Option<bool>,
    /// The scope of all of them.
    pub(crate) scope: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Lock,
    Pass,
}

/// Every case of the file about sops.
pub(crate) fn sops_cases() -> Vec<Case> {
    cases(include_str!("cases/sops.jsonl"))
}

/// Every case about other programs.
pub(crate) fn other_cases() -> Vec<Case> {
    let files = [
        include_str!("cases/docker.jsonl"),
        include_str!("cases/gh.jsonl"),
        include_str!("cases/launchers.jsonl"),
        include_str!("cases/ssh.jsonl"),
    ];
    files.into_iter().flat_map(cases).collect()
}

fn cases(lines: &str) -> Vec<Case> {
    let case = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    lines.lines().map(case).collect()
}

impl Case {
    fn classified(&self, root: &Path) -> Classification {
        let (program, args) = self.argv.split_first().expect("a program");
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let stdout = self.stdout.as_ref().map(|path| Stdout { path: root.join(path), append: self.append });
        let command = Command {
            name: Path::new(program).file_name().unwrap_or_default(),
            args: &args,
            cwd: &if self.cwd.is_empty() { root.to_owned() } else { root.join(&self.cwd) },
            env: &|name| self.env.get(name).map(OsString::from),
            stdout: stdout.as_ref(),
            stdin: None,
        };
        classify(&command, &Book::new())
    }
}

#[test]
fn every_case_of_sops_is_decided_as_written() {
    let root = Path::new(if cfg!(windows) { "C:/srv/repository" } else { "/srv/repository" });
    let mut wrong = Vec::new();
    // Elsewhere these are files like any other, and sops has no pipes there.
    let of_unix = |case: &Case| {
        case.argv.iter().any(|word| word.starts_with("/dev/")) || case.name == "exec-file with a pipe replaces nothing"
    };
    for case in sops_cases().into_iter().filter(|case| cfg!(unix) || !of_unix(case)) {
        let answer = case.classified(root);
        // Whether plaintext beside the ciphertext is a write, the plan decides by a look at the target.
        let certain = answer.writes.iter().any(|write| write.change != Change::DecryptTo);
        let decided = match case.expect.decision {
            Decision::Lock => !answer.writes.is_empty(),
            Decision::Pass => !certain,
        };
        let written: Vec<PathBuf> = answer.writes.iter().map(|write| write.path.clone()).collect();
        let expected: Vec<PathBuf> = case.expect.writes.iter().map(|path| root.join(path)).collect();
        let as_expected = written == expected || (case.expect.decision == Decision::Pass && !certain);
        let by_rule = case.expect.rule.as_deref().is_none_or(|rule| answer.rule.as_deref() == Some(rule));
        if !(decided && as_expected && by_rule) {
            wrong.push(format!("{}: {:?}\n    got {answer:?}", case.name, case.argv));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_lock_names_a_resource_and_every_pass_none() {
    for case in sops_cases().into_iter().chain(other_cases()) {
        assert_eq!(case.expect.decision == Decision::Lock, !case.expect.resources.is_empty(), "{}", case.name);
        assert!(case.expect.resources.is_sorted(), "{}", case.name);
        assert!(case.files.each().iter().all(|(path, _)| Path::new(path).is_relative()), "{}", case.name);
    }
}

/// The rules about sops that lock; they are code, and stand in no table.
pub(crate) const RULES_OF_SOPS: [&str; 9] = [
    "sops.decrypt",
    "sops.edit",
    "sops.encrypt",
    "sops.exec-file",
    "sops.groups",
    "sops.rotate",
    "sops.set",
    "sops.unset",
    "sops.updatekeys",
];

/// The rules that count until somebody switches more of them on.
pub(crate) fn ready_rules() -> Vec<Rule> {
    let tables = Tables::read(&Book::built_in()).expect("the built-in tables");
    tables.rule.into_iter().filter(|rule| rule.pack.is_none()).collect()
}

#[test]
fn every_rule_has_three_cases_that_just_miss_it_and_pass() {
    let (rules, cases) = (ready_rules(), sops_cases().into_iter().chain(other_cases()));
    let mut beside: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    for case in cases {
        let Some(name) = case.beside else { continue };
        assert_eq!(case.expect.decision, Decision::Pass, "{}: what locks is beside no rule", case.name);
        assert!(is_about(&name, &case.argv, &rules), "{}: no rule {name}, or nothing of it in the line", case.name);
        beside.entry(name).or_default().insert(case.argv);
    }
    let few = |rule: &&str| beside.get(*rule).is_none_or(|lines| lines.len() < 3);
    let few: Vec<&str> = rules.iter().map(|rule| &*rule.name).chain(RULES_OF_SOPS).filter(few).collect();
    assert!(few.is_empty(), "fewer than three cases that just miss it: {few:?}");
}

/// Whether a line names a program of that rule, or, where the rule is about any program, a file.
fn is_about(name: &str, argv: &[String], rules: &[Rule]) -> bool {
    let words: Vec<&str> =
        argv.iter().flat_map(|word| word.split([' ', '\n', '\'', '"', ';', '|', '(', ')'])).collect();
    if RULES_OF_SOPS.contains(&name) {
        return words.contains(&"sops");
    }
    let named =
        |programs: &Several| words.iter().any(|word| word.rsplit('/').next().is_some_and(|it| programs.has(it)));
    let written = |rule: &Rule| words.iter().any(|word| rule.writes.iter().any(|glob| glob.fits_path(word.as_ref())));
    rules.iter().find(|rule| rule.name == name).is_some_and(|rule| match &rule.program {
        Some(programs) => named(programs),
        None if rule.writes.is_empty() => {
            words.iter().any(|word| rule.remote.iter().any(|glob| glob.as_str().starts_with(&format!("{word} "))))
        }
        None => written(rule),
    })
}

#[test]
fn a_program_without_a_rule_writes_nothing() {
    for name in ["true", "sops-wrapper", "SOPS", "xsops", ""] {
        let args = ["encrypt".into(), "-i".into(), "x.yaml".into()];
        let answer = classify(&plain(name, &args), &Book::new());
        assert_eq!((answer.rule, answer.writes.len()), (None, 0), "{name}");
        assert!(!answer.operation.contains("x.yaml"), "{name}: nobody knows what this argument is");
    }
    let args = ["edit".into(), "x.yaml".into()];
    assert_eq!(classify(&plain("sops.exe", &args), &Book::new()).rule.as_deref(), Some("sops.edit"));
}

#[cfg(unix)]
#[test]
fn each_write_says_whether_its_path_was_taken_as_typed() {
    let table: [(&[&str], &str, bool); 6] = [
        (&["encrypt", "-i", "ln/../x.yaml"], "/w/x.yaml", false),
        (&["ln/../x.yaml"], "/w/x.yaml", false),
        (&["updatekeys", "ln/../x.yaml"], "/w/x.yaml", false),
        (&["encrypt", "--output", "ln/../x.yaml", "p"], "/w/ln/../x.yaml", true),
        (&["groups", "add", "-f", "ln/../x.yaml", "-i"], "/w/ln/../x.yaml", true),
        (&["decrypt", "--output", "ln/../x.yaml", "p"], "/w/ln/../x.yaml", true),
    ];
    for (args, path, as_typed) in table {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let writes = classify(&plain("sops", &args), &Book::new()).writes;
        let found: Vec<_> = writes.iter().map(|write| (write.path.as_os_str(), write.is_as_typed())).collect();
        assert_eq!(found, [(OsStr::new(path), as_typed)], "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_real_sops_fails_as_the_hints_expect() {
    let world = World::new();
    let hidden = world.encrypted("x.env.sops", "A=one\n", "dotenv");
    let windows = world.encrypted("y.env", "A=one\n", "dotenv");
    let text = std::fs::read_to_string(&windows).expect("text");
    std::fs::write(&windows, text.replace('\n', "\r\n")).expect("converted");
    let typed = ["--input-type", "dotenv"];
    let table: [(&[&str], &Path, LineEnds, &str); 4] = [
        (&["decrypt"], &hidden, LineEnds::Lf, "takes"),
        (&["rotate", "-i"], &hidden, LineEnds::Lf, "takes"),
        (&["decrypt", typed[0], typed[1]], &hidden, LineEnds::Lf, "--output-type dotenv"),
        (&["decrypt"], &windows, LineEnds::Crlf, "Windows line ends"),
    ];
    for (words, file, ends, part) in table {
        let args: Vec<OsString> = words.iter().map(OsString::from).chain([file.into()]).collect();
        let exit = world.sops().args(&args).output().expect("sops runs").status.code().expect("an exit status");
        let found = hint(&plain("sops", &args), exit, ends);
        assert!(found.as_ref().is_some_and(|hint| hint.contains(part)), "{words:?} exit {exit}: {found:?}");
    }
}

fn plain<'a>(name: &'a str, args: &'a [OsString]) -> Command<'a> {
    Command {
        name: OsStr::new(name),
        args,
        cwd: Path::new(if cfg!(windows) { "C:/w" } else { "/w" }),
        env: &|_| None,
        stdout: None,
        stdin: None,
    }
}

/// Words that mean something to sops, and bytes that mean nothing to anyone.
fn argument() -> impl Strategy<Value = OsString> {
    let words = prop::sample::select(vec![
        "encrypt",
        "decrypt",
        "rotate",
        "edit",
        "set",
        "unset",
        "updatekeys",
        "groups",
        "add",
        "delete",
        "exec-file",
        "-i",
        "--in-place=",
        "-f",
        "--file=",
        "--output",
        "--output=",
        "--",
        "-",
        "---",
        "-=",
        "--=",
        "",
        "--set",
        "--filename",
        "--no-fifo",
        "../..",
        "--age=",
        "-h",
        "x.env.sops",
        "[\"A\"]",
        "] ",
    ]);
    prop_oneof![
        words.clone().prop_map(OsString::from),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(|bytes| from_bytes(&bytes)),
        (words, prop::collection::vec(any::<u8>(), 0..6)).prop_map(|(word, bytes)| {
            let mut argument = OsString::from(word);
            argument.push(from_bytes(&bytes));
            argument
        }),
    ]
}

#[cfg(unix)]
fn from_bytes(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn from_bytes(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

proptest! {
    // A failure is told in full by its own output; nothing is written beside the sources.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_command_line_is_too_strange(args in prop::collection::vec(argument(), 0..9), exit in 0..256_i32) {
        let stdout = Stdout { path: plain("sops", &[]).cwd.join("x.env.sops"), append: false };
        for stdout in [None, Some(&stdout)] {
            let command = Command { stdout, ..plain("sops", &args) };
            let answer = classify(&command, &Book::new());
            prop_assert!(answer.rule.is_some());
            prop_assert!(answer.writes.iter().all(|write| write.path.is_absolute()));
            // One printable line, whatever the bytes.
            prop_assert!(!answer.operation.chars().any(char::is_control) && !answer.reason.chars().any(char::is_control));
            let _hint = hint(&command, exit, LineEnds::Crlf);
        }
    }

    #[test]
    fn a_value_of_set_is_nowhere_in_the_answer(at in 0..5_usize, dashed in any::<bool>()) {
        let secret = if dashed { "-hunter2-secret" } else { "\"hunter2-secret\"" };
        let mut args: Vec<OsString> = ["set", "x.env", "[\"A\"]", secret].map(OsString::from).to_vec();
        args.insert(at, "--idempotent".into());
        let answer = format!("{:?}", classify(&plain("sops", &args), &Book::new()));
        prop_assert!(!answer.contains("hunter2"), "{answer}");
        let older = ["--set".into(), format!("[\"A\"] {secret}").into(), "x.env".into()];
        let answer = format!("{:?}", classify(&plain("sops", &older), &Book::new()));
        prop_assert!(!answer.contains("hunter2"), "{answer}");
    }
}
