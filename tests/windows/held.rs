//! Leases: many writers at once, and what a session holds between two commands.

use super::stage::{Stage, good};

#[test]
fn sixteen_writers_at_once_lose_no_key() {
    let stage = Stage::new().with("sops");
    let file = stage.secret("secrets/monitoring.env.sops");
    let spelled = file.display().to_string();
    let children: Vec<_> = (0..16)
        .map(|nth| {
            // Each spells it in one of the ways there are.
            let path = match nth % 4 {
                0 => spelled.clone(),
                1 => spelled.replace('\\', "/"),
                2 => r"secrets\monitoring.env.sops".to_owned(),
                _ => spelled.replace("secrets", "SECRETS"),
            };
            let key = format!("[\"KEY_{nth}\"]");
            let mut command = stage.locked(&["--wait", "10m", "sops", "set", &path, &key, "\"v\""]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("locked")
        })
        .collect();
    for child in children {
        good(&child.wait_with_output().expect("ended"));
    }
    let text = std::fs::read_to_string(&file).expect("the file");
    let missing: Vec<_> = (0..16).filter(|nth| !text.contains(&format!("KEY_{nth}="))).collect();
    assert!(missing.is_empty() && text.contains("FIRST="), "lost: {missing:?}");
}

#[test]
fn what_one_command_of_a_session_acquires_the_next_one_releases() {
    let stage = Stage::new();
    good(&stage.ran(&["acquire", "server:db-1"]));
    let held = good(&stage.ran(&["status", "--json"]));
    assert!(held.contains("\"server:db-1\"") && held.contains("\"holder_alive\""), "{held}");
    let other = |args: &[&str]| {
        let variable = ("P24_ENV_LOCK_SESSION_ID", "3f2a91c0-0000-4000-8000-000000000001");
        stage.locked(args).envs([variable]).output().expect("locked runs")
    };
    let refused = other(&["acquire", "--no-wait", "server:db-1"]);
    assert_eq!(refused.status.code(), Some(75), "{}", String::from_utf8_lossy(&refused.stderr));
    good(&stage.ran(&["release", "server:db-1"]));
    // The playbook's own variable names a session wherever it is set.
    good(&other(&["acquire", "server:db-1"]));
    assert!(good(&stage.ran(&["status"])).contains("3f2a91c0"));
    good(&other(&["release", "server:db-1"]));
}

#[test]
fn the_state_is_in_the_user_s_own_data_of_this_machine() {
    let stage = Stage::new();
    good(&stage.ran(&["acquire", "server:db-1"]));
    assert!(stage.at("home/local/locked/locked.db").is_file());
    good(&stage.ran(&["release", "server:db-1"]));
}
