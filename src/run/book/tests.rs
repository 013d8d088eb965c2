//! The printed rules, as settings: they say what they say as built-in ones.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::*;
use crate::config::{Layers, NoGround, Shelf};

/// Every line of the tables of cases.
const CASES: [&str; 7] = [
    include_str!("../../../tests/cases/sops.jsonl"),
    include_str!("../../../tests/cases/docker.jsonl"),
    include_str!("../../../tests/cases/gh.jsonl"),
    include_str!("../../../tests/cases/launchers.jsonl"),
    include_str!("../../../tests/cases/ssh.jsonl"),
    include_str!("../../../tests/cases/zones.jsonl"),
    include_str!("../../../tests/cases/rotation.jsonl"),
];

/// The tables of a user's file with this text.
fn of_file(text: &str) -> Tables {
    let place = tempfile::tempdir().expect("place");
    let user = place.path().join("config.toml");
    std::fs::write(&user, text).expect("file");
    let places = Places {
        system: place.path().join("system"),
        fragments: place.path().join("d"),
        user: Some(user),
        repositories: Vec::new(),
        outside: true,
    };
    let layers = Layers::read(&places, &|_| None, &Shelf::default(), &NoGround).expect("layers");
    tables(&layers.settings(&settings::BUILT_IN).expect("settings")).expect("tables")
}

/// What a line wants, each once: what two tables say is said twice.
fn wanted(class: &Classification) -> (BTreeSet<String>, bool) {
    let writes = class.writes.iter().map(|write| format!("write {write:?}"));
    let trees = class.trees.iter().map(|tree| format!("tree {} {:?}", tree.path.display(), tree.like));
    let claims = class.claims.iter().map(|claim| format!("{:?} {:?} {:?}", claim.name, claim.engine, claim.host));
    (writes.chain(trees).chain(claims).collect(), class.asks)
}

#[test]
fn the_printed_rules_mean_as_settings_what_they_mean_built_in() {
    let packs = || Book::PACKS.map(str::to_owned).to_vec();
    let printed = Book::with(of_file(&Book::built_in()), std::collections::BTreeMap::new()).with_packs(packs());
    let built_in = Book::new().with_packs(packs());
    let mut wrong = Vec::new();
    for line in CASES.iter().flat_map(|cases| cases.lines()) {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case");
        let words =
            case["argv"].as_array().expect("argv").iter().map(|word| OsString::from(word.as_str().expect("text")));
        let words: Vec<OsString> = words.collect();
        let name = Path::new(&words[0]).file_name().unwrap_or(OsStr::new(""));
        let env = |name: &str| case["env"][name].as_str().map(OsString::from);
        let command = Command {
            name,
            args: &words[1..],
            cwd: Path::new("/srv/repository"),
            env: &env,
            stdout: None,
            stdin: None,
        };
        let [built_in, printed] = [&built_in, &printed].map(|book| wanted(&classify(&command, book)));
        if built_in != printed {
            wrong.push(format!("{words:?}\n  built in {built_in:?}\n  printed  {printed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}
