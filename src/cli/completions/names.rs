//! Names of resources for a Tab: from the settings, and from the store if it answers at once.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

use crate::config::{Address, Key};
use crate::rules::{Rotation, Sound, Zone};
use crate::run::{self, Context, env_of};
use crate::state::StateDir;
use crate::store::{self, HistoryFilter, Store};
use crate::terms::parse_duration;

use super::line::Names;

/// How long a store may take. A person who waits longer for a Tab believes that the shell hangs; what is left of a tenth
/// of a second is for starting and for the settings.
const BOUND: Duration = Duration::from_millis(60);
/// Who has a slow store and patience may say how long (`LOCKED_COMPLETE_WITHIN`), but not longer than this.
const LONGEST: Duration = Duration::from_secs(10);
/// So many ended leases are looked at.
const MOST: u32 = 500;

/// The names that are known here, sorted. Whatever is in the way, there are fewer.
pub(super) fn names(context: &Context, which: Names) -> Vec<String> {
    let mut found = of_store(context, which);
    if which == Names::Known {
        found.extend(of_settings(context));
    }
    found.into_iter().collect()
}

/// A store that is asked in a thread of its own, which ends with us: nothing that it waits for holds us up.
fn of_store(context: &Context, which: Names) -> BTreeSet<String> {
    let Some(mut store) = store_at_hand(context) else { return BTreeSet::new() };
    let said = env_of(context)("LOCKED_COMPLETE_WITHIN");
    let bound = said.and_then(|text| parse_duration(text.to_str()?).ok()).map_or(BOUND, |bound| bound.min(LONGEST));
    let (tell, told) = mpsc::channel();
    let ask = move || {
        let held = store.leases(None, bound).unwrap_or_default();
        let past = match which {
            Names::Held => Vec::new(),
            Names::Known => {
                store.history(&HistoryFilter { name: None, since: None, limit: Some(MOST) }, bound).unwrap_or_default()
            }
        };
        let held = held.into_iter().map(|lease| lease.resource.name.to_string());
        let past = past.into_iter().map(|lease| lease.resource.name.to_string());
        let _nobody_may_listen = tell.send(held.chain(past).collect());
    };
    // No thread, no names.
    match std::thread::Builder::new().spawn(ask) {
        Ok(_thread) => told.recv_timeout(bound).unwrap_or_default(),
        Err(_) => BTreeSet::new(),
    }
}

/// The store, if nothing must be run for its address or for the way to it, and nothing be made for it.
fn store_at_hand(context: &Context) -> Option<Box<dyn Store + Send>> {
    let env = env_of(context);
    let setting = run::layers_here(context).ok()?.store(&env).ok()?;
    if matches!(setting.address, Address::InSops { .. }) || setting.via.is_some() {
        return None;
    }
    let state = StateDir::existing(&env).ok()??;
    store::open(&setting, &env, &state, context.clock.clone(), run::outside(&state)).ok()
}

/// What the settings name themselves, if all of it is as it must be: a name goes into the line that a person types.
fn of_settings(context: &Context) -> Vec<String> {
    let Ok(settings) = run::settings_here(context) else { return Vec::new() };
    let zones = settings.tables(Key::Zone, &wrong::<Zone>).unwrap_or_default();
    let rotations = settings.tables(Key::Rotation, &wrong::<Rotation>).unwrap_or_default();
    let zones = zones.into_iter().map(|zone| zone.value.resource());
    zones.chain(rotations.into_iter().map(|it| it.value.resource())).map(|name| name.to_string()).collect()
}

/// What is wrong with a table as a whole.
fn wrong<T: Sound>(table: &T) -> Option<(&'static str, String)> {
    table.fault().map(|fault| (fault.key, fault.what))
}
