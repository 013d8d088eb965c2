//! What the canary must catch, on real files.

use locked::canary::{Fault, Format, Verdict};
use locked::rules::{Change, Via};

use super::stage::{STORES, Stage, expect, fault, text};

const SOME: &str = "A=hunter2-secret\nB=2\nC=3\n";

#[test]
fn an_emptied_file() {
    for (name, kind, plaintext, _) in STORES {
        let stage = Stage::encrypted(name, kind, plaintext);
        for nothing in ["", "\n", " \n\n"] {
            stage.write(nothing);
            assert_eq!(fault(stage.look(Change::Set)), Fault::Empty, "{name}");
        }
    }
}

#[test]
fn a_file_that_is_gone() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    std::fs::remove_file(&stage.path).expect("remove");
    assert_eq!(fault(stage.look(Change::Set)), Fault::Missing);
}

/// The lost update: two writers read one version, and the second one's result lacks the first one's key.
#[test]
fn keys_that_another_writer_lost() {
    for (name, kind, plaintext, index) in STORES {
        let mut stage = Stage::encrypted(name, kind, plaintext);
        let base = stage.text();
        stage.set(index, "\"one\"");
        stage.keep();
        stage.write(base);
        stage.set(&index.to_lowercase().replace("new", "other"), "\"two\"");
        for change in [Change::Set, Change::Rotate, Change::UpdateKeys, Change::Groups] {
            let fault = fault(stage.look(change));
            assert!(
                matches!(&fault, Fault::KeysLost(names) if names.to_string().to_lowercase().ends_with("new")),
                "{name}: {fault}"
            );
        }
        assert_eq!(stage.look(Change::Edit), Verdict::Sound, "{name}: an edit may remove a key");
    }
}

#[test]
fn list_items_that_are_gone() {
    let mut stage = Stage::encrypted("x.yaml", "yaml", "hosts: [a, b]\nk: v\n");
    let base = stage.text();
    stage.set("[\"hosts\"][2]", "\"c\"");
    stage.keep();
    stage.write(base);
    stage.set("[\"k\"]", "\"w\"");
    assert!(matches!(fault(stage.look(Change::Rotate)), Fault::KeysLost(names) if names.to_string() == "hosts[2]"));
}

#[test]
fn more_than_one_key_gone_after_unset() {
    let mut stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.sops(&["unset", text(&stage.path), "[\"A\"]"], 0);
    assert_eq!(stage.look(Change::Unset), Verdict::Sound);
    stage.sops(&["unset", text(&stage.path), "[\"B\"]"], 0);
    assert!(matches!(fault(stage.look(Change::Unset)), Fault::KeysLost(names) if names.count() == 2));
    stage.keep();
}

#[test]
fn an_edit_that_leaves_no_key_of_before() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.edit("echo Z=1 > \"$1\"", 0);
    assert!(matches!(fault(stage.look(Change::Edit)), Fault::AllKeysLost(names) if names.to_string() == "A, B, C"));
}

#[test]
fn an_emptied_editor_buffer() {
    let stage = Stage::encrypted("x.yaml", "yaml", "a: 1\n");
    stage.edit(": > \"$1\"", 0);
    assert_eq!(fault(stage.look(Change::Edit)), Fault::Empty);
}

#[test]
fn double_encryption_in_place() {
    for (name, kind, plaintext, _) in STORES {
        // Without types the name leads to the binary store, which does not recognise what it wraps.
        let mut stage = Stage::encrypted(&format!("{name}.enc"), kind, plaintext);
        stage.keep();
        stage.sops(&["encrypt", "--age", stage.world.recipient(), "-i", text(&stage.path)], 0);
        assert_eq!(fault(stage.look(Change::Encrypt)), Fault::DoubleEncryption, "{name}");
    }
}

#[test]
fn double_encryption_into_another_file() {
    let stage = Stage::encrypted("x.env.sops", "dotenv", SOME);
    let output = Stage { path: stage.world.work().join("y.enc"), before: None, world: stage.world };
    let source = text(&stage.path);
    output.sops(&["encrypt", "--age", output.world.recipient(), "--output", text(&output.path), source], 0);
    let mut expect = expect(Change::Encrypt);
    expect.via = Via::Output;
    expect.asked.source = Some(stage.path.clone());
    assert_eq!(fault(output.look_with(&expect, &output.arbiter())), Fault::DoubleEncryption);
}

#[test]
fn a_format_flip_by_set_and_by_rotate() {
    let flip = Fault::FormatFlip { before: Format::Dotenv, after: Format::Json };
    let stage = Stage::encrypted("x.env.sops", "dotenv", SOME);
    stage.sops(&["set", "--input-type", "dotenv", text(&stage.path), "[\"D\"]", "\"4\""], 0);
    assert_eq!(fault(stage.look(Change::Set)), flip);
    let stage = Stage::encrypted("x.env.sops", "dotenv", SOME);
    stage.sops(&["rotate", "--input-type", "dotenv", "-i", text(&stage.path)], 0);
    assert_eq!(fault(stage.look(Change::Rotate)), flip);
}

#[test]
fn a_format_flip_by_encrypt() {
    let stage = Stage::plain("x.env.sops", SOME);
    let recipient = stage.world.recipient();
    stage.sops(&["encrypt", "--age", recipient, "--input-type", "dotenv", "-i", text(&stage.path)], 0);
    let mut expect = expect(Change::Encrypt);
    expect.asked.input_type = Some("dotenv".into());
    let fault = fault(stage.look_with(&expect, &stage.arbiter()));
    assert_eq!(fault, Fault::FormatFlip { before: Format::Dotenv, after: Format::Json });
}

#[test]
fn nothing_encrypted() {
    for (name, plaintext) in
        [("x.env", SOME), ("x.yaml", "a: hunter2-secret\nb: {c: 1}\n"), ("x.ini", "[s]\na = hunter2-secret\n")]
    {
        let stage = Stage::plain(name, plaintext);
        let recipient = stage.world.recipient();
        stage.sops(&["encrypt", "--age", recipient, "--encrypted-regex", "^(data)$", "-i", text(&stage.path)], 0);
        assert_eq!(fault(stage.look(Change::Encrypt)), Fault::NothingEncrypted, "{name}");
    }
}

#[test]
fn plaintext_where_sops_should_be() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.sops(&["decrypt", "-i", text(&stage.path)], 0);
    for change in [Change::Set, Change::Edit, Change::Rotate, Change::UpdateKeys] {
        assert_eq!(fault(stage.look(change)), Fault::Plaintext);
    }
    assert_eq!(stage.look(Change::DecryptInPlace), Verdict::OpenEdit, "unless that is what was asked");
}

#[test]
fn the_markers_of_a_real_merge() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    let work = stage.world.work();
    let git = |args: &[&str]| stage.world.git(&work, args);
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "base"]);
    git(&["checkout", "-qb", "other"]);
    stage.set("[\"D\"]", "\"4\"");
    git(&["commit", "-qam", "other"]);
    git(&["checkout", "-q", "main"]);
    stage.set("[\"E\"]", "\"5\"");
    git(&["commit", "-qam", "main"]);
    let merge = stage.world.command("git").current_dir(&work).args(["merge", "-q", "other"]).output().expect("git");
    assert!(!merge.status.success(), "two sets always conflict: each changes the code and the time");
    let first = stage.text().lines().position(|line| line.starts_with("<<<<<<<")).expect("marker") + 1;
    assert_eq!(fault(stage.look(Change::Edit)), Fault::Conflict { line: first });
}

#[test]
fn a_dotenv_file_with_crlf() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.write(stage.text().replace('\n', "\r\n"));
    assert!(matches!(fault(stage.look(Change::Set)), Fault::CarriageReturns { line: 4.. }));
}

#[test]
fn a_code_that_does_not_match() {
    for (name, kind, plaintext, _) in STORES {
        let stage = Stage::encrypted(name, kind, plaintext);
        let at = stage.text().find("lastmodified").expect("time");
        let (head, tail) = (stage.text()[..at].to_owned(), stage.text()[at..].to_owned());
        stage.write(head + &tail.replacen("20", "19", 1));
        assert_eq!(fault(stage.look(Change::Edit)), Fault::Undecryptable { rc: 51 }, "{name}");
    }
}

#[test]
fn a_value_that_was_changed_by_hand() {
    let stage = Stage::encrypted("x.yaml", "yaml", "a: hunter2-secret\nb: 2\n");
    stage.write(stage.text().replacen("data:", "data:AAAA", 1));
    assert_eq!(fault(stage.look(Change::Edit)), Fault::Undecryptable { rc: 25 });
}

/// Every one of these ends with status 0, and the file is lost.
#[test]
fn key_names_that_sops_accepts_and_cannot_read_back() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.edit("echo sops_foo=1 >> \"$1\"", 0);
    assert_eq!(fault(stage.look(Change::Edit)), Fault::Undecryptable { rc: 51 });
    for (index, rc) in [("[\"#c\"]", 51), ("[\"a=b\"]", 25)] {
        let stage = Stage::encrypted("x.env", "dotenv", SOME);
        stage.set(index, "\"1\"");
        assert_eq!(fault(stage.look(Change::Set)), Fault::Undecryptable { rc }, "{index}");
    }
}

#[test]
fn the_binary_store_without_its_data() {
    let stage = Stage::encrypted("x.bin", "binary", "hunter2-secret");
    stage.sops(&["unset", text(&stage.path), "[\"data\"]"], 0);
    // As JSON it decrypts; the one key that mattered is gone, which is what `unset` was told.
    assert_eq!(stage.look(Change::Unset), Verdict::Sound);
    assert!(matches!(fault(stage.look(Change::Edit)), Fault::AllKeysLost(_)));
}
