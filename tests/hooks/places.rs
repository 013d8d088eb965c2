//! First commits, work trees, submodules, partial clones.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use crate::world::board::in_front;

use super::yard::{FILE, Yard, ends, text, versions};

#[test]
fn the_first_commit() {
    let yard = Yard::empty();
    ends(yard.locked().args(["hooks", "install"]), 0);
    yard.write(FILE, b"A=1\n");
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "x"], Some("the file is plaintext"));
    yard.write(FILE, &versions().first);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "x"], Some("written without locked"));
    yard.knows(FILE, &versions().first, None);
    yard.is(&["commit", "-qm", "x"], None);
}

#[test]
fn a_linked_work_tree_and_a_directory_below() {
    let yard = Yard::new();
    yard.git(&["worktree", "add", "-q", "-b", "tree", "../tree"]);
    let tree = yard.root().parent().expect("parent").join("tree");
    fs::write(tree.join(FILE), &versions().second).expect("written");
    let commit = |directory: &str| {
        yard.command("git").current_dir(tree.join(directory)).args(["commit", "-qam", "x"]).output().expect("git runs")
    };
    yard.judged("work tree", &commit(""), Some("locked adopt secrets/a.env"));
    yard.judged("below", &commit("secrets"), Some("locked adopt a.env"));
    yard.knows(FILE, &versions().second, Some(&versions().first));
    yard.judged("work tree", &commit("secrets"), None);
    let status = ends(yard.locked().current_dir(&tree).args(["hooks", "status", "--json"]), 0);
    assert_eq!(text(&status.stdout).matches("\"installed\"").count(), 3, "{}", text(&status.stdout));
}

#[test]
fn a_submodule_has_hooks_of_its_own() {
    let yard = Yard::new();
    let part = Yard::without_hooks();
    let url = part.root().to_str().expect("UTF-8");
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "part"]);
    yard.is(&["commit", "-qm", "a submodule"], None);
    let inside = yard.path("part");
    ends(yard.locked().current_dir(&inside).args(["hooks", "install"]), 0);
    assert!(yard.path(".git/modules/part/hooks/pre-commit").exists());
    fs::write(inside.join(FILE), b"A=1\n").expect("written");
    let commit = || yard.command("git").current_dir(&inside).args(["commit", "-qam", "x"]).output().expect("git runs");
    yard.judged("submodule", &commit(), Some("the file is plaintext"));
    fs::write(inside.join("plain.txt"), b"x\n").expect("written");
    fs::write(inside.join(FILE), &versions().first).expect("written");
    yard.judged("submodule", &commit(), None);
    // The outer repository commits which commit it is, and none of its files.
    yard.is(&["commit", "-qam", "moved"], None);
}

#[test]
fn a_clone_without_contents_fetches_none() {
    let yard = Yard::new();
    yard.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", yard.root().display());
    let clone = yard.root().parent().expect("parent").join("clone");
    let to = clone.to_str().expect("UTF-8");
    yard.git(&["clone", "-q", "--filter=blob:none", "--no-checkout", &from, to]);
    let git = |args: &[&str]| yard.command("git").current_dir(&clone).args(args).output().expect("git runs");
    ends(yard.locked().current_dir(&clone).args(["hooks", "install"]), 0);
    for args in [&["sparse-checkout", "set", "--no-cone", "/plain.txt"][..], &["checkout", "-q", "main"]] {
        assert!(git(args).status.success(), "{args:?}");
    }
    // git itself fetches what it commits; whatever else is not here stays away.
    let blob = |path: &str| text(&git(&["rev-parse", &format!("HEAD:{path}")]).stdout).trim().to_owned();
    let (file, rules) = (blob(FILE), blob(".sops.yaml"));
    assert!(git(&["update-index", "--add", "--cacheinfo", &format!("100644,{file},secrets/c.env")]).status.success());
    yard.judged("a name", &git(&["commit", "-qm", "x"]), None);
    fs::create_dir_all(clone.join("secrets")).expect("directory");
    fs::write(clone.join("secrets/new.env.sops"), b"A=1\n").expect("written");
    assert!(git(&["add", "--sparse", "secrets/new.env.sops"]).status.success());
    let refused = Some("secrets/new.env.sops cannot be committed: the file is plaintext");
    yard.judged("plaintext", &git(&["commit", "-qm", "x"]), refused);
    let missing = text(&git(&["rev-list", "--objects", "--missing=print", "HEAD"]).stdout);
    assert!(missing.contains(&format!("?{rules}")), "it was fetched: {missing}");
    // Before 2.44, git died of the first object that it may not fetch, instead of going on behind it.
    let real = text(&ends(yard.command("sh").args(["-c", "command -v git"]), 0).stdout);
    let old = yard.world.script("git", &OLD_GIT.replace("@REAL@", real.trim()));
    let audit = |git: Option<&Path>| {
        let mut command = yard.locked();
        git.map(|git| command.env("PATH", in_front(git)));
        let output = command.current_dir(&clone).args(["audit", "HEAD", "--json"]).output().expect("it runs");
        (output.status.code(), text(&output.stdout))
    };
    let told = audit(None);
    assert!(told.0.is_some_and(|code| code != 69 && code != 70), "{told:?}");
    assert_eq!(audit(Some(&old)), told);
}

/// `cat-file` as git 2.39.5 answers where an object would have to be fetched.
const OLD_GIT: &str = r#"[ "$1" = cat-file ] || exec @REAL@ "$@"
while read -r name; do
    answer=$(printf '%s\n' "$name" | @REAL@ "$@" 2>/dev/null; echo .)
    case $answer in
        . | *" missing
.") echo "fatal: could not fetch $name from promisor remote" >&2; exit 128 ;;
    esac
    printf '%s' "${answer%.}"
done
"#;
