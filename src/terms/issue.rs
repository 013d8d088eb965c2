//! An issue that work belongs to, as people write it: `OWNER/REPO#N`, or `HOST/OWNER/REPO#N` away from github.com.
#![forbid(unsafe_code)]

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// `[HOST/]OWNER/REPO`, as `gh --repo` takes it.
    pub repository: String,
    /// Its number.
    pub number: NonZeroU64,
}

/// What is written between an operation and its issue.
const FOR: &str = " for ";

/// So many characters of an operation are shown at most.
const SHOWN: usize = 200;

/// Not an issue.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an issue is written OWNER/REPO#NUMBER")]
pub struct NoIssue;

impl FromStr for Issue {
    type Err = NoIssue;

    fn from_str(text: &str) -> Result<Self, NoIssue> {
        let (repository, number) = text.split_once('#').ok_or(NoIssue)?;
        let parts = repository.split('/').count();
        // A part that begins with a dash would be an option of gh's.
        let plain = |part: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            part.chars().all(known) && part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        };
        if !(2..=3).contains(&parts) || repository.len() > 300 || !repository.split('/').all(plain) {
            return Err(NoIssue);
        }
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| digits).ok_or(NoIssue)?;
        Ok(Self { repository: repository.to_owned(), number })
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repository, self.number)
    }
}

impl Issue {
    /// The operation alone, of one that has this issue beside it.
    #[must_use]
    pub fn without<'a>(&self, operation: &'a str) -> &'a str {
        operation.strip_suffix(&format!("{FOR}{self}")).unwrap_or(operation)
    }

    /// An operation that is done for this issue, so that everybody who sees the lease sees the issue.
    #[must_use]
    pub fn beside(&self, operation: &str) -> String {
        let tail = format!("{FOR}{self}");
        // People are shown the beginning: the issue is to be in it, and the most of the operation.
        let room = SHOWN.saturating_sub(tail.chars().count()).max(SHOWN / 2);
        if operation.chars().count() <= room {
            return format!("{operation}{tail}");
        }
        let head: String = operation.chars().take(room - 1).collect();
        format!("{head}…{tail}")
    }

    /// The issue that stands behind an operation.
    #[must_use]
    pub fn of(operation: &str) -> Option<Self> {
        operation.rsplit_once(FOR)?.1.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_written_in_one_way() {
        for good in ["acme/infra#1", "git.acme.example/acme/infra.tools#5925", "a_b/c-d#18446744073709551615"] {
            let issue: Issue = good.parse().expect(good);
            assert_eq!(issue.to_string(), good);
            assert_eq!(Issue::of(&issue.beside("locked acquire for x/y")), Some(issue));
        }
        for bad in [
            "",
            "#1",
            "5925",
            "infra#1",
            "acme/infra",
            "acme/infra#",
            "acme/infra#0",
            "acme/infra#+1",
            "acme/infra#1x",
            "acme//infra#1",
            "-R/infra#1",
            "a/b/c/d#1",
            "a/b c#1",
            "https://github.com/acme/infra#1",
            "a/b#1#2",
            "acme/infra#18446744073709551616",
        ] {
            assert_eq!(bad.parse::<Issue>(), Err(NoIssue), "{bad}");
        }
        assert_eq!(Issue::of("sops set x"), None);
        let issue: Issue = "acme/infra#3".parse().expect("an issue");
        for length in [186, 187, 190, 600] {
            let beside = issue.beside(&"é".repeat(length));
            assert_eq!((Issue::of(&beside), beside.chars().count() <= SHOWN), (Some(issue.clone()), true), "{length}");
        }
        assert_eq!(Issue::of("looking for trouble"), None);
    }

    #[test]
    fn a_repository_may_begin_with_a_dot_and_is_no_longer_than_300_letters() {
        let long = |length: usize| format!("_a/.{}#1", "b".repeat(length - 4)).parse::<Issue>();
        assert_eq!(long(300).map(|issue| issue.repository.len()), Ok(300));
        assert_eq!(long(301), Err(NoIssue));
    }

    /// Of a long operation the beginning stays, of one that has room all of it; half of what is shown is the operation's in any
    /// case.
    #[test]
    fn an_operation_is_cut_where_its_issue_needs_the_room() {
        let short: Issue = "acme/infra#3".parse().expect("an issue");
        let long: Issue = format!("acme/{}#3", "b".repeat(200)).parse().expect("an issue");
        for (issue, room) in [(short, 183), (long, 100)] {
            let whole = "é".repeat(room);
            assert_eq!(issue.beside(&whole), format!("{whole} for {issue}"));
            assert_eq!(issue.without(&issue.beside(&whole)), whole);
            let cut = issue.beside(&"é".repeat(room + 1));
            assert_eq!(issue.without(&cut), format!("{}…", "é".repeat(room - 1)));
            assert_eq!(issue.without("sops set x for acme/other#3"), "sops set x for acme/other#3");
        }
    }
}
