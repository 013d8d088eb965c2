//! What a SOPS file holds, in the open and under another name: an open edit that was moved, or copied.
#![forbid(unsafe_code)]

use std::fs;

use super::yard::{FILE, Yard, ends, text};

/// The plaintext of the file, with one value changed.
const EDITED: &[u8] = b"A=2\nM=between\nB=1\n";

const SAID: &str = "it is what secrets/a.env holds, in the open";

/// What is done, and what is said of it, if anything.
type Deed<'a> = (&'a str, &'a dyn Fn(), Option<&'a str>);

#[test]
fn an_edit_that_is_moved_or_copied_is_no_plaintext_like_any_other() {
    let yard = Yard::new();
    let deeds: [Deed<'_>; 10] = [
        ("renamed", &|| drop(yard.git(&["mv", FILE, "b.env"])), Some(SAID)),
        ("under a name that nobody looks into", &|| drop(yard.git(&["mv", FILE, "notes.txt"])), Some(SAID)),
        (
            "put over another file",
            &|| {
                fs::rename(yard.path(FILE), yard.path("plain.txt")).expect("moved");
                yard.git(&["add", "-A"]);
            },
            Some(SAID),
        ),
        (
            "copied while it is open",
            &|| {
                fs::copy(yard.path(FILE), yard.path("b.env")).expect("copied");
                yard.git(&["add", "b.env"]);
            },
            Some(SAID),
        ),
        (
            "another file while it is open",
            &|| {
                yard.write("b.env", b"X=1\nY=between\nZ=1\n");
                yard.git(&["add", "b.env"]);
            },
            None,
        ),
        (
            "a file with the same names while it is open",
            &|| {
                yard.write("b.env", b"A=\nM=\nB=\n");
                yard.git(&["add", "b.env"]);
            },
            None,
        ),
        (
            "gone, and an example in its place",
            &|| {
                yard.git(&["rm", "-qf", FILE]);
                yard.write("a.env.example", b"A=change-me\nM=change-me\nB=change-me\n");
                yard.git(&["add", "-A"]);
            },
            None,
        ),
        (
            "gone, and references in its place",
            &|| {
                yard.git(&["rm", "-qf", FILE]);
                yard.write("a.env", b"A=vault:x#a\nM=vault:x#m\nB=vault:x#b\n");
                yard.git(&["add", "-A"]);
            },
            None,
        ),
        (
            "gone",
            &|| {
                yard.git(&["rm", "-qf", FILE]);
                yard.write("plain.txt", b"more\n");
                yard.git(&["add", "-A"]);
            },
            None,
        ),
        (
            "renamed as it was",
            &|| {
                yard.git(&["checkout", "-q", "--", FILE]);
                yard.git(&["mv", FILE, "b.env"]);
            },
            None,
        ),
    ];
    for (deed, does, refused) in deeds {
        yard.reset();
        yard.write(FILE, EDITED);
        does();
        let all = if deed == "renamed" || deed.starts_with("under") { "-qam" } else { "-qm" };
        yard.judged(deed, &yard.try_git(&["commit", all, "x"]), refused);
        // Past the hook the audit sees what a commit has taken away, and what is beside what is still there.
        if refused.is_some() {
            yard.git(&["commit", "-q", "--no-verify", all, "x"]);
            let report = text(&ends(yard.locked().args(["audit", "base..HEAD"]), 72).stdout);
            assert!(report.contains(SAID) && report.contains(" 1 finding\n"), "{deed}: {report}");
            let as_it_is = text(&yard.locked().arg("audit").output().expect("it runs").stdout);
            assert_eq!(as_it_is.contains(SAID), deed.starts_with("copied"), "{deed}: {as_it_is}");
        } else {
            ends(yard.locked().args(["audit", "base..HEAD"]), 0);
        }
    }
}
