//! The real sops as the canary's arbiter.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::canary::Arbiter;
use crate::platform::{OsStrExt as _, OsStringExt as _};
use crate::program;

use super::Context;

/// How long one decrypt may take: a key service may be slow, a forgotten prompt must not hold everybody up.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The arbiter of this run. `program` is what the command runs; when that is sops itself it is the same sops, else the
/// first real one on PATH.
#[must_use]
pub fn arbiter(context: &Context, program: Option<&Path>) -> Arbiter {
    let cwd = context.invocation.cwd.clone();
    let same = program
        .filter(|path| path.file_name().is_some_and(|name| program::own_name(name) == "sops"))
        .map(|path| cwd.join(path));
    let sops: Option<PathBuf> = same.or_else(|| real(context, "sops"));
    Arbiter { sops, env: variables(context), cwd, timeout: TIMEOUT }
}

/// The whole environment at entry, for programs that are started on our own behalf.
#[must_use]
pub fn variables(context: &Context) -> Vec<(OsString, OsString)> {
    context.invocation.env.iter().filter_map(|entry| variable(entry)).collect()
}

/// A real program on PATH, past ourselves.
#[must_use]
pub fn real(context: &Context, name: &str) -> Option<PathBuf> {
    let (path, cwd) = (context.invocation.var("PATH"), &context.invocation.cwd);
    let found = program::resolve(OsStr::new(name), path.as_deref(), cwd, context.ourselves).ok()?;
    Some(cwd.join(found.path))
}

pub(super) fn variable(entry: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = entry.as_bytes();
    // A name may begin with `=` on no system that sops runs on; an entry without `=` is no variable.
    let equals = bytes.iter().position(|&byte| byte == b'=').filter(|&at| at > 0)?;
    Some((OsString::from_vec(bytes[..equals].to_vec()), OsString::from_vec(bytes[equals + 1..].to_vec())))
}
