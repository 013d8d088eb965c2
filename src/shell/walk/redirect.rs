//! Redirections, and what standard input becomes by them.
#![forbid(unsafe_code)]

use super::Walker;
use super::state::State;
use crate::shell::script::{Descriptor, Input, Kind, Redirection, Simple};
use crate::shell::syntax::tree::{Left, Redirect, Target};
use crate::shell::word::Word;

impl Walker<'_> {
    pub(super) fn redirections(&mut self, redirects: &[Redirect], state: &mut State) -> Vec<Redirection> {
        redirects.iter().map(|redirect| self.redirection(redirect, state)).collect()
    }

    fn redirection(&mut self, redirect: &Redirect, state: &mut State) -> Redirection {
        let target = match &redirect.target {
            Target::Word(raw) if redirect.operator == b"<<<" => self.single(raw, state),
            Target::Word(raw) => self.target(raw, state),
            Target::Here(text) => text.get().map_or_else(Word::unknown, |text| self.single(text, state)),
        };
        let descriptor = match &redirect.left {
            Left::Ready => Descriptor::Ready,
            Left::Number(number) => Descriptor::Number(*number),
            Left::Named(name) => {
                state.forget(name);
                Descriptor::Named(name.clone())
            }
        };
        let (kind, both) = match redirect.operator {
            b"<" => (Kind::Read, false),
            b">" => (Kind::Write, false),
            b">>" => (Kind::Append, false),
            b"<>" => (Kind::ReadWrite, false),
            b">|" => (Kind::Clobber, false),
            b"&>" => (Kind::Write, true),
            b"&>>" => (Kind::Append, true),
            b"<<<" => (Kind::HereString, false),
            b"<<" | b"<<-" => (Kind::HereDoc, false),
            // A file, unless it is surely a descriptor.
            b">&" if !is_descriptor(&target) => (Kind::Write, descriptor == Descriptor::Ready),
            _ => (Kind::Duplicate, false),
        };
        let descriptor = match (both, kind, descriptor) {
            (true, ..) => Descriptor::Both,
            (_, Kind::Duplicate, Descriptor::Ready) => Descriptor::Number(u32::from(redirect.operator == b">&")),
            (.., descriptor) => descriptor,
        };
        Redirection { descriptor, kind, target }
    }

    /// The redirections of a compound command: a command without words. What it encloses reads from them.
    pub(super) fn redirections_alone(&mut self, redirects: &[Redirect], state: &mut State) {
        let redirections = self.redirections(redirects, state);
        let input = input(&redirections, self.commands.len(), state.input);
        self.note(Simple {
            assignments: Vec::new(),
            words: Vec::new(),
            redirections,
            directory: state.directory.clone(),
            input,
            environment: state.environment(),
            is_call: false,
        });
        state.input = input;
    }
}

/// What standard input is after these redirections of the command with this index.
pub(super) fn input(redirections: &[Redirection], command: usize, before: Input) -> Input {
    let reads = |redirection: &Redirection| match redirection.descriptor {
        Descriptor::Number(number) => number == 0,
        Descriptor::Ready => {
            matches!(redirection.kind, Kind::Read | Kind::ReadWrite | Kind::HereDoc | Kind::HereString)
        }
        Descriptor::Both | Descriptor::Named(_) => false,
    };
    match redirections.iter().rposition(reads) {
        None => before,
        Some(place) if redirections[place].kind == Kind::Duplicate => Input::Unknown,
        Some(place) => Input::Redirection(command, place),
    }
}

/// `2`, `-` or `2-`.
fn is_descriptor(target: &Word) -> bool {
    let Some(text) = target.known() else { return false };
    let digits = text.strip_suffix(b"-").unwrap_or(text);
    !text.is_empty() && digits.iter().all(u8::is_ascii_digit)
}
