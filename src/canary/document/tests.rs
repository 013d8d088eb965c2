#![forbid(unsafe_code)]

use super::*;
use proptest::prelude::*;

fn paths(text: &str, format: Format) -> Vec<String> {
    read_as(text.as_bytes(), format).expect("readable").keys.paths().collect()
}

const META: &str = "sops:\n  age:\n    - recipient: age1x\n      enc: |\n        secret\n  lastmodified: \"2026\"\n  mac: ENC[AES256_GCM,data:x]\n  version: 3.11.0\n";

#[test]
fn the_format_is_known_by_content() {
    for (content, format) in [
        ("{\"data\": 1}", Format::Json),
        ("\n  { }", Format::Json),
        ("A=1\nsops_version=3.11.0\n", Format::Dotenv),
        ("A=1\nsops_mac=ENC[]\r\n", Format::Dotenv),
        ("A=1\nsops_age__list_0__map_enc=x", Format::Dotenv),
        ("[a]\nb = c\n[sops]\nmac = d\n", Format::Ini),
        ("a: 1\nsops:\n  mac: x\n", Format::Yaml),
        ("sops_thing: a=b\n", Format::Yaml),
        ("A=1\n", Format::Yaml),
        ("", Format::Yaml),
    ] {
        assert_eq!(format::guess(content.as_bytes()), format, "{content:?}");
    }
}

#[test]
fn a_glance_tells_sops_from_plaintext_and_from_nothing() {
    for (content, kind) in [
        ("", Kind::Empty),
        (" \n\t\r\n", Kind::Empty),
        ("a: 1\n", Kind::Plain),
        ("about: sops\nlist: [sops]\n", Kind::Plain),
        ("{\"a\": {\"sops\": {}}}", Kind::Plain),
        ("{\"a\": 1, \"sops\": {\"mac\": \"x\"}}", Kind::Sops(Format::Json)),
        ("A=1\nsops_version=3.11.0\n", Kind::Sops(Format::Dotenv)),
        ("a=1\n[sops]\nmac=x\n", Kind::Sops(Format::Ini)),
        ("{\"a\": \"ENC[AES256_GCM,data:x]\", \"sops\": {\"mac\":", Kind::Sops(Format::Json)),
        (META, Kind::Sops(Format::Yaml)),
    ] {
        assert_eq!(sniff(content.as_bytes()), kind, "{content:?}");
    }
}

#[test]
fn yaml_keys_include_list_items_and_every_document() {
    let text = "# c\na: &x {b: 1}\nl:\n  - p: 1\n    q: 2\n  - last\nm:\n  <<: *x\n---\nsecond: 2\n";
    assert_eq!(
        paths(text, Format::Yaml),
        ["a", "a.b", "l", "l[0]", "l[0].p", "l[0].q", "l[1]", "m", "m.<<", "document 2: second"]
    );
}

#[test]
fn yaml_metadata_is_that_of_the_first_document() {
    let text = format!("a: ENC[AES256_GCM,data:y,type:str]\n{META}---\nb: c\n{META}");
    let document = read(text.as_bytes()).expect("readable");
    let metadata = document.metadata.expect("metadata");
    assert_eq!(metadata.age().collect::<Vec<_>>(), ["age1x"]);
    assert_eq!(metadata.recipients[0].enc, "secret\n");
    assert_eq!(metadata.flaw(), None);
    assert_eq!((document.encrypted, document.plaintext, document.keys.len()), (1, 1, 2));
}

#[test]
fn metadata_twice_is_seen_in_every_format() {
    for (text, format) in [
        (format!("{META}{META}"), Format::Yaml),
        ("{\"sops\": {\"mac\": \"x\"}, \"sops\": {\"mac\": \"x\"}}".into(), Format::Json),
        ("sops_mac=x\nsops_mac=x\n".into(), Format::Dotenv),
        ("[sops]\nmac=x\n[sops]\nversion=x\n".into(), Format::Ini),
    ] {
        let document = read_as(text.as_bytes(), format).expect("readable");
        assert!(document.metadata.expect("metadata").twice, "{format}");
    }
}

#[test]
fn ini_follows_the_quirks_of_its_library() {
    let text = "top = 1\n[sec]\n; com\nk : v\n`a=b` = c\nlong = \"\"\"x\ninner = y\n\"\"\"\ngo = on \\\n  and = on\nno delimiter\n[DEFAULT]\nx = 1\n";
    assert_eq!(
        paths(text, Format::Ini),
        ["DEFAULT", "DEFAULT.top", "sec", "sec.k", "sec.a=b", "sec.long", "sec.go", "DEFAULT.x"]
    );
}

#[test]
fn empty_values_count_neither_as_encrypted_nor_as_plaintext() {
    for (text, format) in [
        ("a: null\nb: ~\nc: \"\"\nd:\ne: {}\nf: []\n", Format::Yaml),
        ("{\"a\": null, \"b\": \"\", \"c\": {}, \"d\": []}", Format::Json),
        ("A=\nB=\n", Format::Dotenv),
        ("[s]\na =\n", Format::Ini),
    ] {
        let document = read_as(text.as_bytes(), format).expect("readable");
        assert_eq!((document.encrypted, document.plaintext), (0, 0), "{format}");
        assert!(!document.keys.is_empty());
    }
}

#[test]
fn key_groups_and_other_kinds_become_recipients() {
    let text = "A=1\nsops_key_groups__list_0__map_age__list_0__map_recipient=age1a\n\
        sops_key_groups__list_1__map_pgp__list_0__map_fp=F00\n\
        sops_key_groups__list_1__map_pgp__list_0__map_created_at=2026\n\
        sops_key_groups__list_1__map_pgp__list_0__map_enc=a\\nb\nsops_shamir_threshold=2\nsops_version=3\n";
    let metadata = read(text.as_bytes()).expect("readable").metadata.expect("metadata");
    let shown: Vec<String> = metadata.recipients.iter().map(Recipient::to_string).collect();
    assert_eq!(shown, ["age:age1a", "pgp:F00"]);
    assert_eq!(metadata.recipients[1].group, 1);
    assert_eq!(metadata.recipients[1].enc, "a\nb");
    assert_eq!(metadata.threshold, Some(2));
}

#[test]
fn what_is_gone_is_named_from_the_top() {
    let before = read_as(b"a: {b: 1, c: {d: 1, e: 2}}\nf: [1, 2]\n", Format::Yaml).expect("readable").keys;
    let after = read_as(b"a: {b: 1}\nf: [1]\n", Format::Yaml).expect("readable").keys;
    let lost = before.lost_in(&after);
    assert_eq!(before.names(&lost).collect::<Vec<_>>(), ["a.c", "f[1]"]);
    assert_eq!((lost.count(), lost.tops(), lost.is_all()), (4, 2, false));
    assert!(after.lost_in(&before).is_empty(), "what was added is not lost");
}

#[test]
fn an_unreadable_file_is_described_without_its_content() {
    for (text, format) in
        [("A=1\nhunter2\n", Format::Dotenv), ("{\"a\": \"hunter2\" x}", Format::Json), ("a: \"hunter2\n", Format::Yaml)]
    {
        let error = read_as(text.as_bytes(), format).expect_err("unreadable").to_string();
        assert!(!error.contains("hunter2") && error.contains("at line"), "{error}");
    }
}

/// Hostile depth and breadth cost no more than their bytes: this would not end if one of the readers were quadratic.
#[test]
fn large_and_deep_files_are_read_in_one_pass() {
    let long = "k".repeat(1000);
    let many: String = (0..20_000).map(|number| format!("{long}{number}=v\n")).collect();
    assert!(read_as(many.as_bytes(), Format::Dotenv).is_ok());
    let _too_deep = read_as("- ".repeat(500_000).as_bytes(), Format::Yaml);
    let _too_deep = read_as("[".repeat(500_000).as_bytes(), Format::Yaml);
    let _too_deep = read_as("[".repeat(500_000).as_bytes(), Format::Json);
    let _broken = read_as("a: ".repeat(300_000).as_bytes(), Format::Yaml);
    let _broken = read_as("? ".repeat(300_000).as_bytes(), Format::Yaml);
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _kind = sniff(&bytes);
        for format in [Format::Dotenv, Format::Ini, Format::Json, Format::Yaml] {
            let _document = read_as(&bytes, format);
        }
    }

    #[test]
    fn no_text_of_the_formats_own_signs_makes_a_reader_panic(
        text in "([-?:,\\[\\]{}#&*!|>'\"%@`=;~ \n\ta0]|sops|<<|---|\\.\\.\\.|ENC\\[AES256_GCM,|\"\"\"|sops_mac=|\\[sops\\]\n){0,60}"
    ) {
        let _kind = sniff(text.as_bytes());
        for format in [Format::Dotenv, Format::Ini, Format::Json, Format::Yaml] {
            let _document = read_as(text.as_bytes(), format);
        }
    }
}
