//! Compound commands.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::state::{Flow, State};
use super::{REPEATED, Walker};
use crate::shell::script::Input;
use crate::shell::syntax::tree::{Arm, Body, List, Raw, literal};
use crate::shell::word::Word;

impl Walker<'_> {
    pub(super) fn compound(&mut self, body: &Body, mut state: State) -> Flow {
        match body {
            Body::Group(list) => self.list(list, state),
            Body::Subshell(list) => {
                self.subshell(list, &state);
                Flow::both(state)
            }
            Body::If { arms, otherwise } => self.branches(arms, otherwise, state),
            Body::While { condition, body, until } => self.repeat(condition, body, *until, state),
            Body::For { name, words, body } => self.each(name.as_deref(), words, body, state),
            Body::Case { subject, arms } => self.case(subject, arms, state),
            Body::Function { name, .. } => {
                // It runs where it is called.
                self.single(name, &mut state);
                if let Some(name) = literal(name) {
                    Arc::make_mut(&mut state.defined).insert(name);
                }
                Flow::both(state)
            }
            Body::Test(words) => {
                let words: Vec<Word> = words.iter().map(|word| self.single(word, &mut state)).collect();
                self.tested(&words, state)
            }
            Body::Coprocess(command) => {
                if !self.quiet {
                    self.command(command, state.with_input(Input::Pipe(None)));
                }
                Flow::both(state)
            }
            Body::Simple { .. } => unreachable!("simple commands are walked on their own"),
        }
    }

    fn branches(&mut self, arms: &[(List, List)], otherwise: &List, state: State) -> Flow {
        let mut ends: Option<State> = None;
        let mut next = state;
        for (condition, body) in arms {
            let flow = self.list(condition, next);
            let end = self.list(body, flow.success).joined();
            ends = Some(match ends {
                Some(before) => before.join(end),
                None => end,
            });
            next = flow.failure;
        }
        next.improbable = false;
        let last = self.list(otherwise, next).joined();
        Flow::both(match ends {
            Some(before) => before.join(last),
            None => last,
        })
    }

    fn repeat(&mut self, condition: &List, body: &List, until: bool, mut state: State) -> Flow {
        let effects = self.effects(&[condition, body], &state);
        effects.apply(&mut state);
        let flow = self.list(condition, state.clone());
        let (enters, leaves) = if until { (flow.failure, flow.success) } else { (flow.success, flow.failure) };
        let rounds = if until { vec![enters] } else { self.rounds(condition, body, enters) };
        for round in rounds {
            self.list(body, round);
        }
        Flow::both(leaves.join(state))
    }

    /// `for`: walked once for each word, if all words are known and it is not too much; else once for any word.
    fn each(&mut self, name: Option<&[u8]>, words: &[Raw], body: &List, mut state: State) -> Flow {
        let values: Vec<Word> = words.iter().flat_map(|word| self.fields(word, &mut state)).collect();
        let effects = self.effects(&[body], &state);
        effects.apply(&mut state);
        let Some(name) = name else {
            let end = self.list(body, state.clone()).joined();
            return Flow::both(state.join(end));
        };
        let mut after = state.clone();
        let rounds = if self.may_repeat(&values, body) { values } else { vec![Word::unknown()] };
        for value in rounds {
            let mut round = state.clone();
            round.set(name, value);
            after = after.join(self.list(body, round).joined());
        }
        after.forget(name);
        Flow::both(after)
    }

    fn may_repeat(&mut self, values: &[Word], body: &List) -> bool {
        if self.quiet || values.is_empty() || values.iter().any(Word::may_be_several) {
            return false;
        }
        let cost = super::effect::size(body).saturating_mul(values.len() - 1);
        let fits = self.repeated.saturating_add(cost) <= REPEATED;
        self.repeated += if fits { cost } else { 0 };
        fits
    }

    fn case(&mut self, subject: &Raw, arms: &[Arm], mut state: State) -> Flow {
        self.single(subject, &mut state);
        let mut after = state.clone();
        let mut fallen: Option<State> = None;
        for arm in arms {
            arm.patterns.iter().for_each(|pattern| drop(self.single(pattern, &mut state)));
            let enters = match fallen.take() {
                Some(before) => before.join(state.clone()),
                None => state.clone(),
            };
            let end = self.list(&arm.body, enters).joined();
            if arm.falls {
                fallen = Some(end.clone());
            }
            after = after.join(end);
        }
        Flow::both(after)
    }
}
