//! `locked store`: what a store's owner does with it.
#![forbid(unsafe_code)]

mod moving;

use std::time::Duration;

use serde_json::json;

use crate::exit::{self, Exit};
use crate::naming::Local;
use crate::report::{self, Refusal};
use crate::run::{self, Context, env_of};
use crate::store::{self, Before, Initialised, Prune, Store, StoreError, Upkeep};
#[cfg(unix)]
use crate::supervise;
use crate::terms::{ResourceName, Scope, parse_duration};

use super::front::refuse;
use super::held::answer;
use super::out::{counted, print};
use super::verbs::{EpochVerb, Plain, PrintSqlVerb, PruneVerb, StoreVerbs};
use super::world::{down, scoped, store_of};

/// How long one step may take: an upgrade rewrites tables, and history can be long.
const STEP: Duration = Duration::from_secs(120);

/// Whoever asks again after a lost answer must find the row: nothing younger is pruned.
const YOUNGEST: Duration = Duration::from_secs(3600);

pub(super) fn store(context: &Context, verb: &StoreVerbs) -> Exit {
    let done = match verb {
        StoreVerbs::Init(verb) => init(context, verb),
        StoreVerbs::Check(verb) => check(context, verb),
        StoreVerbs::PrintSql(verb) => print_sql(context, verb),
        StoreVerbs::Prune(verb) => prune(context, verb),
        StoreVerbs::Epoch(verb) => epoch(context, verb),
        StoreVerbs::Move(verb) => moving::move_to(context, verb),
        #[cfg(unix)]
        StoreVerbs::Relay => relay(),
    };
    done.unwrap_or_else(|exit| exit)
}

/// What the settings' `store.relay` starts: nobody waits for it or hears from it.
#[cfg(unix)]
fn relay() -> Result<Exit, Exit> {
    let served = store::relay_order(std::io::stdin().lock()).and_then(|order| {
        // Order: nothing is open but what it was told by.
        supervise::detach()?;
        store::relay(order)
    });
    served.map(|()| Exit::Code(0)).map_err(|_| Exit::Code(exit::INTERNAL))
}

/// A duration that may also be in days, as people count what is old: `180d`.
pub(super) fn days(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').filter(|digits| digits.bytes().all(|it| it.is_ascii_digit()));
    match days.map(str::parse::<u64>) {
        Some(Ok(days)) if days <= 36_500 => Ok(Duration::from_secs(days * 86_400)),
        Some(_) => Err("write a number of days up to 36500d, or for example 12h".to_owned()),
        None => parse_duration(text).map_err(|error| format!("{error}; or days: 180d")),
    }
}

/// Does one piece of upkeep with the store that is set.
fn with<T>(context: &Context, work: impl FnOnce(&mut dyn Upkeep) -> Result<T, StoreError>) -> Result<T, Exit> {
    let (_, mut store) = store_of(context)?;
    let upkeep = upkeep(store.as_mut())?;
    work(upkeep).map_err(|error| down(&error))
}

/// The upkeep of a store that has a ledger.
fn upkeep(store: &mut dyn Store) -> Result<&mut dyn Upkeep, Exit> {
    store.upkeep().ok_or_else(|| {
        let refusal = Refusal {
            word: "REFUSED",
            what: "this store has no ledger to look after".to_owned(),
            why: "the advisory store keeps nothing but locks of the server's sessions".to_owned(),
            retry: "no, not before another store is set: postgres://… without advisory, or none".to_owned(),
            next: "locked config show store".to_owned(),
        };
        refuse(&refusal, exit::USAGE)
    })
}

fn init(context: &Context, verb: &Plain) -> Result<Exit, Exit> {
    // Who may set it up need not be one who may use it: then nothing is said of it.
    let (done, about) = with(context, |store| Ok((store.init(STEP)?, store.about(STEP).ok())))?;
    let (word, text) = match done {
        Initialised::Applied => ("applied", "the store is set up now, in the form of this version"),
        Initialised::Unchanged => ("unchanged", "nothing to do: the store has the form of this version"),
    };
    let value = json!({"init": word, "store_id": about.as_ref().map(|about| &about.store_id), "epoch": about.as_ref().map(|about| about.epoch)});
    let of = about.map_or_else(
        || " (using it takes the role locked_client)".to_owned(),
        |about| format!(" (store {})", about.store_id),
    );
    Ok(answer(verb.json, &value, Some(format!("{text}{of}"))))
}

fn check(context: &Context, verb: &Plain) -> Result<Exit, Exit> {
    let (faults, about) = with(context, |store| {
        let faults = store.faults(STEP)?;
        // What is not whole need not be able to say its name.
        let about = if faults.is_empty() { Some(store.about(STEP)?) } else { store.about(STEP).ok() };
        Ok((faults, about))
    })?;
    let id = about.as_ref().map(|about| about.store_id.clone());
    if verb.json {
        let moved = about.as_ref().and_then(|about| about.moved.as_ref()).map(|(place, _)| place.clone());
        let epoch = about.as_ref().map(|about| about.epoch);
        let value =
            json!({"sound": faults.is_empty(), "faults": faults, "store_id": id, "epoch": epoch, "moved_to": moved});
        let said = print(&format!("{value:#}"));
        return Ok(if faults.is_empty() { said } else { Exit::Code(exit::CONFIG) });
    }
    if faults.is_empty() {
        return Ok(print(&format!("the store is as it should be (store {})", id.unwrap_or_default())));
    }
    for fault in &faults {
        report::say(&format!("locked: {fault}"));
    }
    Err(Exit::Code(exit::CONFIG))
}

/// Of the schema that the other verbs would use, so that what is applied by hand is what is found there.
fn print_sql(context: &Context, verb: &PrintSqlVerb) -> Result<Exit, Exit> {
    let schema = match &verb.schema {
        Some(schema) => schema.clone(),
        None => {
            let setting = run::store_here(context).map_err(|wrong| wrong.refuse(context))?;
            store::schema_of(&setting, &env_of(context)).map_err(|error| down(&error))?
        }
    };
    if !verb.compat {
        return Ok(print(schema.sql().trim_end()));
    }
    let of = |given: &Option<Scope>, kind: &str| match given {
        Some(scope) => Ok(scope.clone()),
        None if kind == "sops" && run::root_around(&context.invocation.cwd).is_none() => {
            Err(refuse(&no_repository(), exit::USAGE))
        }
        None => scoped(context, &[ResourceName::of(kind, b"any")], Local::Make).map(|mut of| of.remove(0).scope),
    };
    let before = Before {
        schema: verb.place.clone(),
        scope: of(&verb.scope, "sops")?,
        containers: of(&verb.containers, "container")?,
    };
    Ok(print(schema.compat(&before).trim_end()))
}

/// The old tables had no scopes: what they locked is one repository's, which only that repository or a person can name.
fn no_repository() -> Refusal {
    Refusal {
        word: "REFUSED",
        what: "no repository is here whose sops:, rotation: and zone: the old tables could mean".to_owned(),
        why: "with any other scope the old helper and locked would not exclude each other; nothing was printed"
            .to_owned(),
        retry: "yes, in the repository, or with --scope as `locked status --json` shows it there".to_owned(),
        next: "locked store print-sql --compat --scope github.com/acme/infra".to_owned(),
    }
}

fn prune(context: &Context, verb: &PruneVerb) -> Result<Exit, Exit> {
    if verb.older_than < YOUNGEST {
        let what = "--older-than must be at least 1h: a settling whose answer was lost asks for its row again";
        return Err(refuse(&report::misuse(what, "locked store prune --help"), exit::USAGE));
    }
    let what = Prune { older_than: verb.older_than, keep: verb.keep, dry_run: verb.dry_run };
    let pruned = with(context, |store| store.prune(&what, STEP))?;
    let value = json!({
        "dry_run": verb.dry_run, "leases": pruned.leases, "receipts": pruned.receipts, "left": pruned.left,
    });
    let would = if verb.dry_run { "would prune" } else { "pruned" };
    let stay = match (verb.dry_run, pruned.left) {
        (true, _) => "would stay",
        (false, 1) => "stays",
        (false, _) => "stay",
    };
    let text = format!(
        "{would} {} and {}; {} {stay}",
        counted(pruned.leases, "ended lease"),
        counted(pruned.receipts, "receipt"),
        counted(pruned.left, "ended lease")
    );
    Ok(answer(verb.json, &value, Some(text)))
}

fn epoch(context: &Context, verb: &EpochVerb) -> Result<Exit, Exit> {
    let epoch = with(context, |store| store.raise_epoch(verb.above, STEP))?;
    let value = json!({"epoch": epoch.epoch, "above": epoch.above, "resources": epoch.resources});
    let text = format!(
        "epoch {}: every token is above {} from now on ({} raised)",
        epoch.epoch,
        epoch.above,
        counted(epoch.resources, "counter")
    );
    Ok(answer(verb.json, &value, Some(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_durations_too() {
        assert_eq!(days("180d"), Ok(Duration::from_secs(180 * 86_400)));
        assert_eq!(days("12h"), Ok(Duration::from_secs(12 * 3600)));
        for wrong in ["d", "-1d", "1.5d", "99999999d", "x", "99999999999999999999d"] {
            assert!(days(wrong).is_err(), "{wrong}");
        }
    }
}
