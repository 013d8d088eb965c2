//! Docker's lines beside the real programs: docker-compose, and docker's client before an engine that the test plays.
//! Version 1 of compose is no longer to be had as a program of its own; what it answers was recorded.

#[cfg(unix)]
mod container;
#[cfg(unix)]
mod context;
#[cfg(unix)]
pub(crate) mod engine;
mod layouts;

#[cfg(unix)]
use std::path::PathBuf;

/// A real program on PATH. Its absence is a failure, never a skipped test: `install/test` brings it.
#[cfg(unix)]
pub(crate) fn real(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("the real {name} is on PATH; `install/test` installs what the tests need"))
}
