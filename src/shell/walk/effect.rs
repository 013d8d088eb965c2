//! What a piece of script may change, found by a quiet walk: for loops, which come back, and functions, which come later.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::Walker;
use super::lines::{Round, is_decided};
use super::state::{Parameters, State};
use crate::shell::environment::Exported;
use crate::shell::script::{Directory, Input};
use crate::shell::syntax::tree::{Body, Command, List, Piece, literal};
use crate::shell::syntax::{Node, visit, visit_command};

/// Changes to the state of a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Effects {
    pub(super) names: BTreeSet<Vec<u8>>,
    pub(super) exports: BTreeSet<Vec<u8>>,
    pub(super) exports_all: bool,
    pub(super) directory: bool,
    /// It moves, wherever it ends.
    pub(super) went: bool,
    pub(super) parameters: bool,
    pub(super) input: bool,
    pub(super) variables: bool,
    pub(super) everything: bool,
}

impl Effects {
    /// What is still known when these changes may have happened, any number of times.
    pub(super) fn apply(&self, state: &mut State) {
        if self.everything {
            state.forget_all();
        }
        if self.variables {
            state.forget_variables();
        }
        self.names.iter().for_each(|name| state.forget(name));
        self.exports.iter().for_each(|name| state.export(name, Exported::Unsure));
        if self.exports_all {
            state.export_all(Exported::Unsure);
        }
        if self.directory {
            state.lose_the_way();
        }
        if self.went {
            state.previous = Some(Directory::Unknown);
            state.stack = Arc::default();
        }
        if self.parameters {
            state.set_parameters(Parameters::Unknown);
        }
        if self.input {
            state.read_from(Input::Unknown);
        }
    }

    fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.exports.extend(other.exports);
        self.exports_all |= other.exports_all;
        self.directory |= other.directory;
        self.went |= other.went;
        self.parameters |= other.parameters;
        self.input |= other.input;
        self.variables |= other.variables;
        self.everything |= other.everything;
    }
}

impl Walker<'_> {
    /// What these lists may change when they are run from this state again and again, given these rounds if they are known.
    /// Within a quiet walk nothing: the walk itself finds it.
    pub(super) fn effects(&mut self, lists: &[&List], state: &State, rounds: &[Round]) -> Effects {
        if self.quiet {
            return Effects::default();
        }
        let rounds = if lists.iter().any(|list| is_decided(list)) { rounds } else { &[] };
        let mut effects = self.once(lists, state, rounds);
        // Once more with what the first time changed: a name of a command may have been among it.
        let mut again = state.clone();
        effects.apply(&mut again);
        effects.add(self.once(lists, &again, rounds));
        effects
    }

    fn once(&mut self, lists: &[&List], state: &State, rounds: &[Round]) -> Effects {
        let none = [Round::new()];
        let rounds = if rounds.is_empty() { &none } else { rounds };
        let mut comes_back = true;
        let mut effects = self.quietly(|walker, log| {
            for round in rounds {
                let state = state.logged(log).given(round);
                lists.iter().for_each(|list| comes_back &= walker.comes_back(list, &state));
            }
        });
        effects.went |= effects.directory;
        effects.directory &= !comes_back;
        effects
    }

    /// Takes note of all functions that are defined anywhere in a tree.
    pub(super) fn learn_functions(&mut self, list: &List) {
        let (mut names, mut unnamed) = (Vec::new(), false);
        visit(list, &mut |node| {
            if let Node::Command(command) = node
                && let Body::Function { name, body } = &command.body
            {
                let name = literal(name);
                unnamed |= name.is_none();
                names.extend(name.map(|name| (name, Rc::clone(body))));
            }
        });
        if unnamed {
            self.complete = false;
        }
        if names.is_empty() {
            return;
        }
        names.into_iter().for_each(|(name, body)| self.learn(name, &body));
        let mut unknown = State::start();
        unknown.forget_all();
        let effects = self.quietly(|walker, log| {
            visit(list, &mut |node| {
                if let Node::Command(command) = node
                    && let Body::Function { body, .. } = &command.body
                {
                    walker.command(body, unknown.logged(log));
                }
            });
        });
        self.function_effects.add(effects);
    }

    fn quietly(&mut self, walk: impl FnOnce(&mut Self, &Rc<RefCell<Effects>>)) -> Effects {
        let log = Rc::<RefCell<Effects>>::default();
        let (quiet, begun) = (std::mem::replace(&mut self.quiet, true), self.begun);
        walk(self, &log);
        (self.quiet, self.begun) = (quiet, begun);
        log.take()
    }
}

/// How much there is to walk.
pub(super) fn size(list: &List) -> usize {
    measured(|see| visit(list, see))
}

/// The same of one command.
pub(super) fn command_size(command: &Command) -> usize {
    measured(|see| visit_command(command, see))
}

fn measured(visit: impl FnOnce(&mut dyn FnMut(Node<'_>))) -> usize {
    let mut size = 0_usize;
    visit(&mut |node| {
        size += match node {
            Node::Piece(Piece::Text { text, .. }) => 1 + text.len(),
            Node::Command(_) | Node::Piece(_) => 1,
        };
    });
    size
}
