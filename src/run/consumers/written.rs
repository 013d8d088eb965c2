//! Has a file the new value of a key? It has when what stands under the key is another one than when the rotation began, and
//! who rotates has put it there: a write that was taken back since, one of other keys alone, and what somebody else has put
//! there later are none.
#![forbid(unsafe_code)]

use crate::canary::document::{self, Values};
use crate::copies::Chain;
use crate::naming::Target;
use crate::run::{Context, env_of};
use crate::state::StateDir;
use crate::store::{Receipt, ReceiptKind, StoredReceipt};
use crate::terms::Digest;

use super::found::Secret;

/// Whether it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Yes,
    No,
    /// How it was before is not known.
    Unknown,
}

/// One write of the file under the rotation.
#[derive(Debug, Clone)]
pub(super) struct Version {
    base: Option<Digest>,
    new: Digest,
    blob: Option<String>,
}

impl Version {
    /// None: by somebody's word a chain begins with this one, which nobody has written.
    pub(super) fn stored(receipt: &StoredReceipt) -> Option<Self> {
        let StoredReceipt { base, new, blob, kind, .. } = receipt;
        let was_written = kind != ReceiptKind::Accepted.as_str();
        was_written.then(|| Self { base: base.clone(), new: new.clone(), blob: blob.clone() })
    }
}

/// Those of this file, the newest first.
pub(super) fn fresh<'r>(receipts: &'r [Receipt], target: &Target) -> impl Iterator<Item = Version> + use<'r> {
    let (scope, path) = (target.scope().clone(), target.key.clone());
    let of_it = move |it: &&Receipt| it.path == path && it.scope == scope && it.kind != ReceiptKind::Accepted;
    let version = |it: &Receipt| Version { base: it.base.clone(), new: it.new.clone(), blob: it.blob.clone() };
    receipts.iter().rev().filter(of_it).map(version)
}

/// `content`: what stands in the file now. `versions`: the newest first.
pub(super) fn judge(
    context: &Context,
    target: &Target,
    secret: &Secret,
    content: &[u8],
    versions: &[Version],
) -> Written {
    let Some(first) = versions.last() else { return Written::No };
    let now_is = Digest::of(content);
    let kept = Kept::of(context, target);
    let values = |content: &[u8]| document::read(content).ok().map(|it| it.keys.values_of(secret.name()));
    let values_of = |digest: &Digest, blob: Option<&str>| match *digest == now_is {
        true => values(content),
        false => kept.content(digest, blob).and_then(|content| values(&content)),
    };
    let before = match &first.base {
        // It is a new file.
        None => Some(Vec::new()),
        Some(base) => values_of(base, None),
    };
    let now = values(content).unwrap_or_default();
    let ours = || versions.iter().map(|version| values_of(&version.new, version.blob.as_deref()));
    compare(&now, before.as_deref(), ours)
}

/// `ours`: what stood there after each of our writes, the newest first, as far as that is known.
fn compare<I: Iterator<Item = Option<Vec<Values>>>>(
    now: &[Values],
    before: Option<&[Values]>,
    ours: impl Fn() -> I,
) -> Written {
    let Some(before) = before else { return Written::Unknown };
    if now.is_empty() || now.iter().any(|value| before.contains(value)) {
        return Written::No;
    }
    let known: Vec<Option<Vec<Values>>> = ours().collect();
    let put = |value: &Values| known.iter().flatten().any(|version| version.contains(value));
    match now.iter().all(put) {
        true => Written::Yes,
        // One of those that nobody has any more may be it.
        false if known.contains(&None) => Written::Unknown,
        false => Written::No,
    }
}

/// Where contents of the file are kept.
struct Kept<'a> {
    context: &'a Context,
    target: &'a Target,
    chain: Option<Chain>,
}

impl<'a> Kept<'a> {
    fn of(context: &'a Context, target: &'a Target) -> Self {
        let copies = StateDir::open(&env_of(context)).and_then(|state| state.copies()).ok();
        let chain = copies.map(|copies| Chain::of(&copies, target.scope(), &target.key, &target.path));
        Self { context, target, chain }
    }

    /// Among the copies, in the commit at hand, or in git under its name as a blob.
    fn content(&self, digest: &Digest, blob: Option<&str>) -> Option<Vec<u8>> {
        let kept = self.chain.as_ref().and_then(|chain| chain.with_digest(digest).ok().flatten());
        kept.or_else(|| {
            let (repository, env) = (self.target.repository.as_ref()?, env_of(self.context));
            let head = repository.head_content(&self.target.path, &env).ok().flatten();
            head.filter(|content| Digest::of(content) == *digest)
                .or_else(|| blob.and_then(|blob| repository.content_of(blob, &env).ok().flatten()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(value: &str) -> Vec<Values> {
        document::read(format!("KEY: {value}\n").as_bytes()).expect("yaml").keys.values_of("KEY")
    }

    #[test]
    fn a_new_value_is_one_that_is_another_and_that_we_have_put_there() {
        let judge = |now: &[Values], before: Option<&str>, ours: &[Option<&str>]| {
            let ours: Vec<_> = ours.iter().map(|it| it.map(values)).collect();
            compare(now, before.map(values).as_deref(), || ours.iter().cloned())
        };
        let (old, new) = (values("old"), values("new"));
        assert_eq!(judge(&new, Some("old"), &[Some("new")]), Written::Yes);
        assert_eq!(judge(&new, Some("old"), &[Some("other"), None, Some("new")]), Written::Yes, "by any of our writes");
        assert_eq!(judge(&old, Some("old"), &[Some("new")]), Written::No, "taken back");
        assert_eq!(judge(&old, Some("old"), &[Some("old")]), Written::No, "another key was written");
        assert_eq!(judge(&values("theirs"), Some("old"), &[Some("new")]), Written::No, "somebody else's");
        assert_eq!(judge(&values("theirs"), Some("old"), &[Some("new"), None]), Written::Unknown);
        assert_eq!(judge(&new, None, &[Some("new")]), Written::Unknown);
        assert_eq!(judge(&[], Some("old"), &[Some("new")]), Written::No, "nothing stands there");
        let both = [old, new].concat();
        assert_eq!(judge(&both, Some("old"), &[Some("new")]), Written::No, "one of two places has the old one");
    }
}
