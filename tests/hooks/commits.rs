//! What is staged, however it came there and however it is committed.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::yard::{FILE, Yard, ends, text, versions};

type Deed = fn(&Yard);

/// What is done, and why a commit of it is refused.
const DEEDS: [(&str, Deed, Option<&str>); 15] = [
    (
        "add",
        |yard| {
            yard.knows("secrets/b.env", &versions().second, None);
            yard.write("secrets/b.env", &versions().second);
        },
        None,
    ),
    ("add without receipt", |yard| yard.write("secrets/b.env", &versions().second), Some("locked adopt secrets/b.env")),
    ("add by content", |yard| yard.write("anywhere.yaml", &versions().second), Some("locked adopt anywhere.yaml")),
    ("add plaintext by rule", |yard| yard.write("secrets/b.env", b"A=1\n"), Some("the file is plaintext")),
    ("add plaintext by name", |yard| yard.write("b.env.sops", b"A=1\n"), Some("the file is plaintext")),
    ("add an empty one", |yard| yard.write("secrets/b.env", b""), Some("the file is empty")),
    ("add beside", |yard| yard.write("secrets/README.md", b"A=1\n"), None),
    (
        "modify",
        |yard| {
            yard.knows(FILE, &versions().second, Some(&versions().first));
            yard.write(FILE, &versions().second);
        },
        None,
    ),
    ("modify without receipt", |yard| yard.write(FILE, &versions().second), Some("written without locked")),
    ("modify by hand", |yard| yard.write(FILE, &by_hand()), Some("merged, or changed by hand")),
    ("decrypt", |yard| yard.write(FILE, b"A=1\nB=1\n"), Some("the file is plaintext")),
    (
        "rename",
        |yard| {
            yard.git(&["mv", FILE, "secrets/c.env"]);
        },
        None,
    ),
    (
        "copy",
        |yard| {
            yard.write("secrets/c.env", &versions().first);
        },
        None,
    ),
    (
        "delete",
        |yard| {
            yard.git(&["rm", "-q", FILE]);
        },
        None,
    ),
    ("touch another", |yard| yard.write("plain.txt", b"ENC[AES256_GCM,data: is how values begin\n"), None),
];

/// One value of the first version is gone, the code over all is not.
fn by_hand() -> Vec<u8> {
    let text = text(&versions().first);
    text.lines().filter(|line| !line.starts_with("B=")).flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

#[test]
fn whatever_is_done_and_however_it_is_committed() {
    let ways: [(&str, &[&str], &[&str]); 4] = [
        ("normal", &["add", "-A"], &["commit", "-qm", "x"]),
        ("all", &["add", "-A"], &["commit", "-qam", "x"]),
        ("path", &["add", "-A"], &["commit", "-qm", "x", "--", "."]),
        ("amend", &["add", "-A"], &["commit", "-q", "--amend", "-m", "x"]),
    ];
    let yard = Yard::new();
    for (deed, does, refused) in DEEDS {
        for (way, stage, commit) in ways {
            yard.reset();
            yard.forget();
            does(&yard);
            yard.git(stage);
            yard.judged(&format!("{deed}, {way}"), &yard.try_git(commit), refused);
        }
    }
}

/// A merge is under way when it is done: one that git could make by itself, or one that has met a conflict elsewhere.
#[test]
fn whatever_is_done_in_a_merge() {
    let yard = Yard::new();
    for (branch, path) in [("side", "side.txt"), ("against", "plain.txt")] {
        yard.git(&["switch", "-qc", branch, "base"]);
        yard.write(path, b"theirs\n");
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-qm", branch]);
    }
    for (deed, does, refused) in DEEDS {
        for branch in ["side", "against"] {
            yard.reset();
            yard.forget();
            yard.write("plain.txt", b"ours\n");
            yard.git(&["commit", "-qam", "ours"]);
            let merge = yard.try_git(&["merge", "-q", "--no-commit", "--no-ff", branch]);
            assert_eq!(merge.status.success(), branch == "side", "{}", text(&merge.stderr));
            yard.write("plain.txt", b"both\n");
            does(&yard);
            yard.git(&["add", "-A"]);
            yard.judged(&format!("{deed}, merging {branch}"), &yard.try_git(&["commit", "-qm", "x"]), refused);
        }
    }
}

#[test]
fn whatever_is_done_and_wherever() {
    for (place, yard) in [
        ("a work tree", Yard::work_tree()),
        ("a submodule", Yard::submodule()),
        ("a partial clone", Yard::partial_clone()),
    ] {
        for (deed, does, refused) in DEEDS {
            yard.reset();
            yard.forget();
            does(&yard);
            yard.git(&["add", "-A"]);
            yard.judged(&format!("{deed}, in {place}"), &yard.try_git(&["commit", "-qm", "x"]), refused);
        }
    }
}

#[test]
fn what_is_staged_counts_and_not_what_lies_in_the_working_tree() {
    let yard = Yard::new();
    yard.knows(FILE, &versions().second, Some(&versions().first));
    for (staged, working, refused) in [
        (&*versions().second, &b"A=1\n"[..], None),
        (b"A=1\n", &*versions().second, Some("the file is plaintext")),
        (&*versions().other, &*versions().second, Some("written without locked")),
    ] {
        yard.reset();
        yard.write(FILE, staged);
        yard.git(&["add", FILE]);
        yard.write(FILE, working);
        yard.is(&["commit", "-qm", "x"], refused);
        assert_eq!(fs::read(yard.path(FILE)).expect("file"), working, "the working tree is nobody's to touch");
    }
    // Of what is intended to be added nothing is committed.
    yard.reset();
    yard.write("secrets/n.env", b"A=1\n");
    yard.git(&["add", "-N", "secrets/n.env"]);
    yard.is(&["commit", "-q", "--allow-empty", "-m", "x"], None);
    // The same by a path that is committed past the index.
    yard.reset();
    yard.write(FILE, b"A=1\n");
    yard.write("plain.txt", b"more\n");
    yard.is(&["commit", "-qm", "x", "plain.txt"], None);
    yard.is(&["commit", "-qm", "x", FILE], Some("the file is plaintext"));
}

#[test]
fn names_of_any_bytes() {
    let yard = Yard::new();
    for name in [
        &b"a b.env.sops"[..],
        b"n\nl.env.sops",
        b"x\xff.env.sops",
        b"-dash.env.sops",
        b"*q\"'.env.sops",
        b":x.env.sops",
    ] {
        let name = OsStr::from_bytes(name);
        yard.reset();
        yard.forget();
        yard.write(name, &versions().second);
        yard.git(&["add", "-A"]);
        yard.is(&["commit", "-qm", "x"], Some("cannot be committed: this version was written without locked"));
        yard.knows(name, &versions().second, None);
        yard.is(&["commit", "-qm", "x"], None);
        yard.write(name, b"A=1\n");
        let path = OsString::from_iter([OsStr::new(":(literal)"), name]);
        yard.is(
            &[OsStr::new("commit"), OsStr::new("-qm"), OsStr::new("x"), OsStr::new("--"), &path],
            Some("plaintext"),
        );
    }
}

#[test]
fn the_rules_of_the_same_version_count_for_the_new_path() {
    let yard = Yard::new();
    let other = format!("creation_rules:\n  - path_regex: moved/.*\n    age: {}\n", "age1other");
    let rules = fs::read_to_string(yard.path(".sops.yaml")).expect("rules");
    yard.write(".sops.yaml", format!("{rules}{}", other.trim_start_matches("creation_rules:\n")).as_bytes());
    yard.git(&["commit", "-qam", "rules"]);
    yard.git(&["tag", "-f", "base"]);
    // Somebody else's recipients, and a renaming that the rules have other recipients for.
    yard.knows(FILE, &versions().foreign, None);
    yard.write(FILE, &versions().foreign);
    yard.is(&["commit", "-qam", "x"], Some("recipients are missing"));
    yard.reset();
    fs::create_dir(yard.path("moved")).expect("directory");
    yard.git(&["mv", FILE, "moved/a.env"]);
    yard.is(&["commit", "-qm", "x"], Some("locked sops updatekeys -y moved/a.env"));
    // Out of every rule: nothing is demanded.
    yard.git(&["mv", "moved/a.env", "a.env"]);
    yard.is(&["commit", "-qm", "x"], None);
    // Plaintext that moves into a rule; and rules that are only in the working tree.
    yard.reset();
    yard.git(&["mv", "plain.txt", "secrets/plain.txt"]);
    yard.is(&["commit", "-qm", "x"], Some("secrets/plain.txt cannot be committed: the file is plaintext"));
    yard.write(".sops.yaml", b"creation_rules: []\n");
    yard.is(&["commit", "-qm", "x"], Some("the file is plaintext"));
    yard.git(&["add", ".sops.yaml"]);
    yard.is(&["commit", "-qm", "x"], None);
}

#[test]
fn what_is_no_file_with_content_is_told_apart() {
    let yard = Yard::new();
    std::os::unix::fs::symlink("../plain.txt", yard.path("secrets/l.env")).expect("link");
    yard.write("secrets/big.env", b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n");
    yard.git(&["add", "secrets/l.env"]);
    yard.is(&["commit", "-qm", "a link"], None);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "a pointer"], Some("locked adopt secrets/big.env"));
    yard.write("secrets/big.env", b"\0GITCRYPT\0\x01\x02");
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "of another program"], None);
    // A binary file, one that is larger than is read without a name, and one that is larger than is read at all.
    let mut large = versions().second.clone();
    large.resize(2 << 20, b'\n');
    yard.write("large.env", &large);
    yard.write("binary", b"\0\x01sops\xff");
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "large"], None);
    large.resize(17 << 20, b'\n');
    yard.write("secrets/large.env", &large);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "larger"], Some("locked adopt secrets/large.env"));
}

#[test]
fn the_lease_in_this_sessions_hands_is_as_good_as_a_receipt() {
    let yard = Yard::new();
    yard.write(FILE, &versions().second);
    ends(yard.locked().args(["acquire", "sops:a"]).env("LOCKED_SESSION", crate::world::board::uuid(2)), 0);
    yard.is(&["commit", "-qam", "x"], Some("written without locked"));
    ends(yard.locked().args(["release", "sops:a"]).env("LOCKED_SESSION", crate::world::board::uuid(2)), 0);
    ends(yard.locked().args(["acquire", "sops:a"]), 0);
    yard.is(&["commit", "-qam", "x"], None);
    yard.write(FILE, b"A=1\n");
    yard.is(&["commit", "-qam", "x"], Some("the file is plaintext"));
    ends(yard.locked().args(["release", "sops:a"]), 0);
    // Below a `locked` that holds it.
    yard.write(FILE, &versions().other);
    let mut command = yard.locked();
    let output = command.args(["-r", "sops:a", "git", "commit", "-qam", "x"]).env_remove("LOCKED_SESSION").output();
    yard.judged("below", &output.expect("it runs"), None);
}

#[test]
fn without_the_store_other_commits_pass_and_the_way_out_is_told() {
    let yard = Yard::new();
    let down = |args: &[&str]| {
        let mut git = yard.command("git");
        git.args(args).env("LOCKED_STORE", "postgres://u@127.0.0.1:1/x?connect_timeout=2");
        git.output().expect("git runs")
    };
    yard.write("plain.txt", b"more\n");
    yard.judged("another file", &down(&["commit", "-qam", "x"]), None);
    yard.git(&["mv", FILE, "secrets/c.env"]);
    yard.judged("a renaming", &down(&["commit", "-qm", "x"]), None);
    yard.write("secrets/c.env", &versions().second);
    let output = down(&["commit", "-qam", "x"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("REFUSED: ") && said.contains("secrets/c.env is new"), "{said}");
    // What a ref has already was let in there, whatever the store would say.
    yard.git(&["switch", "-qc", "side"]);
    yard.git(&["commit", "-q", "--no-verify", "-am", "x"]);
    yard.git(&["switch", "-q", "main"]);
    yard.git(&["checkout", "side", "--", "secrets/c.env"]);
    yard.judged("of a branch", &down(&["commit", "-qm", "x"]), None);
    // What is wrong by itself is told first.
    yard.write("secrets/c.env", b"A=1\n");
    yard.judged("plaintext", &down(&["commit", "-qam", "x"]), Some("the file is plaintext"));
}

/// A ref may be a stash, or a branch that nobody has pushed: what lies in the open is not excused by it.
#[test]
fn plaintext_that_some_ref_has_is_plaintext() {
    let yard = Yard::new();
    for (place, keeps) in [
        ("a stash", &["stash", "store", "-m", "x"][..]),
        ("a branch", &["branch", "-f", "kept"]),
        ("a ref of its own", &["update-ref", "refs/backup/one"]),
    ] {
        yard.reset();
        yard.write(FILE, b"A=1\nM=between\nB=1\n");
        let commit = yard.git(&["stash", "create"]);
        yard.git(&[keeps, &[commit.trim()]].concat());
        yard.git(&["add", "-A"]);
        yard.judged(place, &yard.try_git(&["commit", "-qm", "x"]), Some("the file is plaintext"));
    }
}
