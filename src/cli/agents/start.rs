//! The beginning and the end of an agent's session.
//!
//! Claude Code names a file in `CLAUDE_ENV_FILE` whose lines its shell reads before each of its commands ("Persist
//! environment variables"); only at the beginning. What is exported there names the session, and puts the shims first.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use crate::agents::{self, Call, Written};
use crate::config::Address;
use crate::exit::Exit;
use crate::holder::ProcFs;
use crate::naming;
use crate::run::{self, Context, env_of};
use crate::shims::{self, Folder};
use crate::state::StateDir;
use crate::store::{Ending, Holding, LeaseState, LeaseView, Settlement};
use crate::terms::{shell_path, shell_quote};

use super::around::EXPORTED_FOR;
use crate::cli::RunOptions;
use crate::cli::verbs::EndVerb;
use crate::cli::world::{CALL, World};

/// Exports the session, and says who else is there.
pub(super) fn start(context: &Context, call: &Call) -> Result<String, Exit> {
    export(context, call)?;
    board(context)
}

fn export(context: &Context, call: &Call) -> Result<(), Exit> {
    let Some(file) = context.invocation.var("CLAUDE_ENV_FILE").filter(|file| !file.is_empty()) else { return Ok(()) };
    let settings = run::settings_here(context)?;
    let session = run::session(context, context.session, &settings)
        .map_err(|refusal| crate::cli::front::refuse(&refusal, crate::exit::USAGE))?;
    let mut lines = format!("export LOCKED_SESSION={}\n", session.id.whole());
    lines.push_str(&format!("export {EXPORTED_FOR}={}\n", shell_quote(call.session.as_bytes())));
    let folder = Folder::choose(None, false, &context.invocation.cwd, &env_of(context)).ok();
    let folder = folder.filter(|folder| shims::all(folder, context.ourselves).is_ok_and(|shims| !shims.is_empty()));
    if let Some(folder) = &folder {
        let path = shell_quote(folder.path().as_os_str().as_encoded_bytes());
        lines.push_str(&format!("export PATH={path}:\"$PATH\"\n"));
    }
    // What another hook has written may lack its end.
    if std::fs::read(&file).is_ok_and(|there| there.last().is_some_and(|last| *last != b'\n')) {
        lines.insert(0, '\n');
    }
    let put =
        OpenOptions::new().append(true).create(true).open(&file).and_then(|mut file| file.write_all(lines.as_bytes()));
    // Without it a command's session is told by the agent's own variable, and PATH is what it was.
    if let (Ok(()), Ok(state)) = (put, StateDir::open(&env_of(context))) {
        agents::note_export(&state, session.id, folder.as_ref().map(Folder::path));
    }
    Ok(())
}

fn board(context: &Context) -> Result<String, Exit> {
    let setting = run::store_here(context).map_err(|wrong| wrong.refuse(context))?;
    let state = StateDir::existing(&env_of(context)).ok().flatten();
    // Who only looks makes no store.
    let made = state.is_some_and(|state| state.path().join("locked.db").exists());
    let mut lines = vec!["Leases on shared secrets and servers are taken by `locked`.".to_owned()];
    if setting.address == Address::Embedded && !made {
        lines.push("Nobody else is active.".to_owned());
    } else {
        let mut world = World::open(context, context.session)?;
        lines.insert(1, format!("This session is {} ({}).", world.session.id, world.session.label));
        crate::cli::session::hear(world.store.as_mut(), world.session.id);
        let (board, others) = crate::cli::session::shown(&mut world)?;
        lines.push(if others { board } else { "Nobody else is active.".to_owned() });
    }
    lines.push(
        "Say what you are about to do: locked session begin --name NAME --task 'what'; ask a person for the name."
            .to_owned(),
    );
    Ok(lines.join("\n"))
}

/// Gives back what the session holds, and takes it off the board. Nothing is waited for: the agent is about to be gone. A command
/// that runs on keeps its lease, a file that is plaintext is quarantined, and nothing else stays. Who is told no session ends none.
pub(super) fn end(context: &Context, options: &RunOptions, call: &Call) -> Result<(), Exit> {
    let Some(state) = StateDir::existing(&env_of(context)).ok().flatten().filter(|_| !call.session.is_empty()) else {
        return Ok(());
    };
    let mut world = World::open(context, context.session)?;
    let session = world.session.id;
    let written = agents::written(&state, session);
    let live = world.store.leases(None, CALL).map_err(|error| world.down(&error))?;
    let rests = |lease: &&LeaseView| {
        let good = matches!(lease.state, LeaseState::Held | LeaseState::Kept);
        lease.session == session && lease.pid.is_none() && good
    };
    for lease in live.iter().filter(rests) {
        let mut note = None;
        let ending = match open(lease, &written) {
            Some(file) => {
                Ending::Quarantine { reason: format!("{}:{file}: plaintext; its session has ended", lease.host) }
            }
            None if (lease.explicit && lease.state == LeaseState::Held) || lease.resource.name.is_rotation() => {
                let closing = crate::cli::session::closing(&mut world, lease)?;
                note = closing.note;
                Ending::Release(closing.ended)
            }
            None => continue,
        };
        let holding = Holding::Session { session, resources: vec![lease.resource.clone()] };
        let settlement = Settlement::whole(ending, Vec::new()).noting(note);
        // What was taken meanwhile is not ours to give back.
        let _settled_or_gone = world.store.settle(&holding, &settlement, CALL).map_err(|error| world.down(&error))?;
        world.keepers().relieve(session, std::slice::from_ref(&lease.resource));
    }
    agents::forget_export(&state, session);
    let verb = EndVerb { wait: Some(Duration::ZERO), no_wait: true, ..EndVerb::default() };
    crate::cli::session::finish(&mut world, options, &verb).map(drop)
}

/// The file of this lease that is plaintext: one that a command has opened, or that the agent has written itself.
fn open(lease: &LeaseView, written: &[Written]) -> Option<String> {
    if lease.host != ProcFs::host() {
        return None;
    }
    let by_hand = written.iter().filter(|written| written.resource == lease.resource);
    let mut plain = by_hand.filter(|written| written.path.is_file() && !naming::holds_sops(&written.path));
    run::plaintext_of(&lease.files).or_else(|| plain.next().map(|written| shell_path(&written.path)))
}
