//! Arguments come to the program as they were typed, whatever is in them.

use super::stage::{Stage, good};

/// What shells and the system's own rules make something of.
const MATRIX: [&str; 22] = [
    "",
    " ",
    "a b",
    "\"",
    "a\"b",
    "\\",
    "a\\",
    "a\\\\\"b",
    "\\\\host\\share\\",
    "&",
    "^",
    "|",
    "<",
    ">",
    "%PATH%",
    "!x!",
    "'",
    "ä€😀",
    "\t",
    "two\nlines",
    "\r\n",
    "a\tb\n",
];

fn told(stage: &Stage, words: &[&str], shim: Option<&str>) -> String {
    let place = stage.at("told");
    let mut command = match shim {
        Some(shim) => stage.command(stage.at(shim)),
        None => stage.locked(&[]),
    };
    good(&command.args(words).args(MATRIX).env("LOCKED_TEST_TOLD", &place).output().expect("it runs"));
    std::fs::read_to_string(place).expect("told")
}

fn expected() -> String {
    MATRIX.iter().map(|argument| format!("{argument:?}\n")).collect()
}

#[test]
fn a_program_gets_every_argument_as_it_is() {
    let stage = Stage::new().with("args");
    assert_eq!(told(&stage, &["args"], None), expected(), "passes");
    assert_eq!(told(&stage, &["-r", "server:db-1", "args"], None), expected(), "holds");
}

#[test]
fn a_shim_hands_on_every_argument_as_it_is() {
    let stage = Stage::new().with("args");
    good(&stage.ran(&["shims", "install", "--dir", &stage.at("shims").display().to_string(), "args"]));
    assert_eq!(told(&stage, &[], Some("shims/args.exe")), expected());
}

#[test]
fn what_a_batch_file_cannot_be_given_is_refused_before_anything_runs() {
    let stage = Stage::new();
    std::fs::write(stage.at("bin/batch.cmd"), "@exit /b 7\r\n").expect("written");
    let refused = stage.ran(&["batch", "two\nlines"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(126), "{said}");
    assert!(said.contains("batch file"), "{said}");
}
