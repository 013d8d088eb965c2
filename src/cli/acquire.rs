//! `locked acquire`: a hold over several commands.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::config::Settings;
use crate::exit::{self, Exit};
use crate::lease::{self, Asker, Obtained, Patience};
use crate::report::{self, Waiting};
use crate::run::{self, AskedTimes, Context};
use crate::store::{Claim, Holding, Mode, Renewal, Request};
use crate::terms::{FencingToken, GrantId, LeaseKey, Resource, show_duration};

use super::RunOptions;
use super::front::refuse;
use super::held::{answer, names};
use super::verbs::Acquire;
use super::world::{CALL, World};

pub(super) fn acquire(context: &Context, options: &RunOptions, verb: &Acquire) -> Exit {
    World::with(context, options, |world| {
        world.session.for_explicit().map_err(|error| refuse(&report::no_session(&error), exit::USAGE))?;
        run::tell_ignored(context, &world.settings);
        let asked = AskedTimes { ttl: verb.ttl.or(options.ttl), ..AskedTimes::default() };
        let times = run::times(&asked, &world.settings).map_err(|error| {
            let (refusal, status) = error.refusal("locked acquire --help");
            refuse(&refusal, status)
        })?;
        let resources = world.resources(&verb.resources)?;
        let operation =
            verb.operation.clone().or_else(|| options.operation.clone()).unwrap_or_else(|| "locked acquire".to_owned());
        let key = LeaseKey::random().map_err(|_| Exit::Code(exit::INTERNAL))?;
        let request = Request {
            grant: GrantId::random(),
            key: key.clone(),
            resources: resources.clone(),
            owner: world.owner(operation),
            claim: Claim::Explicit,
            ttl: times.ttl,
            first_grant: times.first_grant(),
            within: run::within(world.context),
            mode: Mode::Try,
            live: None,
            files: Vec::new(),
            remote: false,
            gone: Vec::new(),
        };
        let grant = request.grant;
        let granted = match ask(world, request, patience(options, verb, &world.settings))? {
            Obtained::Granted { granted, .. } => granted,
            Obtained::Busy(busy) => {
                let status = options.conflict_exit_code.map_or(exit::BUSY, i32::from);
                return Err(refuse(&report::busy(&busy, &names(&resources).join(" "), world.now_ms()), status));
            }
            Obtained::Quarantined(busy) => {
                let bad = busy.blockers.iter().find(|blocker| blocker.quarantined());
                let file = bad.and_then(|bad| run::bad_file(world.context, &bad.lease, &[]));
                return Err(refuse(&report::quarantined(&busy, file.as_deref()), exit::QUARANTINED));
            }
        };
        // Confirmed before it is reported: the first grant is short, and the renew gives the whole TTL.
        let holding = Holding::Grant { grant, key, resources: granted.tokens.clone() };
        match world.store.renew(&holding, CALL).map_err(|error| world.down(&error))? {
            Renewal::Renewed(lasts) => Ok(said(verb.json, &granted.tokens, &granted.adopted, lasts)),
            Renewal::Revoked | Renewal::Gone => Err(super::held::not_ours(world, &resources)),
        }
    })
}

fn patience(options: &RunOptions, verb: &Acquire, settings: &Settings) -> Patience {
    match verb.wait {
        _ if verb.no_wait => Patience::None,
        Some(wait) if wait.is_zero() => Patience::None,
        Some(wait) => Patience::Wait(wait),
        None => options.patience(settings),
    }
}

fn ask(world: &mut World<'_>, request: Request, patience: Patience) -> Result<Obtained, Exit> {
    let mut waiting = Waiting::new(names(&request.resources).join(" "), world.context.voice);
    let host_id = request.owner.host_id.clone();
    let witness = run::retry_witness(&world.state, &host_id);
    let mut notice = |notice: lease::Notice<'_>| waiting.notice(&notice);
    let clock = world.context.clock.as_ref();
    let mut asker = Asker { store: world.store.as_mut(), clock, witness: &witness, notice: &mut notice };
    let obtained = lease::acquire(request, patience, &mut asker);
    waiting.done();
    obtained.map_err(|error| super::world::down(&error))
}

fn said(as_json: bool, tokens: &[(Resource, FencingToken)], adopted: &[Resource], lasts: std::time::Duration) -> Exit {
    let list: Vec<_> = tokens
        .iter()
        .map(|(resource, token)| {
            json!({"resource": resource.name.as_str(), "scope": resource.scope.to_string(), "token": token.0,
                   "held_before": adopted.contains(resource)})
        })
        .collect();
    let lines = tokens.iter().map(|(resource, _)| {
        let before = if adopted.contains(resource) { " (this session held it already)" } else { "" };
        format!("acquired {} for {}{before}", resource.name, show_duration(lasts))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    answer(as_json, &json!({"acquired": list, "expires_in_ms": lasts.as_millis()}), Some(text))
}
