//! Who else has a secret: the SOPS files of the repository with a key of the same name. Names are in the open in a SOPS
//! file, so no key is needed. What has no new value from who rotates the secret gives its readers the old one.
#![forbid(unsafe_code)]

mod found;
mod written;

use std::path::PathBuf;
use std::time::Duration;

use crate::naming::{Local, Namer, Target};
use crate::report;
use crate::settle::Unwritten;
use crate::store::{Ended, HistoryFilter, LeaseView, PastLease, Receipt, Store, StoreError};
use crate::terms::{Resource, SessionId};

use super::files::quoted;
use super::{Context, env_of, said_scope};
use found::{Found, Secret};
use written::{Version, Written};

/// How far back in the ledger the beginning of a rotation is looked for.
const LOOK_BACK: u32 = 200;

/// What is left to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// The files that have the key and no new value of it, as seen from the working directory.
    pub files: Vec<PathBuf>,
    /// Why it is not known of every file; none when it is.
    pub unseen: Option<String>,
    /// The session holds the rotation by `acquire` beyond the command at hand: this is not its end.
    pub goes_on: bool,
}

impl Left {
    /// Nothing is: every file with the key was looked at and written.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.files.is_empty() && self.unseen.is_none()
    }

    /// The same for people.
    #[must_use]
    pub fn shown(&self) -> Unwritten {
        Unwritten { files: self.files.iter().map(|file| quoted(file)).collect(), unseen: self.unseen.clone() }
    }

    /// The same in one text for the ledger: at most ten.
    #[must_use]
    pub fn noted(&self) -> String {
        let Unwritten { files, unseen } = self.shown();
        let files = (!files.is_empty()).then(|| format!("not written: {}", report::listed(&files)));
        let unseen = unseen.map(|unseen| format!("not every file was looked at: {unseen}"));
        [files, unseen].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn not_known(&mut self, why: String) {
        self.unseen.get_or_insert(why);
    }
}

/// Looks through the repository around the working directory for readers of the secret of this rotation, which
/// `session` holds. `fresh` are receipts that the store has not heard of yet, the newest last.
///
/// # Errors
/// The store could not answer.
pub fn left(
    context: &Context,
    store: &mut dyn Store,
    rotation: &Resource,
    session: SessionId,
    fresh: &[Receipt],
    limit: Duration,
) -> Result<Left, StoreError> {
    let held = store.leases(Some(std::slice::from_ref(rotation)), limit)?;
    let Some(held) = held.into_iter().find(|lease| lease.session == session) else {
        return Ok(Left { unseen: found::of(context, &Secret::of(rotation)).unseen, ..Left::default() });
    };
    let filter =
        HistoryFilter { name: Some(rotation.name.to_string()), limit: Some(LOOK_BACK), ..HistoryFilter::default() };
    let past = store.history(&filter, limit)?;
    let (began, goes_on) = began(&held, &past);
    let left = look(context, rotation, &mut |target| {
        let stored = store.receipts(target.scope(), &target.key, limit)?;
        let ours = stored.iter().filter(|it| it.at >= began && it.holder.starts_with(&session.short()));
        Ok(written::fresh(fresh, target).chain(ours.filter_map(Version::stored)).collect())
    })?;
    Ok(Left { goes_on, ..left })
}

/// The same for a run that held nothing: by its receipts alone, the newest last.
pub(super) fn left_by_force(context: &Context, rotation: &Resource, receipts: &[Receipt]) -> Left {
    let look = look(context, rotation, &mut |target| Ok(written::fresh(receipts, target).collect()));
    look.unwrap_or_else(|error| Left { unseen: Some(error.to_string()), ..Left::default() })
}

/// `versions`: what was made of a file under the rotation, the newest first.
fn look(
    context: &Context,
    rotation: &Resource,
    versions: &mut dyn FnMut(&Target) -> Result<Vec<Version>, StoreError>,
) -> Result<Left, StoreError> {
    let secret = Secret::of(rotation);
    let found = found::of(context, &secret);
    let mut left = Left { unseen: found.unseen, ..Left::default() };
    let (env, said) = (env_of(context), said_scope(context));
    let mut namer = Namer::new(Local::Peek, &env).heeding(&said);
    for Found { path, content } in found.files {
        let cwd = &context.invocation.cwd;
        let shown = path.strip_prefix(cwd).unwrap_or(&path).to_owned();
        // What has no name cannot have been written under one.
        let written = match namer.name(&path) {
            Err(_) => Written::No,
            Ok(target) => written::judge(context, &target, &secret, &content, &versions(&target)?),
        };
        match written {
            Written::Yes => {}
            Written::No => left.files.push(shown),
            Written::Unknown => left.not_known(format!("what {} had before is not known here", quoted(&shown))),
        }
    }
    Ok(left)
}

/// Since when the session has held it without a gap: a command that adopts what its session acquired has a row of its own.
/// And whether the command's row goes back to such a hold.
fn began(held: &LeaseView, past: &[PastLease]) -> (i64, bool) {
    let mut began = held.acquired_at;
    let mut goes_on = None;
    let own = past.iter().filter(|past| past.resource == held.resource && past.session == held.session);
    for past in own {
        if past.ended_at != began || !past.was_adopted(began) {
            continue;
        }
        began = past.acquired_at;
        goes_on.get_or_insert(past.ended_as == Ended::Completed);
    }
    (began, goes_on.unwrap_or(false) && !held.explicit)
}
