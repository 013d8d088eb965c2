//! The example of every key, `install/locked.toml`: it is read, and it names everything.
#![forbid(unsafe_code)]

use std::path::Path;

use locked::config::{BuiltIn, File, Key, Layer, Layers, NoGround, Places, Settings, Shelf};

pub(super) fn example() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("install/locked.toml")).expect("the example")
}

/// The settings of a user whose file this is.
fn settings(text: &str) -> Settings {
    let place = tempfile::tempdir().expect("place");
    let user = place.path().join("config.toml");
    std::fs::write(&user, text).expect("file");
    let nowhere = place.path().join("nowhere");
    let places =
        Places { system: nowhere.clone(), fragments: nowhere, user: Some(user), repositories: vec![], outside: true };
    let read = Layers::read(&places, &|_| None, &Shelf::default(), &NoGround).unwrap_or_else(|error| panic!("{error}"));
    read.settings(&BuiltIn { rule: &|_| false, program: &|_| false }).expect("settings")
}

/// The lines that are settings behind one `#`, without it; prose has a space behind it, and what editors read a colon.
pub(super) fn uncommented(text: &str) -> String {
    fn setting(line: &str) -> Option<&str> {
        line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', '#', ':']) && !rest.is_empty())
    }
    text.lines().map(|line| setting(line).unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_sets_nothing_as_it_stands_and_every_key_when_its_comments_are_taken_off() {
    let text = example();
    let none = settings(&text);
    assert!(Key::ALL.iter().all(|&key| none.value(key).is_none() && none.count(key) == 0), "as it stands");
    let whole = uncommented(&text);
    let all = settings(&whole);
    for key in Key::ALL.into_iter().filter(|&key| key != Key::Scope) {
        assert!(all.value(key).is_some() || all.count(key) > 0, "{} is not in the example", key.name());
    }
    // A scope is for one repository's file.
    assert_eq!(all.ignored().len(), 1, "{:?}", all.ignored());
    assert_eq!(all.ignored()[0].key, Key::Scope);
    let place = tempfile::tempdir().expect("place");
    std::fs::write(place.path().join("f"), whole).expect("file");
    let file: Option<std::sync::Arc<File>> =
        Shelf::default().file(&place.path().join("f"), Layer::Repository).expect("read");
    assert!(file.expect("there").sets().contains(&"scope"));
}

#[test]
fn the_example_tells_the_ready_values() {
    let (text, all) = (example(), settings(&uncommented(&example())));
    for key in Key::ALL {
        let Some(ready) = key.ready() else { continue };
        let shown = all.value(key).map(|it| it.value.clone());
        assert_eq!(shown, Some(ready), "{}: the example shows what is ready", key.name());
    }
    assert!(text.contains("locked config trust"));
}
