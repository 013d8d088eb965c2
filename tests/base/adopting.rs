//! `locked adopt`: receipts for what came another way.

use serde_json::Value;

use super::stage::{At, FILE, Stage, ends, next, says, text};

#[test]
fn what_was_changed_by_hand_is_known_after_it() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    let mut sops = stage.world.sops();
    says(sops.current_dir(&a).args(["set", FILE, "[\"HAND\"]", "\"1\""]), 0);
    let said = ends(stage.locked(1, &a).args(["adopt", FILE]), 0);
    assert_eq!(text(&said.stdout), format!("adopted {FILE}\n"));
    assert_eq!(text(&said.stderr), "");
    assert_eq!(stage.sets(2, &a, "A2"), "", "nobody need wonder about it");
    assert_eq!(stage.kinds(), ["proven", "adopted", "proven"]);
    let said = ends(stage.locked(1, &a).args(["adopt", FILE]), 0);
    assert_eq!(text(&said.stdout), format!("{FILE} has a receipt already\n"));
    assert_eq!(stage.kinds().len(), 3);
    assert_eq!(stage.world.status().len(), 0, "nothing is held");
}

#[test]
fn each_file_by_itself_over_either_store() {
    for at in [At::Here, At::Server] {
        let stage = Stage::new(at);
        let a = stage.clone("a", &[]);
        std::fs::write(a.join("plain.yaml"), "a: 1\n").expect("plaintext");
        std::fs::write(a.join("empty.sops.yaml"), "").expect("emptied");
        let broken = std::fs::read_to_string(a.join(FILE)).expect("file").replace("mac: ENC[", "mac: ENC[x");
        std::fs::write(a.join("broken.yaml"), broken).expect("broken");
        let files = ["plain.yaml", FILE, "empty.sops.yaml", "broken.yaml", "missing.yaml"];
        let output = ends(stage.locked(1, &a).args(["adopt", "--json"]).args(files), 72);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let adopted = answer["adopted"].as_array().expect("a list");
        assert_eq!(adopted.len(), 1, "{answer}");
        assert_eq!((&adopted[0]["file"], &adopted[0]["resource"]), (&FILE.into(), &"sops:app".into()));
        let refused: Vec<_> =
            answer["refused"].as_array().expect("a list").iter().map(|it| (&it["file"], &it["exit"])).collect();
        let expected: [(Value, Value); 4] = [
            ("plain.yaml".into(), 72.into()),
            ("empty.sops.yaml".into(), 72.into()),
            ("broken.yaml".into(), 72.into()),
            ("missing.yaml".into(), 64.into()),
        ];
        assert_eq!(refused, expected.iter().map(|(file, exit)| (file, exit)).collect::<Vec<_>>());
        assert_eq!(text(&output.stderr).matches("REFUSED: ").count(), 4);
        // What has a receipt is the newest there is.
        assert_eq!(stage.sets(2, &a, "A1"), "");
    }
}

#[test]
fn an_older_version_does_not_pass_for_the_newest() {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    let said = says(stage.locked(2, &b).args(["adopt", FILE]), 74);
    assert_eq!(next(&said), "git pull");
    assert_eq!(stage.kinds(), ["proven"]);
    ends(stage.locked(2, &b).args(["--accept-stale", "adopt", FILE]), 0);
    assert_eq!(stage.kinds(), ["proven", "adopted"]);
}

#[test]
fn who_holds_it_is_waited_for_and_a_quarantine_is_not_taken_over() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    ends(stage.locked(1, &a).args(["acquire", "sops:app"]), 0);
    let said = says(stage.locked(2, &a).args(["-n", "adopt", FILE]), 75);
    assert!(said.starts_with("BLOCKED: sops:app is held by 01010101 ("), "{said}");
    ends(stage.locked(1, &a).args(["adopt", FILE]), 0);
    ends(stage.locked(1, &a).args(["check", "sops:app"]), 0);
    ends(stage.locked(1, &a).args(["release", "sops:app"]), 0);
    let path = crate::world::board::in_front(&stage.world.script("sops", &format!(": > {FILE}; kill -9 $$")));
    says(stage.set(1, &a, "BAD").env("PATH", path), 72);
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    let said = says(stage.locked(1, &a).args(["-n", "adopt", FILE]), 72);
    assert!(said.starts_with("QUARANTINED: "), "{said}");
}
