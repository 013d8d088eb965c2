//! A SOPS file, and a tool that is not sops: it may only write what is plaintext already, or not there, while its session
//! holds the file's lease.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::agents::{self, Brings, Written};
use crate::canary::{self, Document, Format, Kind};
use crate::exit::Exit;
use crate::naming::Target;
use crate::report::{self, ByHand, Refusal};
use crate::rules;
use crate::run::Context;
use crate::store::{FileRecord, LeaseState, LeaseView};
use crate::terms::{Resource, shell_path};

use super::hold::ours;
use crate::cli::world::{CALL, World};

/// What stands in a SOPS file's place.
enum There {
    Nothing,
    Plain,
    Sops(Option<Format>),
}

/// A write that is about to be.
pub(super) struct Writing<'a> {
    pub(super) brings: &'a Brings,
    /// The file is to be SOPS, by its content, its name or a creation rule.
    pub(super) demanded: bool,
    /// The line itself takes the lease before.
    pub(super) promised: bool,
}

/// What speaks against writing this file so.
pub(super) fn against(world: &mut World<'_>, target: &Target, writing: &Writing<'_>) -> Result<Option<Refusal>, Exit> {
    let resources: Vec<Resource> = target.resources().cloned().collect();
    let mut live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
    if !writing.demanded {
        // An open edit of this very file, and not of one that has its name.
        let is_it = |record: &FileRecord| record.scope == target.scope().0 && record.key == target.key;
        live.retain(|lease| lease.files.iter().any(is_it));
    }
    if let Some(bad) = live.iter().find(|lease| lease.state == LeaseState::Quarantined) {
        return Ok(Some(report::left_bad(&shown(world.context, &target.path), bad)));
    }
    let ours = ours(world);
    let good = |lease: &&LeaseView| matches!(lease.state, LeaseState::Held | LeaseState::Kept);
    let of_file = live.iter().filter(|lease| lease.resource == target.resource).filter(good);
    let (own, others): (Vec<&LeaseView>, Vec<&LeaseView>) = of_file.partition(|lease| ours.contains(&lease.session));
    let holder = others.first().copied();
    let held = !own.is_empty() || (writing.promised && holder.is_none());
    let free = if writing.demanded { held } else { holder.is_none() };
    let sound = matches!(writing.brings, Brings::Whole(text) if canary::native(text.as_bytes()).is_ok());
    let how = match (content(&target.path), writing.brings) {
        (There::Sops(_), Brings::Nothing) => (!held).then_some(ByHand::Removed),
        (There::Plain | There::Nothing, Brings::Nothing) => holder.map(|_| ByHand::Removed),
        (There::Sops(_), _) => (!(held && sound)).then_some(ByHand::Ciphertext),
        (There::Plain | There::Nothing, _) => {
            if held && writing.demanded {
                // The end of the session looks whether it was encrypted.
                let written = Written { resource: target.resource.clone(), path: target.path.clone() };
                agents::note_written(&world.state, world.session.id, &written);
            }
            (!free).then_some(ByHand::Unheld)
        }
    };
    Ok(how.map(|how| refusal(world, target, how, holder)))
}

fn content(path: &Path) -> There {
    let Ok(content) = crate::platform::regular_text(path) else { return There::Nothing };
    match canary::sniff(&content) {
        Kind::Sops(format) => {
            let binary = canary::document::read(&content).is_ok_and(|document: Document| document.is_binary());
            There::Sops((!binary).then_some(format))
        }
        _ => There::Plain,
    }
}

/// The refusal, with the names as they can be pasted here.
pub(super) fn refusal(world: &World<'_>, target: &Target, how: ByHand, holder: Option<&LeaseView>) -> Refusal {
    let types = match content(&target.path) {
        There::Sops(format) => format.map(|it| rules::types_for(&target.path, it.as_type())).unwrap_or_default(),
        There::Plain | There::Nothing => rules::types(&target.path),
    };
    report::by_hand(how, &shown(world.context, &target.path), &target.resource, &types, holder)
}

/// A path as it can be pasted where the agent works.
fn shown(context: &Context, path: &Path) -> String {
    let cwd = crate::platform::canonical(&context.invocation.cwd).unwrap_or_else(|_| context.invocation.cwd.clone());
    let path = path.strip_prefix(&cwd).unwrap_or(path);
    shell_path(path)
}
