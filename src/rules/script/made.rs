//! Files that a script makes itself, with what it puts into them: a later command of it may read them (`psql -f`).
#![forbid(unsafe_code)]

use std::rc::Rc;

use super::{Reader, is_stdout};
use crate::rules::printed::Printed;
use crate::rules::step::Made;
use crate::shell::Redirection;

/// So many files that a script makes are looked at.
const MOST_FILES: usize = 64;

impl Reader<'_, '_> {
    /// Files that the script makes, with what it puts into them.
    pub(super) fn files_made(&self) -> Made {
        let mut made = Vec::new();
        for simple in &self.script.commands {
            if made.len() >= MOST_FILES {
                break;
            }
            let is_output =
                |redirection: &&Redirection| redirection.kind.writes() && is_stdout(&redirection.descriptor);
            let directories = || self.directories(&simple.directory);
            if let Some(file) = simple.redirections.iter().rfind(is_output) {
                // Of something compound, all that it encloses writes there.
                let is_compound = simple.words.is_empty() && simple.assignments.is_empty();
                let printed = if is_compound { Printed::hidden() } else { self.said(simple) };
                let printed = Rc::new(printed);
                let name = self.word(&file.target);
                made.extend(directories().into_iter().map(|place| (place.join(&name), Rc::clone(&printed))));
            } else if simple.words.first().and_then(|word| word.known()) == Some(b"tee") {
                let printed = Rc::new(self.input(simple));
                let files = simple.words[1..].iter().filter(|word| !word.head().starts_with(b"-"));
                let names: Vec<_> = files.map(|file| self.word(file)).collect();
                for place in directories() {
                    made.extend(names.iter().map(|name| (place.join(name), Rc::clone(&printed))));
                }
            }
        }
        // What was asked for on the way did not know of these files.
        self.known.forget();
        if made.is_empty() {
            return Rc::clone(&self.made);
        }
        made.extend(self.made.iter().cloned());
        Rc::new(made)
    }
}
