//! Why a file is to be replaced, and what is said when it is not.
#![forbid(unsafe_code)]

use crate::canary::Fault;
use crate::exit;
use crate::report::Refusal;
use crate::rules;

use super::Work;
use super::version::Version;

/// Why the file is to be replaced.
pub(super) enum Why {
    /// It is plaintext: replacing it may throw somebody's edit away.
    Plaintext,
    Fault(String),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plaintext => Fault::Plaintext.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

/// Not done: what to say.
pub(super) struct Left {
    pub(super) refusal: Refusal,
    pub(super) status: i32,
}

impl Left {
    /// A newer version than the one at hand is known: it would pass for the newest.
    pub(super) fn of_stale(refusal: Refusal) -> Box<Self> {
        Box::new(Self { refusal, status: exit::STALE })
    }
}

impl Work<'_> {
    pub(super) fn still_bad(&self, why: String, retry: &str, next: &str) -> Box<Left> {
        let (retry, next) = (retry.to_owned(), next.to_owned());
        let refusal = if self.hold.may_be_quarantined() {
            Refusal {
                word: "QUARANTINED",
                what: format!("{} stays quarantined: {why}", self.shown),
                why: "only a sound file ends a quarantine".to_owned(),
                retry,
                next,
            }
        } else {
            Refusal {
                word: "REFUSED",
                what: format!("{} is not restored: {why}", self.shown),
                why: "it is not quarantined; nothing was changed".to_owned(),
                retry,
                next,
            }
        };
        Box::new(Left { refusal, status: exit::QUARANTINED })
    }

    /// Plaintext is never thrown away unasked; `other` is the version that would come in its place. An edit that is still
    /// open is ended by encrypting it; in a quarantine only the program itself may.
    pub(super) fn plaintext(&self, other: Option<&Version>) -> Box<Left> {
        let (shown, types) = (&self.shown, rules::types(&self.target.path));
        let next = if self.hold.may_be_quarantined() {
            format!("sops encrypt -i{types} {shown} && locked restore {shown} --accept")
        } else {
            format!("locked sops encrypt -i{types} {shown}")
        };
        let retry = other.map_or_else(
            || "no".to_owned(),
            |other| {
                format!("yes, after the next step; or with --from {}, which throws this plaintext away", other.which)
            },
        );
        self.still_bad("it is plaintext, which may hold somebody's edit".to_owned(), &retry, &next)
    }

    pub(super) fn cannot(&self, why: &str) -> Box<Left> {
        let refusal = Refusal {
            word: "REFUSED",
            what: format!("{} was not restored: {why}", self.shown),
            why: "nothing was changed".to_owned(),
            retry: "yes, after a look at the file".to_owned(),
            next: format!("ls -l {}", self.shown),
        };
        // As bad as it was.
        Box::new(Left { refusal, status: exit::QUARANTINED })
    }

    /// The write itself failed, on a full disk for one.
    pub(super) fn cut_off(&self, why: &str) -> Box<Left> {
        let refusal = Refusal {
            word: "REFUSED",
            what: format!("{} was not restored: it cannot be written: {why}", self.shown),
            why: "it may be cut off now; what it was is put aside, and so are its good versions".to_owned(),
            retry: "yes, once that is put right".to_owned(),
            next: format!("locked restore {}", self.shown),
        };
        Box::new(Left { refusal, status: exit::QUARANTINED })
    }
}
