//! Asks the engine which stack a container belongs to.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use crate::compose::project_of_container;
use crate::rules::Engine;

use super::{Context, arbiter};

/// For how long a command may be held up by that, for all its containers together: 300 ms.
const LIMIT: Duration = Duration::from_millis(300);

/// Looks up the Compose project of containers, with the real docker client and its options as the command has them.
pub(super) fn lookup(context: &Context) -> impl Fn(&Engine, &OsStr) -> Option<String> + '_ {
    let left = Cell::new(LIMIT);
    move |engine, container| {
        let began = Instant::now();
        let docker = arbiter::real(context, "docker").filter(|_| !left.get().is_zero())?;
        let options = [("--host", &engine.host), ("--context", &engine.context), ("--config", &engine.config)];
        let global: Vec<&OsStr> =
            options.iter().filter_map(|(name, value)| Some([OsStr::new(*name), value.as_deref()?])).flatten().collect();
        let set = engine.env.0.iter().cloned();
        let env: Vec<(OsString, OsString)> = arbiter::environment(context).chain(set).collect();
        let project = project_of_container(&docker, &global, container, env, left.get());
        left.set(left.get().saturating_sub(began.elapsed()));
        project
    }
}
