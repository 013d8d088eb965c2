//! Who wrote it: versions against the receipts of their chains. Pure.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap, HashSet};

use super::finding::{Finding, Wrong};
use crate::canary::Fault;

/// A version that is new where it is, and whose content is as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Below the root of the repository, as git keeps it.
    pub path: Vec<u8>,
    /// Its object.
    pub blob: String,
    /// The digest by which receipts know it, where it was looked at.
    pub digest: Option<String>,
    /// Nobody here can read it: what we stumble at. Its receipt says that sops could.
    pub odd: Option<Fault>,
    /// The commit that brought it, and when (seconds since 1970); none for what is staged.
    pub commit: Option<(String, i64)>,
    /// What it replaces, in each parent that has something there.
    pub before: Vec<Version>,
}

/// A content, as receipts may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its object.
    pub blob: String,
    /// Its digest.
    pub digest: Option<String>,
}

/// What a receipt says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The digest of the version that was replaced; none for a new file, and where a chain begins anew.
    pub base: Option<String>,
    /// The digest of the version.
    pub new: String,
    /// Its object, where that was known.
    pub blob: Option<String>,
    /// The token of the lease.
    pub token: i64,
    /// When: milliseconds since 1970.
    pub at: i64,
}

/// The receipts of each path that was asked about.
pub type Chains = HashMap<Vec<u8>, Vec<Written>>;

impl Written {
    fn is_of(&self, blob: &str, digest: Option<&str>) -> bool {
        self.blob.as_deref() == Some(blob) || digest == Some(&*self.new)
    }
}

/// The contents that have a receipt, under whatever path of the scope.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// By digest.
    pub digests: HashSet<String>,
    /// By object.
    pub blobs: HashSet<String>,
}

impl Known {
    fn has(&self, wanted: &Wanted) -> bool {
        self.blobs.contains(&wanted.blob) || wanted.digest.as_ref().is_some_and(|digest| self.digests.contains(digest))
    }
}

/// Those without a receipt.
#[must_use]
pub fn unlocked(wanted: &[Wanted], known: &Known) -> Vec<Wanted> {
    wanted.iter().filter(|wanted| !known.has(wanted)).cloned().collect()
}

/// Whether it was committed before its path had its first receipt: there was no `locked` then.
#[must_use]
pub fn is_older_than_its_chain(wanted: &Wanted, chains: &Chains) -> bool {
    let first = chains.get(&wanted.path).into_iter().flatten().map(|receipt| receipt.at).min();
    let at = wanted.commit.as_ref().map(|(_, at)| at.saturating_mul(1000));
    at.zip(first).is_some_and(|(at, first)| at < first)
}

/// The last receipt of a content.
pub(super) fn newest<'a>(chain: &'a [Written], blob: &str, digest: Option<&str>) -> Option<&'a Written> {
    chain.iter().filter(|receipt| receipt.is_of(blob, digest)).max_by_key(|receipt| receipt.token)
}

/// The version and all that it was made from.
pub(super) fn seen_by<'a>(own: &'a str, chain: &'a [Written]) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![own];
    while let Some(digest) = open.pop() {
        if seen.insert(digest) {
            open.extend(
                chain.iter().filter(|receipt| receipt.new == digest).filter_map(|receipt| receipt.base.as_deref()),
            );
        }
    }
    seen
}

/// Those that nobody can read, where no receipts can be asked for.
#[must_use]
pub fn odd(wanted: &[Wanted]) -> Vec<Finding> {
    wanted.iter().filter(|wanted| wanted.odd.is_some()).map(Wanted::missing).collect()
}

impl Wanted {
    /// What is wrong with it when it has no receipt.
    #[must_use]
    pub fn missing(&self) -> Finding {
        self.finding(self.odd.clone().map_or(Wrong::Unlocked, Wrong::Bad))
    }

    /// This is wrong with it.
    #[must_use]
    pub fn finding(&self, wrong: Wrong) -> Finding {
        Finding {
            path: self.path.clone(),
            blob: Some(self.blob.clone()),
            commit: self.commit.as_ref().map(|(commit, _)| commit.clone()),
            wrong,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::audit) fn receipt(base: Option<&str>, new: &str, token: i64) -> Written {
        let base = base.map(str::to_owned);
        Written { base, new: new.to_owned(), blob: Some(format!("blob {new}")), token, at: token * 1000 }
    }

    pub(in crate::audit) fn wanted(new: &str, before: &[&str], at: i64) -> Wanted {
        let version = |of: &&str| Version { blob: format!("blob {of}"), digest: None };
        Wanted {
            path: b"x".to_vec(),
            blob: format!("blob {new}"),
            digest: None,
            odd: None,
            commit: Some(("c".to_owned(), at)),
            before: before.iter().map(version).collect(),
        }
    }

    #[test]
    fn a_version_is_known_by_its_object_or_its_digest() {
        let known = Known { digests: HashSet::from(["a".to_owned()]), blobs: HashSet::from(["blob a".to_owned()]) };
        let by_digest = Wanted { digest: Some("a".to_owned()), ..wanted("other", &[], 9) };
        let all = [wanted("a", &[], 9), by_digest, wanted("b", &[], 9)];
        assert_eq!(unlocked(&all, &known), [wanted("b", &[], 9)]);
    }

    #[test]
    fn what_is_older_than_the_first_receipt_of_its_path_needs_none() {
        let chains = Chains::from([(b"x".to_vec(), vec![receipt(None, "a", 5), receipt(Some("a"), "b", 7)])]);
        let elsewhere = Wanted { path: b"y".to_vec(), ..wanted("a", &[], 4) };
        let staged = Wanted { commit: None, ..wanted("a", &[], 4) };
        for (wanted, older) in
            [(wanted("c", &[], 4), true), (wanted("c", &[], 5), false), (elsewhere, false), (staged, false)]
        {
            assert_eq!(is_older_than_its_chain(&wanted, &chains), older, "{wanted:?}");
        }
    }
}
