//! Which versions of a file can be brought back.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use crate::canary;
use crate::copies::{Chain, Quality};
use crate::naming::Target;
use crate::report::day_and_time;
use crate::run::{Context, env_of};

/// A version of the file that passes the native checks.
pub(super) struct Version {
    /// `proven`, `before` or `head`.
    pub(super) which: &'static str,
    pub(super) content: Vec<u8>,
    made_at: Option<i64>,
}

impl Version {
    pub(super) fn describe(&self) -> String {
        let at = self.made_at.map_or_else(String::new, |made_at| format!(" of {}", day_and_time(made_at)));
        match self.which {
            "proven" => format!("the last proven copy{at}"),
            "before" => format!("the copy from before the write{at}"),
            _ => "HEAD".to_owned(),
        }
    }
}

/// The newest of each kind, in the order of preference: the last proven copy, the one before the write, HEAD. What is
/// as bad as the file itself is no version. A copy from before the write that is younger than every proven one came by
/// git or by a write without a lease; when `proves` says that it is sound, it is the last proven one, and an older one
/// would undo what it holds.
pub(super) fn versions(
    context: &Context,
    chain: &Chain,
    target: &Target,
    bad: &[u8],
    proves: impl Fn(&Path) -> bool,
) -> Vec<Version> {
    let here = chain.here().unwrap_or_default();
    // What another checkout had may be of another branch; HEAD is of this one.
    let head_first = here.is_empty();
    let copies = if head_first { chain.all().unwrap_or_default() } else { here };
    let of = |quality: Quality, which: &'static str| {
        copies.iter().filter(|copy| copy.quality == quality).find_map(|copy| {
            let content = fs::read(&copy.path).ok()?;
            let version = Version { which, content, made_at: Some(copy.made_at) };
            sound(&version.content, bad).then_some((copy, version))
        })
    };
    let head = || {
        let content = target.repository.as_ref()?.head_content(&target.path, &env_of(context)).ok()??;
        sound(&content, bad).then_some(Version { which: "head", content, made_at: None })
    };
    let mut kept: Vec<_> =
        [of(Quality::Proven, "proven"), of(Quality::PreImage, "before")].into_iter().flatten().collect();
    if let [(proven, _), (before, _)] = &kept[..]
        && before.made_at > proven.made_at
        && proves(&before.path)
    {
        kept.reverse();
    }
    let kept = kept.into_iter().map(|(_, version)| version);
    if head_first { head().into_iter().chain(kept).collect() } else { kept.chain(head()).collect() }
}

fn sound(content: &[u8], bad: &[u8]) -> bool {
    content != bad && canary::native(content).is_ok()
}
