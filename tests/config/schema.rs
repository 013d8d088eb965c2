//! The schema for editors, `install/locked.schema.json`, against what reads settings: the same keys, the same values.
#![forbid(unsafe_code)]

mod check;

use std::collections::BTreeSet;

use locked::config::{Key, Layer, Shelf};
use locked::rules::{Book, Sound as _, Tables};
use serde_json::Value;

use self::check::faults;
use super::example::{example, uncommented};

fn read(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema() -> Value {
    serde_json::from_str(&read("install/locked.schema.json")).expect("JSON")
}

/// What the schema has against settings.
fn against(text: &str) -> Vec<String> {
    faults(&schema(), &toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// What reads settings has against them: the shape of the file, then of its tables.
fn refused(text: &str) -> Option<String> {
    let place = tempfile::tempdir().expect("place");
    let path = place.path().join("config.toml");
    std::fs::write(&path, text).expect("file");
    if let Err(error) = Shelf::default().file(&path, Layer::User) {
        return Some(error.to_string());
    }
    let mut table: toml::Table = toml::from_str(text).expect("TOML");
    table.retain(|key, _| Key::named(key).is_ok_and(Key::is_table));
    let read = table.try_into::<Tables>().map_err(|error| error.message().to_owned());
    read.map_or_else(Some, |tables| tables.fault().map(|fault| fault.what))
}

/// The keys that are known where this text has one that nobody knows; they are in backquotes in serde's message.
fn known(text: &str) -> BTreeSet<String> {
    let error = refused(text).unwrap_or_else(|| panic!("an unknown key is refused: {text}"));
    let list = error
        .split_once("expected")
        .or_else(|| error.split_once("known here: "))
        .unwrap_or_else(|| panic!("{error}"))
        .1;
    let names = list.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    names.filter(|name| !name.is_empty() && !matches!(*name, "one" | "of" | "or")).map(str::to_owned).collect()
}

fn properties(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().expect("properties").keys().cloned().collect()
}

/// A table with its required keys, and no other. With each key taken out it is none.
const LEAST: [(&str, &[(&str, &str)]); 9] = [
    ("rule", &[("name", "'n'"), ("resource", "'a:b'")]),
    ("program", &[("name", "'p'")]),
    ("program.command", &[("path", "'up'")]),
    ("launcher", &[("program", "'p'")]),
    ("writer", &[("program", "'p'"), ("files", "'{1}'")]),
    ("sql", &[("program", "'p'")]),
    ("zone", &[("name", "'Z'"), ("commands", "['x']")]),
    ("safe", &[("paths", "['/x']")]),
    ("rotation", &[("secret", "'S'"), ("files", "['f']")]),
];

fn table(kind: &str, rows: &[&(&str, &str)]) -> String {
    let rows: String = rows.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let above = kind.split_once('.').map(|(above, _)| format!("[[{above}]]\nname = 'p'\n")).unwrap_or_default();
    format!("{above}[[{kind}]]\n{rows}")
}

#[test]
fn every_key_of_the_settings_is_in_the_schema_and_no_other() {
    let schema = schema();
    assert_eq!(known("zzzzqqqq = 1"), properties(&schema), "at the top");
    for key in Key::ALL {
        let name = key.name().trim_matches(['[', ']']);
        let found = name.split('.').fold(&schema, |at, part| &at["properties"][part]);
        assert!(found.is_object(), "{name} is not in the schema");
    }
    for table in ["session", "trust", "ssh", "gh"] {
        assert_eq!(known(&format!("[{table}]\nzzzzqqqq = 1")), properties(&schema["properties"][table]), "{table}");
    }
    let store = &schema["definitions"]["store"];
    assert_eq!(known("store = { zzzzqqqq = 1 }"), properties(store));
    assert_eq!(known("store.url_sops = { zzzzqqqq = 1 }"), properties(&store["properties"]["url_sops"]));
}

#[test]
fn every_table_has_in_the_schema_the_keys_that_its_reader_knows() {
    let schema = schema();
    let tables: BTreeSet<&str> = LEAST.iter().map(|(kind, _)| *kind).filter(|kind| !kind.contains('.')).collect();
    let all = Key::ALL.iter().filter(|key| key.is_table()).map(|key| key.name().trim_matches(['[', ']']));
    assert_eq!(tables, all.collect(), "every kind of table is looked at");
    for (kind, least) in LEAST {
        let definition = &schema["definitions"][kind.rsplit('.').next().expect("a name")];
        assert_eq!(known(&table(kind, &[&("zzzzqqqq", "1")])), properties(definition), "{kind}");
        let rows: Vec<_> = least.iter().collect();
        let whole = table(kind, &rows);
        assert_eq!((refused(&whole), against(&whole)), (None, vec![]), "{whole}");
        for left_out in 0..least.len() {
            let rows: Vec<_> = least.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, row)| row).collect();
            let part = table(kind, &rows);
            assert!(refused(&part).is_some(), "the reader wants {}: {part}", least[left_out].0);
            assert!(!against(&part).is_empty(), "the schema wants {}: {part}", least[left_out].0);
        }
    }
}

#[test]
fn everything_is_described() {
    fn look(schema: &Value, at: &str, wrong: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let told = property["description"].as_str().or(property["$ref"].as_str());
            if told.is_none_or(str::is_empty) {
                wrong.push(format!("{at}.{name}"));
            }
            look(property, &format!("{at}.{name}"), wrong);
        }
    }
    let (schema, mut wrong) = (schema(), Vec::new());
    look(&schema, "", &mut wrong);
    for (name, definition) in schema["definitions"].as_object().expect("definitions") {
        look(definition, name, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_we_ship_fits_the_schema() {
    assert!(example().starts_with("#:schema ./locked.schema.json\n"), "editors find the schema by the first line");
    for (what, text) in [
        ("install/locked.toml", uncommented(&example())),
        ("install/zones.toml", read("install/zones.toml")),
        ("the built-in tables", Book::built_in()),
    ] {
        // One after the other: their tables are many, and TOML has each name of a plain table once.
        assert_eq!(against(&text), Vec::<String>::new(), "{what}");
    }
}

/// What one of them takes, the other takes.
#[test]
fn the_schema_takes_the_values_that_the_reader_takes() {
    let (mut both, mut wrong) = ([0, 0], Vec::new());
    for line in include_str!("schema/values.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (fits, text) = line.split_once(' ').expect("yes or no, and settings");
        let text = text.replace(" ⏎ ", "\n");
        let answers = (refused(&text), against(&text));
        if answers.0.is_none() != (fits == "yes") || answers.1.is_empty() != (fits == "yes") {
            wrong.push(format!("{line}: {answers:?}"));
        }
        both[usize::from(fits == "yes")] += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(both.iter().all(|&count| count >= 20), "{both:?}");
}

#[test]
fn the_example_shows_every_key_of_every_table() {
    let (schema, shown) = (schema(), toml::from_str::<Value>(&uncommented(&example())).expect("TOML"));
    for (kind, _) in LEAST {
        let names: Vec<&str> = kind.split('.').collect();
        let tables = names.iter().fold(vec![&shown], |tables, name| {
            tables.into_iter().flat_map(|table| table[name].as_array().into_iter().flatten()).collect()
        });
        for key in properties(&schema["definitions"][names[names.len() - 1]]) {
            // It switches off what it stands in.
            let is_shown = key == "enabled" || tables.iter().any(|table| table.get(&key).is_some());
            assert!(is_shown, "{key} of [[{kind}]] is not in install/locked.toml");
        }
    }
}
