//! `export NAME=VALUE`, `read NAME` and their like: words that name variables.
#![forbid(unsafe_code)]

use super::assign::assign;
use super::state::State;
use crate::shell::syntax::{in_name, is_name};
use crate::shell::word::{Part, Word};

/// `export NAME=VALUE` and its like.
pub(super) fn declare(command: &[u8], argument: &Word, state: &mut State) {
    let head = argument.head();
    if head.first().is_some_and(|byte| matches!(byte, b'-' | b'+')) {
        // A reference to another variable: from now on nothing can be told by names.
        if head.contains(&b'n') && !matches!(command, b"export" | b"readonly") {
            state.forget_all();
        }
        return;
    }
    match head.iter().position(|byte| *byte == b'=') {
        Some(end) if is_name(head[..end].strip_suffix(b"+").unwrap_or(&head[..end])) => {
            let appends = head[..end].ends_with(b"+");
            let mut value = argument.clone();
            if let Some(Part::Known(text)) = value.parts.first_mut() {
                text.drain(..=end);
            }
            assign(state, head[..end].strip_suffix(b"+").unwrap_or(&head[..end]), &value.tidy(), appends);
        }
        Some(_) => sets(argument, state),
        None if argument.known().is_some() && matches!(command, b"export" | b"readonly") => {}
        None if argument.known().is_some() => sets(argument, state),
        None => state.forget_all(),
    }
}

/// A word that names a variable, perhaps behind an option or before `=` or `[`.
pub(super) fn sets(argument: &Word, state: &mut State) {
    let Some(text) = argument.known() else { return state.forget_all() };
    let attached = if text.len() > 2 && text[0] == b'-' { &text[2..] } else { text };
    for word in attached.split(|byte| !in_name(*byte)).filter(|word| is_name(word)) {
        state.forget(word);
    }
}
