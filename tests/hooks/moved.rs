//! A repository that is given a remote, or another one: what was written before has its receipts under its scope of then.
#![forbid(unsafe_code)]

use super::yard::{FILE, Yard, ends};

#[test]
fn what_was_written_before_the_remote_was_added_or_turned_has_its_receipt() {
    let yard = Yard::new();
    std::fs::write(yard.path(".sops.yaml"), format!("creation_rules:\n  - age: {}\n", yard.world.recipient()))
        .expect("rules");
    std::fs::copy(yard.world.encrypted("x.env", "A=1\nB=1\n", "dotenv"), yard.path(FILE)).expect("copied");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "--no-verify", "-m", "of this world"]);
    let turns: [&[&str]; 3] = [
        &["remote", "remove", "origin"],
        &["remote", "add", "origin", "git@host:other"],
        &["remote", "set-url", "origin", "git@elsewhere:infra"],
    ];
    yard.git(turns[0]);
    for (at, turn) in turns[1..].iter().enumerate() {
        ends(yard.locked().args(["sops", "set", FILE, "[\"A\"]", &format!("\"turn {at}\"")]), 0);
        yard.git(turn);
        yard.is(&["commit", "-qam", "x"], None);
        // What nobody has written under a lease has none, wherever the repository has been.
        let path = yard.path(FILE);
        ends(
            yard.world.sops().args(["set", path.to_str().expect("UTF-8"), "[\"B\"]", &format!("\"by hand {at}\"")]),
            0,
        );
        yard.is(&["commit", "-qam", "x"], Some("written without locked"));
        ends(yard.locked().args(["adopt", FILE]), 0);
        yard.is(&["commit", "-qam", "x"], None);
    }
}
