//! Creation rules, beside what the real sops does with them.

use std::path::{Path, PathBuf};

use locked::naming::{CreationError, creation_rule_for, is_secret_target, is_sops};

use crate::world::World;

/// Writes `.sops.yaml` into `work`, where A and B stand for recipients.
fn configured(world: &World, rules: &str) -> PathBuf {
    let config = world.work().join(".sops.yaml");
    std::fs::write(&config, rules.replace("AGE", world.recipient())).expect("config");
    config
}

fn secret(world: &World, path: &str) -> bool {
    is_secret_target(&world.work().join(path), &world.work(), None)
}

#[test]
fn every_format_that_sops_writes_is_known_by_content() {
    let world = World::new();
    for (kind, plaintext) in
        [("dotenv", "A=1\n"), ("yaml", "a: 1\n"), ("json", "{\"a\": 1}"), ("ini", "[s]\na = 1\n"), ("binary", "\u{1}x")]
    {
        let file = world.encrypted(&format!("{kind}.plain"), plaintext, kind);
        assert!(is_sops(&std::fs::read(&file).expect("file")), "{kind}");
        assert!(!is_sops(plaintext.as_bytes()), "{kind}");
        assert!(is_secret_target(&file, &world.work(), None), "{kind}");
    }
}

#[test]
fn plaintext_beside_it_is_no_secret_target() {
    let world = World::new();
    configured(&world, "creation_rules:\n  - path_regex: secrets/.*\\.env$\n    age: AGE\n  - age: AGE\n");
    std::fs::write(world.work().join("there.env"), "A=1\n").expect("file");
    for (path, expected) in [
        ("plain.env", false),
        ("there.env", false),
        ("new.env.sops", true),
        ("x.enc.yaml", true),
        ("secrets/new.env", true),
        ("deep/secrets/new.env", true),
        (".sops.yaml", false),
    ] {
        assert_eq!(secret(&world, path), expected, "{path}");
    }
    std::os::unix::fs::symlink(world.encrypted("e.plain", "A=1\n", "dotenv"), world.work().join("l")).expect("link");
    assert!(secret(&world, "l"), "a link to a SOPS file");
}

#[test]
fn a_rule_that_takes_every_path_names_none_and_one_that_cannot_be_read_may() {
    let world = World::new();
    for (rules, expected) in [
        ("creation_rules:\n  - path_regex: .*\n    age: AGE\n", false),
        ("creation_rules:\n  - path_regex: ''\n    age: AGE\n", false),
        ("creation_rules: []\n", false),
        ("creation_rules:\n  - path_regex: (?!x)\n", true),
        ("creation_rules: [\n", true),
    ] {
        configured(&world, rules);
        assert_eq!(secret(&world, "plain.env"), expected, "{rules}");
    }
}

#[test]
fn the_configuration_is_looked_for_from_the_cwd_or_named() {
    let world = World::new();
    let config = configured(&world, "creation_rules:\n  - path_regex: ^a/x\\.env$\n    age: AGE\n");
    let (inner, outer) = (world.work().join("a/b"), world.root().join("home"));
    std::fs::create_dir_all(&inner).expect("directory");
    let file = world.work().join("a/x.env");
    let named = |cwd: &Path, config: Option<&Path>| is_secret_target(&file, cwd, config);
    assert!(named(&inner, None));
    assert!(!named(&outer, None));
    assert!(named(&outer, Some(&config)));
    assert!(named(&outer, Some(Path::new("../work/.sops.yaml"))));
    assert!(matches!(
        creation_rule_for(&file, &outer, Some(Path::new("none.yaml"))),
        Err(CreationError::Unreadable { .. })
    ));
}

/// The first rule that matches counts; recipients come as text, as list, through anchors, and out of merged key groups.
#[test]
fn recipients_are_those_that_sops_encrypts_to() {
    let world = World::new();
    let other = age::x25519::Identity::generate().to_public().to_string();
    let rules = format!(
        "people:\n  - &ana AGE\n  - &ben {other}\nbase: &base\n  encrypted_regex: ^A\ncreation_rules:\n\
         \x20 - path_regex: ^one/\n    age: AGE\n\
         \x20 - path_regex: ^text/\n    age: >-\n      AGE,\n      {other},\n\
         \x20 - path_regex: ^list/\n    <<: *base\n    age: [*ana, *ben]\n\
         \x20 - path_regex: ^groups/\n    key_groups:\n      - age: [*ana]\n        merge:\n          - age: [*ben]\n\
         \x20 - path_regex: ^one/\n    age: {other}\n"
    );
    configured(&world, &rules);
    for (directory, both, partial) in
        [("one", false, false), ("text", true, false), ("list", true, true), ("groups", true, false)]
    {
        let file = world.work().join(directory).join("x.env");
        std::fs::create_dir(file.parent().expect("parent")).expect("directory");
        std::fs::write(&file, "A=1\n").expect("file");
        let rule = creation_rule_for(&file, &world.work(), None).expect("rules").expect("a rule");
        let output = world.sops().args(["encrypt"]).arg(&file).output().expect("sops runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{directory}: {}", String::from_utf8_lossy(&output.stderr));
        for recipient in [world.recipient(), &other] {
            assert_eq!(
                text.contains(recipient),
                rule.age.iter().any(|known| known == recipient),
                "{directory}: {text}"
            );
        }
        assert_eq!((rule.age.len(), rule.partial), (1 + usize::from(both), partial), "{directory}");
        assert_eq!((rule.other_keys, rule.key_groups), (false, 1), "{directory}");
    }
    assert_eq!(creation_rule_for(&world.work().join("x.env"), &world.work(), None).expect("rules"), None);
}

#[test]
fn other_kinds_of_keys_and_several_groups_are_seen() {
    let world = World::new();
    configured(
        &world,
        "creation_rules:\n  - path_regex: a\n    age: AGE\n    pgp: ABC\n  - path_regex: b\n    pgp: ''\n    key_groups:\n      - age: [AGE]\n      - kms: [{arn: x}]\n  - age: AGE\n    kms: ''\n",
    );
    let rule =
        |path: &str| creation_rule_for(&world.work().join(path), &world.work(), None).expect("rules").expect("rule");
    let facts = |path: &str| (rule(path).other_keys, rule(path).key_groups, rule(path).age.len());
    assert_eq!(facts("a"), (true, 1, 1));
    assert_eq!(facts("b"), (true, 2, 1));
    assert_eq!(facts("c"), (false, 1, 1));
    assert_eq!(rule("c").path_regex, None);
}
