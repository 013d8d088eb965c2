//! What a rule asks of the lease, besides the resources.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use super::set::Set;

/// On what terms the resources are held. Where several rules decide together, the strictest terms count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// How long the lease lives without a renew; none: as the settings have it.
    pub ttl: Option<Duration>,
    /// How long a request waits; none: as the settings have it.
    pub wait: Option<Duration>,
    /// The proof after the command.
    pub canary: Canary,
    /// What becomes of the lease when the command fails; none: by what it may have changed.
    pub keep: Option<Keep>,
    /// How long a lease is kept after a failure where no file tells what changed; none: 5 minutes.
    pub keep_for: Option<Duration>,
    /// How long the lease stays after success: what was triggered is still at work elsewhere.
    pub hold_for: Option<Duration>,
    /// What is waited for after success, the lease held: a command that ends when the work elsewhere does.
    pub follow: Vec<Follow>,
    /// How long after its start a command that runs on for ever (an attached `up`) still holds the lease.
    pub give_back: Option<Duration>,
}

/// The proof after a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Canary {
    /// What the kind of resource has: a canary decrypt for SOPS files, none for the rest.
    #[default]
    Ready,
    /// None.
    Off,
    /// Besides, this command must succeed.
    Command(Vec<String>),
}

/// When a lease is kept after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// Never: it is given back.
    Never,
    /// When something may have changed.
    Changed,
    /// Always.
    Always,
}

impl Keep {
    /// The word in rules and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Changed => "changed",
            Self::Always => "always",
        }
    }
}

/// How long a lease stays where what it set off elsewhere was to be followed to its end and was not: 2 minutes.
pub const HOLD_FOR: Duration = Duration::from_secs(2 * 60);

/// What is waited for: the run of a workflow that the command sets off (`gh run watch`), asked for as the command itself
/// asked GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Follow {
    /// As the command names it: file, id or display name.
    pub workflow: String,
    /// `[HOST/]OWNER/REPO` if the command says it.
    pub repository: Option<String>,
    /// Where the command runs; absolute.
    pub cwd: PathBuf,
    /// What is set for it besides the environment.
    pub env: Set,
}

impl Follow {
    /// A run of this workflow, asked for at the root, with nothing else set.
    #[must_use]
    pub fn of(workflow: &str, repository: Option<&str>) -> Self {
        let (workflow, repository) = (workflow.to_owned(), repository.map(str::to_owned));
        Self { workflow, repository, cwd: PathBuf::from("/"), env: Set::default() }
    }
}

impl Policy {
    /// Both at once: longer leases, shorter patience, more proof, longer holds.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            ttl: self.ttl.max(other.ttl),
            wait: shorter(self.wait, other.wait),
            canary: self.canary.and(other.canary),
            keep: stricter(self.keep, other.keep),
            keep_for: self.keep_for.max(other.keep_for),
            hold_for: self.hold_for.max(other.hold_for),
            follow: both(self.follow, other.follow),
            // What runs on for ever gives back only when everything in the line does.
            give_back: self.give_back.zip(other.give_back).map(|(one, two)| one.max(two)),
        }
    }
}

/// Each once: a workflow that one line sets off twice runs twice, and to follow one of them is to follow both.
fn both(mut one: Vec<Follow>, two: Vec<Follow>) -> Vec<Follow> {
    one.extend(two.into_iter().filter(|more| !one.contains(more)).collect::<Vec<_>>());
    one
}

/// Who says nothing says "changed", which is stricter than "never".
fn stricter(one: Option<Keep>, two: Option<Keep>) -> Option<Keep> {
    match (one, two) {
        (Some(Keep::Never), None) | (None, Some(Keep::Never)) => None,
        (one, two) => one.max(two),
    }
}

fn shorter(one: Option<Duration>, two: Option<Duration>) -> Option<Duration> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

impl Canary {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Command(one), _) | (_, Self::Command(one)) => Self::Command(one),
            (Self::Off, Self::Off) => Self::Off,
            _ => Self::Ready,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn together_the_strictest_word_on_keeping_counts() {
        let table = [
            (None, Some(Keep::Never), None),
            (Some(Keep::Never), Some(Keep::Never), Some(Keep::Never)),
            (Some(Keep::Never), Some(Keep::Changed), Some(Keep::Changed)),
            (None, Some(Keep::Always), Some(Keep::Always)),
            (Some(Keep::Changed), None, Some(Keep::Changed)),
            (None, None, None),
        ];
        for (one, two, both) in table {
            let of = |keep| Policy { keep, ..Policy::default() };
            assert_eq!(of(one).and(of(two)).keep, both, "{one:?} {two:?}");
            assert_eq!(of(two).and(of(one)).keep, both, "{two:?} {one:?}");
        }
    }
}
