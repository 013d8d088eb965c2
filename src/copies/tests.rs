//! Copies, by themselves.
#![forbid(unsafe_code)]

use super::*;

fn chain() -> (tempfile::TempDir, Chain) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let chain = Chain::of(directory.path(), &Scope::global(), "secrets/x.env.sops", Path::new("/one/x"));
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
fn the_copies_of_another_checkout_are_told_apart_and_what_both_had_is_of_both() {
    let (directory, one) = chain();
    let other = Chain::of(directory.path(), &Scope::global(), "secrets/x.env.sops", Path::new("/other/x"));
    let of = |chain: &Chain| -> Vec<Vec<u8>> {
        chain.here().expect("here").into_iter().map(|copy| fs::read(copy.path).expect("copy")).collect()
    };
    one.keep(b"both", Quality::Proven, 1).expect("kept");
    other.keep(b"both", Quality::PreImage, 2).expect("kept");
    other.keep(b"newer", Quality::Proven, 3).expect("kept");
    assert_eq!((of(&one), of(&other)), (vec![b"both".to_vec()], vec![b"newer".to_vec(), b"both".to_vec()]));
    assert!(kept(&one).iter().all(|(quality, _)| *quality == Quality::Proven), "proven once is proven everywhere");
    assert_eq!(kept(&one).len(), 3);
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

/// What root keeps for a user (under sudo) the user must be able to go on with. As another user there is nothing to see.
#[cfg(unix)]
#[test]
fn what_root_keeps_in_the_directory_of_a_user_is_the_users() {
    use std::os::unix::fs::MetadataExt as _;
    let (directory, chain) = chain();
    if std::os::unix::fs::chown(directory.path(), Some(4242), Some(4242)).is_err() {
        return;
    }
    chain.keep(b"one", Quality::Proven, 1).expect("kept");
    chain.put_aside(b"two", false, 2).expect("kept");
    for entry in chain.entries().expect("entries") {
        assert_eq!(fs::metadata(&entry.path).expect("copy").uid(), 4242);
        assert_eq!(fs::metadata(entry.path.parent().expect("folder")).expect("folder").uid(), 4242);
    }
}

#[test]
fn what_is_to_be_sops_is_known_before_there_is_a_copy_and_only_at_its_place() {
    let (directory, one) = chain();
    let other = Chain::of(directory.path(), &Scope::global(), "secrets/x.env.sops", Path::new("/other/x"));
    let known = |path: &str| Known::of(directory.path()).may_have(Path::new(path));
    assert!(!one.is_known_here() && !known("/one/x"));
    one.mean(1).expect("noted");
    assert!(one.is_known_here() && known("/one/x"));
    assert!(!other.is_known_here() && !known("/other/x"));
    other.keep(b"one", Quality::Proven, 2).expect("kept");
    assert!(other.is_known_here() && known("/other/x"));
    // It is no copy, and is noted once.
    one.mean(3).expect("noted");
    assert_eq!((kept(&one).len(), one.entries().expect("entries").len()), (1, 1));
    assert_eq!(fs::read_dir(&one.directory).expect("chain").count(), 2);
}
