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
