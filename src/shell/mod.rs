//! `shell`: what a shell script would run. Pure: bytes go in, and every simple command anywhere in them comes out, with
//! its words, redirections and the directory it would run in. Nothing is executed or guessed, and what stands in files or which
//! there are is asked of whoever called.
//!
//! Two steps: [`syntax`](self) reads the grammar (POSIX shell with what bash, zsh and dash users type) into a tree; then
//! the tree is walked in the order of execution, with the variables and the directory as far as the script itself says
//! them. Facts: POSIX.1-2024 *Shell Command Language*; bash(1) and dash(1) where they go beyond; compared with the real
//! bash and dash by `tests/shell.rs`.
//!
//! Where shells read a line differently, it is read as bash reads it (`[[ a > b ]]` and `((a > 5))` are tests, not
//! redirections; `&>f` sends both streams), and unquoted variables are split into words as POSIX says. Where the
//! difference would change which text is a command at all, the answer is marked incomplete. What an alias may have made of
//! a command stands behind it (dash and sh expand aliases in scripts, bash and zsh do not); a changed `IFS` is heeded when the script itself changes it; a `cd` is presumed to work, unless what follows runs
//! only when it failed; a file that is read in (`. FILE`) and that nobody can look at is presumed to stay in the directory.
#![forbid(unsafe_code)]

mod environment;
mod script;
mod syntax;
#[cfg(test)]
mod tests;
mod walk;
mod word;

pub use environment::{Environment, Exported, Value, Variable};
pub use script::{
    Assignment, Descriptor, Directory, Input, Kind, Names, Reads, Redirection, Script, Simple, Sourced, Span,
    Surroundings,
};
pub use word::{Part, Word};

/// The longest script that is read, in bytes: 128 KiB. Linux starts no program with a longer word (`MAX_ARG_STRLEN`, 32 pages
/// of 4 KiB, with the zero byte at its end), so none such is run there. Of a longer one nothing is said at all.
pub const LONGEST: usize = 128 * 1024;

/// What a script would run when nothing is known of the place where it runs, as for a command sent to another host.
#[must_use]
pub fn parse(script: &[u8]) -> Script {
    parse_in(script, &Surroundings::default())
}

/// What a script would run with these variables and parameters, as for `sh -c SCRIPT NAME ARGUMENT…` on this machine.
#[must_use]
pub fn parse_in(script: &[u8], surroundings: &Surroundings) -> Script {
    parse_seeing(script, surroundings, &|_, _| Sourced::Unseen, &|_, _| None)
}

/// The same where somebody says what stands in the files that it reads in (`. FILE`), and which its patterns stand for.
#[must_use]
pub fn parse_seeing(script: &[u8], surroundings: &Surroundings, reads: Reads<'_>, names: Names<'_>) -> Script {
    if script.len() > LONGEST {
        return Script::default();
    }
    let (tree, complete) = syntax::read(script, 0);
    walk::walk(&tree, complete, surroundings, (reads, names))
}
