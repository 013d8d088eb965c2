//! The note of a read: which version of a file a `decrypt` that passes through has read, for this session; or a program that
//! was run with it. Best effort: no failure of it is heard of, and it costs one small file that nobody waits for.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::canary::{self, Kind};
use crate::clock::Clock as _;
use crate::config::{Places, Settings};
use crate::naming;
use crate::notes::{self, How};
use crate::platform::canonical;
use crate::rules::Decrypted;
use crate::state::StateDir;
use crate::terms::{Digest, SessionId};

use super::job::Job;
use super::{Context, env_of, settings};

/// Larger files are not read a second time.
const LARGEST: u64 = 1 << 20;

/// Notes what is about to be read. Nothing but a `decrypt`, `exec-file` or `exec-env` gets beyond the first line.
pub(super) fn note(context: &Context, decrypted: &[Decrypted]) {
    if decrypted.is_empty() {
        return;
    }
    // Before they are read: what a note says of a file it held at that moment, or after it.
    let now_ms = context.clock.wall_ms();
    let versions: Vec<_> =
        decrypted.iter().filter_map(|it| Some((it, physical(&it.file)?, version(&it.file)?))).collect();
    if versions.is_empty() {
        return;
    }
    // Made, where there is none yet: what is read now may be the base of the first write, and others may be before it.
    let Ok(state) = StateDir::open(&env_of(context)) else { return };
    // Last: this takes a look at every process above us.
    let Ok(session) = super::entry::session_id(context, context.session, &own_settings(context)) else { return };
    leave(&state, session, versions, now_ms);
}

/// The same for what a command under a lease reads besides. A file that the same line writes is one of its own: of that only
/// what it puts where it is found again.
pub(super) fn note_under_lease(job: &Job<'_>) {
    let now_ms = job.context.clock.wall_ms();
    let writes = |path: &Path| job.plan.files.iter().any(|file| file.target.path == path);
    let is_own = |it: &Decrypted| physical(&it.file).is_some_and(|file| writes(&file));
    let reads = job.plan.decrypted.iter().filter(|it| it.plaintext.is_some() || !is_own(it));
    let versions = reads.filter_map(|it| Some((it, physical(&it.file)?, version(&it.file)?))).collect();
    leave(job.state, job.owner.session, versions, now_ms);
}

fn leave(state: &StateDir, session: SessionId, versions: Vec<(&Decrypted, PathBuf, Digest)>, now_ms: i64) {
    for (it, file, version) in versions {
        let plaintext = it.plaintext.as_deref().and_then(physical);
        let how = if it.runs { How::Run } else { How::Read };
        notes::leave(state, session, &file, plaintext.as_deref(), &version, now_ms, how);
    }
}

/// Where a file is, or will be.
fn physical(path: &Path) -> Option<PathBuf> {
    canonical(path).ok().or_else(|| Some(canonical(path.parent()?).ok()?.join(path.file_name()?)))
}

/// The version, if it is a SOPS file by a quick look: reading it as a document would take longer than all the rest, and a
/// note about what only looks like one is of no consequence.
fn version(path: &Path) -> Option<Digest> {
    content(path).filter(|content| naming::is_sops(content)).map(|content| Digest::of(&content))
}

/// What a file holds, if that is SOPS.
pub(super) fn sops_content(path: &Path) -> Option<Vec<u8>> {
    content(path).filter(|content| matches!(canary::sniff(content), Kind::Sops(_)))
}

/// What a file holds that is not too large.
pub(super) fn content(path: &Path) -> Option<Vec<u8>> {
    // A pipe would keep us waiting, and what was read from it would be gone.
    let found = std::fs::metadata(path).ok().filter(|found| found.is_file() && found.len() <= LARGEST)?;
    let mut content = Vec::with_capacity(usize::try_from(found.len()).ok()?);
    crate::platform::regular(path).ok()?.take(LARGEST).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The settings, where some file may name the variables of a session: reading them costs more than all the rest.
fn own_settings(context: &Context) -> Settings {
    let root = settings::root_here(context);
    if !Places::around(&env_of(context), root.as_deref().as_slice()).may_name_sessions() {
        return Settings::default();
    }
    let settings = settings::layers_here(context).and_then(|layers| layers.settings(&settings::BUILT_IN));
    settings.unwrap_or_default()
}
