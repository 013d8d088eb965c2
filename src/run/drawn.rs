//! From what a line would change to its plan, with what the environment and the caller name for it by hand.
#![forbid(unsafe_code)]

use super::{Context, refuse_unnamed};
use crate::exit::{self, Exit};
use crate::naming::{Namer, NamingError};
use crate::plan::{self, Plan, World};
use crate::report;
use crate::rules::Classification;
use crate::terms::ResourceName;

/// Why there is no plan. Nothing may run then.
pub enum Undrawn {
    /// What is wrong with how it was asked for, and what to do next.
    Use(&'static str, &'static str),
    /// Something has no name.
    Nameless(NamingError),
}

impl From<NamingError> for Undrawn {
    fn from(error: NamingError) -> Self {
        Self::Nameless(error)
    }
}

impl Undrawn {
    /// What is wrong.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Use(what, _) => (*what).to_owned(),
            Self::Nameless(error) => error.to_string(),
        }
    }

    /// Says it.
    pub fn refuse(&self, context: &Context) -> Exit {
        context.account.because(&self.what());
        match self {
            Self::Use(what, next) => {
                report::say(&report::misuse(what, next).to_string());
                Exit::Code(exit::USAGE)
            }
            Self::Nameless(error) => refuse_unnamed(error),
        }
    }
}

/// The plan of a line; `typed` is what was named for it by hand. The secrets of the environment go with what is held anyway: an
/// exported LOCKED_SECRET must not lock every read, nor every program that no rule knows, nor a read that is sent to
/// `/dev/null`, so it is heard once the plan holds something without it.
///
/// # Errors
/// A rule asks for the name of a secret, and nobody says it; the environment says what is none; or a file cannot be named.
pub fn drawn(
    context: &Context,
    class: Classification,
    typed: &[ResourceName],
    world: &World<'_>,
    namer: &mut Namer<'_>,
) -> Result<Plan, Undrawn> {
    let cwd = &context.invocation.cwd;
    let (asks, secret) = (class.asks, context.invocation.var("LOCKED_SECRET"));
    if !asks && (secret.is_none() || typed.is_empty()) {
        let heard = secret.as_ref().map(|_| class.clone());
        let plan = plan::draw(class, typed, cwd, world, namer)?;
        return match (heard, &plan) {
            (Some(class), Plan::Hold(_)) => Ok(plan::draw(class, &names(secret, false, typed)?, cwd, world, namer)?),
            _ => Ok(plan),
        };
    }
    Ok(plan::draw(class, &names(secret, asks, typed)?, cwd, world, namer)?)
}

/// What is named by hand, in one.
fn names(secret: Option<std::ffi::OsString>, asks: bool, typed: &[ResourceName]) -> Result<Vec<ResourceName>, Undrawn> {
    let mut named = typed.to_vec();
    if let Some(secret) = secret {
        let bytes = secret.as_encoded_bytes();
        if bytes.is_empty() || bytes.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'=') {
            let what = "LOCKED_SECRET has what is no name of a secret: it is the name alone, without the value";
            return Err(Undrawn::Use(what, "export LOCKED_SECRET=DATABASE_URL"));
        }
        named.push(ResourceName::of("rotation", bytes));
    }
    if asks && !named.iter().any(|name| name.kind() == "rotation") {
        let what = "this changes a secret, and the line does not say which; name it as your people call it";
        return Err(Undrawn::Use(what, "put `--secret NAME` before the program"));
    }
    Ok(named)
}
