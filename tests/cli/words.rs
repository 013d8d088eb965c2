//! What people say for others to read is kept, and a secret in it is not: whichever option or variable it came by, no byte of
//! it is in the state directory, in an answer, or on standard error.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use crate::run::stage::{Stage, ends, in_front, says, text};

/// Forms of secrets; each has the word that must not be found.
const SECRETS: [&str; 5] = [
    "AGE-SECRET-KEY-1HUNTER2QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ",
    "API_KEY=hunter2",
    "TOKEN='very hunter2 indeed'",
    "postgres://me:hunter2@db.example.org/x",
    "ghp_hunter2B3cD4eF5gH6iJ7kL8mN9oP0qR1sT2",
];

/// Options with a text for others: after each a text is typed. `{}` is the text.
const TYPED: &[&[&str]] = &[
    &["--operation", "{}", "-r", "server:a", "true"],
    &["acquire", "--operation", "{}", "server:b"],
    &["status", "--ping", "server:other", "--message", "{}"],
    &["session", "begin", "--name", "{}", "--domain", "{}", "--task", "{}"],
    &["session", "list"],
    &["steal", "--now", "--reason", "{}", "--approved-by", "{}", "server:mine"],
    &["release", "--as", "human-action", "--note", "{}", "server:b"],
    &["status", "--duties"],
    &["status"],
    &["status", "--json"],
    &["history", "--json"],
    &["history", "--html", "-"],
    &["--report", "report.json", "--operation", "{}", "-r", "server:a", "true"],
];

/// A new option that takes a text must come through the same room; this is the list of those that do.
#[test]
fn every_option_with_a_text_is_known() {
    let known = ["operation", "reason", "message", "note", "approved-by", "name", "domain", "task"];
    let mut left: Vec<clap::Command> = vec![locked::cli::definition()];
    while let Some(command) = left.pop() {
        let texts = command.get_arguments().filter(|arg| {
            let of_words = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "TEXT"));
            of_words && arg.get_action().takes_values()
        });
        for arg in texts {
            let name = arg.get_long().unwrap_or_default();
            assert!(known.contains(&name), "--{name} of `{}` takes a text", command.get_name());
        }
        left.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn a_secret_in_a_text_is_neither_kept_nor_said() {
    for secret in SECRETS {
        let stage = Stage::new();
        let say = format!("look: {secret} and go");
        ends(stage.locked(2).args(["acquire", "server:other"]), 0);
        ends(stage.locked(2).args(["acquire", "server:mine"]), 0);
        let mut heard = String::new();
        for words in TYPED {
            let output = ends(stage.locked(1).args(words.iter().map(|word| word.replace("{}", &say))), 0);
            heard += &(text(&output.stdout) + &text(&output.stderr));
        }
        let output = ends(stage.locked(1).args(["-r", "server:a", "true"]).env("LOCKED_OPERATION", &say), 0);
        heard += &text(&output.stderr);
        heard += &text(&ends(stage.locked(2).args(["-r", "server:c", "true"]), 0).stderr);
        heard += &bypassed(&stage, &say);
        heard += &forced(&stage, &say);
        heard += &text(&ends(stage.locked(2).args(["history", "--json"]), 0).stdout);
        assert!(heard.contains('…') && heard.contains("and go"), "what is no secret is heard: {heard}");
        assert!(!heard.to_lowercase().contains("hunter2"), "{secret}: {heard}");
        for place in [stage.world.state(), stage.world.work()] {
            assert_eq!(with_it(&place), [""; 0], "{secret}");
        }
    }
}

/// Through a shim, and through a hook.
fn bypassed(stage: &Stage, say: &str) -> String {
    let mut shim = stage.locked(1);
    let program = stage.world.script("n8nctl", "exit 0");
    shim.args(["shims", "exec", "n8nctl"]).env("LOCKED_BYPASS", say).env("PATH", in_front(&program));
    let rule = "[[rule]]\nname = \"x\"\nprogram = \"n8nctl\"\nresource = \"server:sh\"\n";
    fs::write(stage.world.work().join(".locked.toml"), rule).expect("settings");
    let mut said = says(&mut shim, 0);
    assert!(said.contains("bypassed"), "{said}");
    fs::remove_file(stage.world.work().join(".locked.toml")).expect("settings");
    fs::write(stage.world.work().join("x.env.sops"), "PLAIN=1\n").expect("file");
    stage.world.git(&stage.world.work(), &["add", "x.env.sops"]);
    said += &says(stage.locked(1).args(["hooks", "run", "pre-commit"]).env("LOCKED_BYPASS", say), 0);
    assert!(said.contains("lets it through, bypassed"), "{said}");
    said
}

/// By force, into the spool of a store that is down.
fn forced(stage: &Stage, say: &str) -> String {
    let mut down = stage.locked(1);
    down.env("LOCKED_STORE", "postgres://127.0.0.1:1/x?connect_timeout=1");
    says(down.args(["--force", "--reason", say, "-r", "server:a", "true"]), 0)
}

/// The files below that have it, by any case.
fn with_it(below: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(below).expect("directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(with_it(&path));
        } else if String::from_utf8_lossy(&fs::read(&path).expect("file")).to_lowercase().contains("hunter2") {
            found.push(path.display().to_string());
        }
    }
    found
}
