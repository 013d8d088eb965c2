//! Texts that a script goes through line by line, where they are known: a here-document, the words of one `echo`, what a
//! file holds that can be looked at.
#![forbid(unsafe_code)]

use super::Walker;
use crate::shell::script::{Descriptor, Directory, Input, Kind, Redirection, Simple, Sourced, Span};
use crate::shell::word::{Part, Word};

/// What gives a command its standard input.
const READS: [Kind; 3] = [Kind::Read, Kind::HereDoc, Kind::HereString];

impl Walker<'_> {
    /// What stands on standard input.
    pub(super) fn text_of(&mut self, input: Input) -> Option<Vec<u8>> {
        match input {
            Input::Redirection(command, place) => {
                let opens = self.commands.get(command)?;
                let Redirection { kind, target, .. } = opens.redirections.get(place)?;
                match (kind, target.parts()) {
                    (Kind::HereString, [Part::Output { commands, .. }]) => {
                        let span = *commands;
                        self.printed(span)
                    }
                    (Kind::HereDoc | Kind::HereString, _) => target.known().map(<[u8]>::to_vec),
                    (Kind::Read, [Part::Stream(span)]) => {
                        let span = *span;
                        self.printed(span)
                    }
                    (Kind::Read, _) => {
                        let (file, directory) = (target.clone(), opens.directory.clone());
                        self.held(&file, &directory)
                    }
                    _ => None,
                }
            }
            Input::Pipe(Some(span)) => self.printed(span),
            _ => None,
        }
    }

    /// What one command prints: `echo`, `printf '%s\n'`, `cat`, and the `<F` that stands alone.
    pub(super) fn printed(&mut self, span: Span) -> Option<Vec<u8>> {
        let [said] = self.commands.get(span.from..span.to)? else { return None };
        if said.is_call {
            return None;
        }
        let words: Vec<&[u8]> = said.words.iter().map(Word::known).collect::<Option<_>>()?;
        let silent = said.redirections.iter().all(is_of_errors);
        let plain = silent && !words.iter().any(|word| word.contains(&b'\\'));
        match words.as_slice() {
            [b"echo", words @ ..] if plain && !words.first().is_some_and(|word| word.starts_with(b"-")) => {
                Some(words.join(&b' '))
            }
            [b"printf", b"%s\\n", words @ ..] if silent => Some(words.join(&b'\n')),
            [b"cat"] | [] => {
                let reads = said.redirections.iter().all(|it| is_of_errors(it) || READS.contains(&it.kind));
                let input = Some(said.input).filter(|input| reads && matches!(input, Input::Redirection(..)))?;
                self.text_of(input)
            }
            [b"cat", files @ ..] if silent && !files.iter().any(|file| file.starts_with(b"-")) => {
                self.together(said.clone())
            }
            _ => None,
        }
    }

    fn together(&mut self, cat: Simple) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for file in &cat.words[1..] {
            all.extend(self.held(file, &cat.directory)?);
        }
        Some(all)
    }

    /// What a file holds, where that can be looked at and the script has not made it.
    fn held(&mut self, file: &Word, directory: &Directory) -> Option<Vec<u8>> {
        // Unlike `. FILE` it is not looked for on PATH.
        let mut here = Word::literal(b"./");
        here.append(file);
        let file = if file.head().contains(&b'/') || file.known().is_none() { file } else { &here };
        if !self.may_read(file) {
            return None;
        }
        match (self.reads)(directory, file) {
            Sourced::Text(text) => Some(text).filter(|text| self.charge(text.len())),
            Sourced::Missing | Sourced::Unseen => None,
        }
    }
}

/// `2>/dev/null`.
fn is_of_errors(redirection: &Redirection) -> bool {
    redirection.descriptor == Descriptor::Number(2)
}
