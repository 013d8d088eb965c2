//! Hostile repositories, met by whoever types the name of a program there: what their file says lets nothing pass, runs
//! nothing and leads nowhere else, before it is trusted. The same table says what it does once it is.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::run::stage::{Stage, ends, in_front, json, says, text};

use super::{repository, user};

/// What the user has set.
const OWN: &str = r#"
packs = ["rotation"]
[[rule]]
name = "n8n"
program = "n8nctl"
args = ["prod*"]
resource = "container:n8n"
[[rule]]
name = "any"
args = ["prod-db"]
resource = "server:db"
[[zone]]
name = "GRANTS"
sql = ['(?i)\bgrant\b']
[[zone]]
name = "MEMORY"
paths = ["**/MEMORY.md"]
commands = ["crontab *"]
"#;

/// The user's settings, and programs that say what is held while they run.
fn stage() -> (Stage, PathBuf, PathBuf) {
    let stage = Stage::new();
    let home = user(&stage, OWN);
    let programs = stage.world.script("docker", "echo \"$LOCKED_RESOURCES\"");
    for name in ["gh", "sudo", "n8nctl", "other", "tee", "crontab", "vault", "psql"] {
        crate::world::board::install(programs.join("docker"), &programs.join(name), "0755");
    }
    let ssh = "[ \"$1\" = -G ] && { echo asked >> asked; echo hostname elsewhere; exit; }\necho \"$LOCKED_RESOURCES\"";
    crate::world::board::write_program(&programs.join("ssh"), &format!("#!/bin/sh\n{ssh}\n"));
    (stage, home, programs)
}

fn run(place: &(Stage, PathBuf, PathBuf), trusted: bool, ours: &[&str], line: &[&str]) -> Command {
    let (stage, home, programs) = place;
    let mut command = stage.locked(1);
    command.env("XDG_CONFIG_HOME", home).env("PATH", in_front(programs)).args(ours).args(line);
    if trusted {
        command.env("LOCKED_TRUST", "/**");
    }
    command
}

const DOWN: &[&str] = &["docker", "compose", "-p", "shop", "down"];
const SYNC: &[&str] = &["gh", "workflow", "run", "secrets-sync.yml"];

#[test]
fn nothing_passes_because_a_repository_says_so() {
    let place = stage();
    let many: Vec<String> = (0..500).map(|at| format!("\"{at}{}\"", "x".repeat(240))).collect();
    let many = format!("gh.workflows = [{}]", many.join(", "));
    // What its file says, a line, what is held; and what is held once it is trusted.
    let table: [(&str, &[&str], &str, &str); 21] = [
        (
            "[[rule]]\nname = \"docker.compose\"\nprogram = \"docker\"\nresource = \"a:decoy\"",
            DOWN,
            "container:shop",
            "a:decoy",
        ),
        ("[[rule]]\nname = \"docker.compose\"\nenabled = false", DOWN, "container:shop", ""),
        ("[[rule]]\nname = \"n8n\"\nenabled = false", &["n8nctl", "prod"], "container:n8n", ""),
        (
            "[[rule]]\nname = \"mine\"\nprogram = \"docker\"\nresource = \"a:more\"",
            DOWN,
            "a:more container:shop",
            "a:more container:shop",
        ),
        (
            "[[rule]]\nname = \"mine\"\nprogram = \"other\"\nsubcommand = \"prod-db\"\nresource = \"a:more\"",
            &["other", "prod-db"],
            "a:more server:db",
            "a:more server:db",
        ),
        ("[[safe]]\npaths = [\"/**\"]", &["tee", "MEMORY.md"], "zone:MEMORY", ""),
        (
            "[[launcher]]\nprogram = \"sudo\"\nskip = 9",
            &["sudo", "docker", "compose", "-p", "shop", "down"],
            "container:shop",
            "",
        ),
        // Without docker's own table nobody knows what -p is, and then it names no project.
        ("[[program]]\nname = \"docker\"", DOWN, "container:shop", "container:work"),
        ("[[program]]\nname = [\"new\", \"docker\"]", DOWN, "container:shop", "container:work"),
        ("[[program]]\nname = \"n8nctl\"\nvalues = [\"-v\"]", &["n8nctl", "-v", "prod"], "container:n8n", ""),
        ("[[program]]\nname = \"other\"\nvalues = [\"-v\"]", &["other", "-v", "prod-db"], "server:db", ""),
        ("[[writer]]\nprogram = \"tee\"\nfiles = \"{--none}\"", &["tee", "MEMORY.md"], "zone:MEMORY", "zone:MEMORY"),
        (
            "[[sql]]\nprogram = \"psql\"\ntext = \"{1}\"",
            &["sh", "-c", "echo grant x to y | psql db"],
            "zone:GRANTS",
            "zone:GRANTS",
        ),
        (
            "[[sql]]\nprogram = \"psql\"\nfile = \"{1}\"",
            &["bash", "-c", "psql db <<< 'grant x to y'"],
            "zone:GRANTS",
            "zone:GRANTS",
        ),
        ("[[zone]]\nname = \"MEMORY\"\ncommands = [\"none\"]", &["crontab", "-e"], "zone:MEMORY", ""),
        (
            "[[zone]]\nname = \"NEW\"\ncommands = [\"crontab*\"]",
            &["crontab", "-e"],
            "zone:MEMORY zone:NEW",
            "zone:MEMORY zone:NEW",
        ),
        ("gh.workflows = [\"deploy\"]", SYNC, "workflow:secrets-sync", ""),
        (&many, SYNC, "workflow:secrets-sync", ""),
        ("hosts = { web = \"decoy\" }", &["ssh", "web", "reboot"], "server:web", "server:decoy"),
        ("packs = []", &["vault", "kv", "put", "app/key", "a=b"], "rotation:app/key", ""),
        (
            "session.env = [\"HOME\"]\ntrust.repositories = [\"/**\"]\ncanary = false",
            DOWN,
            "container:shop",
            "container:shop",
        ),
    ];
    let mut wrong = Vec::new();
    for (settings, line, untrusted, trusted) in table {
        repository(&place.0, settings);
        for (is_trusted, held) in [(false, untrusted), (true, trusted)] {
            let output = run(&place, is_trusted, &["-n"], line).output().expect("locked runs");
            // What was triggered keeps its own session out as well.
            place.0.let_leases_expire();
            let found = text(&output.stdout);
            if !output.status.success() || found.lines().last() != Some(held) {
                let settings = &settings[..settings.len().min(200)];
                let said = text(&output.stderr);
                wrong.push(format!(
                    "{settings}\n  {line:?}, trusted {is_trusted}: {held:?} is held, not {found:?}\n{said}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_runs_because_a_repository_says_so() {
    let place = stage();
    let ran = place.0.world.work().join("ran");
    let asked = place.0.world.work().join("asked");
    let canary = "canary = [\"touch\", \"ran\"]";
    for (settings, line, left) in [
        (format!("[[rule]]\nname = \"mine\"\nprogram = \"docker\"\nresource = \"a:b\"\n{canary}"), DOWN, &ran),
        (
            format!("[[rule]]\nname = \"docker.compose\"\nprogram = \"docker\"\nresource = \"a:b\"\n{canary}"),
            DOWN,
            &ran,
        ),
        ("ssh.ask = true".to_owned(), &["ssh", "web", "reboot"], &asked),
    ] {
        repository(&place.0, &settings);
        ends(&mut run(&place, false, &["-q"], line), 0);
        ends(&mut run(&place, false, &["-q", "explain", "--"], line), 0);
        assert!(!left.exists(), "{settings}");
        ends(&mut run(&place, true, &["-q"], line), 0);
        assert!(left.exists(), "trusted: {settings}");
        fs::remove_file(left).expect("gone");
    }
}

#[test]
fn the_terms_are_not_a_repository_s_to_say() {
    let place = stage();
    let explained = |trusted, line: &[&str], field: &str| -> Value {
        json::<Value>(&mut run(&place, trusted, &["explain", "--json", "--"], line))[field].clone()
    };
    let rule =
        |terms: &str| format!("[[rule]]\nname = \"mine\"\nprogram = [\"docker\", \"gh\"]\nresource = \"a:b\"\n{terms}");
    let up: &[&str] = &["docker", "compose", "-p", "shop", "up"];
    let table: [(String, &[&str], &str, Value, Value); 9] = [
        (rule("keep = \"always\""), DOWN, "keep", Value::Null, "always".into()),
        (rule("keep_for = \"1ms\""), DOWN, "keep_for_ms", Value::Null, 1.into()),
        (rule("ttl = \"1s\""), DOWN, "ttl_ms", 1_800_000.into(), 1_000.into()),
        (rule("give_back = \"0s\""), DOWN, "give_back_ms", Value::Null, Value::Null),
        // Together with the built-in rule the longer one counts; one that may not say anything takes the whole run.
        (rule("give_back = \"0s\""), up, "give_back_ms", Value::Null, 60_000.into()),
        (rule("hold_for = \"0s\""), SYNC, "hold_for_ms", 120_000.into(), 120_000.into()),
        ("gh.hold_for = \"0s\"".to_owned(), SYNC, "hold_for_ms", 120_000.into(), Value::Null),
        ("ttl = \"1s\"".to_owned(), DOWN, "ttl_ms", 1_800_000.into(), 1_000.into()),
        (
            "[[zone]]\nname = \"NEW\"\ncommands = [\"docker*\"]\nttl = \"1s\"\nkeep = \"never\"".to_owned(),
            DOWN,
            "ttl_ms",
            1_800_000.into(),
            1_000.into(),
        ),
    ];
    for (settings, line, field, untrusted, trusted) in table {
        repository(&place.0, &settings);
        assert_eq!(explained(false, line, field), untrusted, "untrusted {field}: {settings}");
        assert_eq!(explained(true, line, field), trusted, "trusted {field}: {settings}");
    }
    repository(&place.0, &rule("keep = \"never\""));
    assert_eq!(explained(true, DOWN, "keep"), Value::Null, "the built-in rule has a say as well");
}

#[test]
fn another_store_or_scope_stops_what_locks_and_passes_what_does_not() {
    let place = stage();
    for settings in [
        "store = { url = \"embedded\" }",
        "store = { url = \"postgres://elsewhere.example.org/x\" }",
        "store = { url_env = \"HOME\", schema = \"decoy\" }",
        "scope = \"github.com/acme/decoy\"",
    ] {
        // With the word "rule" in it the file is looked at before it is known that anything is held.
        for more in ["", "\n# rule\n"] {
            repository(&place.0, &format!("{settings}{more}"));
            let said = says(&mut run(&place, false, &[], DOWN), 78);
            assert!(said.contains("locked config trust"), "{said}");
            let passed = ends(&mut run(&place, false, &[], &["docker", "compose", "-p", "shop", "ps"]), 0);
            assert_eq!(text(&passed.stdout), "\n", "{settings}");
        }
    }
}
