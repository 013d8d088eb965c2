//! Files after a write: what is sound leaves a receipt, what is not is quarantined, what is plaintext stays with its session.

use super::stage::{SOPS, Stage, good, history, status, until};

const FILE: &str = "secrets/monitoring.env.sops";

#[test]
fn a_sound_write_leaves_a_receipt_and_a_broken_one_is_quarantined_until_it_is_restored() {
    let stage = Stage::new().with("sops");
    let file = stage.secret(FILE);
    good(&stage.ran(&["sops", "set", FILE, "[\"A\"]", "\"v\""]));
    assert!(history(&stage)[0]["receipt"].is_string(), "{}", history(&stage));
    let proven = std::fs::read_to_string(&file).expect("the file");
    let broken = stage.ran(&["sops", "rotate", "-i", FILE]);
    let said = String::from_utf8_lossy(&broken.stderr).into_owned();
    assert_eq!(broken.status.code(), Some(72), "{said}");
    assert_eq!(status(&stage)[0]["state"], "quarantined", "{said}");
    let refused = stage.ran(&["--no-wait", "sops", "set", FILE, "[\"B\"]", "\"v\""]);
    assert_eq!(refused.status.code(), Some(72), "{}", String::from_utf8_lossy(&refused.stderr));
    good(&stage.ran(&["restore", FILE]));
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), proven);
    assert_eq!(status(&stage), serde_json::json!([]));
}

#[test]
fn an_open_edit_is_watched_and_ends_when_the_file_is_encrypted_again() {
    let stage = Stage::new().with("sops");
    let file = stage.secret(FILE);
    let opened = stage.ran(&["sops", "decrypt", "-i", FILE]);
    let said = String::from_utf8_lossy(&opened.stderr).into_owned();
    good(&opened);
    assert!(!said.contains("nobody watches"), "{said}");
    assert_eq!(status(&stage)[0]["state"], "kept", "{said}");
    // An editor's own way to encrypt, without us.
    std::fs::write(&file, SOPS).expect("written");
    until("it is given back", || status(&stage) == serde_json::json!([]));
    assert_eq!(history(&stage)[0]["ended_as"], "completed", "{}", history(&stage));
}

#[test]
fn an_open_edit_is_its_session_s_alone_and_ends_by_its_own_encrypt() {
    let stage = Stage::new().with("sops");
    stage.secret(FILE);
    good(&stage.ran(&["sops", "decrypt", "-i", FILE]));
    let mut other = stage.locked(&["--no-wait", "sops", "encrypt", "-i", FILE]);
    let refused = other.env("LOCKED_SESSION", "3f2a91c0-0000-4000-8000-000000000003").output().expect("locked runs");
    assert_eq!(refused.status.code(), Some(75), "{}", String::from_utf8_lossy(&refused.stderr));
    good(&stage.ran(&["sops", "encrypt", "-i", FILE]));
    assert_eq!(status(&stage), serde_json::json!([]));
    assert!(history(&stage)[0]["receipt"].is_string(), "{}", history(&stage));
}
