//! How what a session holds ends with it. A rotation is completed when every file with the key of its secret was
//! written: no session's end says so in their place.
#![forbid(unsafe_code)]

use crate::cli::rotation;
use crate::cli::world::{CALL, World, scoped};
use crate::exit::Exit;
use crate::naming::Local;
use crate::run;
use crate::settle;
use crate::store::{Ended, LeaseView};
use crate::terms::{FencingToken, Resource};

/// How a lease ends, and what the ledger is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Closing {
    pub(in crate::cli) ended: Ended,
    pub(in crate::cli) note: Option<String>,
    /// Files with the key of its secret that were not written.
    consumers: run::Left,
}

impl Closing {
    fn of(ended: Ended) -> Self {
        Self { ended, note: None, consumers: run::Left::default() }
    }

    fn failed(note: String, consumers: run::Left) -> Self {
        Self { ended: Ended::Failed, note: Some(note), consumers }
    }

    /// The same with this word for the ledger, behind others.
    pub(super) fn noting(self, word: Option<&str>) -> Self {
        let note = [self.note.as_deref(), word].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Self { note: Some(note).filter(|note| !note.is_empty()), ..self }
    }

    /// The same by the word of somebody who says that the files need no new value.
    fn accepted(self) -> Self {
        if self.consumers.is_nothing() {
            return self;
        }
        Self { ended: Ended::Completed, consumers: run::Left::default(), ..self }
    }
}

/// How a lease that rests with the session ends when nobody is there to say more.
pub(in crate::cli) fn closing(world: &mut World<'_>, lease: &LeaseView) -> Result<Closing, Exit> {
    let rotation = &lease.resource;
    // One that is kept for its consumers has succeeded: what is left is theirs.
    let waits = rotation.name.is_rotation() && lease.reason.as_deref().is_some_and(settle::is_of_consumers);
    if !lease.explicit && !waits {
        // What is kept after a failure did not become well by the session's end.
        return Ok(Closing::of(Ended::Failed));
    } else if !rotation.name.is_rotation() {
        return Ok(Closing::of(Ended::Completed));
    }
    let here = scoped(world.context, std::slice::from_ref(&rotation.name), Local::Peek)?;
    if !here.contains(rotation) {
        let note = "its session ended elsewhere: its files were not looked at".to_owned();
        return Ok(Closing::failed(note, run::Left::default()));
    }
    let session = world.session.id;
    let left = run::consumers_left(world.context, world.store.as_mut(), rotation, session, &[], CALL)
        .map_err(|error| world.down(&error))?;
    Ok(match left.is_nothing() {
        true => Closing::of(Ended::Completed),
        false => Closing::failed(left.noted(), left),
    })
}

/// How those that rest end where somebody can be told, each judged once.
#[derive(Debug, Default)]
pub(super) struct Closings(Vec<(Resource, FencingToken, Closing)>);

impl Closings {
    /// Judges what is new. A rotation that is not completed is refused, unless that is `accepted`.
    pub(super) fn judge<'l>(
        &mut self,
        world: &mut World<'_>,
        leases: impl Iterator<Item = &'l LeaseView>,
        accepted: bool,
    ) -> Result<(), Exit> {
        for lease in leases {
            if self.find(lease).is_some() {
                continue;
            }
            let found = closing(world, lease)?;
            let found = if accepted { found.accepted() } else { found };
            if !found.consumers.is_nothing() {
                return Err(rotation::not_completed(world, &lease.resource, &found.consumers));
            }
            self.0.push((lease.resource.clone(), lease.token, found));
        }
        Ok(())
    }

    /// How this one ends.
    pub(super) fn of(&self, lease: &LeaseView) -> Closing {
        self.find(lease).cloned().unwrap_or_else(|| Closing::of(Ended::Failed))
    }

    fn find(&self, lease: &LeaseView) -> Option<&Closing> {
        self.0.iter().find(|(it, token, _)| *it == lease.resource && *token == lease.token).map(|(.., it)| it)
    }
}
