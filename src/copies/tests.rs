//! Copies, by themselves.
#![forbid(unsafe_code)]

use super::*;

fn chain() -> (tempfile::TempDir, Chain) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let chain = Chain::of(directory.path(), &Scope::global(), "secrets/x.env.sops");
    (directory, chain)
}

fn kept(chain: &Chain) -> Vec<(Quality, Vec<u8>)> {
    chain.all().expect("all").into_iter().map(|copy| (copy.quality, fs::read(copy.path).expect("copy"))).collect()
}

#[test]
fn the_newest_comes_first_also_when_the_clock_was_set_back() {
    let (_directory, chain) = chain();
    chain.keep(b"one", Quality::Proven, 5_000).expect("kept");
    chain.keep(b"two", Quality::Proven, 4_000).expect("kept");
    assert_eq!(kept(&chain), [(Quality::Proven, b"two".to_vec()), (Quality::Proven, b"one".to_vec())]);
}

#[test]
fn a_pre_image_never_replaces_or_repeats_a_proven_copy() {
    let (_directory, chain) = chain();
    chain.keep(b"one", Quality::Proven, 1).expect("kept");
    chain.keep(b"one", Quality::PreImage, 2).expect("kept");
    assert_eq!(kept(&chain), [(Quality::Proven, b"one".to_vec())]);
    for n in 0..20u8 {
        chain.keep(&[n], Quality::PreImage, i64::from(n) + 3).expect("kept");
    }
    assert_eq!(kept(&chain).len(), 1 + PRE_IMAGES_KEPT, "only pre-images are pruned by pre-images");
}

#[test]
fn what_was_found_bad_is_kept_but_never_a_copy_and_a_later_word_counts() {
    let (_directory, chain) = chain();
    assert!(!chain.is_bad(&Digest::of(b"one")));
    chain.put_aside(b"one", false, 5).expect("kept");
    chain.put_aside(b"plain", true, 5).expect("noted");
    assert!(chain.is_bad(&Digest::of(b"one")) && chain.is_bad(&Digest::of(b"plain")));
    assert!(kept(&chain).is_empty());
    let contents: Vec<Vec<u8>> =
        chain.entries().expect("entries").into_iter().map(|entry| fs::read(entry.path).expect("file")).collect();
    assert_eq!(contents, [b"".to_vec(), b"one".to_vec()], "of plaintext there is only the digest");
    chain.keep(b"one", Quality::Proven, 1).expect("kept");
    assert!(!chain.is_bad(&Digest::of(b"one")), "accepted");
}

#[cfg(unix)]
#[test]
fn copies_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_directory, chain) = chain();
    chain.keep(b"one", Quality::Proven, 1).expect("kept");
    let copy = chain.all().expect("all").remove(0);
    assert_eq!(fs::metadata(&copy.path).expect("copy").permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(copy.path.parent().expect("folder")).expect("folder").permissions().mode() & 0o777, 0o700);
}
