//! Tests of `invocation`: this test binary, started in many ways, writes down what it captured.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use locked::invocation::Invocation;

use crate::world::World;

/// Not a test by itself: the process that the tests below start.
#[test]
fn captured_process() {
    let Some(report) = std::env::var_os("LOCKED_TEST_CAPTURE") else { return };
    let captured = Invocation::capture();
    let stdout = captured.stdout();
    let env: Vec<_> = captured.env.iter().filter(|entry| entry.to_string_lossy().starts_with("T_")).collect();
    let lines = [
        format!("closed {:?}", captured.closed),
        format!("ignored {:?}", captured.ignored),
        format!("mask {:?}", captured.mask),
        format!("stdout {:?}", stdout.map(|file| (file.path, file.append))),
        format!("env {env:?}"),
        format!("cwd {:?}", captured.cwd),
        format!("arg0 {:?}", captured.arg0),
        format!("executed {:?}", captured.executed),
        format!("last {:?}", &captured.args[captured.args.len().saturating_sub(2)..]),
    ];
    fs::write(report, lines.join("\n")).expect("report");
}

/// Runs a line of bash in which `"${me[@]}"` starts this binary, and answers what it captured.
struct Started {
    world: World,
}

impl Started {
    fn new() -> Self {
        Self { world: World::new() }
    }

    fn run(&self, line: &str) -> impl Fn(&str) -> String + use<> {
        let report = self.world.root().join("report");
        let mut bash = self.bash();
        let script = format!(r#"me=("$TEST" --exact invocation::captured_process --nocapture); {line}"#);
        let output = bash.env("LOCKED_TEST_CAPTURE", &report).args(["-c", &script]).output().expect("bash runs");
        let text = fs::read_to_string(&report)
            .unwrap_or_else(|error| panic!("{line}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
        fs::remove_file(&report).expect("report");
        move |key| {
            let found = text.lines().find_map(|text| text.strip_prefix(key)?.strip_prefix(' '));
            found.expect("captured").to_owned()
        }
    }

    fn bash(&self) -> Command {
        let mut bash = self.world.command("/bin/bash");
        bash.env("TEST", std::env::current_exe().expect("this test"));
        bash
    }

    fn at(&self, name: &str) -> PathBuf {
        self.world.work().canonicalize().expect("work").join(name)
    }
}

#[test]
fn descriptors_that_were_closed_are_known_to_have_been() {
    let started = Started::new();
    for (redirections, closed) in [
        ("", [false, false, false]),
        ("0<&-", [true, false, false]),
        ("1>&-", [false, true, false]),
        ("2>&-", [false, false, true]),
        ("0<&- 1>&- 2>&-", [true, true, true]),
    ] {
        let captured = started.run(&format!(r#""${{me[@]}}" {redirections}"#));
        assert_eq!(captured("closed"), format!("{closed:?}"), "{redirections}");
    }
}

#[test]
fn ignored_signals_are_those_of_the_caller_and_not_of_the_runtime() {
    let started = Started::new();
    let ignored = |line: &str| started.run(line)("ignored");
    let none = ignored(r#"env --default-signal "${me[@]}""#);
    assert_eq!(none, "{}", "the runtime's own SIGPIPE is not ours");
    assert_eq!(ignored(r#"trap '' HUP USR1 PIPE; env --default-signal=INT,QUIT "${me[@]}""#), "{1, 10, 13}");
}

#[test]
fn blocked_signals_are_those_of_the_caller() {
    let started = Started::new();
    let perl = r#"use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1, SIGTERM)); exec @ARGV"#;
    assert_eq!(started.run(r#""${me[@]}""#)("mask"), "{}");
    assert_eq!(started.run(&format!(r#"perl -e '{perl}' "${{me[@]}}""#))("mask"), "{10, 15}");
}

#[test]
fn the_environment_keeps_its_order_and_its_bytes() {
    let captured = Started::new().run(r#"env T_B=1 T_A=2 T_C=$'\xff' T_EMPTY= "${me[@]}""#);
    assert_eq!(captured("env"), r#"["T_B=1", "T_A=2", "T_C=\xFF", "T_EMPTY="]"#);
}

/// (The test harness itself refuses arguments that are no UTF-8; those wait for the built program.)
#[test]
fn names_and_arguments_are_those_of_the_caller() {
    let captured = Started::new().run(r#"(exec -a 'so ps' "${me[@]}" $'x\ny' '')"#);
    assert_eq!(captured("arg0"), r#""so ps""#);
    assert_eq!(captured("last"), r#"["x\ny", ""]"#);
    let this = std::env::current_exe().expect("this test");
    assert_eq!(captured("executed"), format!("{:?}", Some(this)), "a forged name does not hide the file");
}

#[test]
fn a_deleted_directory_is_still_a_place() {
    let started = Started::new();
    assert_eq!(started.run(r#"mkdir d; cd d; rmdir ../d; "${me[@]}""#)("cwd"), r#""/proc/self/cwd""#);
    assert_eq!(started.run(r#"mkdir e; cd e; "${me[@]}""#)("cwd"), format!("{:?}", started.at("e")));
}

#[test]
fn the_file_behind_descriptor_1_is_named_if_it_can_be_reached() {
    let started = Started::new();
    let stdout = |line: &str| started.run(line)("stdout");
    let file = |name: &str, append: bool| format!("{:?}", Some((started.at(name), append)));
    assert_eq!(stdout(r#""${me[@]}" > f"#), file("f", false));
    assert_eq!(stdout(r#""${me[@]}" >> f"#), file("f", true));
    assert_eq!(stdout(r#""${me[@]}" 1<> f"#), file("f", false));
    assert_eq!(stdout(r#"ln -s f link; "${me[@]}" > link"#), file("f", false));
    assert_eq!(stdout(r#"exec > g; mv g h; "${me[@]}""#), file("h", false), "renamed since");
    assert_eq!(stdout(r#""${me[@]}" > 'i (deleted)'"#), file("i (deleted)", false));
    for line in [
        r#"exec > j; rm j; "${me[@]}""#,
        r#"exec > k; rm k; touch 'k (deleted)'; "${me[@]}""#,
        r#""${me[@]}" | cat"#,
        r#""${me[@]}" > /dev/null"#,
        r#""${me[@]}" >&-"#,
    ] {
        assert_eq!(stdout(line), "None", "{line}");
    }
}
