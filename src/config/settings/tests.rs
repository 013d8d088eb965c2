//! The settings as they are asked for.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::super::{BuiltIn, ConfigError, Layer, Layers, NoGround, Places, Shelf};
use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: String,
    ttl: Option<String>,
    #[serde(rename = "program")]
    _program: Option<String>,
}

/// The settings of these files: two fragments, the user's, a repository's.
fn settings(files: [&str; 4]) -> Result<Settings, ConfigError> {
    let place = tempfile::tempdir().expect("place");
    let at = |name: &str| place.path().join(name);
    std::fs::create_dir(at("d")).expect("directory");
    for (name, text) in ["d/1.toml", "d/2.toml", "user", ".locked.toml"].into_iter().zip(files) {
        std::fs::write(at(name), text).expect("file");
    }
    let places = Places {
        system: at("system"),
        fragments: at("d"),
        user: Some(at("user")),
        repositories: vec![at(".locked.toml")],
        outside: false,
    };
    let built_in = BuiltIn { rule: &|_| false, program: &|_| false };
    Layers::read(&places, &|_| None, &Shelf::default(), &NoGround)?.settings(&built_in)
}

#[test]
fn fragments_are_heard_before_the_user() {
    let all =
        settings(["ttl = \"1m\"\nwait = \"1m\"\ngrace = \"1s\"", "ttl = \"2m\"\nwait = \"2m\"", "ttl = \"3m\"", ""]);
    let all = all.expect("settings");
    let minutes = |key| all.length(key).map(|length| length.as_secs());
    assert_eq!(minutes(Key::Ttl), Some(180));
    assert_eq!(minutes(Key::Wait), Some(120));
    assert_eq!(minutes(Key::Grace), Some(1));
    assert_eq!(minutes(Key::Heartbeat), None);
    assert_eq!(all.length_or_ready(Key::KeepFor).as_secs(), 300);
    let layer = |key| match &all.value(key).expect("a value").from {
        Source::File { layer, .. } => *layer,
        other => panic!("{other}"),
    };
    assert_eq!((layer(Key::Ttl), layer(Key::Wait)), (Layer::User, Layer::System));
}

#[test]
fn tables_are_read_as_types_without_what_does_not_count() {
    let all = settings([
        "[[rule]]\nname = \"a\"\nttl = \"1s\"\n",
        "",
        "",
        "[[rule]]\nname = \"b\"\nttl = \"1s\"\nprogram = \"p\"\n[[rule]]\nname = \"a\"\nprogram = \"p\"\n[[rule]]\nname = \"c\"\nprogram = \"p\"\n\
         [[rule]]\nname = \"every\"\n",
    ]);
    let all = all.expect("settings");
    let rules: Vec<Located<Rule>> = all.tables(Key::Rule, &|_| None).expect("rules");
    let told: Vec<_> = rules.iter().map(|rule| (&*rule.value.name, rule.value.ttl.is_some(), rule.adds_only)).collect();
    assert_eq!(told, [("a", true, false), ("b", false, true), ("c", false, true)]);
    assert!(rules[2].from.to_string().ends_with(".locked.toml\" line 8"), "{}", rules[2].from);
    assert_eq!((all.count(Key::Rule), all.count(Key::Zone)), (3, 0));
    let odd = settings(["", "", "[[rule]]\nname = \"x\"\n[[rule]]\nnme = \"hunter2\"\n", ""]).expect("settings");
    let said = odd.tables::<Rule>(Key::Rule, &|_| None).expect_err("odd").to_string();
    assert!(said.ends_with("line 4, column 1: unknown key `nme`; did you mean `name`?"), "{said}");
}

#[test]
fn a_file_is_read_once() {
    let place = tempfile::tempdir().expect("place");
    let path = place.path().join("f");
    let shelf = Shelf::default();
    std::fs::write(&path, "ttl = \"1m\"").expect("file");
    let first = shelf.file(&path, Layer::Repository).expect("read").expect("there").document.digest();
    std::fs::write(&path, "canary = false").expect("file");
    let again = shelf.file(&path, Layer::Repository).expect("read").expect("there").document.digest();
    assert_eq!(first, again, "what was vouched for is what counts");
}
