//! Tables that are wrong: file, line, column and what was expected, and no value; and what goes on all the same.
#![forbid(unsafe_code)]

use crate::run::stage::{DOTENV, FILE, Stage, ends, in_front, says, silent, text};

use super::user;

/// A table, the line and the column of what is wrong in it, and what is said.
const WRONG: [(&str, &str, &str); 25] = [
    ("[[rule]]\nname = \"n\"\nresource = \"a:{hunter2\"", "3, column 12", "a { without its }"),
    (
        "[[rule]]\nname = \"n\"\nresource = [\"a:b\", \"a:{1|hunter2}\"]",
        "3, column 12",
        "expected file, slug, host, stack, key, path, stored or url",
    ),
    ("[[rule]]\nname = \"n\"\nresource = \"a:{0}\"", "3, column 12", "counted from 1"),
    ("[[rule]]\nname = \"n\"\nresource = 5", "3, column 12", "expected a text or a list of texts"),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\nprogram = { hunter2 = 1 }",
        "4, column 11",
        "expected a text or a list of texts",
    ),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\nmatch = ['hunter2(']", "4, column 9", "no regular expression"),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\nttl = \"hunter2\"",
        "4, column 7",
        "expected a duration, for example \"30s\"",
    ),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\nttl = 30",
        "4, column 7",
        "a value of the wrong type, expected a string",
    ),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\nkeep = \"hunter2\"",
        "4, column 8",
        "expected one of \"never\", \"changed\", \"always\"",
    ),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\non = \"hunter2\"",
        "4, column 6",
        "expected one of \"here\", \"remote\", \"anywhere\"",
    ),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\ncanary = \"hunter2\"",
        "4, column 10",
        "expected true, false or a command as a list of words",
    ),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\ncanary = []", "4, column 10", "a canary without a program"),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\nsubcomand = \"hunter2\"",
        "4, column 1",
        "did you mean `subcommand`?",
    ),
    ("[[rule]]\nresource = \"a:hunter2\"", "1, column 1", "missing field `name`"),
    ("[[rule]]\nname = \"hunter2\"\nprogram = \"p\"", "1, column 1", "this rule holds nothing"),
    ("[[program]]\nname = \"p\"\nstop_at = -5", "3, column 11", "a whole number, not less than 0"),
    (
        "[[program]]\nname = \"p\"\n[[program.command]]\npath = \"x\"\nvalue = [\"hunter2\"]",
        "5, column 1",
        "did you mean `values`?",
    ),
    ("[[launcher]]\nprogram = \"p\"\ndirectory_operand = 0", "3, column 21", "a whole number, not less than 1"),
    ("[[writer]]\nprogram = \"p\"\nfiles = [\"hunter2\"]", "3, column 9", "expected a string"),
    ("[[sql]]\nprogram = \"p\"\ninput = \"hunter2\"", "3, column 9", "expected a boolean"),
    ("[[zone]]\nname = \"Z\"\npaths = [\"~/hunter2\"]", "3, column 9", "no shell reads this"),
    ("[[zone]]\nname = \"hunter 2\"\nsql = [\"x\"]", "1, column 1", "the name of a zone has letters"),
    ("[[zone]]\nname = \"hunter2\"", "1, column 1", "it needs paths, commands or sql"),
    ("[[safe]]\npaths = [\"/x\"]\nsessions = []", "1, column 1", "sessions names nobody"),
    ("[[rotation]]\nsecret = \"A=hunter2\"\nfiles = [\"x\"]", "1, column 1", "without its value"),
];

#[test]
fn what_is_wrong_is_told_with_its_place_and_without_its_value() {
    let stage = Stage::new();
    let mut wrong = Vec::new();
    for (table, place, expected) in WRONG {
        // Three lines before it, so that the place is the file's and not the table's.
        let home = user(&stage, &format!("# one\nwait = \"31s\"\n\n{table}\n"));
        let mut command = stage.locked(1);
        let output = command.args(["docker", "compose", "-p", "x", "down"]).env("XDG_CONFIG_HOME", &home).output();
        let output = output.expect("locked runs");
        let said = text(&output.stderr);
        let (line, column) = place.split_once(", ").expect("a place");
        let line: usize = line.parse().expect("a line");
        let told = said.contains(&format!("config.toml\", line {}, {column}: ", line + 3)) && said.contains(expected);
        if output.status.code() != Some(78) || !told || said.contains("hunter") || said.lines().count() > 5 {
            wrong.push(format!("{table}\n  expected {place}: {expected}\n  {:?}: {said}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_settings_stop_what_locks_and_what_passes_is_told_that_they_are_not_heard() {
    let stage = Stage::new();
    let programs = stage.world.script("n8nctl", "echo ran");
    let run = |settings: &str, words: &[&str]| {
        let mut command = stage.locked(1);
        command.env("XDG_CONFIG_HOME", user(&stage, settings)).env("PATH", in_front(&programs)).args(words);
        command
    };
    for broken in [WRONG[0].0, "[[rule]", "rule = 5"] {
        let said = says(&mut run(broken, &["tee", "x"]), 78);
        assert!(said.starts_with("REFUSED: "), "{said}");
        says(&mut run(broken, &["-r", "server:web-1", "n8nctl", "status"]), 78);
        // A rule of theirs may have locked these: one line says so.
        for line in [&["n8nctl", "status"][..], &["-v", "n8nctl", "status"], &["sh", "-c", "n8nctl status"]] {
            let output = ends(&mut run(broken, line), 0);
            assert_eq!(text(&output.stdout), "ran\n");
            let said = text(&output.stderr);
            assert_eq!(said.lines().count(), 1, "{line:?}: {said}");
            assert!(said.contains("the settings are not followed") && said.contains("config.toml\", line "), "{said}");
        }
        assert_eq!(silent(&mut run(broken, &["-q", "n8nctl", "status"])), "ran\n");
        // sops reads are decided by what is built in, whatever settings say.
        silent(run(broken, &["sops", "decrypt"]).args(DOTENV).arg(FILE));
    }
    // They are heard of where they could say something, and nowhere else.
    assert_eq!(text(&ends(&mut run("wait = 5", &["n8nctl", "status"]), 0).stderr).lines().count(), 1);
}
