//! `if`, loops, `case`, functions and coprocesses, each behind its first word.
#![forbid(unsafe_code)]

use std::rc::Rc;

use super::reserved::End;
use super::source::{Parser, is_name};
use super::tree::{Arm, Body, List, Raw};

impl Parser<'_> {
    pub(super) fn conditional(&mut self) -> Body {
        let (mut arms, mut otherwise) = (Vec::new(), List::default());
        loop {
            let condition = self.list(End::Words(&[b"then"]));
            self.expect_word(b"then");
            arms.push((condition, self.list(End::Words(&[b"elif", b"else", b"fi"]))));
            if self.eat_word(b"elif") {
                continue;
            }
            if self.eat_word(b"else") {
                otherwise = self.list(End::Words(&[b"fi"]));
            }
            self.expect_word(b"fi");
            return Body::If { arms, otherwise };
        }
    }

    pub(super) fn repeated(&mut self, until: bool) -> Body {
        let condition = self.list(End::Words(&[b"do"]));
        Body::While { condition, body: self.repetition(), until }
    }

    /// `do … done`, or `{ … }` as bash and zsh allow it.
    fn repetition(&mut self) -> List {
        self.lines();
        let braces = self.eat_word(b"{");
        if !braces {
            self.expect_word(b"do");
        }
        let end: &'static [&'static [u8]] = if braces { &[b"}"] } else { &[b"done"] };
        let body = self.list(End::Words(end));
        self.expect_word(end[0]);
        body
    }

    /// `for` and `select`.
    pub(super) fn each(&mut self) -> Body {
        self.blanks();
        let (name, words) = if self.sees(b"((") {
            if !self.arithmetic_ahead(b"((") {
                self.fail();
            }
            (None, vec![vec![self.arithmetic(b"((")]])
        } else {
            let name = self.reserved_or_longer();
            if !is_name(&name) {
                self.fail();
            }
            self.lines();
            (Some(name), if self.eat_word(b"in") { self.words() } else { self.other_words() })
        };
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        Body::For { name, words, body: self.repetition() }
    }

    /// A word that must be literal.
    fn reserved_or_longer(&mut self) -> Vec<u8> {
        super::tree::literal(&self.word()).unwrap_or_default()
    }

    fn words(&mut self) -> Vec<Raw> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            let before = self.at;
            let word = self.word();
            if self.at == before {
                return words;
            }
            words.push(word);
        }
    }

    /// zsh's `for x (a b) …`; without words all parameters.
    fn other_words(&mut self) -> Vec<Raw> {
        if self.peek() != Some(b'(') {
            return vec![vec![super::dollar::parameter(b"@".to_vec(), true)]];
        }
        self.at += 1;
        let words = self.words();
        self.expect(b")");
        words
    }

    pub(super) fn case(&mut self) -> Body {
        self.blanks();
        let subject = self.word();
        self.expect_word(b"in");
        let mut arms = Vec::new();
        loop {
            self.lines();
            if self.eat_word(b"esac") {
                break;
            }
            if self.peek().is_none() {
                self.fail();
                break;
            }
            arms.push(self.arm());
        }
        Body::Case { subject, arms }
    }

    fn arm(&mut self) -> Arm {
        if self.peek() == Some(b'(') {
            self.at += 1;
        }
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            patterns.push(self.word());
            self.blanks();
            if self.peek() != Some(b'|') {
                break;
            }
            self.at += 1;
        }
        self.expect(b")");
        let body = self.list(End::Arm);
        let falls = self.eat(b";;&") || self.eat(b";&") || self.eat(b";|");
        if !falls {
            self.eat(b";;");
        }
        Arm { patterns, body, falls }
    }

    /// `function NAME` with `()` or without.
    pub(super) fn function(&mut self) -> Body {
        self.blanks();
        let name = self.word();
        self.blanks();
        if self.eat(b"(") {
            self.blanks();
            self.expect(b")");
        }
        self.lines();
        Body::Function { name, body: Rc::new(*self.inner_command()) }
    }

    /// `coproc COMMAND`, or `coproc NAME COMPOUND`.
    pub(super) fn coprocess(&mut self) -> Body {
        self.blanks();
        let before = self.at;
        if is_name(&self.reserved()) && !self.opens_compound() {
            self.word();
            self.blanks();
            if !self.opens_compound() {
                self.at = before;
            }
        }
        Body::Coprocess(self.inner_command())
    }

    fn opens_compound(&mut self) -> bool {
        self.peek() == Some(b'(')
            || matches!(&*self.reserved(), b"{" | b"[[" | b"if" | b"while" | b"until" | b"for" | b"select" | b"case")
    }
}
