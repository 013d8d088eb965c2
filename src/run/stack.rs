//! Asks the engine which stack a container belongs to, and says how long a plan may take for its looks.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use crate::compose::project_of_container;
use crate::rules::Engine;

use super::{Context, arbiter};

/// For how long a command may be held up by that, for all its containers together: 300 ms.
const LIMIT: Duration = Duration::from_millis(300);

/// For how long directories are looked through: 300 ms in all, from the first question on.
pub(super) fn clock() -> impl Fn() -> bool {
    let began = Cell::new(None);
    move || {
        let start = began.get().unwrap_or_else(Instant::now);
        began.set(Some(start));
        start.elapsed() > LIMIT
    }
}

/// Whether a program is a script in Python: `docker-compose` of the first generation is one, the later ones are not.
pub(super) fn is_python(context: &Context) -> impl Fn(&OsStr) -> bool + '_ {
    |name| {
        let path = name.to_str().and_then(|name| arbiter::real(context, name));
        let mut start = Vec::new();
        let read = path.and_then(|path| File::open(path).ok()?.take(128).read_to_end(&mut start).ok());
        let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        read.is_some() && line.starts_with(b"#!") && line.windows(6).any(|word| word == b"python")
    }
}

/// Looks up the Compose project of containers, with the real docker client and its options as the command has them.
pub(super) fn lookup(context: &Context) -> impl Fn(&Engine, &OsStr) -> Option<String> + '_ {
    let left = Cell::new(LIMIT);
    move |engine, container| {
        let began = Instant::now();
        let client = if engine.podman { "podman" } else { "docker" };
        let docker = arbiter::real(context, client).filter(|_| !left.get().is_zero())?;
        let (host, place) = if engine.podman { ("--url", "--connection") } else { ("--host", "--context") };
        let options = [(host, &engine.host), (place, &engine.context), ("--config", &engine.config)];
        let global: Vec<&OsStr> =
            options.iter().filter_map(|(name, value)| Some([OsStr::new(*name), value.as_deref()?])).flatten().collect();
        let env = engine.env.over(arbiter::variables(context));
        let project = project_of_container(&docker, &global, container, env, left.get());
        left.set(left.get().saturating_sub(began.elapsed()));
        project
    }
}
