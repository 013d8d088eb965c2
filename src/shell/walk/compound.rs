//! Compound commands.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::Walker;
use super::lines::{Round, ends_early, reads_lines};
use super::state::{Flow, State};
use crate::shell::script::Input;
use crate::shell::syntax::tree::{Arm, Body, List, Raw, literal};
use crate::shell::word::{Part, Word};

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
        let rounds = if until { None } else { self.rounds(condition, body, state.input) };
        let effects = self.effects(&[condition, body], &state, rounds.as_deref().unwrap_or_default());
        let begin = state.clone();
        effects.apply(&mut state);
        let flow = self.list(condition, state.clone());
        let (enters, leaves) = if until { (flow.failure, flow.success) } else { (flow.success, flow.failure) };
        match rounds {
            Some(rounds) => self.in_order(&rounds, body, (begin, enters)),
            None if reads_lines(condition, state.input) => drop(self.unknown_lines(body, enters)),
            None => drop(self.list(body, enters)),
        }
        Flow::both(leaves.join(state))
    }

    /// Walks rounds one behind the other, each from where the one before it has ended. Behind one that may have ended early
    /// only `enters` holds, which is so behind any.
    fn in_order(&mut self, rounds: &[Round], body: &List, (begin, enters): (State, State)) {
        let is_whole = !ends_early(body);
        let mut next = if is_whole { begin } else { enters.clone() };
        for round in rounds {
            let end = self.list(body, next.given(round)).joined();
            next = if is_whole && end.reachable { end } else { enters.clone() };
        }
    }

    /// `for`: walked once for each word, if all words are known and it is not too much; else once for any word.
    fn each(&mut self, name: Option<&[u8]>, words: &[Raw], body: &List, mut state: State) -> Flow {
        let values: Vec<Word> = words.iter().flat_map(|word| self.fields(word, &mut state)).collect();
        let values = self.told(values, &state);
        let Some(name) = name else {
            let effects = self.effects(&[body], &state, &[]);
            effects.apply(&mut state);
            let end = self.list(body, state.clone()).joined();
            return Flow::both(state.join(end));
        };
        let are_lines = values.iter().any(|word| matches!(word.parts(), [Part::Output { .. }]));
        let known = self.may_repeat(&values, body);
        let rounds = if known { values } else { vec![Word::unknown()] };
        let rounds: Vec<Round> = rounds.into_iter().map(|value| vec![(name.to_vec(), value)]).collect();
        let effects = self.effects(&[body], &state, &rounds);
        effects.apply(&mut state);
        let mut after = state.clone();
        for round in &rounds {
            let begin = state.clone().given(round);
            let flow = if are_lines { self.unknown_lines(body, begin) } else { self.list(body, begin) };
            after = after.join(flow.joined());
        }
        after.forget(name);
        Flow::both(after)
    }

    fn may_repeat(&mut self, values: &[Word], body: &List) -> bool {
        let are_known = !self.quiet && !values.is_empty() && !values.iter().any(Word::may_be_several);
        are_known && self.pays(values.len(), body)
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
