//! `. FILE`: what stands in a file runs here, with these variables and in this directory.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Walker;
use super::state::{Flow, Parameters, State};
use crate::shell::script::{Directory, Simple, Sourced};
use crate::shell::syntax::tree::List;
use crate::shell::word::{Part, Word};

/// Nobody reads more files in.
const MOST: usize = 64;

/// A file that these name stays as it is.
const READERS: [&[u8]; 18] = [
    b".", b"source", b"test", b"[", b"cat", b"ls", b"grep", b"head", b"tail", b"stat", b"echo", b"printf", b"chmod",
    b"chown", b"cd", b"wc", b"diff", b"export",
];

/// What was read in.
#[derive(Default)]
pub(super) struct Read {
    /// How often.
    count: usize,
    /// Texts, each with its tree: read twice, its functions are the same.
    trees: BTreeMap<Vec<u8>, Rc<(List, bool)>>,
    /// What stands in one of them nobody knows.
    unread: bool,
}

impl Read {
    pub(super) fn is_unread(&self) -> bool {
        self.unread
    }
}

/// What is known of a file.
enum Found {
    /// What stands in it, and whether all of that could be read.
    Tree(Rc<(List, bool)>),
    Missing,
    Unseen,
}

impl Walker<'_> {
    /// What holds behind `. FILE ARGUMENT…`.
    pub(super) fn source(&mut self, arguments: &[Word], state: State) -> Flow {
        let arguments = if arguments.first().is_some_and(|first| first.known() == Some(b"--")) {
            &arguments[1..]
        } else {
            arguments
        };
        let Some((file, given)) = arguments.split_first() else { return Flow::both(state) };
        let (tree, complete) = match self.found(file, &state.directory) {
            Found::Tree(read) => (Rc::clone(&read), read.1),
            Found::Missing => return Flow::both(state),
            Found::Unseen => return Flow::both(self.unread(state)),
        };
        let parameters = state.parameters.clone();
        let mut within = state;
        if !given.is_empty() {
            within.set_parameters(Parameters::These(Arc::new(given.to_vec())));
        }
        self.learn_library(&tree.0);
        let mut flow = self.library(&tree.0, within);
        for end in [&mut flow.success, &mut flow.failure] {
            if !given.is_empty() {
                end.set_parameters(parameters.clone());
            }
        }
        if complete {
            return flow;
        }
        Flow { success: self.unread(flow.success), failure: self.unread(flow.failure) }
    }

    /// Where a file is looked for that is there, it is found: `[ -f FILE ] && . FILE`.
    pub(super) fn tested(&mut self, words: &[Word], state: State) -> Flow {
        let mut flow = Flow::both(state);
        let words = words.strip_suffix(&[Word::literal(b"]")]).unwrap_or(words);
        if let [operator, file] = words
            && matches!(operator.known(), Some(b"-f" | b"-e" | b"-r" | b"-s"))
            && self.may_read(file)
            && matches!((self.reads)(&flow.success.directory, file), Sourced::Text(text) if !text.is_empty())
        {
            flow.failure.reachable = false;
        }
        flow
    }

    pub(super) fn unread(&mut self, mut state: State) -> State {
        self.read.unread |= !self.quiet;
        state.forget_variables();
        state.set_parameters(Parameters::Unknown);
        state
    }

    fn found(&mut self, file: &Word, directory: &Directory) -> Found {
        if self.is_deep() || !self.may_read(file) {
            return Found::Unseen;
        }
        let text = match (self.reads)(directory, file) {
            Sourced::Text(text) => text,
            Sourced::Missing => return Found::Missing,
            Sourced::Unseen => return Found::Unseen,
        };
        if !self.charge(text.len()) {
            return Found::Unseen;
        }
        let depth = self.depth;
        let read = self.read.trees.entry(text);
        Found::Tree(Rc::clone(read.or_insert_with_key(|text| Rc::new(crate::shell::syntax::read(text, depth)))))
    }

    /// Whether what stands in the file now is what the script will find there, and not too much was read.
    pub(super) fn may_read(&mut self, file: &Word) -> bool {
        self.read.count += 1;
        self.read.count <= MOST && !self.may_be_new(file)
    }

    /// Whether the script itself may have written the file before.
    fn may_be_new(&self, file: &Word) -> bool {
        let Some(Part::Known(end)) = file.parts().last() else { return true };
        let name = end.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        self.commands.iter().any(|command| writes(command, name))
    }
}

/// Whether a command names a file that is called so, and not only to look at it.
fn writes(command: &Simple, name: &[u8]) -> bool {
    let is_it = |word: &Word| match word.parts().last() {
        Some(Part::Known(end)) => end.rsplit(|byte| b"/=".contains(byte)).next() == Some(name),
        _ => false,
    };
    let reads = command.words.first().and_then(Word::known).is_some_and(|first| READERS.contains(&first));
    command.redirections.iter().any(|it| it.kind.writes() && is_it(&it.target))
        || (!reads && command.words.iter().skip(1).any(is_it))
}
