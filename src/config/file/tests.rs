//! How files are read, and what is told of a mistake.
#![forbid(unsafe_code)]

use super::*;

fn parsed(text: &str) -> Result<File, ConfigError> {
    Document::of(Path::new("f.toml"), Layer::User, text.as_bytes().to_vec()).and_then(File::of)
}

fn said(text: &str) -> String {
    let told = parsed(text).expect_err(text).to_string();
    told.strip_prefix("\"f.toml\", ").unwrap_or(&told).to_owned()
}

#[test]
fn a_mistake_is_told_with_its_place_and_without_its_value() {
    let table = [
        ("store = {", "line 1, column 10: "),
        ("\nstor = 1\n", "line 2, column 1: unknown key `stor`; did you mean `store`?"),
        ("hunter2hunter2 = 1", "line 1, column 1: unknown key `hunter2hunter2`; known here: scope, store, wait, "),
        ("\"hunter2 \\u001b\" = 1", "line 1, column 1: an unknown key; known here: scope, store, wait, "),
        ("store = { uri = \"postgres://u:hunter2@h\" }", "line 1, column 11: unknown key `uri`; did you mean `url`?"),
        ("store = \"postgres://u:hunter2@h\"", "line 1, column 9: a value of the wrong type, expected a table"),
        ("store = { url = 1 }", "line 1, column 17: a value of the wrong type, expected a string"),
        ("store = { advisory = \"hunter2\" }", "line 1, column 22: a value of the wrong type, expected a boolean"),
        (
            "store = { on_unreachable = \"hunter2\" }",
            "line 1, column 28: an unknown word, expected \"deny\" or \"local\"",
        ),
        ("wait = 30", "line 1, column 8: a value of the wrong type, expected a duration, for example \"30s\""),
        ("wait = \"hunter2\"", "line 1, column 8: a value of the wrong form, expected a duration, for example \"30s\""),
        ("ttl = \"-1s\"", "line 1, column 7: a value of the wrong form, expected a duration"),
        ("unknown_base = \"hunter2\"", "line 1, column 16: an unknown word, expected "),
        ("canary = \"hunter2\"", "line 1, column 10: a value of the wrong type, expected a boolean"),
        ("canary = [\"hunter2\"]", "line 1, column 10: a value of the wrong type, expected a boolean"),
        ("[sesion]\nenv = []", "line 1, column 2: unknown key `sesion`; did you mean `session`?"),
        ("[session]\nenv = \"hunter2\"", "line 2, column 7: a value of the wrong type, expected a list"),
        ("[trust]\nrepositories = [\"~/hunter2\"]", "line 2, column 17: a value of the wrong form, expected host/path"),
        ("[hosts]\n\"-oProxyCommand\" = \"h\"", "line 2, column 1: a value of the wrong form, expected the name"),
        ("[hosts]\nh = \"hunter2@h\"", "line 2, column 5: a value of the wrong form, expected the name"),
        ("[gh]\nworkflows = [\"\\u001b[2J\"]", "line 2, column 14: a value of the wrong form, expected a text"),
        ("[gh]\nfollow = 1", "line 2, column 10: a value of the wrong type, expected a boolean"),
        ("rule = 1", "line 1, column 8: a value of the wrong type, expected a list"),
        ("[rule]\nname = \"x\"", "line 1, column 1: a value of the wrong type, expected a list"),
        ("wait = \"1s\"\nwait = \"2s\"", "line 2, column 1: duplicate key"),
        ("a = \"hunter2\n", "line 1, column "),
        ("x = hunter2", "line 1, column "),
        ("scope = \"git@github.com:hunter2/x\"", "line 1, column 9: a value of the wrong form, expected host/path"),
    ];
    for (text, expected) in table {
        let said = said(text);
        assert!(said.starts_with(expected), "{text}: {said}");
        assert!(!said.contains("hunter2") || text.starts_with("hunter2"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn a_scope_is_spelled_in_one_way() {
    for (scope, fits) in [
        ("github.com/acme/infra", true),
        ("git.example.org/~ana/x", true),
        ("file/srv/git/x", true),
        ("GitHub.com/acme/infra", false),
        ("github.com/acme/infra.git", false),
        ("https://github.com/acme/infra", false),
        ("github.com:22/acme/infra", false),
        ("github.com/acme/../infra", false),
        ("github.com//infra", false),
        ("github.com/", false),
        ("github.com", false),
        ("/acme", false),
        ("local/5e2b0d6e-3a51-4b34-8d8c-6c0f1b3f9a10", false),
        ("machine/0123", false),
        ("github.com/a b", false),
    ] {
        assert_eq!(parsed(&format!("scope = {scope:?}")).is_ok(), fits, "{scope}");
    }
}

#[test]
fn every_key_is_read_with_its_line() {
    let text = "scope = \"h/x\"\nstore = { url_env = \"D\" }\nwait = \"1s\"\nttl = \"1s\"\nheartbeat = \"1s\"\n\
         renew_deadline = \"1s\"\ngrace = \"1s\"\nunknown_base = \"refuse\"\nremote_hold = \"1s\"\nstopped_max = \"1s\"\n\
         max_hold = \"1s\"\nkeep_for = \"1s\"\ncanary = false\nsession.env = [\"A\"]\ntrust.repositories = [\"h/x\"]\n\
         hosts = { A = \"B\" }\nssh.ask = true\ngh.workflows = [\"w\"]\ngh.hold_for = \"1s\"\ngh.follow = true\n\
         packs = [\"rotation\"]\n";
    let file = parsed(text).expect("all keys");
    for (line, entry) in file.entries.iter().enumerate() {
        assert_eq!(entry.line, line + 1, "{:?}", entry.key);
    }
    let keys: Vec<Key> = file.entries.iter().map(|entry| entry.key).collect();
    let plain: Vec<Key> = Key::ALL.into_iter().filter(|key| !key.is_table()).collect();
    assert_eq!(keys, plain, "a key of the table that cannot be written, or the other way round");
    let names = std::collections::BTreeMap::from([("a".to_owned(), "b".to_owned())]);
    assert_eq!(file.value(Key::Hosts), Some(&Value::Names(names)), "hosts have no case");
}

#[test]
fn tables_are_known_by_their_names_and_keys() {
    let file = parsed(
        "[[zone]]\nname = \"Z\"\n[[rule]]\nprogram = \"p\"\n[[rule]]\nname = \"n\"\nprogram = [\"q\", \"r\"]\n\
         [[rotation]]\nsecret = \"S\"\n[[safe]]\npaths = []\n[[program]]\nname = \"p\"\n",
    )
    .expect("tables");
    let heads: Vec<_> = file
        .tables
        .iter()
        .map(|head| (head.key, head.index, head.line, head.called.first().map(String::as_str)))
        .collect();
    assert_eq!(
        heads,
        [
            (Key::Rule, 0, 3, None),
            (Key::Rule, 1, 5, Some("n")),
            (Key::Program, 0, 12, Some("p")),
            (Key::Zone, 0, 1, Some("Z")),
            (Key::Safe, 0, 10, None),
            (Key::Rotation, 0, 8, Some("S")),
        ]
    );
    assert_eq!(file.tables[1].program, ["q", "r"]);
    assert_eq!(file.tables[1].sets, ["name", "program"]);
}

/// Files made to hurt their reader. Each is refused or read; none hangs (the harness has an end) or overflows the stack.
#[test]
fn a_hostile_file_is_refused_in_good_time() {
    let deep_array = format!("x = {}", "[".repeat(100_000));
    let deep_table = format!("x = {}", "{a=".repeat(100_000));
    let deep_key = format!("{}x = 1", "a.".repeat(100_000));
    let deep_header = format!("[{}x]", "a.".repeat(100_000));
    let long_key = format!("{} = 1", "k".repeat(1_000_000));
    let long_text = format!("wait = \"{}\"", "k".repeat(1_000_000));
    let open_text = format!("wait = \"\"\"{}", "k\n".repeat(400_000));
    let many_rules = "[[rule]]\n".repeat(100_000);
    let many_headers: String = (0..60_000).map(|at| format!("[a{at}]\n")).collect();
    for text in [&deep_array, &deep_table, &deep_key, &deep_header, &long_key, &long_text, &open_text, &many_headers] {
        let said = said(text);
        assert!(said.starts_with("line ") && said.len() < 1000, "{}…", &said[..100.min(said.len())]);
    }
    assert_eq!(parsed(&many_rules).expect("rules").tables.len(), 100_000);
    for text in ["wait = \"1s\0\"", "\0", "wait = \"1s\"\0", "\u{feff}\u{feff}wait = 1"] {
        assert!(said(text).starts_with("line "), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _read = Document::of(Path::new("f"), Layer::Repository, bytes).and_then(File::of);
    }

    #[test]
    fn no_file_of_known_words_is_too_odd(words in proptest::collection::vec(proptest::sample::select(vec![
        "scope", "store", "wait", "=", "\"", "\"30s\"", "[", "]", "[[", "]]", "rule", "{", "}", ",", ".", "\n", "url", "hosts",
        "session", "env", "#", "'''", "1", "true", "\\u0000", "gh", "unknown_base", "\u{202e}",
    ]), 0..40)) {
        let text = words.concat();
        if let Err(error) = Document::of(Path::new("f"), Layer::Repository, text.into_bytes()).and_then(File::of) {
            let said = error.to_string();
            proptest::prop_assert!(!said.contains('\u{202e}') && !said.chars().any(|it| it.is_control()), "{}", said);
        }
    }
}
