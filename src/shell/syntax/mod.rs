//! The grammar: bytes in, a tree out. A parser that recurses down to a bounded depth and reads every byte a bounded
//! number of times. After a mistake it sees only the end, so that every level closes with what it has.
#![forbid(unsafe_code)]

mod ansi;
mod arithmetic;
mod command;
mod compound;
mod dollar;
mod here;
mod list;
mod parameter;
mod pattern;
mod quote;
mod redirection;
mod reserved;
mod source;
mod test;
pub(crate) mod tree;
mod visit;
mod word;

use self::reserved::End;
use self::source::Parser;
pub(crate) use self::source::{in_name, is_name};
pub(crate) use self::visit::{Node, visit, visit_command};

/// How deeply constructs may be nested. What people write stays below ten.
const DEEPEST: usize = 64;

/// Reads a script that stands at this depth inside of another one, and says whether all of it was understood.
pub(crate) fn read(script: &[u8], depth: usize) -> (tree::List, bool) {
    let mut parser = Parser::new(script, depth);
    let list = parser.list(End::Nothing);
    parser.no_more_bodies();
    (list, parser.complete)
}
