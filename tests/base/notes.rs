//! Notes of what a session has read: what they are good for, and that nobody feels them.

use std::os::unix::fs::PermissionsExt as _;

use super::stage::{At, FILE, Stage, ends, next, says};

/// Writes plaintext over the file, as an editor would.
fn overwrite(stage: &Stage, place: &std::path::Path, key: &str) {
    let plain = stage.world.decrypted(&place.join(FILE), "yaml");
    std::fs::write(place.join(FILE), format!("{plain}{key}: 1\n")).expect("plaintext");
}

#[test]
fn whose_plaintext_it_is_is_settled_by_acquiring_first() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    for session in [1, 2] {
        ends(stage.locked(session, &a).args(["sops", "decrypt", FILE]), 0);
    }
    overwrite(&stage, &a, "A1");
    let said = says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 74);
    assert!(
        said.starts_with(&format!("REFUSED: whose plaintext is this? session 02020202 has decrypted {FILE}")),
        "{said}"
    );
    assert!(said.contains("acquire, decrypt, edit, encrypt"), "{said}");
    assert_eq!(next(&said), "locked acquire sops:app");
    ends(stage.locked(9, &a).args(["restore", "--from", "proven", FILE]), 0);
    // In that order.
    ends(stage.locked(1, &a).args(["acquire", "sops:app"]), 0);
    ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0);
    overwrite(&stage, &a, "A1");
    assert_eq!(says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 0), "");
    ends(stage.locked(1, &a).args(["release", "sops:app"]), 0);
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "A1"]);
}

#[test]
fn one_s_own_note_is_of_what_was_made_of_it_after_encrypting() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0);
    overwrite(&stage, &a, "A1");
    assert_eq!(says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 0), "");
    let notes = std::fs::read_dir(stage.world.state().join("notes")).expect("notes");
    let texts: Vec<String> =
        notes.map(|note| std::fs::read_to_string(note.expect("note").path()).expect("note")).collect();
    let now = locked::terms::Digest::of(&std::fs::read(a.join(FILE)).expect("file"));
    assert!(matches!(&texts[..], [one] if one.starts_with(now.as_str()) && one.ends_with(" m\n")), "{texts:?}");
}

#[test]
fn a_version_that_was_read_before_a_newer_one_is_refused_and_reading_again_helps() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let plain = stage.dir("plain.yaml");
    let reads = || {
        let output = std::fs::File::create(&plain).expect("plaintext");
        ends(stage.locked(1, &a).args(["sops", "decrypt", "--output"]).arg(&plain).arg(FILE).stdout(output), 0);
    };
    let writes = || {
        let mut command = stage.locked(1, &a);
        command.args(["-n", "sops", "encrypt", "--filename-override", FILE, "--output", FILE]).arg(&plain);
        command
    };
    reads();
    stage.sets(2, &a, "B1");
    let said = says(&mut writes(), 74);
    assert!(said.starts_with(&format!("REFUSED: the plaintext for {FILE} is of an older version; ")), "{said}");
    assert!(next(&said).starts_with(&format!("locked sops decrypt {FILE}")), "{said}");
    reads();
    assert_eq!(says(&mut writes(), 0), "");
    assert_eq!(stage.keys(&a), ["first", "B1"]);
}

#[test]
fn a_line_that_reads_and_writes_under_one_lease_goes_by_what_it_reads() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0);
    stage.sets(2, &a, "B1");
    let script =
        format!("sops decrypt {FILE} > p.yaml; sops encrypt --filename-override x.yaml --output {FILE} p.yaml");
    assert_eq!(says(stage.locked(1, &a).args(["-n", "sh", "-c", &script]), 0), "");
    assert_eq!(stage.keys(&a), ["first", "B1"]);
}

#[test]
fn a_read_of_a_line_that_holds_something_else_leaves_its_note() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    std::fs::copy(a.join(FILE), a.join("secrets/other.yaml")).expect("copied");
    stage.push(&a);
    let version = locked::terms::Digest::of(&std::fs::read(a.join(FILE)).expect("file"));
    let notes = || {
        let notes = std::fs::read_dir(stage.world.state().join("notes")).into_iter().flatten();
        let texts = notes.map(|note| std::fs::read_to_string(note.expect("note").path()).expect("note"));
        texts.filter(|text| text.starts_with(version.as_str())).count()
    };
    let line = |script: &str| ends(stage.locked(1, &a).args(["-n", "sh", "-c", script]), 0);
    // Its own file's version is what it makes of it.
    line("sops -d secrets/other.yaml | cat >/dev/null && sops set secrets/other.yaml '[\"B\"]' 1");
    assert_eq!(notes(), 0);
    line(&format!("sops -d {FILE} | cat >/dev/null && sops set secrets/other.yaml '[\"C\"]' 1"));
    assert_eq!(notes(), 1);
    // What it is good for.
    let plain = stage.world.decrypted(&a.join(FILE), "yaml");
    stage.sets(2, &a, "B1");
    std::fs::write(a.join(FILE), plain).expect("plaintext");
    let said = says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 74);
    assert!(said.starts_with(&format!("REFUSED: the plaintext for {FILE} is of an older version; ")), "{said}");
}

#[test]
fn only_a_decrypt_of_a_sops_file_leaves_one_and_it_holds_no_secret() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let notes = || std::fs::read_dir(stage.world.state().join("notes")).map_or(0, Iterator::count);
    std::fs::write(a.join("plain.yaml"), "a: 1\n").expect("plaintext");
    for (args, status) in [
        (&["sops", "filestatus", FILE][..], 0),
        (&["sops", "decrypt", "plain.yaml"], 1),
        (&["sops", "decrypt", "missing.yaml"], 100),
        (&["cat", FILE], 0),
    ] {
        let output = stage.locked(1, &a).args(args).output().expect("it runs");
        assert_eq!(output.status.code() == Some(0), status == 0, "{args:?}");
        assert_eq!(notes(), 0, "{args:?}");
    }
    ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0);
    ends(stage.locked(1, &a).args(["sops", "-d", FILE]), 0);
    assert_eq!(notes(), 1, "the same file by the same session");
    ends(stage.locked(1, &a).args(["sops", "exec-env", FILE, "true"]), 0);
    assert_eq!(notes(), 2, "a program was run with it");
    for entry in std::fs::read_dir(stage.world.state().join("notes")).expect("notes") {
        let entry = entry.expect("entry");
        assert_eq!(entry.metadata().expect("note").permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(entry.path()).expect("note");
        assert!(!text.contains("app") && !text.contains("one"), "{text}");
    }
}

#[test]
fn a_read_never_fails_for_a_note() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    std::fs::write(stage.world.state().join("notes"), "no directory").expect("in the way");
    ends(stage.locked(1, &a).args(["sops", "decrypt", FILE]), 0);
    let nowhere = stage.dir("nowhere/state");
    ends(stage.locked(1, &a).env("LOCKED_STATE_DIR", "/proc/nowhere").args(["sops", "decrypt", FILE]), 0);
    ends(stage.locked(1, &a).env("LOCKED_SESSION", "nonsense").args(["sops", "decrypt", FILE]), 0);
    assert!(!nowhere.exists());
}
