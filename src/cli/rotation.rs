//! What the verbs do besides where a resource is a rotation: what is held along with it, and what speaks against its
//! end.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::exit::{self, Exit};
use crate::naming::{Local, Namer};
use crate::plan;
use crate::report::{self, Refusal, Voice};
use crate::rules;
use crate::run::{self, Context, IssueState, env_of};
use crate::terms::{Issue, Resource};

use super::out::print;
use super::verbs::ReleaseVerb;
use super::world::{CALL, World};

/// These resources with what `[[rotation]]` of the settings takes along, sorted and unique.
pub(super) fn with_declared(context: &Context, resources: Vec<Resource>) -> Result<Vec<Resource>, Exit> {
    if !resources.iter().any(|resource| resource.name.is_rotation()) {
        return Ok(resources);
    }
    let rotations = run::rotations_here(context)?;
    let (env, said) = (env_of(context), run::said_scope(context));
    let mut namer = Namer::new(Local::Make, &env).heeding(&said);
    let cwd = &context.invocation.cwd;
    let file_of = |name: &str| run::workflow_file(context, cwd, name);
    let declared = plan::declared(&resources, &rotations, cwd, &file_of, &mut namer)
        .map_err(|error| run::refuse_unnamed(&error))?;
    for note in declared.notes.iter().filter(|_| context.voice >= Voice::Ready) {
        report::say(&format!("locked: {note}"));
    }
    let mut all = [resources, declared.resources].concat();
    all.sort();
    all.dedup();
    Ok(all)
}

/// The same, but of what is taken along only what rests with this session: some of it may have been given back before.
pub(super) fn with_held(world: &mut World<'_>, resources: Vec<Resource>) -> Result<Vec<Resource>, Exit> {
    let all = with_declared(world.context, resources.clone())?;
    if all.len() == resources.len() {
        return Ok(resources);
    }
    let live = world.store.leases(Some(&all), CALL).map_err(|error| world.down(&error))?;
    let session = world.session.id;
    let rests = |it: &Resource| {
        live.iter().any(|lease| lease.resource == *it && lease.session == session && lease.pid.is_none())
    };
    Ok(all.into_iter().filter(|it| resources.contains(it) || rests(it)).collect())
}

/// A rotation is completed when every file with the key of its secret was written, or somebody says that it is. The
/// answer is what the ledger is told of it.
pub(super) fn completes(
    world: &mut World<'_>,
    verb: &ReleaseVerb,
    accepted: bool,
    resources: &[Resource],
) -> Result<Option<String>, Exit> {
    let session = world.session.id;
    let mut notes = Vec::new();
    for rotation in resources.iter().filter(|resource| resource.name.is_rotation()) {
        let left = run::consumers_left(world.context, world.store.as_mut(), rotation, session, &[], CALL)
            .map_err(|error| world.down(&error))?;
        if left.is_nothing() {
            continue;
        }
        if accepted {
            notes.push(left.noted());
            continue;
        }
        if verb.json {
            let files: Vec<_> = left.files.iter().map(|file| file.to_string_lossy()).collect();
            let _said_as_well = print(&format!("{:#}", json!({"refused": rotation.name.as_str(), "consumers": files})));
        }
        return Err(not_completed(world, rotation, &left));
    }
    Ok((!notes.is_empty()).then(|| notes.join("; ")))
}

/// These files with the key of its secret were not written.
pub(super) fn not_completed(world: &World<'_>, rotation: &Resource, left: &run::Left) -> Exit {
    let retry = "yes, when all are written; or with --consumers-ok when they need no new value";
    let shown = left.shown();
    let next = match left.files.first().zip(shown.files.first()) {
        // The index alone has it.
        Some((file, shown)) if !world.context.invocation.cwd.join(file).exists() => {
            format!("git checkout --ignore-skip-worktree-bits -- {shown}")
        }
        Some((file, shown)) => format!("locked sops edit{} {shown}", rules::types(file)),
        None => format!("locked release {} --consumers-ok", rotation.name),
    };
    let refusal = report::consumers_left(rotation.name.as_str(), &shown, retry, next);
    world.refuse(refusal, exit::USAGE)
}

/// What an issue has against going on; none when it is open.
pub(super) fn against(context: &Context, issue: &Issue, resources: &str, then: &str) -> Option<(Refusal, i32)> {
    match run::issue_state(context, issue, run::ASK_ISSUE) {
        IssueState::Open => None,
        IssueState::Closed => Some((report::issue_closed(issue, resources, then), exit::ISSUE_CLOSED)),
        IssueState::Unknown(why) => Some((report::issue_unknown(issue, &why, then), exit::ISSUE_UNKNOWN)),
        IssueState::LoggedOut => {
            let refusal = report::issue_unknown(issue, run::LOGGED_OUT, then).with_next("gh auth login");
            Some((refusal, exit::ISSUE_UNKNOWN))
        }
    }
}
