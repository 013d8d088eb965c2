//! Where the canary must not cry wolf, on real files.

use locked::canary::Verdict;
use locked::rules::{Change, Via};

use super::stage::{STORES, Stage, expect, stranger, text};

#[test]
fn set_unset_and_rotate_in_every_store() {
    for (name, kind, plaintext, index) in STORES {
        let mut stage = Stage::encrypted(name, kind, plaintext);
        stage.set(index, "\"one\"");
        assert_eq!(stage.look(Change::Set), Verdict::Sound, "{name}: set");
        stage.keep();
        let types = ["--input-type", kind, "--output-type", kind];
        stage.sops(&[&["rotate", "-i"], &types[..], &[text(&stage.path)]].concat(), 0);
        assert_eq!(stage.look(Change::Rotate), Verdict::Sound, "{name}: rotate");
        stage.keep();
        stage.sops(&[&["unset"], &types[..], &[text(&stage.path), index]].concat(), 0);
        assert_eq!(stage.look(Change::Unset), Verdict::Sound, "{name}: unset");
        assert_eq!(stage.look_with(&unknown(), &stage.arbiter()), Verdict::Sound, "{name}: a take-over");
    }
}

fn unknown() -> locked::canary::Expect {
    locked::canary::Expect { change: None, ..expect(Change::Edit) }
}

#[test]
fn encrypting_in_place_and_into_another_file() {
    for (name, kind, plaintext, _) in STORES {
        let stage = Stage::plain(name, plaintext);
        let recipient = stage.world.recipient();
        let types = ["--age", recipient, "--input-type", kind, "--output-type", kind];
        let copy = stage.world.work().join("other");
        stage.sops(&[&["encrypt", "--output", text(&copy)], &types[..], &[text(&stage.path)]].concat(), 0);
        stage.sops(&[&["encrypt", "-i"], &types[..], &[text(&stage.path)]].concat(), 0);
        let mut wanted = expect(Change::Encrypt);
        wanted.asked.age = Some(vec![recipient.to_owned()]);
        wanted.asked.input_type = Some(kind.to_owned());
        wanted.asked.output_type = Some(kind.to_owned());
        assert_eq!(stage.look_with(&wanted, &stage.arbiter()), Verdict::Sound, "{name}: in place");
        wanted.via = Via::Output;
        wanted.asked.source = Some(stage.world.work().join("gone"));
        let output = Stage { path: copy, before: None, world: stage.world };
        assert_eq!(output.look_with(&wanted, &output.arbiter()), Verdict::Sound, "{name}: --output");
    }
}

#[test]
fn a_rotate_into_another_file_is_compared_with_its_source() {
    let mut stage = Stage::encrypted("x.env", "dotenv", "A=1\nB=2\n");
    let output = stage.world.encrypted("old.env", "OTHER=1\nTHING=2\n", "dotenv");
    let source = std::mem::replace(&mut stage.path, output);
    stage.keep();
    stage.sops(&["rotate", "--output", text(&stage.path), text(&source)], 0);
    let mut wanted = expect(Change::Rotate);
    wanted.via = Via::Output;
    wanted.asked.source = Some(source);
    assert_eq!(stage.look_with(&wanted, &stage.arbiter()), Verdict::Sound);
}

#[test]
fn an_edit_that_removes_a_key_and_one_that_changes_nothing() {
    for (name, kind, plaintext, index) in STORES {
        let mut stage = Stage::encrypted(name, kind, plaintext);
        if kind != "binary" {
            let without = stage.world.root().join("without");
            std::fs::write(&without, stage.world.decrypted(&stage.path, kind)).expect("plaintext");
            stage.set(index, "\"one\"");
            stage.keep();
            stage.edit(&format!("cat '{}' > \"$1\"", without.display()), 0);
            assert_eq!(stage.look(Change::Edit), Verdict::Sound, "{name}");
            stage.keep();
        }
        stage.edit("true", 200);
        assert_eq!(stage.look(Change::Edit), Verdict::Sound, "{name}: unchanged");
    }
}

#[test]
fn a_set_that_replaces_a_whole_branch_or_list() {
    let plaintext = "keep: 1\nbranch:\n  a: 1\n  b: {c: 2}\nouter:\n  list: [x, y, z]\n";
    for (index, value) in [
        ("[\"branch\"]", "\"leaf\""),
        ("[\"branch\"]", "{\"new\": 7}"),
        ("[\"branch\"][\"b\"]", "3"),
        ("[\"outer\"]", "{\"list\": [\"x\", \"z\"]}"),
    ] {
        let stage = Stage::encrypted("x.yaml", "yaml", plaintext);
        stage.set(index, value);
        assert_eq!(stage.look(Change::Set), Verdict::Sound, "{index} {value}");
    }
}

#[test]
fn an_unset_within_a_list_moves_the_later_items_up() {
    let stage = Stage::encrypted("x.yaml", "yaml", "list:\n  - {a: 1, b: 2}\n  - {a: 3}\n  - {c: 4}\nk: v\n");
    stage.sops(&["unset", text(&stage.path), "[\"list\"][0]"], 0);
    assert_eq!(stage.look(Change::Unset), Verdict::Sound);
}

#[test]
fn groups_add() {
    let stage = Stage::encrypted("x.yaml", "yaml", "a: 1\n");
    stage.sops(&["groups", "add", "-f", text(&stage.path), "-i", "--age", stage.world.recipient()], 0);
    assert_eq!(stage.look(Change::Groups), Verdict::Sound);
}

/// sops ends with 128 on such a file: no fault, but no proof either.
#[test]
fn a_new_file_for_a_key_that_is_not_here() {
    let world = crate::world::World::new();
    let path = world.work().join("x.env");
    let stage = Stage::on(world, path);
    std::fs::write(&stage.path, "A=1\n").expect("plaintext");
    let team = stranger();
    stage.sops(&["encrypt", "--age", &team, "-i", text(&stage.path)], 0);
    let mut wanted = expect(Change::Encrypt);
    wanted.asked.age = Some(vec![team]);
    assert!(matches!(stage.look_with(&wanted, &stage.arbiter()), Verdict::Unverified(_)));
}

/// Each of these is encrypted in place, then written once more, and quiet both times.
#[test]
fn files_of_every_shape() {
    let k8s =
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  labels: {app: y}\nstringData:\n  password: hunter2\n";
    for (what, name, plaintext, options, index) in [
        (
            "comments and anchors",
            "x.yaml",
            "# top\nbase: &b\n  k: 1 # here\nuse: *b\nmore:\n  <<: *b\n  j: 2\n# end\n",
            &[][..],
            "[\"n\"]",
        ),
        ("several documents", "x.yaml", "a: 1\n---\nb: 2\n---\nc: [3]\n", &[], "[\"n\"]"),
        ("keys that are words of YAML", "x.yaml", "yes: b\n\"1e3\": c\nplain: f\n? long\n: g\n", &[], "[\"n\"]"),
        ("partly encrypted", "x.yaml", k8s, &["--encrypted-regex", "^(data|stringData)$"], "[\"stringData\"][\"n\"]"),
        ("empty values only", "x.yaml", "a: \"\"\nb: null\nc: {}\nd: []\n", &[], "[\"n\"]"),
        ("empty values only", "x.env", "A=\nB=\n", &[], "[\"N\"]"),
        ("a default section", "x.ini", "top = 1\n[DEFAULT]\nx = 1\n[s]\ny = 2\n", &[], "[\"s\"][\"n\"]"),
        (
            "INI over several lines",
            "x.ini",
            "[s]\np = \"\"\"one\nk = v\n\"\"\"\nq = a \\\n  b = c\n`a=b` = d\n",
            &[],
            "[\"s\"][\"n\"]",
        ),
        ("unicode keys", "x.yaml", "ключ: 1\n\"ü b\": 2\n鍵: {ß: 3}\n", &[], "[\"नया\"]"),
        ("unicode keys", "x.env", "КЛЮЧ=1\nÜ=2\n", &[], "[\"Ñ\"]"),
        ("mac only encrypted", "x.yaml", "a_unencrypted: 1\nb: 2\n", &["--mac-only-encrypted"], "[\"n\"]"),
        ("all in the open, as its keys say", "x.env", "A_unencrypted=1\n", &[], "[\"N\"]"),
        ("another suffix", "x.yaml", "a_open: 1\nb: 2\n", &["--unencrypted-suffix", "_open"], "[\"n\"]"),
        (
            "an encrypted suffix",
            "x.json",
            "{\"a_secret\": \"1\", \"b\": \"2\"}",
            &["--encrypted-suffix", "_secret"],
            "[\"n\"]",
        ),
        ("a value that ends in CR", "x.env", "A=1\r\nB_unencrypted=2\r\n", &[], "[\"N\"]"),
        (
            "signs of a conflict as text",
            "x.yaml",
            "a_unencrypted: |\n  <<<<<<< a\n  =======\n  >>>>>>> b\nb: 1\n",
            &[],
            "[\"n\"]",
        ),
    ] {
        let mut stage = Stage::plain(name, plaintext);
        let recipient = stage.world.recipient();
        // --mac-only-encrypted is a root option.
        let (root, own): (Vec<&str>, Vec<&str>) = options.iter().partition(|option| **option == "--mac-only-encrypted");
        let args = match root.is_empty() {
            true => [&["encrypt", "--age", recipient], &own[..], &["-i", text(&stage.path)]].concat(),
            false => [&root[..], &["-e", "--age", recipient, "-i", text(&stage.path)]].concat(),
        };
        stage.sops(&args, 0);
        assert_eq!(stage.look(Change::Encrypt), Verdict::Sound, "{what}: encrypt {name}");
        stage.keep();
        stage.set(index, "\"one\"");
        assert_eq!(stage.look(Change::Set), Verdict::Sound, "{what}: set {name}");
    }
}

#[test]
fn a_thousand_keys() {
    let plaintext: String = (0..1000).map(|number| format!("KEY_{number}=value {number}\n")).collect();
    let mut stage = Stage::encrypted("x.env", "dotenv", &plaintext);
    stage.set("[\"NEW\"]", "\"one\"");
    assert_eq!(stage.look(Change::Set), Verdict::Sound);
    stage.keep();
}

#[test]
fn the_last_encrypted_value_of_a_partly_encrypted_file_may_be_removed() {
    let stage = Stage::plain("x.yaml", "kind: Secret\ndata:\n  p: 1\n");
    let mut stage = stage;
    stage.sops(
        &["encrypt", "--age", stage.world.recipient(), "--encrypted-regex", "^data$", "-i", text(&stage.path)],
        0,
    );
    stage.keep();
    stage.sops(&["unset", text(&stage.path), "[\"data\"][\"p\"]"], 0);
    assert_eq!(stage.look(Change::Unset), Verdict::Sound);
}

#[test]
fn the_plaintext_of_an_open_edit() {
    for (name, kind, plaintext, _) in STORES {
        let stage = Stage::encrypted(name, kind, plaintext);
        stage.sops(&["decrypt", "--input-type", kind, "--output-type", kind, "-i", text(&stage.path)], 0);
        assert_eq!(stage.look(Change::DecryptInPlace), Verdict::OpenEdit, "{name}");
    }
    let stage = Stage::encrypted("x.bin", "binary", "");
    stage.sops(&["decrypt", "--input-type", "binary", "--output-type", "binary", "-i", text(&stage.path)], 0);
    assert_eq!(stage.look(Change::DecryptInPlace), Verdict::OpenEdit, "nothing encrypted is nothing decrypted");
}

#[test]
fn one_layer_off_a_doubly_encrypted_file() {
    let mut stage = Stage::encrypted("x.env.sops", "dotenv", "A=1\n");
    stage.sops(&["encrypt", "--age", stage.world.recipient(), "-i", text(&stage.path)], 0);
    stage.keep();
    stage.sops(&["decrypt", "-i", text(&stage.path)], 0);
    assert_eq!(stage.look(Change::DecryptInPlace), Verdict::Sound);
}

#[test]
fn json_in_a_yaml_file_becomes_yaml() {
    let mut stage = Stage::plain("x.yaml", "{\"a\": 1}");
    let args = ["encrypt", "--age", stage.world.recipient(), "--output-type", "json", "-i", text(&stage.path)];
    stage.sops(&args, 0);
    stage.keep();
    stage.sops(&["set", text(&stage.path), "[\"b\"]", "\"2\""], 0);
    assert_eq!(stage.look(Change::Set), Verdict::Sound);
}

/// What people put into values and keys, and what the stores then do to write it: quotes, escapes, blocks, `? ` keys.
#[test]
fn odd_texts_as_keys_and_in_the_open() {
    let long = "k ".repeat(200);
    let odd = [
        "tab\there",
        " lead",
        "trail ",
        "colon: x",
        "hash # x",
        "-",
        "- x",
        "? x",
        "[x]",
        "{x}",
        "'",
        "\"",
        "\\",
        "a\\nb",
        "two\nlines",
        "two\n\n  lines\n",
        "\n",
        "~",
        "null",
        "true",
        "1e3",
        "0x1F",
        "2001-01-01",
        "%",
        "@x",
        "`x`",
        "&a",
        "*a",
        "!x",
        "|",
        ">",
        "=",
        "<<",
        "---",
        "...",
        "\u{1f600}",
        "\u{e9}\u{301}",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}x",
        "\r\n",
        &long,
        "ENC[x]",
        "<<<<<<< a\n=======\n>>>>>>> b",
        "sops",
        "sops_mac=x",
        "[sops]",
        "\u{202e}",
    ];
    for (name, kind) in [("x.yaml", "yaml"), ("x.json", "json")] {
        let map = odd
            .iter()
            .enumerate()
            .map(|(at, text)| (format!("{at}{text}"), serde_json::json!({"v_unencrypted": text, "e": text})));
        let content =
            serde_json::json!({ "in": map.collect::<serde_json::Map<_, _>>(), "list_unencrypted": odd.as_slice() });
        let mut plaintext = serde_json::to_string_pretty(&content).expect("JSON");
        // Raw, these are line breaks or forbidden in YAML.
        for sign in ['\u{7f}', '\u{85}', '\u{2028}', '\u{202e}', '\u{feff}'] {
            plaintext = plaintext.replace(sign, &format!("\\u{:04x}", u32::from(sign)));
        }
        let mut stage = Stage::plain(name, &plaintext);
        stage.sops(&["encrypt", "--age", stage.world.recipient(), "-i", text(&stage.path)], 0);
        let document = locked::canary::native(stage.text().as_bytes()).expect("readable");
        assert_eq!(document.keys.len(), 2 + odd.len() * 4, "{kind}");
        assert_eq!(stage.look(Change::Encrypt), Verdict::Sound, "{kind}: encrypt");
        stage.keep();
        stage.set("[\"n\"]", "\"one\"");
        assert_eq!(stage.look(Change::Set), Verdict::Sound, "{kind}: set");
    }
}
