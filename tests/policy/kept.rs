//! `keep` and `keep_for`: what becomes of the lease when the command fails.
#![forbid(unsafe_code)]

use super::stage::{RESOURCE, Stage, ends, says, text};
use crate::world::board::in_front;

#[test]
fn what_no_file_stands_for_counts_as_changed_and_stays_with_its_session() {
    let stage = Stage::with("exit 7");
    let said = says(&mut stage.deploy(1, ""), 7);
    assert_eq!(
        said,
        format!("locked: the command failed; {RESOURCE} stays with this session for 5m, run it again to go on\n")
    );
    let lease = stage.lease().expect("kept");
    assert_eq!((&lease["state"], &lease["takeable"]), (&"kept".into(), &false.into()), "{lease}");
    let refusal = says(&mut stage.others_try(), 75);
    assert!(refusal.contains("because it failed with status 7, place 1 in the queue"), "{refusal}");
    // Its own session goes on at once, and a success gives it back.
    stage.add("deploy", "exit 0");
    assert_eq!(says(&mut stage.deploy(1, ""), 0), "");
    assert_eq!(stage.lease(), None);
    ends(&mut stage.others_try(), 0);
}

#[test]
fn it_stays_for_as_long_as_its_rule_has_it_and_not_longer_because_it_works_elsewhere() {
    let stage = Stage::with("exit 1");
    says(&mut stage.deploy(1, "keep_for = '1s'\nelsewhere = true"), 1);
    stage.world.has_expired(RESOURCE);
    ends(&mut stage.others_try(), 0);
    says(&mut stage.deploy(1, "keep_for = '2h'"), 1);
    let left = stage.lease().expect("kept")["expires_in_ms"].as_u64().expect("ms");
    assert!((3_600_000..=7_200_000).contains(&left), "{left}");
}

#[test]
fn a_rule_may_have_it_never_kept_and_the_option_weighs_more() {
    let stage = Stage::with("exit 1");
    assert_eq!(says(&mut stage.deploy(1, "keep = 'never'"), 1), "");
    assert_eq!(stage.lease(), None);
    assert_eq!(stage.endings(), ["failed"]);
    says(&mut stage.deploy_with(1, "keep = 'never'", &["--keep"]), 1);
    assert_eq!(stage.lease().expect("kept")["state"], "kept");
}

#[test]
fn what_was_named_by_hand_beside_it_is_given_back() {
    let stage = Stage::with("exit 1");
    let said = says(&mut stage.deploy_with(1, "", &["-r", "zone:Z"]), 1);
    assert!(said.contains(&format!("{RESOURCE} stays")) && !said.contains("zone:Z"), "{said}");
    assert_eq!(stage.lease().expect("one alone")["resource"], RESOURCE);
    assert_eq!(stage.endings(), ["failed"]);
    let said = says(&mut stage.deploy_with(1, "", &["-v", "-r", "zone:Z"]), 1);
    assert!(said.contains(&format!("{RESOURCE} kept for this session, zone:Z released as failed")), "{said}");
}

#[test]
fn a_file_and_a_server_under_one_command_end_each_in_its_own_way() {
    let stage = Stage::with("exit 1");
    let world = &stage.world;
    world.git(&world.work(), &["init", "-q"]);
    world.encrypted("secrets/app.yaml", "a: one\n", "yaml");
    let rule = format!("name = 'own'\nprogram = 'sops'\nresource = ['{RESOURCE}']");
    let set = |options: &[&str], directory| {
        let mut command = stage.locked(1, &rule);
        command.args(options).args(["sops", "set", "secrets/app.yaml", "[\"a\"]", "\"two\""]);
        command.env("PATH", in_front(directory));
        command
    };
    // It fails before it writes: the file's resource is anybody's, the server's is not.
    let fails = world.script("sops", "exit 3");
    ends(&mut set(&[], &fails), 3);
    let board: Vec<_> =
        world.status().into_iter().map(|lease| (lease["resource"].clone(), lease["takeable"].clone())).collect();
    assert_eq!(board.len(), 2, "{board:?}");
    assert!(
        board.contains(&("sops:app".into(), true.into())) && board.contains(&(RESOURCE.into(), false.into())),
        "{board:?}"
    );
    // It fails after it has written: both stay, the file with its receipt.
    let real = crate::world::real_sops();
    let writes = world.script(
        "sops",
        &format!("'{0}' \"$@\"; for w in \"$@\"; do [ \"$w\" = decrypt ] && exit 0; done; exit 3", real.display()),
    );
    let output = ends(&mut set(&[], &writes), 3);
    let said = text(&output.stderr);
    assert!(said.contains("after it had written; sops:app stays with this session for 30m"), "{said}");
    assert!(said.contains(&format!("the command failed; {RESOURCE} stays with this session for 5m")), "{said}");
    assert!(world.status().iter().all(|lease| lease["takeable"] == false));
    // It works: both are given back.
    let output = ends(&mut set(&[], real.parent().expect("directory")), 0);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(world.status().len(), 0);
}
