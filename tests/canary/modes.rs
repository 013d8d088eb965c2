//! Every way in which the real sops chooses what it encrypts: what it leaves in the open is no fault, and what somebody puts in
//! the open is one.
#![forbid(unsafe_code)]

use locked::canary::{Fault, native};

use super::stage::{Stage, text};

const YAML: &str = "\
# note
s: hunter2
es: \"\"
n: null
t: ~
nothing:
b: true
i: 12
f: 1.5
d: 2001-12-14
ts: 2001-12-14t21:59:43.10-05:00
bin: !!binary aGVsbG8=
em: {}
el: []
multi: |
  a
  b
ref: &x {q: 1}
al: *x
mrg:
  <<: *x
  z: \"\"
# plain: the next one
list: [1, \"\", null, {k: v}, [a, \"\"], []]
str: !!str 12
k_unencrypted: clear
deep_unencrypted: {a: [1, {b: c}]}
sp: \" \"
nul: \"null\"
tilde: '~'
inf: .inf
hex: 0x1F
\"quo ted\": x
\"enc\": \"ENC[\"
? long
: g
# secret: the next one
k_s: |-
  one

  two
---
second: doc
k_s: 1
---
third: {s: 3, l: 4}
";

const JSON: &str = r#"{"s": "hunter2", "es": "", "n": null, "b": true, "i": 12, "f": 1.5, "em": {}, "el": [],
"list": [1, "", null, {"k": "v"}, ["a", ""], []], "k_unencrypted": "clear", "k_s": {"a": "b", "c_unencrypted": [1]}, "": "x"}"#;

const DOTENV: &str = "# note\nS=hunter2\nES=\nk_unencrypted=clear\n# plain: the next one\nlist=1\n\nk_s=x=y\nl=\"q\"\n\
    # secret: the next one\nn= sp \ns=\\n\n";

const INI: &str = "; note\ntop = 1\n[list]\n; plain: the next one\na = hunter2\nb =\nc_unencrypted = clear\n[s]\n\
    p = \"\"\"one\nk = v\n\"\"\"\nq = a \\\n  b = c\n`a=b` = d\n# secret: the next one\nk_s = \"quoted; #\"\n[k_unencrypted]\nx = 1\n\
    [empty]\n";

const BINARY: &str = "hunter2\0\u{1}\nmore";

/// Name, type, plaintext.
const FILES: [(&str, &str, &str); 5] = [
    ("x.yaml", "yaml", YAML),
    ("x.json", "json", JSON),
    ("x.env", "dotenv", DOTENV),
    ("x.ini", "ini", INI),
    ("x.bin", "binary", BINARY),
];

/// Options of sops; whether comments choose.
const MODES: [(&[&str], bool); 11] = [
    (&[], false),
    (&["--encrypted-regex", "^(s|S|list|k)$"], false),
    (&["--encrypted-regex", "^(?:data|[[:lower:]]_s)$"], false),
    (&["--unencrypted-regex", "^(i|list|S|d.*)$"], false),
    (&["--encrypted-suffix", "s"], false),
    (&["--unencrypted-suffix", "l"], false),
    (&["--mac-only-encrypted"], false),
    (&["--mac-only-encrypted", "--unencrypted-regex", "^(i|list|S)$"], false),
    (&["--unencrypted-comment-regex", "plain:"], true),
    (&["--encrypted-comment-regex", "secret:"], true),
    (&["--unencrypted-comment-regex", "no such comment"], false),
];

fn encrypted(name: &str, kind: &str, plaintext: &str, options: &[&str]) -> Option<Stage> {
    let stage = Stage::plain(name, plaintext);
    let recipient = stage.world.recipient().to_owned();
    // --mac-only-encrypted is a root option.
    let (root, own): (Vec<&str>, Vec<&str>) = options.iter().partition(|option| **option == "--mac-only-encrypted");
    let file = ["--input-type", kind, "--output-type", kind, "-i", text(&stage.path)];
    let args = match root.is_empty() {
        true => [&["encrypt", "--age", &recipient], &own[..], &file].concat(),
        false => [&root[..], &["-e", "--age", &recipient], &own, &file].concat(),
    };
    let output = stage.world.sops().args(&args).output().expect("sops runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // sops itself says where a rule is none for a store.
    assert!(output.status.success() || said.contains("binary"), "{options:?} {name}: {said}");
    output.status.success().then_some(stage)
}

/// A value in the open in the place of the first one that is encrypted.
fn planted(whole: &str) -> Option<String> {
    let mut done = false;
    let lines: Vec<String> = whole
        .split_inclusive('\n')
        .map(|line| {
            let is_comment = line.trim_start().starts_with(['#', ';']);
            let is_mac = line.contains("mac");
            match line.find("ENC[AES256_GCM,").filter(|_| !is_comment && !is_mac && !done) {
                Some(at) => {
                    done = true;
                    let end = at + line[at..].find(']').expect("its end");
                    format!("{}planted{}", &line[..at], &line[end + 1..])
                }
                None => line.to_owned(),
            }
        })
        .collect();
    done.then(|| lines.concat())
}

#[test]
fn what_sops_leaves_in_the_open_is_no_fault_and_what_somebody_puts_there_is() {
    let mut seen = 0;
    for (options, by_comments) in MODES {
        for (name, kind, plaintext) in FILES {
            let Some(stage) = encrypted(name, kind, plaintext, options) else { continue };
            let what = format!("{options:?} {name}\n{}", stage.text());
            stage.sops(&["decrypt", "--input-type", kind, "--output-type", kind, text(&stage.path)], 0);
            let found = native(stage.text().as_bytes());
            // That a rule chooses nothing at all is a fault of its own, and sops can decrypt it.
            if found == Err(Fault::NothingEncrypted) {
                continue;
            }
            assert!(found.is_ok(), "{found:?} {what}");
            seen += 1;
            let Some(open) = planted(&stage.text()).filter(|_| !by_comments) else { continue };
            let found = native(open.as_bytes());
            let laid_open = matches!(&found, Err(Fault::LaidOpen(_) | Fault::NothingEncrypted));
            assert!(laid_open, "{found:?} {what}");
            stage.write(&open);
            let mut decrypt = stage.world.sops();
            decrypt.args(["decrypt", "--input-type", kind, "--output-type", kind, text(&stage.path)]);
            assert!(!decrypt.output().expect("sops runs").status.success(), "sops decrypts it: {what}");
        }
    }
    assert!(seen > 40, "{seen}");
}

/// A key that nobody has ever seen encrypted.
#[test]
fn a_value_that_is_added_in_the_open_is_named() {
    for (name, kind, plaintext, added) in [
        ("x.yaml", "yaml", "a: 1\n", "PLAIN: leaked\n"),
        ("x.env", "dotenv", "A=1\n", "PLAIN=leaked\n"),
        ("x.env", "dotenv", "PLAIN=1\n", "PLAIN=leaked\n"),
        ("x.ini", "ini", "[s]\na = 1\n", "[more]\nPLAIN = leaked\n"),
    ] {
        let stage = encrypted(name, kind, plaintext, &[]).expect("encrypted");
        let found = native(format!("{}{added}", stage.text()).as_bytes());
        let Err(Fault::LaidOpen(names)) = &found else { panic!("{name}: {found:?}") };
        assert!(names.to_string().ends_with("PLAIN") && names.count() == 1, "{names}");
    }
}
