//! `git commit --amend`: what HEAD brought is looked at anew, since HEAD goes.
#![forbid(unsafe_code)]

use super::yard::{FILE, Yard, versions};

const WITHOUT: &str = "written without locked";

/// HEAD has this content, past the hooks.
fn past_the_hooks(yard: &Yard, content: &[u8]) {
    yard.reset();
    yard.write(FILE, content);
    yard.git(&["commit", "-q", "--no-verify", "-am", "past"]);
}

#[test]
fn what_went_past_the_hooks_is_stopped_when_it_is_amended() {
    let yard = Yard::new();
    yard.git(&["config", "alias.again", "commit --amend --no-edit"]);
    let ways: [&[&str]; 4] = [
        &["commit", "-q", "--amend", "--no-edit"],
        &["commit", "-q", "--ame", "-m", "x"],
        &["-c", "core.pager=cat", "commit", "-qam", "x", "--amend"],
        &["again", "-q"],
    ];
    for (content, words) in [(&b"A=1\nB=1\n"[..], "the file is plaintext"), (&versions().second, WITHOUT)] {
        for way in ways {
            past_the_hooks(&yard, content);
            yard.is(way, Some(words));
            // Whatever is staged beside it.
            yard.write("plain.txt", b"more\n");
            yard.git(&["add", "-A"]);
            yard.is(way, Some(words));
        }
        // Another commit upon it changes nothing about it, whatever its message says.
        yard.is(&["commit", "-q", "-m", "--amend"], None);
    }
}

#[test]
fn what_is_proven_or_somebody_else_s_is_amended_as_ever() {
    let yard = Yard::new();
    let amend = ["commit", "-q", "--amend", "-m", "x"];
    yard.is(&amend, None);
    past_the_hooks(&yard, &versions().second);
    yard.git(&["branch", "backup"]);
    yard.is(&amend, None);
    yard.git(&["branch", "-D", "backup"]);
    past_the_hooks(&yard, &versions().other);
    yard.is(&amend, Some(WITHOUT));
    yard.knows(FILE, &versions().other, None);
    yard.is(&amend, None);
    // What is made good is no finding.
    past_the_hooks(&yard, b"A=1\n");
    yard.write(FILE, &versions().first);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-q", "--amend", "--allow-empty", "-m", "x"], None);
}

/// HEAD goes, and what it had was there all the same.
#[test]
fn what_head_has_counts_as_the_version_before() {
    let yard = Yard::new();
    let amend = ["commit", "-q", "--amend", "-m", "x"];
    let brings = |content: &[u8]| {
        yard.reset();
        yard.knows("anywhere.yaml", &versions().second, None);
        yard.write("anywhere.yaml", content);
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-qm", "brings"]);
    };
    brings(&versions().second);
    yard.write("anywhere.yaml", b"A=1\nB=1\n");
    yard.git(&["add", "-A"]);
    yard.is(&amend, Some("the file is plaintext"));
    brings(&versions().second);
    yard.git(&["mv", "anywhere.yaml", "notes.yaml"]);
    yard.write("notes.yaml", b"A=2\nM=between\nB=1\n");
    yard.git(&["add", "-A"]);
    yard.is(&amend, Some("in the open"));
}

#[test]
fn the_first_commit_of_all_and_a_merge_have_the_parents_that_they_have() {
    let yard = Yard::new();
    yard.git(&["checkout", "-q", "--orphan", "first"]);
    yard.write(FILE, &versions().second);
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "--no-verify", "-m", "first"]);
    yard.is(&["commit", "-q", "--amend", "-m", "x"], Some(WITHOUT));
    yard.reset();
    past_the_hooks(&yard, &versions().second);
    yard.git(&["branch", "side"]);
    yard.reset();
    yard.write("plain.txt", b"ours\n");
    yard.git(&["commit", "-qam", "ours"]);
    yard.git(&["merge", "-q", "side"]);
    yard.is(&["commit", "-q", "--amend", "-m", "x"], None);
}
