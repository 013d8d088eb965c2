//! Lists, `&&` and `||`, pipelines.
#![forbid(unsafe_code)]

use super::reserved::End;
use super::source::Parser;
use super::tree::{Body, Command, Item, Link, List, Pipeline};

impl Parser<'_> {
    /// Commands up to `end`, which is not taken.
    pub(super) fn list(&mut self, end: End) -> List {
        let mut items = Vec::new();
        if !self.enter() {
            return List(items);
        }
        loop {
            self.lines();
            if self.ends(end) {
                break;
            }
            let mut item = self.item();
            self.blanks();
            let arm_ends = matches!(end, End::Arm) && self.ends(end);
            let more = match self.peek() {
                Some(b'&') => {
                    item.background = true;
                    self.at += 1;
                    true
                }
                Some(b';') if !arm_ends => {
                    self.at += 1;
                    true
                }
                Some(b'\n') => true,
                _ => false,
            };
            items.push(item);
            if !more {
                if !self.ends(end) {
                    self.fail();
                }
                break;
            }
        }
        self.leave();
        List(items)
    }

    fn item(&mut self) -> Item {
        let mut item = Item { first: self.pipeline(), rest: Vec::new(), background: false };
        loop {
            self.blanks();
            let link = if self.eat(b"&&") {
                Link::And
            } else if self.eat(b"||") {
                Link::Or
            } else {
                return item;
            };
            self.lines();
            item.rest.push((link, self.pipeline()));
        }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut pipeline = Pipeline::default();
        loop {
            self.blanks();
            let before = self.at;
            let negates = self.eat_word(b"!");
            pipeline.negated ^= negates;
            if !negates && (!self.eat_word(b"time") || self.time_is_a_program()) {
                self.at = before;
                break;
            }
        }
        loop {
            pipeline.commands.push(self.command());
            self.blanks();
            if self.sees(b"||") || !(self.eat(b"|&") || self.eat(b"|")) {
                return pipeline;
            }
            self.lines();
        }
    }

    /// `time` is a reserved word, but with options that it does not know people mean the program (and dash always does).
    fn time_is_a_program(&mut self) -> bool {
        self.blanks();
        if self.eat_word(b"-p") {
            self.blanks();
        }
        let ready = self.eat_word(b"--");
        self.blanks();
        !ready && self.peek() == Some(b'-')
    }

    /// A command that is nothing: `time` and `!` may stand alone.
    pub(super) fn nothing() -> Command {
        Command { body: Body::Simple { assignments: Vec::new(), words: Vec::new() }, redirections: Vec::new() }
    }
}
