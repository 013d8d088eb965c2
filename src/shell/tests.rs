//! Tables of scripts with what is found in them, and what no text may do.
#![forbid(unsafe_code)]

mod compound;
mod flow;
mod limits;
mod quoting;
mod redirections;
mod shown;
mod simple;
mod sourced;
mod variables;

use super::{Script, Word, parse};

/// Every script of a table is read as the table says, in the notation of [`shown`].
fn all(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(script, expected)| (script, expected, shown::script(&parse(script.as_bytes()))))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(script, expected, found)| format!("{script}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
