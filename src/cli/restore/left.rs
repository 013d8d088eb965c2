//! Why a file is to be replaced, and what is said when it is not.
#![forbid(unsafe_code)]

use crate::canary::Fault;
use crate::exit;
use crate::report::Refusal;

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

impl Work<'_> {
    pub(super) fn still_bad(&self, why: String, next: &str) -> Box<Left> {
        let (retry, next) = ("no".to_owned(), next.to_owned());
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
                why: "it is not quarantined either; nothing was changed".to_owned(),
                retry,
                next,
            }
        };
        Box::new(Left { refusal, status: exit::QUARANTINED })
    }

    /// Plaintext is never thrown away unasked; `other` is the version that would come in its place.
    pub(super) fn plaintext(&self, other: Option<&Version>) -> Box<Left> {
        let shown = &self.shown;
        let mut next = format!("encrypt it with the sops program itself, then locked restore {shown} --accept");
        if let Some(other) = other {
            next = format!("{next}; or throw the plaintext away: locked restore {shown} --from {}", other.which);
        }
        self.still_bad("it is plaintext, which may hold somebody's edit".to_owned(), &next)
    }

    pub(super) fn cannot(&self, why: &str) -> Box<Left> {
        let refusal = Refusal {
            word: "REFUSED",
            what: format!("{} was not restored: {why}", self.shown),
            why: "nothing was changed".to_owned(),
            retry: "yes, after a look at the file".to_owned(),
            next: format!("ls -l {}", self.shown),
        };
        Box::new(Left { refusal, status: exit::INTERNAL })
    }
}
