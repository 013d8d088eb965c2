//! `read` as the condition of a loop: what it asks for at every round.
#![forbid(unsafe_code)]

use crate::shell::syntax::is_name;
use crate::shell::syntax::tree::{Body, Command, Item, Link, List, Raw, literal};

/// `read`, as a loop asks for lines.
pub(super) struct Asked {
    pub(super) names: Vec<Vec<u8>>,
    /// `IFS=`: the line as it is.
    pub(super) whole: bool,
    /// `-r`: a backslash is one.
    pub(super) raw: bool,
}

/// What a condition asks for, if it is a `read` and nothing else.
pub(super) fn asked(condition: &List) -> Option<Asked> {
    let [item] = condition.0.as_slice() else { return None };
    let [command] = item.first.commands.as_slice() else { return None };
    let Body::Simple { assignments, words } = &command.body else { return None };
    if !command.redirections.is_empty() || item.first.negated || !takes_last_line(item) {
        return None;
    }
    let whole = match assignments.as_slice() {
        [] => false,
        [assign] if assign.name == b"IFS" && literal(&assign.value).is_some_and(|it| it.is_empty() || it == b"\n") => {
            true
        }
        _ => return None,
    };
    let words: Vec<Vec<u8>> = words.iter().map(|word: &Raw| literal(word)).collect::<Option<_>>()?;
    let (_, rest) = words.split_first().filter(|(first, _)| *first == b"read")?;
    let raw = rest.first().is_some_and(|word| word == b"-r");
    let names = if raw { &rest[1..] } else { rest };
    let are_names = !names.is_empty() && names.iter().all(|name| is_name(name));
    are_names.then(|| Asked { names: names.to_vec(), whole, raw })
}

/// Nothing stands behind the `read`, or `|| [ -n "$line" ]`, for a last line that has no end.
fn takes_last_line(item: &Item) -> bool {
    let has = |words: &[Raw]| words.iter().any(|word| literal(word).is_some_and(|word| word == b"-n"));
    match item.rest.as_slice() {
        [] => true,
        [(Link::Or, pipeline)] => match pipeline.commands.as_slice() {
            [Command { body: Body::Test(words), .. }] => has(words),
            [Command { body: Body::Simple { words, .. }, .. }] => {
                words.first().and_then(literal).is_some_and(|name| name == b"[") && has(words)
            }
            _ => false,
        },
        _ => false,
    }
}
