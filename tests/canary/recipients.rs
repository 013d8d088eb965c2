//! Who can decrypt the file: caught when nobody asked for the change, quiet when somebody did.

use locked::canary::{Fault, Verdict};
use locked::rules::Change;

use super::stage::{Stage, expect, fault, stranger, text};

const SOME: &str = "A=hunter2-secret\nB=2\n";

/// A file for this world's key and a team mate's.
fn for_two(mate: &str) -> Stage {
    let mut stage = Stage::plain("x.env", SOME);
    let both = format!("{},{mate}", stage.world.recipient());
    stage.sops(&["encrypt", "--age", &both, "-i", text(&stage.path)], 0);
    stage.keep();
    stage
}

#[test]
fn a_dropped_recipient_is_caught_unless_rotate_was_told_to() {
    let mate = stranger();
    let stage = for_two(&mate);
    stage.sops(&["rotate", "-i", "--rm-age", &mate, text(&stage.path)], 0);
    for change in [Change::Set, Change::Unset, Change::Edit, Change::Rotate] {
        let fault = fault(stage.look(change));
        assert!(matches!(&fault, Fault::RecipientsDropped(names) if names.to_string() == mate), "{fault}");
    }
    let mut told = expect(Change::Rotate);
    told.asked.remove_age = vec![mate];
    assert_eq!(stage.look_with(&told, &stage.arbiter()), Verdict::Sound);
}

#[test]
fn a_recipient_that_nobody_asked_for_is_caught() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    let new = stranger();
    stage.sops(&["rotate", "-i", "--add-age", &new, text(&stage.path)], 0);
    assert!(matches!(fault(stage.look(Change::Edit)), Fault::RecipientsAdded(_)));
    assert!(matches!(fault(stage.look(Change::Rotate)), Fault::RecipientsAdded(_)));
    let mut told = expect(Change::Rotate);
    told.asked.add_age = vec![new];
    assert_eq!(stage.look_with(&told, &stage.arbiter()), Verdict::Sound);
}

#[test]
fn encrypt_is_held_to_its_options_and_else_to_the_rule() {
    let stage = Stage::plain("x.env", SOME);
    let mine = stage.world.recipient().to_owned();
    stage.sops(&["encrypt", "--age", &mine, "-i", text(&stage.path)], 0);
    let mate = stranger();
    let mut wanted = expect(Change::Encrypt);
    wanted.rule_recipients = Some(vec![mine.clone(), mate]);
    assert!(matches!(fault(stage.look_with(&wanted, &stage.arbiter())), Fault::RecipientsDropped(_)));
    wanted.asked.age = Some(vec![mine]);
    assert_eq!(stage.look_with(&wanted, &stage.arbiter()), Verdict::Sound, "the option replaces the rule");
}

#[test]
fn a_rule_that_gained_a_member_and_updatekeys_is_quiet() {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    let both = vec![stage.world.recipient().to_owned(), stranger()];
    let rule = format!("creation_rules:\n  - age: {}\n", both.join(","));
    std::fs::write(stage.world.work().join(".sops.yaml"), rule).expect("rule");
    stage.sops(&["updatekeys", "-y", text(&stage.path)], 0);
    let mut wanted = expect(Change::UpdateKeys);
    assert_eq!(stage.look_with(&wanted, &stage.arbiter()), Verdict::Sound, "the rule is not known");
    wanted.rule_recipients = Some(both);
    assert_eq!(stage.look_with(&wanted, &stage.arbiter()), Verdict::Sound, "the rule is known");
    wanted.rule_recipients = Some(vec![stranger()]);
    assert!(matches!(fault(stage.look_with(&wanted, &stage.arbiter())), Fault::RecipientsDropped(_)));
}

/// rotate that swaps out the only key one holds ends with status 0.
#[test]
fn locking_oneself_out_is_caught_by_the_key_at_hand() {
    let (stage, told) = swapped();
    let mut arbiter = stage.arbiter();
    arbiter.sops = None;
    assert_eq!(fault(stage.look_with(&told, &arbiter)), Fault::LockedOut, "without running anything");
}

#[test]
fn locking_oneself_out_is_caught_by_the_arbiter_where_the_key_comes_from_a_command() {
    let (stage, told) = swapped();
    let mut arbiter = stage.arbiter();
    arbiter.env.retain(|(name, _)| name != "SOPS_AGE_KEY_FILE");
    let command = format!("cat {}", stage.world.key_file().display());
    arbiter.env.push(("SOPS_AGE_KEY_CMD".into(), command.into()));
    assert_eq!(fault(stage.look_with(&told, &arbiter)), Fault::LockedOut);
    arbiter.sops = None;
    assert!(matches!(stage.look_with(&told, &arbiter), Verdict::Unverified(_)), "the command is never run by us");
}

#[test]
fn a_file_that_opened_for_nobody_here_before_either_is_not_a_lock_out() {
    let (stage, told) = swapped();
    let mut arbiter = stage.arbiter();
    arbiter.env.retain(|(name, _)| name != "SOPS_AGE_KEY_FILE");
    assert!(matches!(stage.look_with(&told, &arbiter), Verdict::Unverified(_)));
}

fn swapped() -> (Stage, locked::canary::Expect) {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    let (mine, other) = (stage.world.recipient().to_owned(), stranger());
    stage.sops(&["rotate", "-i", "--add-age", &other, "--rm-age", &mine, text(&stage.path)], 0);
    let mut told = expect(Change::Rotate);
    told.asked.add_age = vec![other];
    told.asked.remove_age = vec![mine];
    (stage, told)
}

/// Every place where sops finds a key is looked at: with the key there, the swap is a lock-out without any run of sops.
#[test]
fn keys_are_found_where_sops_finds_them() {
    let (stage, told) = swapped();
    let key = std::fs::read_to_string(stage.world.key_file()).expect("key");
    let home = stage.world.root().join("home");
    let below = |directory: &str| {
        let directory = home.join(directory).join("sops/age");
        std::fs::create_dir_all(&directory).expect("directory");
        std::fs::write(directory.join("keys.txt"), format!("# a comment\n\n{key}")).expect("key");
    };
    let mut arbiter = stage.arbiter();
    arbiter.sops = None;
    arbiter.env.retain(|(name, _)| name != "SOPS_AGE_KEY_FILE");
    let with = |name: &str, value: &str| {
        let mut arbiter = arbiter.clone();
        arbiter.env.push((name.into(), value.into()));
        stage.look_with(&told, &arbiter)
    };
    assert!(matches!(with("NOTHING", ""), Verdict::Unverified(_)), "no key anywhere");
    assert_eq!(fault(with("SOPS_AGE_KEY", key.trim())), Fault::LockedOut);
    assert_eq!(fault(with("SOPS_AGE_KEY_FILE", "../key.txt")), Fault::LockedOut, "relative to the command's directory");
    below("xdg");
    assert_eq!(fault(with("XDG_CONFIG_HOME", text(&home.join("xdg")))), Fault::LockedOut);
    assert!(matches!(with("SOPS_AGE_KEY", "AGE-PLUGIN-YUBIKEY-1"), Verdict::Unverified(_)), "a key that we cannot use");
    below(".config");
    assert_eq!(fault(with("NOTHING", "")), Fault::LockedOut);
}

#[test]
fn the_last_key_group_deleted_is_caught_and_others_are_quiet() {
    let mut stage = Stage::encrypted("x.yaml", "yaml", "a: hunter2-secret\n");
    stage.sops(&["groups", "add", "-f", text(&stage.path), "-i", "--age", &stranger()], 0);
    assert!(!matches!(stage.look(Change::Groups), Verdict::Bad(Fault::RecipientsAdded(_))));
    stage.write(stage.before.clone().expect("before"));
    stage.keep();
    stage.sops(&["groups", "delete", "-f", text(&stage.path), "-i", "0"], 0);
    assert_eq!(
        fault(stage.look(Change::Groups)).to_string(),
        "the SOPS metadata is broken: it names no key that could decrypt the file"
    );
}

/// sops takes SSH keys for age recipients; one behind a passphrase is a key that we cannot use.
#[test]
fn ssh_keys_are_found_where_sops_finds_them() {
    let mut stage = Stage::plain("x.env", SOME);
    let ssh = stage.world.root().join("home/.ssh");
    std::fs::create_dir(&ssh).expect("directory");
    let make = |stage: &Stage, path: &std::path::Path, passphrase: &str| {
        let mut command = stage.world.command("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-C", "", "-N", passphrase, "-f"]).arg(path);
        assert!(command.status().expect("ssh-keygen runs").success());
    };
    make(&stage, &ssh.join("id_ed25519"), "");
    let public = std::fs::read_to_string(ssh.join("id_ed25519.pub")).expect("public key");
    let (mine, other) = (public.trim().to_owned(), stranger());
    stage.sops(&["encrypt", "--age", &mine, "-i", text(&stage.path)], 0);
    stage.keep();
    stage.sops(&["rotate", "-i", "--add-age", &other, "--rm-age", &mine, text(&stage.path)], 0);
    let mut told = expect(Change::Rotate);
    told.asked.add_age = vec![other];
    told.asked.remove_age = vec![mine];
    let mut arbiter = stage.arbiter();
    assert_eq!(fault(stage.look_with(&told, &arbiter)), Fault::LockedOut, "sops opens it with the SSH key too");
    arbiter.sops = None;
    assert_eq!(fault(stage.look_with(&told, &arbiter)), Fault::LockedOut);
    let guarded = stage.world.root().join("guarded");
    make(&stage, &guarded, "a passphrase");
    arbiter.env.push(("SOPS_AGE_SSH_PRIVATE_KEY_FILE".into(), guarded.into()));
    assert!(matches!(stage.look_with(&told, &arbiter), Verdict::Unverified(_)));
}
