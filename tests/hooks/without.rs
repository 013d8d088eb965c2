//! A machine without `locked`: the hook alone blocks what touches SOPS files, and nothing else.
#![forbid(unsafe_code)]

use std::fs;

use super::yard::{FILE, Yard, ends, says, text, versions};
use crate::world::board::install;

type Deed = fn(&Yard);

/// A yard whose hooks were put there by a program that is gone.
fn abandoned() -> Yard {
    let yard = Yard::without_hooks();
    let program = yard.world.root().join("gone/locked");
    fs::create_dir(program.parent().expect("parent")).expect("directory");
    fs::hard_link(env!("CARGO_BIN_EXE_locked"), &program)
        .unwrap_or_else(|_| install(env!("CARGO_BIN_EXE_locked"), &program, "0755"));
    ends(yard.command(&program).args(["hooks", "install"]), 0);
    fs::remove_file(&program).expect("removed");
    yard
}

#[test]
fn only_what_touches_sops_files_is_blocked() {
    let yard = abandoned();
    let rows: [(&str, Deed, bool); 8] = [
        ("another file", |yard| yard.write("plain.txt", b"more\n"), false),
        ("the rules", |yard| yard.write(".sops.yaml", b"creation_rules: []\n"), false),
        ("a version", |yard| yard.write(FILE, &versions().second), true),
        ("plaintext of it", |yard| yard.write(FILE, b"A=1\n"), true),
        ("by content", |yard| yard.write("x", &versions().second), true),
        ("by name", |yard| yard.write("a b.env.sops", b"A=1\n"), true),
        ("by a name inside", |yard| yard.write("x.SOPS.yaml", b"a: 1\n"), true),
        ("no longer there", |yard| fs::remove_file(yard.path(FILE)).expect("removed"), true),
    ];
    for (what, does, blocked) in rows {
        yard.reset();
        does(&yard);
        yard.git(&["add", "-A"]);
        yard.judged(what, &yard.try_git(&["commit", "-qm", "x"]), blocked.then_some("locked is not here to check it"));
    }
    let output = yard.command("git").args(["commit", "-qm", "x"]).env("LOCKED_BYPASS", "no disk").output();
    let said = text(&output.expect("git runs").stderr);
    assert!(said.contains("bypassed (no disk)") && said.lines().count() == 1, "{said}");
}

/// What shows differences to people (sops' own advice is `textconv = sops decrypt`) is not what is committed.
#[test]
fn no_way_of_showing_differences_hides_them() {
    for config in [["diff.sopsdiffer.textconv", "echo"], ["diff.sopsdiffer.command", "true"]] {
        let yard = abandoned();
        yard.write(".gitattributes", b"* diff=sopsdiffer\n");
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-qm", "attributes"]);
        yard.git(&["config", config[0], config[1]]);
        for content in [&versions().second[..], b"A=1\n"] {
            yard.write(FILE, content);
            yard.is(&["commit", "-qam", "x"], Some("locked is not here to check it"));
        }
        yard.git(&["commit", "-q", "--no-verify", "-am", "x"]);
        yard.git(&["init", "-q", "--bare", "../o.git"]);
        yard.is(&["push", "-q", "../o.git", "main"], Some("locked is not here to check it"));
        yard.git(&["remote", "set-url", "origin", "../o.git"]);
        yard.git(&["push", "-q", "--no-verify", "origin", "base^{commit}:refs/heads/main"]);
        yard.git(&["fetch", "-q", "origin"]);
        yard.is(&["push", "-q", "origin", "main"], Some("locked is not here to check it"));
    }
}

#[test]
fn a_first_commit_a_merge_and_a_push() {
    let yard = abandoned();
    yard.git(&["switch", "-qc", "side"]);
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "side"]);
    yard.git(&["switch", "-q", "main"]);
    yard.write("plain.txt", b"ours\n");
    yard.git(&["commit", "-qam", "ours"]);
    yard.is(&["merge", "-q", "--no-edit", "side"], None);
    yard.git(&["init", "-q", "--bare", "../o.git"]);
    yard.is(&["push", "-q", "../o.git", "main"], Some("locked is not here to check it"));
    yard.git(&["push", "-q", "--no-verify", "../o.git", "main"]);
    yard.git(&["remote", "set-url", "origin", "../o.git"]);
    yard.git(&["fetch", "-q", "origin"]);
    yard.write("plain.txt", b"more\n");
    yard.git(&["commit", "-qam", "more"]);
    yard.is(&["push", "-q", "origin", "main"], None);
    yard.git(&["push", "-q", "--no-verify", "origin", "main:other"]);
    yard.is(&["push", "-q", "origin", ":other", "main:another"], None);
}

#[test]
fn the_program_on_the_path_is_asked_first() {
    let yard = abandoned();
    let program = yard.world.script("locked", "cat; echo \"$@\"; exit 9");
    let mut commit = yard.command("git");
    commit.args(["commit", "-q", "--allow-empty", "-m", "x"]).env("PATH", crate::world::board::in_front(&program));
    assert_eq!(says(&mut commit, 1), "hooks run pre-commit --\n");
}
