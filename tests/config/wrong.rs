//! Tables that are wrong: file, line, column and what was expected, and no value; and what goes on all the same.
#![forbid(unsafe_code)]

use crate::run::stage::{DOTENV, FILE, Stage, ends, in_front, says, silent, text};

use super::user;

/// A table, the line and the column of what is wrong in it, and what is said.
const WRONG: [(&str, &str, &str); 49] = [
    ("[[rule]]\nname = \"n\"\nresource = \"a:{hunter2\"", "3, column 12", "a { without its }"),
    (
        "[[rule]]\nname = \"n\"\nresource = [\"a:b\", \"a:{1|hunter2}\"]",
        "3, column 12",
        "expected file, slug, host, stack, key, path, stored, url or arn",
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
    ("[[rule]]\nresource = \"a:hunter2\"", "1, column 1", "the key \"name\" is missing, expected a text"),
    ("[[safe]]\nsessions = [\"hunter2\"]", "1, column 1", "the key \"paths\" is missing, expected a list of globs"),
    ("[[writer]]\nprogram = \"hunter2\"", "1, column 1", "the key \"files\" is missing, expected a text with one gap"),
    ("[[launcher]]\nskip = 1", "1, column 1", "the key \"program\" is missing, expected a text or a list"),
    ("[[launcher]]\nprogram = \"p\"\nshell = true\nhost = true", "4, column 8", "shell and host exclude each other"),
    ("[[launcher]]\nprogram = \"p\"\njoined = true\neach = true", "3, column 10", "each and joined exclude each other"),
    ("[[launcher]]\nprogram = \"p\"\ninput = true", "3, column 9", "it needs host as well"),
    ("[[rule]]\nname = \"hunter2\"\nprogram = \"p\"", "2, column 8", "this rule holds nothing"),
    ("[[rule]]\nname = \"n\"\nresource = []", "3, column 12", "this rule holds nothing"),
    ("[[rule]]\nname = \"n\"\nresource = \"hunter2\"", "3, column 12", "expected kind:name"),
    ("[[rule]]\nname = \"n\"\nresource = \"a:{hunter2}\"", "3, column 12", "(?<name>…)"),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\nargs = [\"[hunter2\"]", "4, column 8", "a [ without its ]"),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\noption = [\"hunter2\"]", "4, column 10", "as it is typed"),
    (
        "[[rule]]\nname = \"n\"\nresource = \"a:b\"\nprogram = \"hunter2/x\"",
        "4, column 11",
        "the last part of its path",
    ),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\nttl = \"1ms\"", "4, column 7", "from \"1s\" to \"24h\""),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\nttl = \"99999h\"", "4, column 7", "the longest is 10000h"),
    ("[[rule]]\nname = \"n\"\nresource = \"a:b\"\ndetached = [\"-d\"]", "4, column 12", "needs give_back"),
    ("[[rule]]\nname = \"gh.workflo\"\nenabled = false", "2, column 8", "did you mean \"gh.workflow\"?"),
    ("[[rule]]\nname = \"hunter2\"\nenabled = false", "2, column 8", "locked config rules"),
    ("[[rule]]\nname = \"sops.set\"\nenabled = false", "2, column 8", "the rules for sops are code"),
    ("[[program]]\nname = \"p\"\nvalues = [\"hunter2\"]", "3, column 10", "as it is typed"),
    (
        "[[program]]\nname = \"p\"\n[[program.command]]\npath = \"x\"\nvalues = [\"hunter2\"]",
        "3, column 1",
        "as it is typed",
    ),
    ("[[launcher]]\nprogram = \"p\"\nvalues = [\"hunter2\"]", "3, column 10", "as it is typed"),
    ("[[writer]]\nprogram = \"p\"\nfiles = \"hunter2\"", "3, column 9", "expected one gap"),
    ("keep_for = \"99999h\"", "1, column 12", "too long, the longest is 10000h"),
    ("[session]\nenv = [\"A\", \"hunter 2\"]", "2, column 13", "the name of a variable"),
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
    ("[[zone]]\nname = \"hunter 2\"\nsql = [\"x\"]", "2, column 8", "the name of a zone has letters"),
    ("[[zone]]\nname = \"hunter2\"", "2, column 8", "it needs paths, commands or sql"),
    ("[[safe]]\npaths = [\"/x\"]\nsessions = []", "3, column 12", "sessions names nobody"),
    ("[[rotation]]\nsecret = \"A=hunter2\"\nfiles = [\"x\"]", "2, column 10", "without its value"),
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
        let shown =
            stage.locked(1).args(["config", "show"]).env("XDG_CONFIG_HOME", &home).output().expect("locked runs");
        let told = told && shown.status.code() == Some(78);
        if output.status.code() != Some(78) || !told || said.contains("hunter") || said.lines().count() > 5 {
            wrong.push(format!("{table}\n  expected {place}: {expected}\n  {:?}: {said}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_settings_stop_what_locks_and_what_passes_is_told_that_they_are_not_heard() {
    let stage = Stage::new();
    stage.world.encrypted("x.env.sops", "A=1\n", "dotenv");
    let programs = stage.world.script("n8nctl", "echo ran");
    let run = |settings: &str, words: &[&str]| {
        let mut command = stage.locked(1);
        command.env("XDG_CONFIG_HOME", user(&stage, settings)).env("PATH", in_front(&programs)).args(words);
        command
    };
    for broken in [WRONG[0].0, "[[rule]", "rule = 5"] {
        let said = says(&mut run(broken, &["tee", "x.env.sops"]), 78);
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

/// A rule is about a line, and nothing in the line can stand for what it holds.
#[test]
fn a_rule_that_finds_no_name_says_that_its_command_runs_without_a_lease() {
    let stage = Stage::new();
    let programs = stage.world.script("n8nctl", "echo ran");
    for (rule, line, gap) in [
        ("resource = \"container:{1}\"", &["n8nctl"][..], "{1}"),
        ("resource = \"container:{1}\"", &["n8nctl", "hunter=2"], "{1}"),
        ("resource = [\"a:b\", \"container:{--to}\"]", &["n8nctl", "x"], "{--to}"),
        ("resource = \"container:{env:HUNTER}\"", &["n8nctl", "x"], "{env:HUNTER}"),
        ("resource = \"a:{site}\"\nmatch = ['^(?<site>x)?']", &["n8nctl", "y"], "{site}"),
    ] {
        let home = user(&stage, &format!("[[rule]]\nname = \"n8n\"\nprogram = \"n8nctl\"\n{rule}\n"));
        let mut command = stage.locked(1);
        let output = ends(command.args(line).env("XDG_CONFIG_HOME", &home).env("PATH", in_front(&programs)), 0);
        let said = text(&output.stderr);
        assert_eq!(said.lines().count(), 1, "{rule} {line:?}: {said}");
        assert!(
            said.contains(&format!("the rule n8n is about this line, and no word of it can stand for {gap}")),
            "{said}"
        );
        assert!(!said.contains("hunter=2"), "{said}");
    }
    let home =
        user(&stage, "[[rule]]\nname = \"n8n\"\nprogram = \"n8nctl\"\nresource = \"rotation:{1}\"\nask = true\n");
    let mut command = stage.locked(1);
    says(command.arg("n8nctl").env("XDG_CONFIG_HOME", &home).env("PATH", in_front(&programs)), 64);
}

/// What cannot even be read is told as what cannot be understood.
#[test]
fn settings_that_cannot_be_read_stop_what_locks_and_what_passes_is_told() {
    let stage = Stage::new();
    let programs = stage.world.script("n8nctl", "echo ran");
    let home = user(&stage, "");
    let path = home.join("locked/config.toml");
    let way: [(&str, &dyn Fn()); 4] = [
        ("a directory", &|| std::fs::create_dir(&path).expect("directory")),
        ("a FIFO", &|| assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success())),
        ("a link to a device", &|| std::os::unix::fs::symlink("/dev/zero", &path).expect("link")),
        ("too long", &|| std::fs::File::create(&path).expect("file").set_len(1 << 30).expect("long")),
    ];
    for (what, make) in way {
        let _was_there = std::fs::remove_file(&path);
        make();
        let run = |words: &[&str]| {
            let mut command = stage.locked(1);
            command.env("XDG_CONFIG_HOME", &home).env("PATH", in_front(&programs)).args(words);
            command
        };
        let output = ends(&mut run(&["n8nctl", "status"]), 0);
        assert_eq!(text(&output.stdout), "ran\n", "{what}");
        let said = text(&output.stderr);
        assert_eq!(said.lines().count(), 1, "{what}: {said}");
        assert!(
            said.contains("the settings are not followed") && said.contains("is no regular file"),
            "{what}: {said}"
        );
        says(&mut run(&["-r", "server:web-1", "n8nctl", "status"]), 78);
        says(&mut run(&["docker", "compose", "-p", "x", "down"]), 78);
        silent(run(&["sops", "decrypt"]).args(DOTENV).arg(FILE));
        if path.is_dir() {
            std::fs::remove_dir(&path).expect("gone");
        }
    }
}
