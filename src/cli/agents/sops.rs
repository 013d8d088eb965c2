//! A SOPS file, and a tool that is not sops: it may only write what is plaintext already, or not there, while its session
//! holds the file's lease.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::agents::Brings;
use crate::canary::{self, Document, Format, Kind};
use crate::exit::Exit;
use crate::naming::Target;
use crate::report::{self, ByHand, Refusal};
use crate::run::Context;
use crate::store::{LeaseState, LeaseView};
use crate::terms::{Resource, shell_quote};

use crate::cli::world::{CALL, World};

/// What stands in a SOPS file's place.
enum There {
    Nothing,
    Plain,
    Sops(Option<Format>),
}

/// What speaks against writing this SOPS file so.
pub(super) fn against(world: &mut World<'_>, target: &Target, brings: &Brings) -> Result<Option<Refusal>, Exit> {
    let resources: Vec<Resource> = target.resources().cloned().collect();
    let live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
    if let Some(bad) = live.iter().find(|lease| lease.state == LeaseState::Quarantined) {
        return Ok(Some(report::left_bad(&shown(world.context, &target.path), bad)));
    }
    let good = |lease: &&LeaseView| matches!(lease.state, LeaseState::Held | LeaseState::Kept);
    let mine = |lease: &&LeaseView| lease.session == world.session.id;
    let of_file = live.iter().filter(|lease| lease.resource == target.resource).filter(good);
    let (own, others): (Vec<&LeaseView>, Vec<&LeaseView>) = of_file.partition(mine);
    let (held, holder) = (!own.is_empty(), others.first().copied());
    let sound = matches!(brings, Brings::Whole(text) if canary::native(text.as_bytes()).is_ok());
    let how = match (content(&target.path), brings) {
        (_, Brings::Nothing) => (!held).then_some(ByHand::Removed),
        (There::Sops(_), _) => (!(held && sound)).then_some(ByHand::Ciphertext),
        (There::Plain | There::Nothing, _) => (!held).then_some(ByHand::Unheld),
    };
    Ok(how.map(|how| refusal(world, target, how, holder)))
}

fn content(path: &Path) -> There {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let Some(content) = is_file.then(|| std::fs::read(path).ok()).flatten() else { return There::Nothing };
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
    let format = match content(&target.path) {
        There::Sops(format) => format,
        There::Plain | There::Nothing => by_name(&bare(&target.path)),
    };
    let types = match format {
        Some(format) if by_name(&target.path) != Some(format) => {
            format!(" --input-type {0} --output-type {0}", format.as_type())
        }
        _ => String::new(),
    };
    report::by_hand(how, &shown(world.context, &target.path), &target.resource, &types, holder)
}

/// The format by which sops opens a file of this name (`config.go`: `formatForPath`); none: as bytes.
fn by_name(path: &Path) -> Option<Format> {
    match path.extension().and_then(OsStr::to_str) {
        Some("yaml" | "yml") => Some(Format::Yaml),
        Some("json") => Some(Format::Json),
        Some("env") => Some(Format::Dotenv),
        Some("ini") => Some(Format::Ini),
        _ if path.file_name() == Some(OsStr::new(".env")) => Some(Format::Dotenv),
        _ => None,
    }
}

/// The name without what says that it is SOPS: `x.env.sops` is an `x.env`.
fn bare(path: &Path) -> PathBuf {
    match path.extension().and_then(OsStr::to_str) {
        Some("sops" | "enc" | "encrypted") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// A path as it can be pasted where the agent works.
fn shown(context: &Context, path: &Path) -> String {
    let cwd = std::fs::canonicalize(&context.invocation.cwd).unwrap_or_else(|_| context.invocation.cwd.clone());
    let path = path.strip_prefix(&cwd).unwrap_or(path);
    shell_quote(path.as_os_str().as_encoded_bytes())
}
