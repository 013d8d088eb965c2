//! `locked config rules`: the built-in tables, as they are written.
#![forbid(unsafe_code)]

use crate::exit::Exit;
use crate::rules::Book;

const HEAD: &str = "\
# The rules that locked has, written as you would write yours. A [[rule]] of your settings with a name that stands here
# takes its place; enabled = false there switches it off. The rules for sops itself are code: its options are read as sops
# reads them, and its files are named by what they are.
";

/// Prints them.
pub(super) fn rules() -> Exit {
    crate::cli::out::print(&format!("{HEAD}\n{}", Book::built_in().trim_end()))
}
