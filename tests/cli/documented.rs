//! What the verbs that look after things answer with `--json`, against the README: fields are only ever added, and never by
//! accident. (Those of leases and sessions: `board::answers`.)
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::run::stage::{FILE, Stage};

/// The table below this heading of the README: verb → fields.
pub(crate) fn documented(heading: &str) -> BTreeMap<String, BTreeSet<String>> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README");
    let part = readme.split(&format!("# {heading}\n")).nth(1).expect("the part").split("\n#").next().expect("its end");
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|');
        let verb = cells.next().expect("a verb").trim().trim_matches('`').to_owned();
        let words = cells.next().expect("fields").split('`').skip(1).step_by(2);
        (verb, words.map(str::to_owned).collect())
    })
    .collect()
}

/// The objects of an answer that is one, or a list of them.
fn objects(answer: &Value) -> Vec<&serde_json::Map<String, Value>> {
    match answer {
        Value::Array(list) => list.iter().filter_map(Value::as_object).collect(),
        other => other.as_object().into_iter().collect(),
    }
}

/// The names of an answer's fields, and below a list or an object `OUTER.INNER`.
pub(crate) fn fields(answer: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, value) in objects(answer).into_iter().flatten() {
        names.insert(name.clone());
        names.extend(objects(value).into_iter().flatten().map(|(inner, _)| format!("{name}.{inner}")));
    }
    names
}

/// Fields that are objects by some name: what is in them is no field.
const BY_NAME: [(&str, &str); 3] =
    [("config show", "settings"), ("hooks install", "hooks"), ("hooks uninstall", "hooks")];

#[test]
fn every_answer_of_the_other_verbs_has_the_fields_that_are_documented() {
    let stage = Stage::new();
    let work = stage.world.work();
    let rule = "[[rule]]\nname = 'own'\nprogram = 'true'\nresource = ['server:x']\nkeep = 'always'\nkeep_for = '1m'\n\
                hold_for = '2m'\ngive_back = '3s'\ncanary = ['true']\nfollow = true\n";
    fs::write(work.join(".locked.toml"), rule).expect("settings");
    fs::write(work.join("plain.sops.yaml"), "a: 1\n").expect("plaintext");
    stage.commit("plaintext");
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut ask = |verb: &str, more: &[&str]| {
        let mut command = stage.locked(1);
        command.args(verb.split(' ')).arg("--json").args(more);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{verb}: {said}"));
        let mut found = fields(&answer);
        for (_, name) in BY_NAME.iter().filter(|(of, _)| *of == verb) {
            found.retain(|field| !field.starts_with(&format!("{name}.")));
        }
        told.entry(verb.to_owned()).or_default().extend(found);
    };
    // Not trusted yet: what it may not do is told.
    ask("config show", &[]);
    ask("config trust", &[]);
    ask("config trust --list", &[]);
    ask("explain", &["--", "true"]);
    ask("explain", &["--", "sops", "set", FILE, "[\"A\"]", "1"]);
    ask("config trust --remove", &[]);
    fs::remove_file(work.join(".locked.toml")).expect("removed");
    ask("adopt", &[FILE, "plain.sops.yaml"]);
    ask("audit", &[]);
    fs::write(stage.file(), "").expect("as a killed sops leaves it");
    ask("restore", &[FILE]);
    ask("init", &[]);
    ask("doctor", &["tools"]);
    for verb in ["shims install", "shims list", "shims remove"] {
        ask(verb, if verb == "shims list" { &[] } else { &["sops"] });
    }
    for verb in ["hooks install", "hooks status", "hooks uninstall"] {
        ask(verb, &[]);
    }
    ask("agents install", &["print"]);
    for verb in ["agents install", "agents status", "agents remove"] {
        ask(verb, if verb == "agents status" { &[] } else { &["claude"] });
    }
    for verb in ["store init", "store check", "store prune", "store epoch"] {
        ask(verb, &[]);
    }
    let other = format!("sqlite:{}", stage.world.root().join("other.db").display());
    ask("store move", &["--to", &other]);
    ask("store move --undo", &[]);
    assert_eq!(documented("Answers of the other verbs"), told, "the README's table, and what is answered");
}
