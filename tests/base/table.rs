//! The table of versions, row by row, with the real git.

use super::stage::{At, FILE, Stage, next, on_either_store, says};

on_either_store! {
    the_newest_version_goes_without_a_word_and_without_git,
    what_was_discarded_is_noted,
    a_revert_goes,
    a_branch_that_went_back_is_no_newer_version,
    another_branch_is_told_and_nobody_waits_for_it,
    what_lies_before_the_newest_may_be_lost_as_well,
    unknown_versions_go_as_the_settings_say,
    a_version_of_another_host_is_waited_for_a_day,
    a_person_s_word_starts_the_chain_anew_and_is_recorded,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn the_newest_version_goes_without_a_word_and_without_git(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    // The first one makes the chain, the others go by it; a git that must not be started would fail them.
    let path = crate::world::board::in_front(&stage.world.script("git", "echo started >> \"$HOME/git\"; exit 1"));
    for key in ["A1", "A2", "A3"] {
        assert_eq!(says(stage.set(1, &a, key).env("PATH", &path), 0), "");
    }
    assert!(!stage.world.root().join("home/git").exists(), "git was started");
}

fn what_was_discarded_is_noted(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    let said = stage.sets(2, &a, "A2");
    assert!(
        said.contains("a newer version was discarded, which nobody has any more; it was written by 01010101"),
        "{said}"
    );
    assert_eq!(stage.keys(&a), ["first", "A2"]);
    assert_eq!(stage.sets(2, &a, "A3"), "", "once");
    // A commit that was taken back is discarded as well.
    stage.commit(&a, "taken back");
    stage.git(&a, &["reset", "-q", "--hard", "HEAD~1"]);
    let said = stage.sets(1, &a, "A4");
    assert!(
        said.contains("a newer version was discarded, which nobody has any more; it was written by 02020202"),
        "{said}"
    );
}

fn a_revert_goes(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    stage.commit(&a, "A1");
    stage.sets(1, &a, "A2");
    stage.commit(&a, "A2");
    stage.git(&a, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(stage.sets(2, &a, "B1"), "");
    stage.commit(&a, "B1");
    stage.git(&a, &["checkout", "-q", "HEAD~3", "--", FILE]);
    assert_eq!(stage.sets(2, &a, "B2"), "");
}

fn a_branch_that_went_back_is_no_newer_version(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    stage.git(&a, &["revert", "--no-edit", "HEAD"]);
    stage.git(&a, &["push", "-q"]);
    stage.git(&b, &["fetch", "-q"]);
    assert_eq!(stage.sets(2, &b, "B1"), "");
}

fn another_branch_is_told_and_nobody_waits_for_it(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    let (one, other) = (stage.worktree(&a, "one"), stage.worktree(&a, "other"));
    stage.sets(1, &one, "A1");
    let said = stage.sets(2, &other, "B1");
    assert!(said.contains("a newer version is on another branch (one)"), "{said}");
    stage.commit(&one, "A1");
    stage.commit(&other, "B1");
    let said = stage.sets(1, &one, "A2");
    assert!(said.contains("a newer version is on another branch (other)"), "{said}");
    // Once it is merged into the default branch it is everybody's; `one` has gone on, so the next link is of `other`.
    stage.commit(&one, "A2");
    stage.git(&a, &["merge", "-q", "other"]);
    let said = stage.sets(2, &a, "M");
    assert!(said.contains("another branch (one)") && !said.contains("(other)"), "{said}");
}

fn what_lies_before_the_newest_may_be_lost_as_well(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    let (one, other) = (stage.worktree(&a, "one"), stage.worktree(&a, "other"));
    stage.sets(1, &a, "MAIN");
    stage.commit(&a, "MAIN");
    // The newest link is of another branch, by a word; the one before it is on the default branch.
    says(&mut stage.set_with(2, &other, &["--accept-stale"], "OTHER"), 0);
    stage.commit(&other, "OTHER");
    let (_, line) = stage.refused(1, &one);
    assert_eq!(line, "git merge main");
}

fn unknown_versions_go_as_the_settings_say(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    stage.sets(1, &a, "A1");
    let by_hand = |key: &str| {
        let mut sops = stage.world.sops();
        sops.current_dir(&a).args(["set", FILE, &format!("[\"{key}\"]"), "\"x\""]);
        says(&mut sops, 0);
    };
    let base = |word: &str| {
        let directory = stage.world.root().join("home/.config/locked");
        std::fs::create_dir_all(&directory).expect("directory");
        std::fs::write(directory.join("config.toml"), format!("unknown_base = \"{word}\"\n")).expect("settings");
    };
    by_hand("H1");
    let said = stage.sets(2, &a, "A2");
    assert!(said.starts_with(&format!("locked: {FILE} was changed outside of locked: ")), "{said}");
    assert!(said.contains("the last known one was written by 01010101"), "{said}");
    base("allow");
    by_hand("H2");
    assert_eq!(stage.sets(2, &a, "A3"), "");
    base("refuse");
    by_hand("H3");
    let said = says(&mut stage.set(2, &a, "A4"), 74);
    assert!(said.starts_with(&format!("REFUSED: {FILE} was changed outside of locked\n")), "{said}");
    let line = next(&said);
    assert_eq!(line, format!("locked adopt {FILE}"));
    // What came by git is known to git, whatever the settings say: committed, or only staged.
    stage.git(&a, &["add", FILE]);
    assert_eq!(stage.sets(2, &a, "A5"), "");
    by_hand("H4");
    stage.commit(&a, "by hand");
    assert_eq!(stage.sets(2, &a, "A6"), "");
    by_hand("H5");
    says(&mut stage.set_with(2, &a, &["--accept-stale"], "A7"), 0);
    assert_eq!(stage.keys(&a), ["first", "A1", "H1", "A2", "H2", "A3", "H3", "A5", "H4", "A6", "H5", "A7"]);
}

fn a_version_of_another_host_is_waited_for_a_day(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.git(&a, &["checkout", "-q", "--", FILE]);
    stage.newest_is("host = 'far', worktree = '/srv/it'");
    let (said, line) = stage.refused(2, &b);
    assert!(said.contains("(far:/srv/it)"), "{said}");
    assert_eq!(line, "git pull");
    // Everything that was pushed is here, and it is not among that: a pull would change nothing.
    stage.newest_is_older_by(3_600_000);
    stage.git(&b, &["fetch", "-q"]);
    let (said, line) = stage.refused(2, &b);
    assert!(said.contains("\nretry: yes, once it was committed and pushed on far in /srv/it, "), "{said}");
    assert_eq!(line, "git pull");
    stage.newest_is("branch = 'topic'");
    let said = stage.sets(2, &b, "B1");
    assert!(said.contains("a newer version is on another branch (topic)"), "{said}");
    stage.git(&b, &["checkout", "-q", "--", FILE]);
    stage.newest_is("host = 'far', worktree = '/srv/it'");
    stage.newest_is_older_by(DAY_MS);
    let said = stage.sets(2, &b, "B2");
    assert!(said.contains("a newer version was discarded"), "{said}");
}

fn a_person_s_word_starts_the_chain_anew_and_is_recorded(at: At) {
    let stage = Stage::new(at);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    stage.sets(1, &a, "A1");
    stage.push(&a);
    stage.refused(2, &b);
    assert_eq!(stage.kinds(), ["proven"], "a refusal leaves nothing");
    let said = says(&mut stage.set_with(2, &b, &["--accept-stale"], "B1"), 0);
    assert!(said.starts_with("locked: going on with --accept-stale, which is recorded: "), "{said}");
    assert_eq!(stage.kinds(), ["proven", "accepted", "proven"]);
    assert_eq!(stage.sets(2, &b, "B2"), "");
    // Now A's is the older one.
    let (said, _) = stage.refused(1, &a);
    assert!(said.contains("02020202"), "{said}");
    // It is no setting: nothing inherits it.
    says(stage.set(1, &a, "A2").env("LOCKED_ACCEPT_STALE", "1"), 74);
}
