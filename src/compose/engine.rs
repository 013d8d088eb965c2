//! Which engine is meant: the scope of containers.
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::endpoint::{Place, place};
use super::environment::said;
use super::{Sight, Variable, context};
use crate::terms::{Scope, percent_encode};

/// What a command line says about its engine.
#[derive(Clone, Copy)]
pub struct AskedEngine<'a> {
    /// `-H`, `--host`: the last.
    pub host: Option<&'a OsStr>,
    /// `--context`, `-c`.
    pub context: Option<&'a OsStr>,
    /// `--config`: the directory of the client's configuration, absolute.
    pub config: Option<&'a Path>,
    /// The program's environment. For version 1 of compose: with its environment file, as
    /// [`variable`](super::variable) gives it.
    pub env: Variable<'a>,
    /// What may be read.
    pub sight: Sight,
}

/// The engine that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The scope of its containers.
    pub scope: Scope,
    /// Why this one: one sentence for `explain`.
    pub from: String,
}

/// The engine that a line means, in the client's own order (docker/cli `resolveContextName`): `--context`, `-H`,
/// `DOCKER_HOST`, `DOCKER_CONTEXT`, the current context, the local socket. `here` is the scope of the machine on which
/// the line runs.
///
/// A context that cannot be looked up gets a scope by its own name: the client refuses it, or another reader of the same
/// configuration would find it so too.
#[must_use]
pub fn engine(asked: &AskedEngine<'_>, here: &dyn Fn() -> Scope) -> Engine {
    let filled = |name: &str| (asked.env)(name).filter(|value| !value.is_empty());
    let option = said(asked.context).map(OsStr::to_owned);
    let host = said(asked.host).map(OsStr::to_owned);
    let (context, from) = if let Some(context) = option {
        (context, "--context")
    } else if let Some(host) = host {
        return at(&host, "-H", here);
    } else if let Some(host) = filled("DOCKER_HOST") {
        return at(&host, "DOCKER_HOST", here);
    } else if let Some(context) = filled("DOCKER_CONTEXT") {
        (context, "DOCKER_CONTEXT")
    } else {
        match current(asked) {
            Ok(Some(context)) => (context, "config.json"),
            Ok(None) => return local(here, "no other engine is named"),
            Err(()) => return local(here, "docker's config.json cannot be read"),
        }
    };
    if context == context::READY {
        return match filled("DOCKER_HOST") {
            Some(host) => at(&host, "DOCKER_HOST", here),
            None => local(here, &format!("{from} says {}", context::READY)),
        };
    }
    of_context(&context, from, asked, here)
}

fn current(asked: &AskedEngine<'_>) -> Result<Option<OsString>, ()> {
    match context::directory(asked.config, asked.env).filter(|_| asked.sight == Sight::Files) {
        Some(directory) => Ok(context::current(&directory)?.map(OsString::from)),
        None => Ok(None),
    }
}

fn of_context(name: &OsStr, from: &str, asked: &AskedEngine<'_>, here: &dyn Fn() -> Scope) -> Engine {
    let shown = percent_encode(name.as_encoded_bytes());
    let directory = context::directory(asked.config, asked.env).filter(|_| asked.sight == Sight::Files);
    let host = directory.map(|directory| context::host(&directory, &name.to_string_lossy()));
    match host {
        Some(Ok(Some(host))) => at(OsStr::new(&host), &format!("the context {shown} of {from}"), here),
        _ => Engine {
            scope: Scope(format!("engine/context/{shown}")),
            from: format!("{from} names the context {shown}, which cannot be looked up"),
        },
    }
}

/// The address itself stays out of the sentence: it may have a password in it.
fn at(address: &OsStr, from: &str, here: &dyn Fn() -> Scope) -> Engine {
    match place(&address.to_string_lossy()) {
        Place::Here => local(here, &format!("{from} leads to this machine")),
        Place::Scope(scope) => Engine { from: format!("{from} leads to {scope}"), scope },
    }
}

fn local(here: &dyn Fn() -> Scope, from: &str) -> Engine {
    Engine { scope: here(), from: from.to_owned() }
}
