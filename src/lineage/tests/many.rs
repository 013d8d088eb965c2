//! Chains that are longer than what is looked at.
#![forbid(unsafe_code)]

use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::super::{Base, Case, MOST, Verdict, Way, Whereabouts, World, judge};
use super::{NOW, ahead, link, nowhere};

#[test]
fn a_version_behind_ever_so_many_is_lost_as_well_and_nothing_passes_at_the_limit() {
    let chain = |between: usize| {
        let digest = |number: usize| Digest::of(format!("{number}").as_bytes());
        let of = |number: usize| StoredReceipt {
            base: Some(Digest::of(b"a")),
            new: if number == 0 { Digest::of(b"b") } else { digest(number) },
            ..link("a>b@main~")
        };
        (0..=between).rev().map(of).collect::<Vec<_>>()
    };
    struct Gone;
    impl World for Gone {
        fn came_by_git(&mut self) -> bool {
            false
        }
        fn is_at_head(&mut self) -> bool {
            false
        }
        fn whereabouts(&mut self, receipt: &StoredReceipt, _moved_on: bool) -> Whereabouts {
            if receipt.new == Digest::of(b"b") { ahead() } else { nowhere() }
        }
    }
    for (between, expected) in [
        (64, Way::Merge("origin/main".to_owned())),
        (MOST - 1, Way::Merge("origin/main".to_owned())),
        (MOST, Way::TooMany),
    ] {
        let (chain, version) = (chain(between), Digest::of(b"a"));
        let case = Case {
            chain: &chain,
            version: Some(&version),
            base: Base::File,
            host: "here",
            worktree: Some("/own"),
            now_ms: NOW,
        };
        match judge(&case, &mut Gone) {
            Verdict::Stale { way, .. } => assert_eq!(way, expected, "{between}"),
            other => panic!("{between}: {other:?}"),
        }
    }
}
