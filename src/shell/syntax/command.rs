//! One command: which construct it is, and the simple ones.
#![forbid(unsafe_code)]

use std::rc::Rc;

use super::reserved::End;
use super::source::{Parser, in_name};
use super::tree::{Assign, Body, Command, Piece, Raw};

impl Parser<'_> {
    pub(super) fn command(&mut self) -> Command {
        self.blanks();
        match self.compound() {
            Some(body) => Command { body, redirections: self.redirections() },
            None => self.simple(),
        }
    }

    /// The command that a function or a coprocess is.
    pub(super) fn inner_command(&mut self) -> Box<Command> {
        if !self.enter() {
            return Box::new(Self::nothing());
        }
        let command = self.command();
        self.leave();
        Box::new(command)
    }

    fn compound(&mut self) -> Option<Body> {
        if self.peek() == Some(b'(') {
            return Some(self.parenthesis());
        }
        let word = self.reserved();
        if !matches!(
            &*word,
            b"{" | b"if" | b"while" | b"until" | b"for" | b"select" | b"case" | b"function" | b"coproc" | b"[["
        ) {
            return None;
        }
        self.eat_word(&word);
        Some(match &*word {
            b"{" => {
                let list = self.list(End::Words(&[b"}"]));
                self.expect_word(b"}");
                Body::Group(list)
            }
            b"if" => self.conditional(),
            b"while" | b"until" => self.repeated(*word == *b"until"),
            b"for" | b"select" => self.each(),
            b"case" => self.case(),
            b"function" => self.function(),
            b"coproc" => self.coprocess(),
            _ => self.test(),
        })
    }

    fn parenthesis(&mut self) -> Body {
        if self.sees(b"((") && self.arithmetic_ahead(b"((") {
            return Body::Test(vec![vec![self.arithmetic(b"((")]]);
        }
        self.expect(b"(");
        let list = self.list(End::Parenthesis);
        self.expect(b")");
        Body::Subshell(list)
    }

    fn simple(&mut self) -> Command {
        let (mut assignments, mut words, mut redirections) = (Vec::new(), Vec::<Raw>::new(), Vec::new());
        let start = self.at;
        if self.is_misplaced() {
            self.fail();
        }
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection() {
                redirections.push(redirection);
            } else if let Some(assignment) = if words.is_empty() { self.assignment() } else { None } {
                assignments.push(assignment);
            } else if self.peek() == Some(b'(') && words.len() == 1 && assignments.is_empty() && redirections.is_empty()
            {
                self.at += 1;
                self.blanks();
                self.expect(b")");
                self.lines();
                let body = Body::Function { name: words.remove(0), body: Rc::new(*self.inner_command()) };
                return Command { body, redirections };
            } else {
                let before = self.at;
                let word = self.argument();
                if self.at == before {
                    break;
                }
                words.push(word);
            }
        }
        if self.at == start && !self.may_be_nothing() {
            self.fail();
        }
        Command { body: Body::Simple { assignments, words }, redirections }
    }

    /// A word that belongs to a construct which was not begun.
    fn is_misplaced(&mut self) -> bool {
        matches!(&*self.reserved(), b"then" | b"elif" | b"else" | b"fi" | b"do" | b"done" | b"esac" | b"}")
    }

    /// Behind `time` and `!` a command may be missing.
    fn may_be_nothing(&mut self) -> bool {
        let before = self.source[..self.at].trim_ascii_end();
        let reserved: [&[u8]; 3] = [b"time", b"!", b"-p"];
        reserved.iter().any(|word| before.ends_with(word)) && matches!(self.peek(), None | Some(b';' | b'\n' | b')'))
    }

    /// A word, which may have the shape `NAME=(…)` (for `declare` and its like).
    fn argument(&mut self) -> Raw {
        let mut word = self.word();
        let opens = self.peek() == Some(b'(')
            && matches!(word.last(), Some(Piece::Text { text, quoted: false }) if text.ends_with(b"="));
        if opens {
            word.push(self.array());
        }
        word
    }

    fn assignment(&mut self) -> Option<Assign> {
        let mut at = self.over_continuations(self.at);
        let mut parts = Vec::new();
        let mut element = false;
        if self.source.get(at).is_none_or(|byte| byte.is_ascii_digit() || !in_name(*byte)) {
            return None;
        }
        // Mostly one; a continuation parts it.
        while self.source.get(at).is_some_and(|byte| in_name(*byte)) {
            let end = self.name_end(at);
            parts.push(&self.source[at..end]);
            at = self.over_continuations(end);
        }
        if self.source.get(at) == Some(&b'[') {
            // Only the plain subscripts: one with an expansion is read as a word, so that its commands are found.
            let inside = self.source[at..].iter().position(|byte| !in_name(*byte) && *byte != b'[')?;
            at += inside;
            if self.source.get(at) != Some(&b']') {
                return None;
            }
            (at, element) = (at + 1, true);
        }
        let appends = self.source.get(at) == Some(&b'+');
        at += usize::from(appends);
        if self.source.get(at) != Some(&b'=') {
            return None;
        }
        self.at = at + 1;
        let value = if self.peek() == Some(b'(') { vec![self.array()] } else { self.value() };
        Some(Assign { name: parts.concat(), element, appends, value })
    }

    /// `(…)` behind `NAME=`.
    fn array(&mut self) -> Piece {
        self.at += 1;
        let mut words = Vec::new();
        if self.enter() {
            loop {
                self.lines();
                let before = self.at;
                let word = self.argument();
                if self.at == before {
                    break;
                }
                words.push(word);
            }
            self.leave();
        }
        self.expect(b")");
        Piece::Array(words)
    }
}
