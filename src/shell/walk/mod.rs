//! The walk through the tree in the order of execution: what is known of variables and of the directory goes along, and
//! every simple command is noted where it is met. Branches are walked each from the state at their fork, and what they
//! say differently is unknown behind them.
#![forbid(unsafe_code)]

mod alias;
mod asked;
mod assign;
mod braces;
mod builtin;
mod compound;
mod declare;
mod directory;
mod effect;
mod expand;
mod fields;
mod function;
mod join;
mod lines;
mod moves;
mod parameter;
mod redirect;
mod set;
mod simple;
mod source;
mod state;
mod text;
mod trap;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::effect::Effects;
use self::function::{Call, Function};
use self::source::Read;
use self::state::{Flow, State};
use self::trap::Trap;
use super::script::{Input, Names, Reads, Script, Simple, Span, Surroundings};
use super::syntax::tree::{Body, Command, Item, Link, List, Pipeline};

/// How many bytes of variables' values may be put into words. Beyond it a variable is unknown, so that a script cannot
/// say much more than its length.
const SUBSTITUTED: usize = 1024 * 1024;

/// How much may be walked again for the words of `for` loops and for calls of functions, in about bytes. Beyond it the
/// loop's variable is unknown, and of what a function is called with nothing is known.
const REPEATED: usize = 64 * 1024;

pub(super) struct Walker<'a> {
    surroundings: &'a Surroundings,
    reads: Reads<'a>,
    names: Names<'a>,
    /// How often it was asked which files a pattern stands for.
    asked: usize,
    /// What was read in.
    read: Read,
    commands: Vec<Simple>,
    complete: bool,
    /// Where the simple command that was walked last stands, and behind it what it led to.
    begun: usize,
    functions: BTreeMap<Vec<u8>, Function>,
    function_effects: Effects,
    /// Functions of which a call could not be walked, and bodies of functions that share a name.
    missed: BTreeSet<Vec<u8>>,
    others: Vec<(Vec<u8>, Rc<Command>)>,
    calls: Vec<Call>,
    traps: Vec<Trap>,
    aliases: BTreeMap<Vec<u8>, Vec<u8>>,
    /// How many subshells the walk is in.
    subshells: usize,
    substituted: usize,
    substituted_quietly: usize,
    repeated: usize,
    /// How deep the walk is, so that a text that is evaluated cannot lead deeper than any other.
    depth: usize,
    /// How many loops the walk is in of whose lines nobody knows what stands in them.
    unknown_lines: usize,
    /// Only the effects are wanted: nothing is noted.
    quiet: bool,
}

/// All commands of a tree.
pub(super) fn walk(
    tree: &List,
    complete: bool,
    surroundings: &Surroundings,
    (reads, names): (Reads<'_>, Names<'_>),
) -> Script {
    let mut walker = Walker {
        surroundings,
        reads,
        names,
        asked: 0,
        read: Read::default(),
        commands: Vec::new(),
        complete,
        begun: 0,
        functions: BTreeMap::new(),
        function_effects: Effects::default(),
        missed: BTreeSet::new(),
        others: Vec::new(),
        calls: Vec::new(),
        traps: Vec::new(),
        aliases: BTreeMap::new(),
        subshells: 0,
        substituted: 0,
        substituted_quietly: 0,
        repeated: 0,
        depth: 0,
        unknown_lines: 0,
        quiet: false,
    };
    walker.learn_functions(tree);
    walker.list(tree, State::start());
    walker.sprung_traps(tree);
    walker.unseen_functions();
    // One of these may have set a trap.
    walker.sprung_traps(tree);
    Script { commands: walker.commands, complete: walker.complete, unread: walker.read.is_unread() }
}

impl Walker<'_> {
    fn list(&mut self, list: &List, mut state: State) -> Flow {
        self.depth += 1;
        let mut flow = Flow::both(state.clone());
        for item in &list.0 {
            flow = if item.background {
                // In a subshell: nothing comes back.
                if !self.quiet {
                    self.subshells += 1;
                    self.item(item, state.clone());
                    self.subshells -= 1;
                }
                Flow::both(state)
            } else {
                self.item(item, state)
            };
            state = flow.clone().joined();
        }
        self.depth -= 1;
        flow
    }

    fn item(&mut self, item: &Item, state: State) -> Flow {
        let mut flow = self.pipeline(&item.first, state);
        for (link, pipeline) in &item.rest {
            flow = match link {
                Link::And => {
                    let next = self.pipeline(pipeline, flow.success);
                    Flow { success: next.success, failure: flow.failure.join(next.failure) }
                }
                Link::Or => {
                    let next = self.pipeline(pipeline, flow.failure);
                    Flow { success: flow.success.join(next.success), failure: next.failure }
                }
            };
        }
        flow
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: State) -> Flow {
        let flow = match pipeline.commands.as_slice() {
            [] => Flow::both(state),
            [command] => self.command(command, state),
            commands => {
                let mut piped = state.clone();
                let mut last = state.clone();
                // In a quiet walk only of the last one anything may come back.
                for command in &commands[if self.quiet { commands.len() - 1 } else { 0 }..] {
                    let before = self.commands.len();
                    last = self.command(command, piped.clone()).joined();
                    // What a command's own words substitute goes into those words.
                    let simple = matches!(command.body, Body::Simple { .. });
                    let from = if simple && !self.quiet { self.begun } else { before };
                    piped.input = Input::Pipe(Some(Span { from, to: self.commands.len() }));
                }
                // Each runs in a subshell, but for the last one in some shells.
                last.input = state.input;
                last.reachable = true;
                Flow::both(state.join(last))
            }
        };
        if pipeline.negated { Flow { success: flow.failure, failure: flow.success } } else { flow }
    }

    fn command(&mut self, command: &Command, mut state: State) -> Flow {
        // Whatever led here did happen.
        state.improbable = false;
        if let Body::Simple { assignments, words } = &command.body {
            return self.simple(assignments, words, &command.redirections, state);
        }
        let input = state.input;
        if !command.redirections.is_empty() {
            self.redirections_alone(&command.redirections, &mut state);
        }
        let mut flow = self.compound(&command.body, state);
        flow.success.input = input;
        flow.failure.input = input;
        flow
    }

    /// Commands whose variables and directory stay their own.
    fn subshell(&mut self, list: &List, state: &State) {
        if !self.quiet {
            self.subshells += 1;
            self.list(list, state.clone());
            self.subshells -= 1;
        }
    }
}
