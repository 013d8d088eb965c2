//! A version that is no longer the last.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::base::stage::{At, FILE, Stage, ends};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("A version that is not the newest");
    pulled(&mut told);
    diverged(&mut told);
    read(&mut told);
    whose(&mut told);
    told
}

fn pulled(told: &mut Chapter) {
    let stage = Stage::new(At::Here);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    told.plays(&stage.world, "the newest is not committed yet, in another checkout", &mut stage.set(2, &b, "B1"));
    stage.push(&a);
    told.plays(&stage.world, "the newest was pushed", &mut stage.set(2, &b, "B1"));
    told.plays(&stage.world, "adopt of the older one", stage.locked(2, &b).args(["adopt", FILE]));
    told.plays(&stage.world, "it is meant to be so", &mut stage.set_with(2, &b, &["--accept-stale"], "B1"));
}

fn diverged(told: &mut Chapter) {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.commit(&a, "one");
    let tree = stage.worktree(&a, "side");
    stage.sets(3, &tree, "S1");
    stage.commit(&tree, "on side");
    told.plays(&stage.world, "the newest is on another branch", &mut stage.set(1, &a, "A3"));
    std::fs::write(a.join(".locked.toml"), "unknown_base = \"refuse\"\n").expect("settings");
    ends(stage.world.sops().current_dir(&a).args(["set", FILE, "[\"HAND\"]", "\"1\""]), 0);
    told.plays(
        &stage.world,
        "it was changed without locked, and the settings refuse that",
        &mut stage.set(1, &a, "A4"),
    );
}

fn read(told: &mut Chapter) {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    stage.commit(&a, "chain");
    stage.follows(1, &a, &format!("locked sops decrypt {FILE} > ../plain.yaml"));
    stage.sets(2, &a, "B1");
    let mut encrypts = stage.locked(1, &a);
    encrypts.args(["sops", "encrypt", "--filename-override", "x.yaml", "--output", FILE, "../plain.yaml"]);
    told.plays(&stage.world, "what is encrypted was decrypted before somebody else wrote", &mut encrypts);
}

fn whose(told: &mut Chapter) {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    stage.commit(&a, "chain");
    for session in [1, 2] {
        stage.follows(session, &a, &format!("locked sops decrypt {FILE} > ../plain{session}.yaml"));
    }
    std::fs::copy(stage.dir("plain1.yaml"), a.join(FILE)).expect("written over");
    told.plays(
        &stage.world,
        "two sessions have decrypted it, and it is plaintext now",
        stage.locked(1, &a).args(["sops", "encrypt", "-i", FILE]),
    );
}
