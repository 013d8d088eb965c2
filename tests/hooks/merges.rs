//! Merges: what either side has was looked at there; what neither has is new.
#![forbid(unsafe_code)]

use super::yard::{FILE, Yard, text, versions};

/// `side` has the second version, past the hook; the yard stands on `main`, with the other version there.
fn parted() -> Yard {
    let yard = Yard::new();
    yard.git(&["switch", "-qc", "side"]);
    yard.write(FILE, &versions().second);
    yard.write("side.txt", b"x\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-q", "--no-verify", "-m", "side"]);
    yard.git(&["switch", "-q", "main"]);
    yard
}

#[test]
fn a_merge_takes_over_what_the_other_side_has() {
    let yard = parted();
    yard.write("plain.txt", b"ours\n");
    yard.git(&["commit", "-qam", "ours"]);
    yard.is(&["merge", "-q", "--no-edit", "side"], None);
    // Also when that side has no name here any more.
    let side = yard.git(&["rev-parse", "side"]);
    yard.git(&["reset", "-q", "--hard", "HEAD^"]);
    yard.git(&["branch", "-qD", "side"]);
    yard.is(&["merge", "-q", "--no-edit", side.trim()], None);
}

#[test]
fn a_merge_of_the_text_alone_is_refused() {
    let yard = parted();
    yard.knows(FILE, &versions().other, Some(&versions().first));
    yard.write(FILE, &versions().other);
    yard.git(&["commit", "-qam", "ours"]);
    // git takes the code over all from one side, and values from both.
    yard.is(&["merge", "-q", "--no-edit", "-X", "ours", "side"], Some("merged, or changed by hand"));
    yard.git(&["merge", "--abort"]);
    yard.is(&["merge", "-q", "--no-edit", "-X", "theirs", "side"], Some("merged, or changed by hand"));
    yard.git(&["merge", "--abort"]);
    yard.is(&["merge", "-q", "--no-edit", "-s", "ours", "side"], None);
}

#[test]
fn a_conflict_is_resolved_by_a_side_or_by_a_proven_version() {
    let yard = parted();
    yard.knows(FILE, &versions().other, Some(&versions().first));
    yard.write(FILE, &versions().other);
    yard.git(&["commit", "-qam", "ours"]);
    let merge = || {
        let output = yard.try_git(&["merge", "-q", "--no-edit", "side"]);
        assert!(!output.status.success(), "{}", text(&output.stderr));
    };
    merge();
    // As git left it, with its signs.
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "x"], Some("there are conflict markers"));
    for side in ["--ours", "--theirs"] {
        yard.git(&["reset", "-q", "--merge"]);
        merge();
        yard.git(&["checkout", "-q", side, "--", FILE]);
        yard.git(&["add", "-A"]);
        yard.is(&["commit", "-qm", "x"], None);
        yard.git(&["reset", "-q", "--hard", "HEAD^"]);
    }
    merge();
    let mut third = versions().second.clone();
    third.extend(b"EMPTY=\n");
    yard.write(FILE, &third);
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "x"], Some("written without locked"));
    yard.knows(FILE, &third, Some(&versions().second));
    yard.is(&["commit", "-qm", "x"], None);
}
