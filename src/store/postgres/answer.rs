//! The functions' JSON as our words. Texts pass through the door here.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;
use uuid::Uuid;

use crate::store::door::shown;
use crate::store::{
    Acquisition, Ahead, Became, Blocker, FileRecord, Granted, Live, Release, Renewal, Revocation, StoreError,
    Unsettled, Victim,
};
use crate::terms::{Digest, FencingToken, GrantId, Resource, ResourceName, Scope};

use super::board::Left;
use super::seen::Seen;

/// A value that we never write. What it is stays out of the error.
fn odd() -> StoreError {
    StoreError::Failed("a row cannot be read".to_owned())
}

pub(super) fn uuid(text: &str) -> Result<Uuid, StoreError> {
    Uuid::parse_str(text).map_err(|_| odd())
}

pub(super) fn resource(name: &str, scope: String) -> Result<Resource, StoreError> {
    Ok(Resource { name: ResourceName::parse(name.as_bytes()).map_err(|_| odd())?, scope: Scope(scope) })
}

pub(super) fn span(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

pub(super) fn live(device: Option<i64>, inode: Option<i64>) -> Option<Live> {
    device.zip(inode).map(|(device, inode)| Live { device: device.cast_unsigned(), inode: inode.cast_unsigned() })
}

#[derive(Deserialize)]
pub(super) struct About {
    pub(super) store_id: String,
}

#[derive(Deserialize)]
pub(super) struct Named {
    name: String,
    scope: String,
}

impl Named {
    pub(super) fn read(self) -> Result<Resource, StoreError> {
        resource(&self.name, self.scope)
    }
}

#[derive(Deserialize)]
pub(super) struct Token {
    name: String,
    scope: String,
    token: i64,
}

#[derive(Deserialize)]
pub(super) struct Owed {
    name: String,
    scope: String,
    token: i64,
    holder: String,
    operation: String,
    host: String,
    files: Vec<FileRecord>,
}

impl Owed {
    fn read(self) -> Result<Unsettled, StoreError> {
        Ok(Unsettled {
            resource: resource(&self.name, self.scope)?,
            token: FencingToken(self.token),
            holder: shown(&self.holder),
            operation: shown(&self.operation),
            host: shown(&self.host),
            files: self.files,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct Waiting {
    grant: String,
    live_device: Option<i64>,
    live_inode: Option<i64>,
    host_id: String,
    holder: String,
}

#[derive(Deserialize)]
pub(super) struct InTheWay {
    #[serde(flatten)]
    lease: Seen,
    reclaimable: bool,
}

/// The answer to a request.
#[derive(Deserialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub(super) enum Acquired {
    Granted {
        tokens: Vec<Token>,
        lasts_ms: i64,
        unsettled: Vec<Owed>,
        carried: Vec<Owed>,
        reclaimed: Vec<String>,
        adopted: Vec<Named>,
        /// A schema of before does not say it.
        #[serde(default)]
        heads: Option<Vec<Option<String>>>,
        /// Most have none, and a schema of before never.
        #[serde(default)]
        words: Vec<Left>,
    },
    Busy {
        blockers: Vec<InTheWay>,
        ahead: Vec<Waiting>,
        deadlock: bool,
    },
}

impl Acquired {
    pub(super) fn read(self) -> Result<Acquisition, StoreError> {
        Ok(match self {
            Self::Granted { tokens, lasts_ms, unsettled, carried, reclaimed, adopted, heads, words } => {
                let token = |it: Token| Ok((resource(&it.name, it.scope)?, FencingToken(it.token)));
                Acquisition::Granted(Granted {
                    tokens: tokens.into_iter().map(token).collect::<Result<_, StoreError>>()?,
                    lasts: span(lasts_ms),
                    unsettled: unsettled.into_iter().map(Owed::read).collect::<Result<_, _>>()?,
                    reclaimed: reclaimed.iter().map(|it| uuid(it).map(GrantId)).collect::<Result<_, _>>()?,
                    adopted: adopted.into_iter().map(|it| resource(&it.name, it.scope)).collect::<Result<_, _>>()?,
                    carried: carried.into_iter().map(Owed::read).collect::<Result<_, _>>()?,
                    heads: heads.map(|heads| heads.into_iter().map(|head| head.map(Digest::from)).collect()),
                    words: words.into_iter().map(Left::read).collect(),
                })
            }
            Self::Busy { blockers, ahead, deadlock } => {
                let blocker =
                    |it: InTheWay| Ok(Blocker { lease: it.lease.read()?, reclaimable_when_gone: it.reclaimable });
                let waiting = |it: Waiting| {
                    Ok(Ahead {
                        grant: GrantId(uuid(&it.grant)?),
                        live: live(it.live_device, it.live_inode),
                        host_id: it.host_id,
                        holder: shown(&it.holder),
                    })
                };
                Acquisition::Busy {
                    blockers: blockers.into_iter().map(blocker).collect::<Result<_, StoreError>>()?,
                    ahead: ahead.into_iter().map(waiting).collect::<Result<_, StoreError>>()?,
                    deadlock,
                }
            }
        })
    }
}

/// The answer to a renew.
#[derive(Deserialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub(super) enum Beat {
    Renewed { lasts_ms: i64 },
    Revoked,
    Gone,
}

impl Beat {
    pub(super) fn read(self) -> Result<Renewal, StoreError> {
        Ok(match self {
            Self::Renewed { lasts_ms } => Renewal::Renewed(span(lasts_ms)),
            Self::Revoked => Renewal::Revoked,
            Self::Gone => Renewal::Gone,
        })
    }
}

/// The answer to a settling.
#[derive(Deserialize)]
pub(super) struct Settled {
    answer: String,
}

impl Settled {
    pub(super) fn read(self) -> Result<Release, StoreError> {
        match self.answer.as_str() {
            "released" => Ok(Release::Released),
            "not ours" => Ok(Release::NotOurs),
            _ => Err(odd()),
        }
    }
}

/// The answer to a theft.
#[derive(Deserialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
pub(super) enum TakenAway {
    Revoked { leases: Vec<Taken> },
    Nothing,
    Quarantined,
    Changed,
}

/// A lease that was taken away.
#[derive(Deserialize)]
pub(super) struct Taken {
    name: String,
    scope: String,
    token: i64,
    holder: String,
    became: String,
}

impl TakenAway {
    pub(super) fn read(self) -> Result<Revocation, StoreError> {
        Ok(match self {
            Self::Revoked { leases } => {
                Revocation::Revoked(leases.into_iter().map(Taken::read).collect::<Result<_, _>>()?)
            }
            Self::Nothing => Revocation::Nothing,
            Self::Quarantined => Revocation::Quarantined,
            Self::Changed => Revocation::Changed,
        })
    }
}

impl Taken {
    fn read(self) -> Result<Victim, StoreError> {
        let became = match self.became.as_str() {
            "told" => Became::Told,
            "free to take" => Became::Free,
            "ended" => Became::Ended,
            _ => return Err(odd()),
        };
        let (resource, holder) = (resource(&self.name, self.scope)?, shown(&self.holder));
        Ok(Victim { resource, token: FencingToken(self.token), holder, became })
    }
}
