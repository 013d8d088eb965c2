//! One level of a line: which tokens are its flags, and what is left.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use super::Refusal;
use super::table::{Flag, Kind, find};
use crate::rules::argument::tail;
use crate::rules::golang::{is_integer, parse_bool};

/// More than any flag's name has.
const LONGEST_NAME: usize = 256;

/// The flags of one level with their values.
#[derive(Default)]
pub(crate) struct Flags<'a> {
    known: &'static [&'static [Flag]],
    pub(super) given: Vec<Given<'a>>,
    env: Vec<(&'static str, OsString)>,
}

pub(super) struct Given<'a> {
    pub(super) flag: &'static Flag,
    spelled: &'static str,
    pub(super) value: Cow<'a, OsStr>,
}

impl<'a> Flags<'a> {
    /// Whether this level has a flag of that name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        find(self.known, name.as_bytes()).is_some()
    }

    /// The value of a flag, by any of its names: the last one given, else its variable's. An empty value is none.
    pub(crate) fn text(&self, name: &str) -> Option<&OsStr> {
        let given = self.given.iter().rev().find(|given| given.flag.names.contains(&name));
        given.map(|given| given.value.as_ref()).or_else(|| self.by_variable(name)).filter(|value| !value.is_empty())
    }

    /// Every value given for a flag that may be repeated.
    pub(crate) fn list(&self, name: &str) -> impl Iterator<Item = &OsStr> {
        self.given.iter().filter(move |given| given.flag.names.contains(&name)).map(|given| given.value.as_ref())
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name).and_then(|value| parse_bool(value.as_encoded_bytes())).unwrap_or(false)
    }

    fn by_variable(&self, name: &str) -> Option<&OsStr> {
        let flag = find(self.known, name.as_bytes())?.0;
        self.env.iter().find(|(first, _)| *first == flag.names[0]).map(|(_, value)| value.as_os_str())
    }
}

/// Moves flags before the rest, in the way that urfave/cli does it.
pub(super) fn reorder<'a>(flags: &'static [&'static [Flag]], tokens: Vec<&'a OsStr>) -> Vec<&'a OsStr> {
    let (mut moved, mut rest) = (Vec::new(), Vec::new());
    let mut drags = false;
    for (at, &token) in tokens.iter().enumerate() {
        let is_flag = names_a_flag(flags, token);
        if drags && !is_flag {
            // Also behind a boolean, and also when the token is `--`.
            drags = false;
            moved.push(token);
        } else if token == "--" {
            rest.insert(0, token);
            rest.extend_from_slice(&tokens[at + 1..]);
            break;
        } else if is_flag {
            moved.push(token);
            drags = !token.as_encoded_bytes().contains(&b'=');
        } else {
            rest.push(token);
        }
    }
    moved.append(&mut rest);
    moved
}

/// Whether a token is taken for one of these flags in reordering: up to three dashes are stripped, and `=…`.
fn names_a_flag(flags: &'static [&'static [Flag]], token: &OsStr) -> bool {
    let bytes = token.as_encoded_bytes();
    let name = match bytes {
        b"-" | b"--" => return false,
        [b'-', b'-', b'-', name @ ..] | [b'-', b'-', name @ ..] | [b'-', name @ ..] => name,
        _ => return false,
    };
    find(flags, called(name)).is_some()
}

/// What stands before `=`. No flag has a name beyond so many bytes, so that nothing is looked for behind them.
fn called(token: &[u8]) -> &[u8] {
    let start = &token[..token.len().min(LONGEST_NAME)];
    start.split(|&byte| byte == b'=').next().unwrap_or_default()
}

/// Go's `flag`: reads flags until the first token that is none, or to `--`; then checks what urfave/cli checks.
pub(super) fn read<'a>(
    known: &'static [&'static [Flag]],
    tokens: Vec<&'a OsStr>,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<(Flags<'a>, Vec<&'a OsStr>), Refusal> {
    let mut flags = Flags { known, given: Vec::new(), env: environment(known, env)? };
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next_if(|token| token.len() > 1 && token.as_encoded_bytes()[0] == b'-') {
        if token == "--" {
            break;
        }
        let given = one(known, token, &mut tokens)?;
        flags.given.push(given);
    }
    one_form_each(&flags.given)?;
    Ok((flags, tokens.collect()))
}

fn one<'a>(
    known: &'static [&'static [Flag]],
    token: &'a OsStr,
    tokens: &mut impl Iterator<Item = &'a OsStr>,
) -> Result<Given<'a>, Refusal> {
    let bytes = token.as_encoded_bytes();
    let dashes = if bytes[1] == b'-' { 2 } else { 1 };
    let name = &bytes[dashes..];
    if matches!(name.first(), None | Some(b'-' | b'=')) {
        return Err(Refusal::Malformed);
    }
    let called = called(name);
    let (flag, spelled) = find(known, called).ok_or(Refusal::Unknown)?;
    let after_equals = (called.len() < name.len()).then(|| tail(token, dashes + called.len() + 1));
    let value = match (flag.kind, after_equals) {
        (_, Some(value)) => value,
        (Kind::Switch, None) => Cow::Borrowed(OsStr::new("true")),
        (_, None) => Cow::Borrowed(tokens.next().ok_or(Refusal::NoValue(flag.names[0]))?),
    };
    let bytes = value.as_encoded_bytes();
    match flag.kind {
        Kind::Switch if parse_bool(bytes).is_none() => Err(Refusal::NotBoolean(flag.names[0])),
        Kind::Number if !is_integer(bytes) => Err(Refusal::NotInteger(flag.names[0])),
        _ => Ok(Given { flag, spelled, value }),
    }
}

/// `-i` twice is fine, `-i --in-place` is not.
fn one_form_each(given: &[Given<'_>]) -> Result<(), Refusal> {
    // Who differs from anybody differs from the first; a line may have very many.
    let first = |one: &Given<'_>| given.iter().find(|other| std::ptr::eq(one.flag, other.flag)).map(|it| it.spelled);
    let clash = given.iter().find(|one| first(one).is_some_and(|spelled| one.spelled != spelled));
    clash.map_or(Ok(()), |given| Err(Refusal::TwoForms(given.flag.names[0])))
}

fn environment(
    known: &'static [&'static [Flag]],
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, OsString)>, Refusal> {
    let mut values = Vec::new();
    for flag in known.iter().copied().flatten() {
        let Some(name) = flag.env else { continue };
        let Some(value) = env(name) else { continue };
        if flag.kind == Kind::Switch && !value.is_empty() && parse_bool(value.as_encoded_bytes()).is_none() {
            return Err(Refusal::Environment(name));
        }
        values.push((flag.names[0], value));
    }
    Ok(values)
}
