//! The shell's own commands, as far as they change what follows.
#![forbid(unsafe_code)]

use super::Walker;
use super::declare::{declare, sets, unset};
use super::state::{Flow, State};
use crate::shell::script::Input;
use crate::shell::syntax::is_name;
use crate::shell::syntax::tree::{Piece, Raw};
use crate::shell::word::{Part, Word};

const DECLARING: [&[u8]; 7] = [b"export", b"readonly", b"declare", b"typeset", b"local", b"integer", b"float"];

/// After these, variables assigned on the same line may stay (POSIX: special built-in utilities).
const SPECIAL: [&[u8]; 15] = [
    b":",
    b".",
    b"break",
    b"continue",
    b"eval",
    b"exec",
    b"exit",
    b"export",
    b"readonly",
    b"return",
    b"set",
    b"shift",
    b"times",
    b"trap",
    b"unset",
];

/// The command itself and its arguments, behind `command`, `builtin` and zsh's modifiers; nothing if it only asks for
/// something (`command -v`). Whether functions are passed over.
fn command(words: &[Word]) -> Option<(&Word, &[Word], bool)> {
    let (mut name, mut rest) = words.split_first()?;
    let mut passes = false;
    while let Some(b"command" | b"builtin" | b"noglob" | b"nocorrect" | b"-") = name.known() {
        passes |= matches!(name.known(), Some(b"command" | b"builtin"));
        (name, rest) = rest.split_first()?;
        while let Some(b"-p" | b"--") = name.known() {
            (name, rest) = rest.split_first()?;
        }
        if matches!(name.known(), Some([b'-', b'v' | b'V', ..])) {
            return None;
        }
    }
    Some((name, rest, passes))
}

/// Whether words behind these are declarations.
pub(super) fn declares(words: &[Word]) -> bool {
    command(words).is_some_and(|(name, ..)| name.known().is_some_and(|name| DECLARING.contains(&name)))
}

/// Whether a word has the shape `NAME=…`.
pub(super) fn is_declaration(raw: &Raw) -> bool {
    let Some(Piece::Text { text, quoted: false }) = raw.first() else { return false };
    text.iter()
        .position(|byte| *byte == b'=')
        .is_some_and(|end| is_name(text[..end].strip_suffix(b"+").unwrap_or(&text[..end])))
}

/// Whether what is assigned before these words may stay assigned.
pub(super) fn keeps_assignments(words: &[Word]) -> bool {
    words[0].known().is_none_or(|name| SPECIAL.contains(&name))
}

/// It is presumed to work, as a `cd` is: `mkdir -p x && cd x && …`.
fn presumed(state: State) -> Flow {
    let failure = State { improbable: true, ..state.clone() };
    Flow { success: state, failure }
}

impl Walker<'_> {
    /// The function of the script that these words call, and the place of its name among them.
    pub(super) fn function_called(&self, words: &[Word]) -> Option<(Vec<u8>, usize)> {
        let (name, rest, passes) = command(words)?;
        let name = name.known().filter(|name| !passes && self.functions.contains_key(*name))?;
        Some((name.to_vec(), words.len() - rest.len() - 1))
    }

    /// What holds after a command that had this input.
    pub(super) fn aftermath(&mut self, words: &[Word], input: Input, mut state: State) -> Flow {
        let Some((name, arguments, _)) = command(words) else { return Flow::both(state) };
        let Some(name) = name.known() else {
            // A path is no command of the shell's own; any other name may be.
            let is_path = name.parts().iter().any(|part| matches!(part, Part::Known(text) if text.contains(&b'/')));
            if !is_path {
                state.forget_all();
            }
            return Flow::both(state);
        };
        match name {
            b"cd" | b"chdir" | b"pushd" | b"popd" => return self.moves(name, arguments, state),
            b"exit" | b"return" | b"break" | b"continue" | b"logout" | b"bye" => {
                if name == b"return" {
                    self.returns(arguments, &state);
                }
                state.reachable = false;
            }
            b"mkdir" => return presumed(state),
            b"exec" if arguments.is_empty() => state.read_from(input),
            b"exec" => state.reachable = false,
            b"set" => {
                self.set(arguments, &mut state);
                let mut flow = Flow::both(state);
                // A shell that cannot set it ends (POSIX: special built-in utilities).
                flow.failure.reachable = false;
                return flow;
            }
            b"shift" => self.shift(arguments, &mut state),
            b"alias" => self.alias(arguments),
            b"unset" => unset(arguments, &mut state),
            b"eval" => return self.evaluate(arguments, state),
            b"." | b"source" => return self.source(arguments, state),
            b"test" | b"[" => return self.tested(arguments, state),
            b"trap" => self.trap(arguments, &mut state),
            name if DECLARING.contains(&name) => {
                let names = declare(name, arguments, &mut state);
                let is_global =
                    |word: &Word| word.known().is_some_and(|word| word.starts_with(b"-") && word.contains(&b'g'));
                if !matches!(name, b"export" | b"readonly") && !arguments.iter().any(is_global) {
                    self.localize(names);
                }
            }
            b"read" | b"mapfile" | b"readarray" | b"getopts" | b"let" | b"wait" | b"vared" | b"zparseopts" => {
                arguments.iter().for_each(|argument| sets(argument, &mut state));
                [b"REPLY".as_slice(), b"MAPFILE", b"OPTARG", b"OPTIND"].iter().for_each(|name| state.forget(name));
            }
            b"printf" if arguments.first().is_some_and(|first| first.could_start_with(b"-v")) => {
                arguments.iter().take(2).for_each(|argument| sets(argument, &mut state));
            }
            _ => {}
        }
        Flow::both(state)
    }

    /// `eval`: its words are a script that runs here.
    fn evaluate(&mut self, arguments: &[Word], mut state: State) -> Flow {
        let Some((tree, complete)) = self.script_of(arguments) else {
            if self.is_told_by_programs(arguments) {
                return Flow::both(self.unread(state));
            }
            state.forget_all();
            return Flow::both(state);
        };
        self.complete &= complete;
        self.learn_functions(&tree);
        self.list(&tree, state)
    }

    /// Whether programs say all of it (`eval "$(ssh-agent -s)"`): as of a file that cannot be looked at, settings are expected of
    /// that, and no `cd`. What the shell itself and `cat` print stands in the script or in a file, and may be anything.
    fn is_told_by_programs(&self, words: &[Word]) -> bool {
        let says = |word: &Word| match word.parts() {
            [Part::Output { commands, .. }] => {
                let said = self.commands.get(commands.from..commands.to).unwrap_or_default();
                let speaks = |name: &[u8]| !matches!(name, b"echo" | b"printf" | b"cat" | b"cd" | b"pushd" | b"popd");
                let name = |simple: &crate::shell::Simple| simple.words.first()?.known().map(speaks);
                !said.is_empty() && said.iter().all(|simple| !simple.is_call && name(simple) == Some(true))
            }
            _ => false,
        };
        !words.is_empty() && words.iter().all(says)
    }

    pub(super) fn script_of(&mut self, words: &[Word]) -> Option<(crate::shell::syntax::tree::List, bool)> {
        let mut texts = Vec::new();
        for word in words {
            texts.push(word.known()?);
        }
        let text = texts.join(&b' ');
        if !self.charge(text.len()) {
            self.complete = false;
            return None;
        }
        Some(crate::shell::syntax::read(&text, self.depth))
    }
}
