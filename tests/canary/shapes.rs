//! Files of every shape that people keep secrets in: none of them is a fault.

use locked::canary::Verdict;
use locked::rules::Change;

use super::stage::{Stage, text};

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
