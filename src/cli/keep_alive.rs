//! `locked acquire --keep-alive`: who renews what was acquired, and for whom.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::Moment;
use crate::config::Key;
use crate::exit::{self, Exit};
use crate::report::{Refusal, rough_span};
use crate::run::{self, Context, Kept, Standby};
use crate::settle::Holds;
use crate::store::{Ended, Ending, Granted, Holding, Request, Settlement};
use crate::terms::{Resource, SessionId};

use super::RunOptions;
use super::front::refuse;
use super::held::names;
use super::verbs::Acquire;
use super::world::{CALL, World, down, setting_of};

/// Who keeps it alive, and for whom.
pub(super) struct Keeper {
    pid: u32,
    anchor: u32,
    program: String,
    most: Duration,
}

impl Keeper {
    pub(super) fn line(&self) -> String {
        format!(
            "renewed in the background while {} ({}) lives, for {} at most",
            self.program,
            self.anchor,
            rough_span(self.most)
        )
    }

    pub(super) fn object(&self) -> Value {
        json!({"keeper": self.pid, "anchor": self.anchor, "program": self.program,
               "most_ms": u64::try_from(self.most.as_millis()).unwrap_or(u64::MAX)})
    }
}

/// The world of `acquire`, and where it is asked for a keeper, who must be hired before the store is spoken to.
pub(super) fn with(
    context: &Context,
    options: &RunOptions,
    verb: &Acquire,
    work: impl FnOnce(&mut World<'_>, Option<Standby>) -> Result<Exit, Exit>,
) -> Exit {
    if !verb.keep_alive {
        return World::with(context, options, |world| work(world, None));
    }
    let opened = setting_of(context).and_then(|setting| {
        let standby = run::standby(context, &setting).map_err(|error| down(&error))?;
        let Some(standby) = standby else {
            return Err(refuse(&nothing_lasts(verb, names_itself(context, options)), exit::USAGE));
        };
        Ok((World::open_at(context, options.session.map(SessionId), setting)?, standby))
    });
    opened.and_then(|(mut world, standby)| work(&mut world, Some(standby))).unwrap_or_else(|exit| exit)
}

/// Lets the keeper begin, now that it is known what is held. One who kept some of it before is woken, or relieved.
pub(super) fn begin(
    world: &mut World<'_>,
    standby: Option<Standby>,
    request: &Request,
    granted: &Granted,
    (sent, lasts): (Moment, Duration),
) -> Result<Option<Keeper>, Exit> {
    let (session, label) = (world.session.id, world.session.label.clone());
    let (before, fresh): (Vec<Resource>, Vec<Resource>) =
        request.resources.iter().cloned().partition(|resource| granted.adopted.contains(resource));
    let Some(standby) = standby else {
        // What was lost meanwhile and is held anew is another hold than the one that was to be kept.
        world.keepers().relieve(session, &fresh);
        world.keepers().wake(session, &before);
        return Ok(None);
    };
    let most = world.settings.length(Key::MaxHold).unwrap_or(Holds::default().max_hold);
    let (anchor, program) = (standby.anchor.pid, standby.anchor.program.clone());
    let anchored = (anchor, standby.anchor.started, program.clone());
    let kept = Kept { anchor: anchored, session, label, tokens: granted.tokens.clone(), sent, lasts, most };
    // The keeper renews at once, and a store may have one connection for each of us.
    world.store.hang_up();
    match standby.begin(&kept) {
        Ok(pid) => Ok(Some(Keeper { pid, anchor, program, most })),
        Err(why) => {
            world.keepers().relieve(session, &request.resources);
            if !fresh.is_empty() {
                let holding = Holding::Session { session, resources: fresh };
                let note = Some("it could not be kept alive".to_owned());
                let settlement = Settlement::whole(Ending::Release(Ended::Failed), Vec::new()).noting(note);
                let _expires_by_itself = world.store.settle(&holding, &settlement, CALL);
            }
            Err(refuse(&not_kept(&request.resources, &before, why), exit::INTERNAL))
        }
    }
}

/// Whether a later command could release what this one acquires.
fn names_itself(context: &Context, options: &RunOptions) -> bool {
    let settings = run::settings_here(context).ok();
    let session = settings.and_then(|settings| run::session(context, options.session.map(SessionId), &settings).ok());
    session.is_some_and(|session| session.for_explicit().is_ok())
}

/// `named`: something names the session.
fn nothing_lasts(verb: &Acquire, named: bool) -> Refusal {
    let wanted = verb.resources.iter().map(ToString::to_string).collect::<Vec<_>>();
    let options = wanted.iter().map(|name| format!("-r {name}")).collect::<Vec<_>>().join(" ");
    Refusal {
        word: "REFUSED",
        what: format!("{} cannot be kept alive from here", wanted.join(" ")),
        why: "above this command are only shells and launchers, up to cron, sshd, a terminal or what took it in: none of \
              them is known to outlive it, and to end with the work; in front of all the work none is needed"
            .to_owned(),
        retry: match named {
            true => "no; without --keep-alive yes, and locked renew from time to time",
            false => "no; nor without --keep-alive, unless LOCKED_SESSION names the session",
        }
        .to_owned(),
        next: format!("locked {options} COMMAND"),
    }
}

fn not_kept(resources: &[Resource], before: &[Resource], why: String) -> Refusal {
    let still = match before {
        [] => "nothing is held".to_owned(),
        before => format!("{} is held as before", names(before).join(" ")),
    };
    Refusal {
        word: "REFUSED",
        what: format!("{} cannot be kept alive; {still}", names(resources).join(" ")),
        why,
        retry: "yes, perhaps".to_owned(),
        next: "locked doctor state".to_owned(),
    }
}
