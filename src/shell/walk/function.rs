//! Functions: where one is called, its body is walked with what holds there. What calls do not show (a function that
//! another process is given, one of several with a name, one that calls itself) is walked with nothing known.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::effect::command_size;
use super::state::{Flow, Parameters, State};
use super::{REPEATED, Walker};
use crate::shell::environment::{Environment, Exported};
use crate::shell::script::Input;
use crate::shell::syntax::tree::{Assign, Command, List};
use crate::shell::word::Word;

/// Functions that call functions, beyond this, are walked by themselves.
const DEEPEST: usize = 12;

/// A function.
pub(super) struct Function {
    body: Rc<Command>,
    size: usize,
    /// There are several of this name.
    several: bool,
    /// A call of it was walked.
    shown: bool,
}

/// A call that is being walked.
pub(super) struct Call {
    name: Vec<u8>,
    /// What holds at each `return`.
    returns: Vec<Flow>,
    /// Variables that are its own.
    locals: BTreeSet<Vec<u8>>,
}

impl Walker<'_> {
    pub(super) fn learn(&mut self, name: Vec<u8>, body: &Rc<Command>) {
        let known = self.functions.entry(name.clone()).or_insert_with(|| Function {
            body: Rc::clone(body),
            size: command_size(body),
            several: false,
            shown: false,
        });
        known.several |= !Rc::ptr_eq(&known.body, body);
        if known.several {
            self.others.push((name, Rc::clone(body)));
        }
    }

    /// The functions of a file that is read in: those that nobody calls are not run.
    pub(super) fn learn_library(&mut self, tree: &List) {
        let before: BTreeSet<Vec<u8>> = self.functions.keys().cloned().collect();
        self.learn_functions(tree);
        let own = self.functions.iter_mut().filter(|(name, _)| !before.contains(*name));
        own.for_each(|(_, function)| function.shown = true);
    }

    /// What a file that is read in runs, up to its `return`.
    pub(super) fn library(&mut self, tree: &List, state: State) -> Flow {
        self.calls.push(Call { name: b".".to_vec(), returns: Vec::new(), locals: BTreeSet::new() });
        let mut flow = self.list(tree, state);
        if let Some(call) = self.calls.pop() {
            flow = call.returns.into_iter().fold(flow, Flow::or);
            // What is local there is so where it is read in.
            self.localize(call.locals.into_iter().collect());
        }
        flow
    }

    /// Whether calls go no deeper.
    pub(super) fn is_deep(&self) -> bool {
        self.calls.len() >= DEEPEST
    }

    /// A call, with these words behind its name. `state` is what holds before it, with what is assigned for it alone.
    pub(super) fn call(&mut self, name: &[u8], words: &[Word], assigns: &[Assign], input: Input, state: State) -> Flow {
        let open = self.calls.len() < DEEPEST && !self.quiet && !self.calls.iter().any(|call| call.name == name);
        let Some(body) = self.functions.get_mut(name).and_then(|function| {
            let fits = self.repeated.saturating_add(function.size) <= REPEATED;
            let shows = open && fits && !function.several;
            self.repeated += if shows { function.size } else { 0 };
            function.shown |= shows;
            shows.then(|| Rc::clone(&function.body))
        }) else {
            if !self.quiet {
                self.missed.insert(name.to_vec());
            }
            return self.call_unseen(assigns, state);
        };
        let before = state.clone();
        let is_defined = state.defined.contains(name);
        let mut within = state;
        assigns.iter().for_each(|assign| within.export(&assign.name, Exported::Yes));
        within.parameters = Parameters::These(Arc::new(words.to_vec()));
        within.input = input;
        self.calls.push(Call { name: name.to_vec(), returns: Vec::new(), locals: BTreeSet::new() });
        let mut flow = self.command(&body, within);
        if let Some(call) = self.calls.pop() {
            flow = call.returns.into_iter().fold(flow, Flow::or);
            for end in [&mut flow.success, &mut flow.failure] {
                call.locals.iter().for_each(|name| end.restore(name, &before));
                end.parameters = before.parameters.clone();
                end.input = before.input;
                assigns.iter().for_each(|assign| end.forget(&assign.name));
            }
        }
        if !is_defined {
            // Where it is not, something else is run, or nothing.
            flow.success = flow.success.join(before.clone());
            flow.failure = flow.failure.join(before);
        }
        flow
    }

    fn call_unseen(&mut self, assigns: &[Assign], mut state: State) -> Flow {
        assigns.iter().for_each(|assign| state.forget(&assign.name));
        self.function_effects.apply(&mut state);
        Flow::both(state)
    }

    /// `return`: from a function its caller goes on.
    pub(super) fn returns(&mut self, arguments: &[Word], state: &State) {
        let Some(call) = self.calls.last_mut() else { return };
        let mut flow = Flow::both(state.clone());
        match arguments.first().map(|status| status.known()) {
            Some(Some(b"0")) => flow.failure.reachable = false,
            Some(Some([b'1'..=b'9', ..])) => flow.success.reachable = false,
            _ => {}
        }
        call.returns.push(flow);
    }

    /// These are the function's own, if one is being walked.
    pub(super) fn localize(&mut self, names: Vec<Vec<u8>>) {
        if let Some(call) = self.calls.last_mut() {
            call.locals.extend(names);
        }
    }

    /// Every variable that is other than it was found at some command, and be it in a subshell.
    pub(super) fn names_touched(&self) -> BTreeSet<Vec<u8>> {
        let mut names = BTreeSet::new();
        let mut last = None;
        for command in &self.commands {
            names.extend(command.assignments.iter().map(|assignment| assignment.name.clone()));
            if last.is_none_or(|last: &Environment| !last.is(&command.environment)) {
                names.extend(command.environment.each().map(|(name, _)| name.to_vec()));
            }
            last = Some(&command.environment);
        }
        names
    }

    /// Walks what no call has shown.
    pub(super) fn unseen_functions(&mut self) {
        let mut unseen: Vec<(Vec<u8>, Rc<Command>)> = std::mem::take(&mut self.others);
        let missed = std::mem::take(&mut self.missed);
        let hidden = self.functions.iter().filter(|(name, function)| !function.shown || missed.contains(*name));
        unseen.extend(hidden.map(|(name, function)| (name.clone(), Rc::clone(&function.body))));
        let names = if unseen.is_empty() { BTreeSet::new() } else { self.names_touched() };
        for (name, body) in unseen {
            let mut within = State::start();
            lose(&names, &mut within);
            within.input = Input::Unknown;
            self.calls.push(Call { name, returns: Vec::new(), locals: BTreeSet::new() });
            self.command(&body, within);
            self.calls.pop();
        }
    }
}

/// Nothing is known, and these variables may be exported or not.
pub(super) fn lose(names: &BTreeSet<Vec<u8>>, state: &mut State) {
    state.forget_all();
    for name in names {
        state.forget(name);
        state.export(name, Exported::Unsure);
    }
}
