//! `canary`: a command that proves a success, or no proof at all.
#![forbid(unsafe_code)]

use std::fs;

use super::stage::{RESOURCE, Stage, ends, in_front, says, text};

#[test]
fn a_success_is_proven_by_the_rule_s_own_command() {
    let stage = Stage::with("export A=1; echo deployed >> order");
    let record = "echo checked >> order; printf '%s|' \"$@\" > args; \
                  echo \"$HOME $LOCKED_RESOURCES ${LOCKED_LEASE:+leased}\" > env; pwd > cwd; cat > stdin; echo noise";
    stage.add("check", record);
    assert_eq!(says(&mut stage.deploy(1, "canary = ['check', 'a b', '$HOME', ';']"), 0), "", "its noise is nobody's");
    let read = |name: &str| fs::read_to_string(stage.world.work().join(name)).expect(name);
    assert_eq!(read("order"), "deployed\nchecked\n");
    assert_eq!(read("args"), "a b|$HOME|;|", "no shell reads them");
    let home = stage.world.root().join("home");
    assert_eq!(read("env"), format!("{} {RESOURCE} leased\n", home.display()), "the environment is the child's");
    assert_eq!(read("cwd").trim_end(), stage.world.work().canonicalize().expect("work").to_string_lossy());
    assert_eq!(read("stdin"), "");
    assert_eq!(stage.endings(), ["completed"]);
}

#[test]
fn a_proof_that_fails_keeps_the_lease_and_says_so() {
    for (proof, how) in [("exit 3", "check failed with status 3"), ("kill -9 $$", "check died by signal 9")] {
        let stage = Stage::with("exit 0");
        stage.add("check", proof);
        let output = ends(&mut stage.deploy_with(1, "canary = ['check', 'hunter2']", &["--report", "r.json"]), 72);
        let said = text(&output.stderr);
        assert_eq!(
            said,
            format!(
                "locked: the command succeeded, but its proof failed ({how}); {RESOURCE} stays with this session for \
                 5m, run it again to go on\n"
            )
        );
        let lease = stage.lease().expect("kept");
        assert_eq!((&lease["state"], &lease["takeable"]), (&"kept".into(), &false.into()), "not quarantined: {lease}");
        let refusal = says(&mut stage.others_try(), 75);
        assert!(refusal.contains(&format!("because it succeeded, but its proof failed ({how})")), "{refusal}");
        let report = fs::read_to_string(stage.world.work().join("r.json")).expect("written");
        assert!(report.contains("\"kept\"") && report.contains("\"code\": 72"), "{report}");
        assert!(!report.contains("hunter2"), "{report}");
        stage.add("check", "exit 0");
        assert_eq!(says(&mut stage.deploy(1, "canary = ['check']"), 0), "", "the same session goes on");
        assert_eq!(stage.lease(), None);
    }
}

#[test]
fn a_proof_that_cannot_be_run_proves_nothing() {
    let stage = Stage::with("exit 0");
    let said = says(&mut stage.deploy(1, "canary = ['/nowhere/check']"), 72);
    assert!(
        said.contains("its proof failed (check is not there; install it, or correct the canary of the rule)"),
        "{said}"
    );
}

#[test]
fn only_a_success_is_proven_and_not_with_the_option() {
    let stage = Stage::with("exit 4");
    stage.add("check", "touch checked; exit 1");
    says(&mut stage.deploy(1, "canary = ['check']"), 4);
    stage.add("deploy", "exit 0");
    assert_eq!(says(&mut stage.deploy_with(1, "canary = ['check']", &["--no-canary"]), 0), "");
    assert!(!stage.world.work().join("checked").exists());
}

#[test]
fn what_is_held_on_is_proven_first() {
    let stage = Stage::with("exit 0");
    stage.add("check", "exit 1");
    let said = says(&mut stage.deploy(1, "canary = ['check']\nhold_for = '1h'"), 72);
    assert!(said.contains("for 5m"), "as a failure: {said}");
    stage.add("check", "exit 0");
    assert_eq!(says(&mut stage.deploy(1, "canary = ['check']\nhold_for = '1h'"), 0), "");
    let left = stage.lease().expect("kept")["expires_in_ms"].as_u64().expect("ms");
    assert!(left > 1_800_000, "{left}");
}

#[test]
fn a_rule_may_switch_the_canary_of_files_off() {
    let stage = Stage::with("exit 0");
    let world = &stage.world;
    world.git(&world.work(), &["init", "-q"]);
    world.encrypted("secrets/app.yaml", "a: one\n", "yaml");
    // Stands where sops does, and empties the file.
    let empties =
        world.script("sops", "for word in \"$@\"; do [ \"$word\" = decrypt ] && exit 0; done; : > secrets/app.yaml");
    let set = |terms: &str| {
        let mut command = stage.locked(1, &format!("name = 'own'\nprogram = 'sops'\nresource = '{RESOURCE}'\n{terms}"));
        command.args(["sops", "set", "secrets/app.yaml", "[\"a\"]", "\"two\""]).env("PATH", in_front(&empties));
        command
    };
    let said = says(&mut set("canary = false"), 0);
    assert_eq!(said, "locked: secrets/app.yaml is whole, but was not decrypted: its rule has no canary\n");
    world.encrypted("secrets/app.yaml", "a: one\n", "yaml");
    says(&mut set(""), 72);
}
