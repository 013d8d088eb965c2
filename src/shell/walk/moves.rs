//! `cd`, `pushd`, `popd`: where the shell goes, and where it can go back to.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::Walker;
use super::state::{Flow, State};
use crate::shell::script::Directory;
use crate::shell::syntax::tree::List;
use crate::shell::word::Word;

/// More directories than these are put aside by nobody.
const DEEPEST: usize = 64;

impl Walker<'_> {
    pub(super) fn moves(&mut self, name: &[u8], arguments: &[Word], mut state: State) -> Flow {
        let mut failure = state.clone();
        failure.improbable = true;
        let mut stack = Vec::clone(&state.stack);
        let directory = match (name, arguments) {
            (b"cd" | b"chdir", arguments) => self.changed(arguments, &state),
            (b"pushd", [to]) if !to.could_start_with(b"-") && !to.could_start_with(b"+") => {
                stack.push(state.directory.clone());
                self.changed(arguments, &state)
            }
            // Exchanges the last two.
            (b"pushd", []) => match stack.pop() {
                Some(before) => {
                    stack.push(state.directory.clone());
                    before
                }
                None => Directory::Unknown,
            },
            (b"popd", []) => stack.pop().unwrap_or(Directory::Unknown),
            // Turns the stack, or changes it alone.
            _ => {
                stack.clear();
                Directory::Unknown
            }
        };
        if stack.len() > DEEPEST {
            stack.clear();
        }
        state.stack = Arc::new(stack);
        state.move_to(directory);
        Flow { success: state, failure }
    }

    /// Whether a body ends where it began, in whichever of its rounds: `cd "$d"; …; cd ..`.
    pub(super) fn comes_back(&mut self, list: &List, state: &State) -> bool {
        let end = self.list(list, state.clone()).joined();
        let is_known = !matches!(state.directory, Directory::Unknown);
        is_known && end.reachable && end.directory == state.directory && !super::lines::ends_early(list)
    }
}
