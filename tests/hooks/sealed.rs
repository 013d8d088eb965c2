//! A SOPS file with a value in the open, or with the code of another version: without any key.
#![forbid(unsafe_code)]

use std::process::Command;

use super::yard::{FILE, Yard, ends, says, text, versions};

/// A SOPS file with `A` in the open.
fn laid_open() -> Vec<u8> {
    let whole = text(&versions().first);
    let line = |line: &str| if line.starts_with("A=") { "A=leaked".to_owned() } else { line.to_owned() };
    (whole.lines().map(line).collect::<Vec<_>>().join("\n") + "\n").into_bytes()
}

/// What a merge of text makes of two versions: the code of `second` over values of both.
fn mixed() -> Vec<u8> {
    let (second, other) = (text(&versions().second), text(&versions().other));
    let b = other.lines().find(|line| line.starts_with("B=")).expect("B");
    let line = |line: &str| if line.starts_with("B=") { b.to_owned() } else { line.to_owned() };
    (second.lines().map(line).collect::<Vec<_>>().join("\n") + "\n").into_bytes()
}

fn keyless(yard: &Yard) -> Command {
    let mut locked = yard.locked();
    locked.env_remove("SOPS_AGE_KEY_FILE").env_remove("SOPS_AGE_KEY");
    locked
}

#[test]
fn a_value_in_the_open_is_seen_under_whatever_name_and_adopted_by_nobody() {
    let yard = Yard::new();
    for (what, path) in [("in its place", FILE), ("added", "secrets/new.env"), ("no rule means it", "x.env")] {
        yard.reset();
        yard.write(path, &laid_open());
        yard.git(&["add", "-A"]);
        let said = text(&yard.try_git(&["commit", "-qm", what]).stderr);
        assert!(said.contains("values lie in the open that its own rules say are encrypted: A\n"), "{what}: {said}");
        let said = says(keyless(&yard).args(["adopt", path]), 72);
        assert!(said.contains("values lie in the open"), "{what}: {said}");
        yard.git(&["commit", "-q", "--no-verify", "-m", what]);
        let said = text(&ends(keyless(&yard).args(["audit", "base..HEAD"]), 72).stdout);
        assert!(said.contains("1 finding\n") && said.contains("values lie in the open"), "{what}: {said}");
    }
    // Renamed and changed in one commit.
    yard.reset();
    yard.git(&["mv", FILE, "secrets/new.env"]);
    yard.write("secrets/new.env", &laid_open());
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "moved"], Some("values lie in the open"));
    let said = text(&yard.try_git(&["commit", "-qm", "moved"]).stderr);
    assert!(said.ends_with("next:  git rm --cached secrets/new.env\n"), "{said}");
}

#[test]
fn a_code_over_other_values_is_seen_under_another_name_and_adopted_by_nobody() {
    let yard = Yard::new();
    yard.git(&["switch", "-qc", "topic"]);
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "second"]);
    yard.git(&["switch", "-q", "main"]);
    // As a pick with `-X theirs` would commit it, past the hook: the other side is in another branch.
    yard.write(FILE, &mixed());
    let said = says(keyless(&yard).args(["adopt", FILE]), 72);
    assert!(said.contains("its values are not those that its message authentication code was made for"), "{said}");
    let mut pick = yard.command("git");
    pick.args(["commit", "-q", "--no-verify", "-am", "picked"]).env("GIT_COMMITTER_DATE", "2090-01-01T00:00:00Z");
    ends(&mut pick, 0);
    says(keyless(&yard).args(["adopt", FILE]), 72);
    let said = text(&ends(keyless(&yard).args(["audit", "base..HEAD"]), 72).stdout);
    assert!(said.contains("1 finding\n") && said.contains("its message authentication code"), "{said}");
    // Whoever brings the good one back, or picks it whole, is let be.
    yard.write(FILE, &versions().second);
    ends(keyless(&yard).args(["adopt", FILE]), 0);
    yard.reset();
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "whole"]);
    assert!(text(&ends(keyless(&yard).args(["audit", "base..HEAD"]), 0).stdout).contains("0 findings"));
    // Moved and changed in one commit, where nobody has the other side: by what went away.
    yard.git(&["branch", "-qD", "topic"]);
    yard.git(&["mv", FILE, "secrets/new.env"]);
    yard.write("secrets/new.env", &mixed());
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "moved"], Some("its message authentication code was made for"));
}

#[test]
fn hooks_that_are_put_there_adopt_nothing_of_that_kind() {
    let yard = Yard::without_hooks();
    yard.write("secrets/two.env", &versions().second);
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "-m", "two"]);
    yard.write("secrets/mixed.env", &mixed());
    yard.git(&["add", "-A"]);
    let mut commit = yard.command("git");
    commit.args(["commit", "-q", "-m", "mixed"]).env("GIT_COMMITTER_DATE", "2090-01-01T00:00:00Z");
    ends(&mut commit, 0);
    let output = ends(yard.locked().args(["hooks", "install"]), 0);
    let (told, said) = (text(&output.stdout), text(&output.stderr));
    assert!(told.contains("1 SOPS file of HEAD got a receipt"), "{told}");
    assert!(said.contains("1 SOPS file of HEAD is not as it must be"), "{said}");
}

#[test]
fn a_large_plaintext_is_plaintext_and_a_large_sops_file_is_not_judged() {
    let yard = Yard::new();
    let mut large = b"A=1\n".repeat(5 << 20);
    yard.write("secrets/large.env", &large);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "large"], Some("the file is plaintext"));
    yard.git(&["commit", "-q", "--no-verify", "-m", "large"]);
    let said = text(&ends(yard.locked().args(["audit", "base..HEAD"]), 72).stdout);
    assert!(said.contains("the file is plaintext"), "{said}");
    yard.reset();
    large.extend_from_slice(&versions().first);
    yard.write("secrets/large.env", &large);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "large"], Some("it has no receipt"));
}
