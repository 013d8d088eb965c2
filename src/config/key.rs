//! Every key that a file may set, and what the file of a repository that nobody has vouched for may do with it.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::nearest::nearest;
use super::value::{UnknownBase, Value};

/// A key of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The scope of the repository's names, instead of its origin's.
    Scope,
    /// Where leases live.
    Store,
    /// How long a request waits.
    Wait,
    /// How long a lease lives without a renew.
    Ttl,
    /// How often it is renewed.
    Heartbeat,
    /// When the program is stopped after the last renew.
    RenewDeadline,
    /// From TERM to KILL.
    Grace,
    /// What is done about a file that was changed outside of `locked`.
    UnknownBase,
    /// How long what may still be running elsewhere keeps others out.
    RemoteHold,
    /// How long a stopped job is renewed.
    StoppedMax,
    /// How long an open edit may last.
    MaxHold,
    /// How long a lease is kept after a failure where no file tells what changed.
    KeepFor,
    /// Is the result looked at?
    Canary,
    /// Variables that name a session.
    SessionEnv,
    /// Repositories whose files are trusted.
    TrustRepositories,
    /// Other names of hosts.
    Hosts,
    /// May `ssh -G` be asked which host a name means?
    SshAsk,
    /// Workflows that lock.
    GhWorkflows,
    /// How long a triggered workflow's lease stays.
    GhHoldFor,
    /// Is the triggered workflow waited for?
    GhFollow,
    /// Packs of built-in rules that are switched on.
    Packs,
    /// `[[rule]]`.
    Rule,
    /// `[[program]]`.
    Program,
    /// `[[launcher]]`.
    Launcher,
    /// `[[writer]]`.
    Writer,
    /// `[[sql]]`.
    Sql,
    /// `[[zone]]`.
    Zone,
    /// `[[safe]]`.
    Safe,
    /// `[[rotation]]`.
    Rotation,
}

/// What a repository's file may do with a key before somebody has trusted it (`locked config trust`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untrusted {
    /// Only what is harmless by a rule of its own; anything else stops the command.
    Checked,
    /// Only more of it than there would be without the file.
    More,
    /// Only what comes on top of what is there.
    Added,
    /// Nothing.
    Nothing,
    /// Nothing, and nothing when it is trusted either: these are for people's own files.
    Never,
}

impl Key {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 29] = [
        Self::Scope,
        Self::Store,
        Self::Wait,
        Self::Ttl,
        Self::Heartbeat,
        Self::RenewDeadline,
        Self::Grace,
        Self::UnknownBase,
        Self::RemoteHold,
        Self::StoppedMax,
        Self::MaxHold,
        Self::KeepFor,
        Self::Canary,
        Self::SessionEnv,
        Self::TrustRepositories,
        Self::Hosts,
        Self::SshAsk,
        Self::GhWorkflows,
        Self::GhHoldFor,
        Self::GhFollow,
        Self::Packs,
        Self::Rule,
        Self::Program,
        Self::Launcher,
        Self::Writer,
        Self::Sql,
        Self::Zone,
        Self::Safe,
        Self::Rotation,
    ];

    /// As it is written, with the table before it: `gh.follow`. Tables in lists are in brackets: `[[rule]]`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The key of this name; else the nearest name, when one is near. The brackets of `[[rule]]` may be left out.
    ///
    /// # Errors
    /// There is none: what may have been meant.
    pub fn named(name: &str) -> Result<Self, Option<&'static str>> {
        let bare = |key: &Self| key.name().trim_matches(['[', ']']);
        let found = Self::ALL.iter().find(|key| bare(key) == name.trim_matches(['[', ']']));
        found.copied().ok_or_else(|| nearest(name, Self::ALL.iter().map(bare)))
    }

    /// Is it a list of tables?
    #[must_use]
    pub fn is_table(self) -> bool {
        self.name().starts_with('[')
    }

    pub(super) fn untrusted(self) -> Untrusted {
        self.row().1
    }

    /// Why an untrusted file has no say, in half a sentence.
    pub(super) fn why(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (&'static str, Untrusted, &'static str) {
        use Untrusted::{Added, Checked, More, Never, Nothing};
        match self {
            Self::Scope => ("scope", Checked, "another scope is another lock on the same files"),
            Self::Store => ("store", Checked, "another store is another lock, and is sent a password"),
            Self::Wait => ("wait", More, "it would give up earlier"),
            Self::Ttl => ("ttl", Nothing, "it says how long a dead holder keeps others out"),
            Self::Heartbeat => ("heartbeat", Nothing, "it says how soon a loss is noticed"),
            Self::RenewDeadline => ("renew_deadline", Nothing, "it says when a program is stopped"),
            Self::Grace => ("grace", Nothing, "it says how long a program may end in peace"),
            Self::UnknownBase => ("unknown_base", More, "it would let more pass"),
            Self::RemoteHold => ("remote_hold", Nothing, "it says how long others are kept out"),
            Self::StoppedMax => ("stopped_max", Nothing, "it says how long others are kept out"),
            Self::MaxHold => ("max_hold", Nothing, "it says how long others are kept out"),
            Self::KeepFor => ("keep_for", Nothing, "it says how long others are kept out"),
            Self::Canary => ("canary", More, "it would let bad files pass"),
            Self::SessionEnv => ("session.env", Nothing, "a variable that all have makes one session of all"),
            Self::TrustRepositories => ("trust.repositories", Never, "whom to trust is said in a file of your own"),
            Self::Hosts => ("hosts", Nothing, "another name for a host is another lock on it"),
            Self::SshAsk => ("ssh.ask", Nothing, "it runs a command"),
            Self::GhWorkflows => ("gh.workflows", Added, ""),
            Self::GhHoldFor => ("gh.hold_for", Nothing, "it says how long others are kept out"),
            Self::GhFollow => ("gh.follow", Nothing, "it runs a command"),
            Self::Packs => ("packs", Added, ""),
            Self::Rule => ("[[rule]]", Added, "it would replace a rule that is there"),
            Self::Program => ("[[program]]", Added, "it would replace how a program is read"),
            Self::Launcher => ("[[launcher]]", Nothing, "it says which commands of a line are looked at"),
            Self::Writer => ("[[writer]]", Added, "it would make writes of what a program reads that is known"),
            Self::Sql => ("[[sql]]", Added, "it would tell SQL to a program that is known"),
            Self::Zone => ("[[zone]]", Added, "it would replace a zone that is there"),
            Self::Safe => ("[[safe]]", Nothing, "it would let writes pass"),
            Self::Rotation => ("[[rotation]]", Added, "it would replace one that is there"),
        }
    }

    /// What holds when nobody says anything; none where that is nothing, or follows from something else.
    #[must_use]
    pub fn ready(self) -> Option<Value> {
        let seconds = |seconds| Some(Value::Length(Duration::from_secs(seconds)));
        match self {
            Self::Wait => seconds(30),
            Self::Ttl => seconds(30 * 60),
            Self::KeepFor => seconds(5 * 60),
            Self::MaxHold => seconds(2 * 60 * 60),
            Self::GhHoldFor => seconds(2 * 60),
            Self::UnknownBase => Some(Value::Base(UnknownBase::Warn)),
            Self::Canary => Some(Value::Flag(true)),
            Self::SshAsk | Self::GhFollow => Some(Value::Flag(false)),
            Self::GhWorkflows => Some(Value::Words(vec!["*secret*".to_owned()])),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_by_its_name_and_a_slip_finds_the_nearest() {
        for key in Key::ALL {
            assert_eq!(Key::named(key.name()), Ok(key));
        }
        assert_eq!(Key::named("rule"), Ok(Key::Rule));
        assert_eq!(Key::named("hartbeat"), Err(Some("heartbeat")));
        assert_eq!(Key::named("gh.folow"), Err(Some("gh.follow")));
        assert_eq!(Key::named("postgres"), Err(None));
    }

    #[test]
    fn all_has_every_key_once() {
        let names: std::collections::BTreeSet<_> = Key::ALL.iter().map(|key| key.name()).collect();
        assert_eq!(names.len(), Key::ALL.len());
        assert!(Key::ALL.windows(2).all(|pair| pair[0] < pair[1]), "in the order of the definition");
    }
}
