//! What is asked does not grow with what is staged, and what nobody can read is proven by its receipt alone.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::Stdio;

use super::yard::{FILE, Yard, ends, says, text, versions};
use crate::world::board::in_front;

/// So many programs called git the hook starts for so many files that are staged.
fn started(files: usize, content: &[u8], status: i32) -> usize {
    let yard = Yard::new();
    yard.write("blob", content);
    let blob = yard.git(&["hash-object", "-w", "blob"]);
    let mut index = yard.command("git");
    let mut child = index.args(["update-index", "--index-info"]).stdin(Stdio::piped()).spawn().expect("git");
    let mut words = child.stdin.take().expect("a pipe");
    for number in 0..files {
        writeln!(words, "100644 {}\tmany/{}/f{number}.env", blob.trim(), number / 200).expect("staged");
    }
    drop(words);
    assert!(child.wait().expect("git").success());
    yard.knows(FILE, &versions().second, None);
    yard.write(FILE, &versions().second);
    yard.git(&["add", FILE]);
    let log = yard.world.root().join("home/git-calls");
    let path = std::env::var_os("PATH").expect("PATH");
    let git = std::env::split_paths(&path).map(|place| place.join("git")).find(|git| git.is_file()).expect("git");
    let script =
        yard.world.script("git", &format!("echo \"$*\" >> '{}'; exec '{}' \"$@\"", log.display(), git.display()));
    let mut hook = yard.locked();
    ends(hook.args(["hooks", "run", "pre-commit"]).env("PATH", in_front(&script)), status);
    let calls = std::fs::read_to_string(log).expect("calls");
    // Else git looks for a ref of each of these names.
    let by_name = calls.lines().filter(|call| call.contains("--find-object"));
    assert!(by_name.clone().all(|call| call.starts_with("-c core.warnAmbiguousRefs=false ")), "{calls}");
    assert_eq!(by_name.count(), usize::from(status != 0));
    calls.lines().count()
}

#[test]
fn ten_thousand_staged_files_start_git_as_often_as_ten() {
    for (content, status) in [(&b"A=1\n"[..], 0), (&versions().other, 73)] {
        let few = started(10, content, status);
        assert!(few < 20, "{few}");
        assert_eq!(started(10_000, content, status), few);
    }
}

/// So many that several threads look at them.
#[test]
fn many_different_files_are_judged_each_by_itself() {
    let yard = Yard::new();
    for number in 0..300 {
        let (file, sops) = (format!("secrets/f{number}.env"), [&*versions().second, &b"\n".repeat(number)].concat());
        yard.write(&file, if number % 3 == 0 { b"A=1\n" } else { &sops });
        if number % 3 == 1 {
            yard.knows(&file, &sops, None);
        }
    }
    yard.git(&["add", "-A"]);
    let said = says(yard.locked().args(["hooks", "run", "pre-commit"]), 72);
    assert!(said.contains("plaintext") && said.contains("; 199 more to see to"), "{said}");
    yard.git(&["commit", "-q", "--no-verify", "-m", "many"]);
    let told = text(&ends(yard.locked().args(["audit", "HEAD~1..HEAD"]), 72).stdout);
    assert!(told.starts_with("1 commit, 300 versions of SOPS files, 100 findings"), "{told}");
    let named = told.lines().filter(|line| line.contains("secrets/f") && line.contains("plaintext"));
    assert_eq!(named.count(), 100, "{told}");
}

#[test]
fn a_file_that_nobody_can_read_is_proven_by_its_receipt_and_by_nothing_else() {
    let yard = Yard::new();
    let file = "secrets/b.yaml";
    let meta = "sops:\n    age:\n        - recipient: age1a\n          enc: x\n    lastmodified: \"2026\"\n    mac: ENC[x]\n    version: 3.11.0\n";
    let broken = format!(": [ broken\nA: ENC[AES256_GCM,data:x,type:str]\n{meta}");
    yard.write(file, broken.as_bytes());
    yard.git(&["add", "-A"]);
    // Who holds it may write it, but that is no reason to take it in.
    ends(yard.locked().args(["acquire", "sops:b"]), 0);
    let said = says(yard.locked().args(["hooks", "run", "pre-commit"]), 72);
    assert!(said.contains("secrets/b.yaml cannot be committed"), "{said}");
    yard.git(&["commit", "-q", "--no-verify", "-m", "broken"]);
    let told = text(&ends(yard.locked().args(["audit", "HEAD~1..HEAD"]), 72).stdout);
    assert!(told.contains("1 finding"), "{told}");
    // It has one: sops could read it when it was written.
    yard.git(&["reset", "-q", "--soft", "HEAD~1"]);
    yard.knows(file, broken.as_bytes(), None);
    ends(yard.locked().args(["hooks", "run", "pre-commit"]), 0);
}

#[test]
fn the_next_step_fits_the_working_tree() {
    // Staged is one version, and the tree has another: what is adopted must be staged.
    let yard = Yard::new();
    yard.write(FILE, &versions().second);
    yard.git(&["add", FILE]);
    yard.is(&["commit", "-qm", "x"], Some("next:  locked adopt secrets/a.env\n"));
    yard.write(FILE, &versions().other);
    yard.is(&["commit", "-qm", "x"], Some("next:  locked adopt secrets/a.env && git add secrets/a.env\n"));
    // Staged is plaintext, and the tree is SOPS again.
    yard.write(FILE, b"A=1\n");
    yard.git(&["add", FILE]);
    yard.is(&["commit", "-qm", "x"], Some("next:  locked sops encrypt -i secrets/a.env && git add secrets/a.env\n"));
    yard.write(FILE, &versions().first);
    yard.is(&["commit", "-qm", "x"], Some("next:  git add secrets/a.env\n"));
    yard.git(&["add", FILE]);
    yard.is(&["commit", "-q", "--allow-empty", "-m", "x"], None);
}

/// A file that is new and was never filled has no version to come back to; one that was emptied has.
#[test]
fn an_empty_file_is_restored_only_where_there_is_something_to_restore() {
    let yard = Yard::new();
    yard.write("secrets/new.env", b"");
    yard.git(&["add", "secrets/new.env"]);
    yard.is(&["commit", "-qm", "x"], Some("next:  git rm --cached secrets/new.env\n"));
    yard.git(&["rm", "-q", "--cached", "secrets/new.env"]);
    yard.write(FILE, b"");
    yard.git(&["add", FILE]);
    yard.is(&["commit", "-qm", "x"], Some("next:  locked restore secrets/a.env && git add secrets/a.env\n"));
}

#[test]
fn what_came_from_one_remote_is_pushed_to_another_without_receipts() {
    let yard = Yard::new();
    for name in ["fork", "upstream"] {
        yard.git(&["init", "-q", "--bare", &format!("../{name}.git")]);
    }
    yard.git(&["config", "url.../fork.git.pushInsteadOf", "git@host:infra"]);
    yard.git(&["remote", "add", "upstream", "../upstream.git"]);
    yard.is(&["push", "-q", "origin", "main"], None);
    // Theirs, from a machine with a store of its own.
    yard.write(FILE, &versions().second);
    yard.git(&["commit", "-q", "--no-verify", "-am", "theirs"]);
    yard.git(&["push", "-q", "--no-verify", "upstream", "main"]);
    yard.is(&["push", "-q", "origin", "main"], None);
}
