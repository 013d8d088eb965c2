//! `locked store move`: history, receipts and counters to another store.
//!
//! First the source lets no new lease in, if none lives in it; then all goes along, page by page; each page may come twice.
//! So a move that broke off is finished by asking for it again, and nobody is ever granted one thing by both.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::config::{Address, StoreSetting};
use crate::exit::{self, Exit};
use crate::report::{self, Refusal};
use crate::run::{self, Context, env_of, outside};
use crate::store::{self, Cargo, Living, Store, StoreError, Upkeep};

use super::super::front::refuse;
use super::super::held::answer;
use super::super::verbs::MoveVerb;
use super::super::world::{down, store_of};
use super::{STEP, upkeep};

pub(super) fn move_to(context: &Context, verb: &MoveVerb) -> Result<Exit, Exit> {
    let (state, mut source) = store_of(context)?;
    let Some(to) = &verb.to else { return undo(upkeep(source.as_mut())?, verb.json) };
    let env = env_of(context);
    let setting = target(context, to, verb.via.as_deref())?;
    let mut target: Box<dyn Store> = store::open(&setting, &env, &state, context.clock.clone(), outside(&state))
        .map_err(|error| of_target(&error))?;
    let place = store::shown_place(&setting, &env, state.path());
    let (source, target) = (upkeep(source.as_mut())?, upkeep(target.as_mut())?);
    let moved = go(source, target, &place)?;
    let value =
        json!({"moved_to": place, "leases": moved.leases, "receipts": moved.receipts, "resources": moved.resources});
    let text = format!(
        "moved {} ended leases, {} receipts and {} counters to {place}; set LOCKED_STORE or the settings to it",
        moved.leases, moved.receipts, moved.resources
    );
    Ok(answer(verb.json, &value, Some(text)))
}

/// The store to move to. What the files name is taken from there: its way, and an address that is not to be typed.
fn target(context: &Context, to: &str, via: Option<&str>) -> Result<StoreSetting, Exit> {
    let misuse = |what: &str| refuse(&report::misuse(what, "locked store move --help"), exit::USAGE);
    if to == "settings" {
        if via.is_some() {
            return Err(misuse("--via is for an address; the settings have a way of their own"));
        }
        let named = run::store_of_files(context).map_err(|wrong| wrong.refuse(context))?;
        return named.ok_or_else(|| misuse("--to settings, and no file of settings names a store"));
    }
    let address = if to == "embedded" { Address::Embedded } else { Address::Text(to.to_owned()) };
    let (said_by, via) = ("--to".to_owned(), via.map(str::to_owned));
    let setting = StoreSetting { address, said_by, via, ..StoreSetting::default() };
    run::completed(context, setting).map_err(|wrong| wrong.refuse(context))
}

/// It grants again. What the other one has given out meanwhile only a person can know.
fn undo(store: &mut dyn Upkeep, as_json: bool) -> Result<Exit, Exit> {
    let moved = store.about(STEP).map_err(|error| down(&error))?.moved;
    store.come_back(STEP).map_err(|error| down(&error))?;
    let place = moved.map(|(place, _)| place);
    let text = match &place {
        Some(place) => format!("this store grants again; if {place} has granted anything: locked store epoch"),
        None => "nothing to do: this store has not moved".to_owned(),
    };
    Ok(answer(as_json, &json!({"undone": place.is_some(), "moved_to": place}), Some(text)))
}

#[derive(Default)]
struct Moved {
    resources: u64,
    leases: u64,
    receipts: u64,
}

fn go(source: &mut dyn Upkeep, target: &mut dyn Upkeep, place: &str) -> Result<Moved, Exit> {
    let there = target.about(STEP).map_err(|error| of_target(&error))?;
    let here = source.about(STEP).map_err(|error| down(&error))?;
    if there.store_id == here.store_id {
        return Err(refuse(
            &report::misuse("--to names the store that is in use", "locked store move --help"),
            exit::USAGE,
        ));
    }
    if let Some((other, id)) = &here.moved
        && *id != there.store_id
    {
        return Err(refuse(&stopped("this store", other), exit::CONFIG));
    }
    let comes_back = match &there.moved {
        Some((_, id)) if *id == here.store_id => true,
        Some((other, _)) => return Err(refuse(&stopped("the other store", other), exit::CONFIG)),
        None => false,
    };
    // Order: a target that will not take anything in must be found before the source stops.
    target.unload(Cargo::Resources, &[], STEP).map_err(|error| of_target(&error))?;
    // A source that left already is asked again: a move that broke off goes on.
    let living = source.leave_for(place, &there.store_id, STEP).map_err(|error| down(&error))?;
    if !living.is_empty() {
        return Err(refuse(&live(&living), exit::BUSY));
    }
    carry(source, target, comes_back).map_err(|error| broke_off(&error))
}

fn carry(source: &mut dyn Upkeep, target: &mut dyn Upkeep, comes_back: bool) -> Result<Moved, StoreError> {
    let mut moved = Moved::default();
    for what in Cargo::ALL {
        let mut skip = 0;
        loop {
            let rows = source.load(what, skip, STEP)?;
            if rows.is_empty() {
                break;
            }
            skip += rows.len() as u64;
            let taken = target.unload(what, &rows, STEP)?;
            match what {
                Cargo::Resources => moved.resources += taken,
                Cargo::Leases => moved.leases += taken,
                Cargo::Receipts => moved.receipts += taken,
            }
        }
        // Order: the counters first, so that no token is given out twice; and rows can come in only then.
        if what == Cargo::Resources && comes_back {
            target.come_back(STEP)?;
        }
    }
    Ok(moved)
}

fn live(living: &[Living]) -> Refusal {
    let mut names: Vec<String> =
        living.iter().take(8).map(|it| format!("{} ({}, {})", it.name, it.state, it.holder)).collect();
    if living.len() > names.len() {
        names.push(format!("and {} more", living.len() - names.len()));
    }
    Refusal {
        word: "BLOCKED",
        what: format!("the store cannot move while leases live in it: {}", names.join(", ")),
        why: "two stores would grant the same resource".to_owned(),
        retry:
            "yes, when they have ended; a kept, expired or quarantined one must be released, taken or restored first"
                .to_owned(),
        next: "locked status".to_owned(),
    }
}

fn stopped(which: &str, place: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{which} has itself moved to {place}"),
        why: "what has moved grants nothing any more".to_owned(),
        retry: "no; name that store instead, or move it back first".to_owned(),
        next: "locked store check".to_owned(),
    }
}

fn of_target(error: &StoreError) -> Exit {
    let refusal = Refusal {
        word: "REFUSED",
        what: format!("the store to move to: {error}"),
        why: "nothing was changed in either".to_owned(),
        retry: "yes, after the next step".to_owned(),
        // Typed as it is, it would set up the store that is in use.
        next: Some(error.remedy())
            .filter(|next| next != "locked store init")
            .unwrap_or_else(|| "LOCKED_STORE=URL locked store init".to_owned()),
    };
    // What was typed names no store: that is no matter of settings.
    refuse(&refusal, if error.is_of_the_setting() { exit::USAGE } else { exit::UNREACHABLE })
}

fn broke_off(error: &StoreError) -> Exit {
    let refusal = Refusal {
        word: "REFUSED",
        what: format!("the move broke off: {error}"),
        why: "this store grants nothing any more, and not all of it is in the other".to_owned(),
        retry: "yes: the same command goes on where it stopped; --undo instead of --to gives up".to_owned(),
        next: error.remedy(),
    };
    refuse(&refusal, exit::UNREACHABLE)
}
