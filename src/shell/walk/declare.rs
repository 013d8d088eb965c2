//! `export NAME=VALUE`, `read NAME` and their like: words that name variables.
#![forbid(unsafe_code)]

use super::assign::assign;
use super::state::State;
use crate::shell::environment::Exported;
use crate::shell::syntax::{in_name, is_name};
use crate::shell::word::{Part, Word};

/// `export NAME=VALUE` and its like. Answers the names of which it is about.
pub(super) fn declare(command: &[u8], arguments: &[Word], state: &mut State) -> Vec<Vec<u8>> {
    let (mut exported, mut names) = ((command == b"export").then_some(Exported::Yes), Vec::new());
    for argument in arguments {
        let head = argument.head();
        let Some(sign @ (b'-' | b'+')) = head.first() else {
            names.extend(declared(command, argument, exported, state));
            continue;
        };
        match (command, sign) {
            (b"export" | b"readonly", _) if head.contains(&b'f') => return names,
            (b"export", _) if head.contains(&b'n') => exported = Some(Exported::No),
            // A reference to another variable: from now on nothing can be told by names.
            (b"declare" | b"typeset" | b"local", _) if head.contains(&b'n') => state.forget_variables(),
            (b"declare" | b"typeset", b'-') if head.contains(&b'f') || head.contains(&b'F') => return names,
            (_, b'-') if head.contains(&b'x') => exported = Some(Exported::Yes),
            (_, b'+') if head.contains(&b'x') => exported = Some(Exported::No),
            _ => {}
        }
    }
    names
}

fn declared(command: &[u8], argument: &Word, exported: Option<Exported>, state: &mut State) -> Option<Vec<u8>> {
    let head = argument.head();
    let end = head.iter().position(|byte| *byte == b'=');
    let name = &head[..end.unwrap_or(head.len())];
    let (name, appends) = name.strip_suffix(b"+").map_or((name, false), |name| (name, true));
    if !is_name(name) || (end.is_none() && argument.known().is_none()) {
        if end.is_some() || argument.known().is_some() {
            sets(argument, state);
        } else {
            // Which variables these are only run time knows (`export $(xargs <.env)`); none of them moves anybody.
            state.forget_variables();
        }
        return None;
    }
    let name = name.to_vec();
    if let Some(end) = end {
        let mut value = argument.clone();
        if let Some(Part::Known(text)) = value.parts.first_mut() {
            text.drain(..=end);
        }
        assign(state, &name, &value.tidy(), appends);
    } else if exported.is_none() && command != b"readonly" {
        sets(argument, state);
    }
    if let Some(exported) = exported {
        state.export(&name, exported);
    }
    Some(name)
}

/// A word that names a variable, perhaps behind an option or before `=` or `[`.
pub(super) fn sets(argument: &Word, state: &mut State) {
    let Some(text) = argument.known() else { return state.forget_variables() };
    let attached = if text.len() > 2 && text[0] == b'-' { &text[2..] } else { text };
    for word in attached.split(|byte| !in_name(*byte)).filter(|word| is_name(word)) {
        state.forget(word);
    }
}

/// `unset [-v] NAME…`; an element of an array leaves the rest.
pub(super) fn unset(arguments: &[Word], state: &mut State) {
    if arguments.first().is_some_and(|first| first.known() == Some(b"-f")) {
        return;
    }
    for argument in arguments {
        match argument.known() {
            Some(name) if is_name(name) => state.unset(name),
            _ => sets(argument, state),
        }
    }
}
