//! What lies open for an edit is its session's, whatever program writes it.

use std::path::Path;

use super::stage::{At, FILE, Stage, ends, next, says, text};
use crate::world::board::json;
use crate::world::ends::until;

/// Lines that write the file in some way, run where the checkout is. `G` is a plain file beside it.
const LINES: [&[&str]; 13] = [
    &["tee", FILE],
    &["tee", "-a", FILE],
    &["cp", "G", FILE],
    &["cp", "G", "secrets/"],
    &["mv", "G", FILE],
    &["mv", FILE, "H"],
    &["rm", FILE],
    &["rm", "-r", "secrets"],
    &["mv", "secrets", "elsewhere"],
    &["sed", "-i", "s/one/two/", FILE],
    &["truncate", "-s0", FILE],
    &["sh", "-c", "echo lost > secrets/app.yaml"],
    &["sops", "decrypt", "--output", FILE, "other.yaml"],
];

fn opened(stage: &Stage, session: u32, place: &Path) {
    ends(stage.locked(session, place).args(["-n", "sops", "decrypt", "-i", FILE]), 0);
    std::fs::write(place.join("G"), "plain: 1\n").expect("written");
    std::fs::write(place.join("app.yaml"), "plain: 1\n").expect("written");
    std::fs::copy(stage.world.work().join(FILE), place.join("other.yaml")).expect("copied");
}

/// No rule and no name says that the file is a secret: only what was done to it does.
fn unnamed(stage: &Stage) -> std::path::PathBuf {
    let a = stage.clone("a", &[]);
    std::fs::remove_file(a.join(".sops.yaml")).expect("removed");
    a
}

#[test]
fn nobody_writes_over_the_open_edit_of_another_session() {
    let stage = Stage::new(At::Here);
    let a = unnamed(&stage);
    opened(&stage, 1, &a);
    let before = std::fs::read(a.join(FILE)).expect("plaintext");
    for line in LINES {
        let line = if line[1] == "G" && line[2] == "secrets/" { &["cp", "app.yaml", "secrets/"] } else { line };
        let said = says(stage.locked(2, &a).arg("-n").args(line), 75);
        assert!(said.starts_with("BLOCKED: sops:app is held by 01010101"), "{line:?}: {said}");
        assert_eq!(std::fs::read(a.join(FILE)).expect("plaintext"), before, "{line:?}");
    }
    let said = super::stage::text(&ends(stage.locked(2, &a).args(["explain", "--", "tee", FILE]), 0).stdout);
    assert!(said.starts_with("decision: lock\n") && said.contains("may be open for an edit"), "{said}");
    // Files that never were any are nobody's.
    assert_eq!(says(stage.locked(2, &a).args(["-n", "tee", "G", "secrets/new", "/dev/null"]), 0), "");
}

#[test]
fn its_own_session_goes_on_and_the_edit_stays_open_until_it_is_sops_again() {
    let stage = Stage::new(At::Here);
    let a = unnamed(&stage);
    opened(&stage, 1, &a);
    let open = |line: &[&str]| {
        let board = stage.world.status();
        let [lease] = &board[..] else { panic!("{line:?}: {board:?}") };
        assert_eq!((&lease["state"], &lease["plaintext"]), (&"kept".into(), &true.into()), "{line:?}");
        ends(stage.locked(2, &a).args(["-n", "tee", FILE]), 75);
    };
    let lines: [(&[&str], i32); 5] = [
        (&["sed", "-i", "s/one/two/", FILE], 0),
        (&["sh", "-c", "echo EDIT: 1 >> secrets/app.yaml"], 0),
        (&["sh", "-c", "echo EDIT: 2 >> secrets/app.yaml; exit 3"], 3),
        (&["sops", "encrypt", "-i", "--age", "none", FILE], 1),
        (&["sops", "decrypt", "-i", FILE], 1),
    ];
    for (line, status) in lines {
        let _said = says(stage.locked(1, &a).arg("-n").args(line), status);
        open(line);
    }
    // What is put over it is made from the version that was opened, and ends the edit.
    assert_eq!(says(stage.locked(1, &a).args(["-n", "cp", "other.yaml", FILE]), 0), "");
    assert_eq!((stage.world.status().len(), stage.kinds()), (0, vec!["proven".to_owned()]));
    let base: String =
        stage.world.database().query_row("select base from receipts", [], |row| row.get(0)).expect("a base");
    let seed = std::fs::read(stage.world.work().join(FILE)).expect("the first version");
    assert_eq!(base, locked::terms::Digest::of(&seed).as_str());
}

#[test]
fn what_is_no_secret_any_more_is_written_as_any_file_and_nothing_stays_behind() {
    let stage = Stage::new(At::Here);
    let a = unnamed(&stage);
    opened(&stage, 1, &a);
    ends(stage.locked(1, &a).args(["release", "sops:app", "--as", "human-action"]), 0);
    let lines: [(&[&str], i32); 3] = [
        (&["tee", FILE], 0),
        (&["sh", "-c", "echo plain > secrets/app.yaml; exit 3"], 3),
        (&["sops", "decrypt", "--output", FILE, "other.yaml"], 0),
    ];
    for (line, status) in lines {
        assert_eq!(says(stage.locked(2, &a).arg("-n").args(line), status), "", "{line:?}");
        ends(stage.locked(1, &a).args(["-n", "tee", FILE]), 0);
        assert_eq!(stage.world.status().len(), 0, "{line:?}");
    }
    // A writer that was killed leaves nothing that would have to be proven.
    let line = "echo half > secrets/app.yaml; kill -9 $PPID; exec sleep 60";
    let _killed = stage.locked(2, &a).args(["-n", "sh", "-c", line]).output().expect("locked");
    until("the next one goes through", || {
        let tee = stage.locked(1, &a).args(["-n", "tee", FILE]).output().expect("locked");
        assert_ne!(tee.status.code(), Some(72), "{}", super::stage::text(&tee.stderr));
        tee.status.success().then_some(())
    });
}

#[test]
fn what_was_left_open_is_quarantined_for_every_program() {
    let stage = Stage::new(At::Here);
    let a = unnamed(&stage);
    let settings = stage.world.root().join("home/.config/locked");
    std::fs::create_dir_all(&settings).expect("directory");
    std::fs::write(settings.join("config.toml"), "max_hold = \"1s\"\n").expect("settings");
    opened(&stage, 1, &a);
    until("it is quarantined", || {
        let board = stage.world.status();
        board.first().filter(|lease| lease["state"] == "quarantined").map(drop)
    });
    for session in [1, 2] {
        let said = says(stage.locked(session, &a).args(["-n", "tee", FILE]), 72);
        assert_eq!(next(&said), format!("locked restore {FILE}"), "{said}");
    }
}

/// Where nothing lay before, no copy tells of it.
#[test]
fn plaintext_that_was_put_at_a_new_place_is_known_as_well() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let new = "secrets/new.sops.yaml";
    ends(stage.locked(1, &a).args(["-n", "sops", "decrypt", "--output", new, FILE]), 0);
    ends(stage.locked(2, &a).args(["-n", "tee", new]), 75);
}

/// Others may have a state directory of their own: another account, a session of its own, another machine.
#[test]
fn who_keeps_state_elsewhere_writes_over_no_open_edit_either() {
    let stage = Stage::new(At::Server);
    let a = unnamed(&stage);
    opened(&stage, 1, &a);
    let before = std::fs::read(a.join(FILE)).expect("plaintext");
    let elsewhere = |session: u32| {
        let mut locked = stage.locked(session, &a);
        locked.env("LOCKED_STATE_DIR", stage.dir("elsewhere")).arg("-n");
        locked
    };
    for line in [
        &["tee", FILE][..],
        &["cp", "G", FILE],
        &["rm", "-r", "secrets"],
        &["sh", "-c", "echo lost > secrets/app.yaml"],
    ] {
        let said = says(elsewhere(2).args(line), 75);
        assert!(said.starts_with("BLOCKED: sops:app is held by 01010101"), "{line:?}: {said}");
        assert_eq!(std::fs::read(a.join(FILE)).expect("plaintext"), before, "{line:?}");
    }
    assert_eq!(says(elsewhere(2).args(["tee", "G"]), 0), "", "other files are nobody's");
    let board =
        text(&ends(stage.locked(2, &a).env("LOCKED_STATE_DIR", stage.dir("elsewhere")).arg("status"), 0).stdout);
    assert!(board.contains("is plaintext (an open edit)"), "{board}");
    // The session itself may go on from there.
    assert_eq!(says(elsewhere(1).args(["sops", "encrypt", "--age", stage.world.recipient(), "-i", FILE]), 0), "");
    until("it is free", || {
        let board: Vec<serde_json::Value> = json(stage.locked(2, &a).args(["status", "--json"]));
        board.is_empty().then_some(())
    });
}
