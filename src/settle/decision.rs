//! What was decided, and what people are told of it.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::canary::Fault;
use crate::exit::Exit;
use crate::store::{Ended, Ending};
use crate::terms::Resource;

use super::is_of_open_edit;

/// The decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// What becomes of the lease.
    pub ending: Ending,
    /// Resources of it that end in another way.
    pub apart: Vec<(Resource, Ending)>,
    /// What the ledger is told of what is released.
    pub note: Option<String>,
    /// How we exit.
    pub exit: Exit,
    /// What is told, the worst first.
    pub tellings: Vec<Telling>,
}

impl Decision {
    pub(super) fn new(ending: Ending, exit: Exit, telling: Option<Telling>) -> Self {
        Self { ending, apart: Vec::new(), note: None, exit, tellings: telling.into_iter().collect() }
    }

    /// The same with this word for the ledger, behind others.
    pub fn noting(mut self, word: String) -> Self {
        self.note = Some(self.note.map_or_else(|| word.clone(), |before| format!("{before}; {word}")));
        self
    }

    /// The same where nothing can be kept: what a ledger would have kept for the session is free again.
    pub fn unkept(mut self) -> Self {
        let ended = if self.exit == Exit::OK { Ended::Completed } else { Ended::Failed };
        let endings = self.apart.iter_mut().map(|(_, ending)| ending).chain([&mut self.ending]);
        for ending in endings.filter(|ending| matches!(ending, Ending::Keep { .. } | Ending::Elsewhere { .. })) {
            *ending = Ending::Release(ended);
        }
        self.tellings.retain(|telling| !matches!(telling, Telling::Kept { .. } | Telling::Consumers { .. }));
        for telling in &mut self.tellings {
            if let Telling::Unproven { stays, .. } = telling {
                *stays = None;
            }
        }
        self
    }

    /// The same where this resource is not completed yet: it stays with its session, others are not let in.
    pub fn held_back(mut self, resource: &Resource, consumers: Unwritten, keep_for: Duration) -> Self {
        let own = self.apart.iter_mut().find(|(apart, _)| apart == resource);
        let ending = own.map_or(&self.ending, |(_, ending)| &*ending);
        if *ending != Ending::Release(Ended::Completed) {
            return self;
        }
        let reason = NOT_WRITTEN.to_owned();
        self.apart.retain(|(apart, _)| apart != resource);
        self.apart.push((resource.clone(), Ending::Keep { reason, keep_for, takeable: false }));
        self.tellings.push(Telling::Consumers { resource: resource.clone(), consumers, keep_for });
        self
    }

    /// Whether it is said for how long something stays.
    #[must_use]
    pub fn says_how_long(&self) -> bool {
        let says = |telling: &Telling| {
            matches!(
                telling,
                Telling::Kept { .. } | Telling::Unproven { stays: Some(_), .. } | Telling::Consumers { .. }
            )
        };
        self.tellings.iter().any(says)
    }

    /// The same where some of it stays longer than the command asked for, as under a hold that lasts longer: people are told of
    /// the time that the board shows. `lasts`: for how long a resource stays by the store.
    pub fn lasting(mut self, lasts: &dyn Fn(&Resource) -> Option<Duration>) -> Self {
        let longer = |resource: &Resource, asked: Duration| match lasts(resource) {
            // What is shown has no fractions.
            Some(left) if left > asked => Duration::from_secs(left.as_secs() + u64::from(left.subsec_nanos() > 0)),
            _ => asked,
        };
        let mut tellings = Vec::new();
        for telling in std::mem::take(&mut self.tellings) {
            match telling {
                Telling::Kept { resources, wrote, keep_for } => {
                    let mut groups: Vec<(Duration, Vec<Resource>)> = Vec::new();
                    for resource in resources {
                        let stays = longer(&resource, keep_for);
                        match groups.iter_mut().find(|(known, _)| *known == stays) {
                            Some((_, group)) => group.push(resource),
                            None => groups.push((stays, vec![resource])),
                        }
                    }
                    let told = |(keep_for, resources)| Telling::Kept { resources, wrote, keep_for };
                    tellings.extend(groups.into_iter().map(told));
                }
                Telling::Unproven { why, stays: Some((resources, asked)) } => {
                    let least = resources.iter().map(|resource| longer(resource, asked)).min().unwrap_or(asked);
                    tellings.push(Telling::Unproven { why, stays: Some((resources, least)) });
                }
                Telling::Consumers { resource, consumers, keep_for } => {
                    let keep_for = longer(&resource, keep_for);
                    tellings.push(Telling::Consumers { resource, consumers, keep_for });
                }
                other => tellings.push(other),
            }
        }
        self.tellings = tellings;
        self
    }

    /// Why something of it is quarantined, if it is.
    #[must_use]
    pub fn quarantine(&self) -> Option<&str> {
        let endings = self.apart.iter().map(|(_, ending)| ending).chain([&self.ending]);
        endings.into_iter().find_map(|ending| match ending {
            Ending::Quarantine { reason } => Some(reason.as_str()),
            _ => None,
        })
    }

    /// A file of it is plaintext, and the lease stays with its session until that is closed.
    #[must_use]
    pub fn is_open_edit(&self) -> bool {
        matches!(&self.ending, Ending::Keep { reason, takeable: false, .. } if is_of_open_edit(reason))
    }

    /// Why something of it stays, if it does: the lease's own reason before that of a part.
    #[must_use]
    pub fn stays(&self) -> Option<&str> {
        let endings = [&self.ending].into_iter().chain(self.apart.iter().map(|(_, ending)| ending));
        endings.into_iter().find_map(|ending| match ending {
            Ending::Keep { reason, .. }
            | Ending::Elsewhere { reason, .. }
            | Ending::Linger { reason }
            | Ending::Quarantine { reason } => Some(reason.as_str()),
            Ending::Release(_) => None,
        })
    }
}

/// Whether a rotation is kept because others have its key, by its reason.
#[must_use]
pub fn is_of_consumers(reason: &str) -> bool {
    reason == NOT_WRITTEN
}

/// Why a rotation is kept that has succeeded.
const NOT_WRITTEN: &str = "other files have the same key and were not written";

/// What gives its readers the old value of a secret, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unwritten {
    /// The files, ready for pasting.
    pub files: Vec<String>,
    /// Why it is not known of every file.
    pub unseen: Option<String>,
}

/// What a person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Telling {
    /// The file is bad.
    Bad {
        /// What is quarantined for it.
        resources: Vec<Resource>,
        /// Which.
        shown: String,
        /// What is wrong.
        fault: Fault,
    },
    /// The file is plaintext and the lease stays.
    OpenEdit {
        /// Which.
        shown: String,
    },
    /// The command failed and the lease stays.
    Kept {
        /// What of it.
        resources: Vec<Resource>,
        /// It had changed something; else the lease stays because that was asked for.
        wrote: bool,
        /// For how long.
        keep_for: Duration,
    },
    /// The command succeeded, and what was to prove that failed.
    Unproven {
        /// How.
        why: String,
        /// What stays with its session, and for how long.
        stays: Option<(Vec<Resource>, Duration)>,
    },
    /// Something of it may still be running, and nobody is let in.
    MayRunOn {
        /// What.
        reason: String,
        /// For how long.
        lasts: Duration,
    },
    /// A secret has a new value, and other files with its key have the old one.
    Consumers {
        /// The rotation, which stays with its session.
        resource: Resource,
        /// The files.
        consumers: Unwritten,
        /// For how long it stays.
        keep_for: Duration,
    },
    /// No key was at hand: only the structure was checked.
    Unverified {
        /// Which.
        shown: String,
        /// Why.
        why: String,
    },
}

#[cfg(test)]
mod tests;
