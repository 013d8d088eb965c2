//! Regular expressions over bytes. A file of settings may have thousands, and one command meets few of them: each is
//! looked at when it is read, and built when it is asked.
#![forbid(unsafe_code)]

use std::cell::{Cell, OnceCell};

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use serde::Deserialize;

use super::built_in;

/// Larger ones are refused when they are read, by the number of their parts.
const LARGEST: u64 = 40_000;

/// No expression is built into more than this (1 MiB).
const LARGEST_BUILT: usize = 1 << 20;

/// So many steps are taken for one text, where each of its bytes costs what the expression may cost: about a second where
/// it is at its worst.
const MOST_STEPS: u64 = 1 << 27;

thread_local! {
    static ARE_OURS: Cell<bool> = const { Cell::new(false) };
}

/// Reads tables of ours, at whose expressions a test has looked. To look at one takes longer than all else that is done before
/// a read.
pub(super) fn of_ours<T>(read: impl FnOnce() -> T) -> T {
    ARE_OURS.set(true);
    let tables = read();
    ARE_OURS.set(false);
    tables
}

/// A regular expression over bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Expression {
    text: String,
    /// What each byte of a text may cost, in steps; none of our own do much.
    cost: u64,
    built: OnceCell<Option<Regex>>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if ARE_OURS.get() || built_in::has_expression(&text) {
            return Ok(Self { text, cost: 0, built: OnceCell::new() });
        }
        let read = regex_syntax::ParserBuilder::new().utf8(false).build().parse(&text).map_err(|error| {
            let why = error.to_string();
            let line = why.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            format!("no regular expression: {}", line.trim())
        })?;
        match parts(&read) {
            ..=LARGEST => Ok(Self { text, cost: cost(&read), built: OnceCell::new() }),
            _ => Err("no regular expression: it is too large".to_owned()),
        }
    }
}

/// How many parts there are, repeated ones as often as they are repeated.
fn parts(read: &Hir) -> u64 {
    match read.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 4,
        HirKind::Repetition(repeated) => {
            parts(&repeated.sub).saturating_mul(u64::from(repeated.max.unwrap_or(repeated.min)).max(1))
        }
        HirKind::Capture(capture) => parts(&capture.sub).saturating_add(1),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().fold(0, |sum: u64, part| sum.saturating_add(parts(part)))
        }
    }
}

/// The states through which each byte may lead, where an expression is at its worst: its parts, and of a class every range.
fn cost(read: &Hir) -> u64 {
    match read.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repeated) => {
            cost(&repeated.sub).saturating_mul(u64::from(repeated.max.unwrap_or(repeated.min)).max(1))
        }
        HirKind::Capture(capture) => cost(&capture.sub).saturating_add(1),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().fold(0, |sum: u64, part| sum.saturating_add(cost(part)))
        }
    }
}

impl Expression {
    /// None: it is too large to be built, so nobody can say what it is not about.
    fn built(&self) -> Option<&Regex> {
        let build = || RegexBuilder::new(&self.text).size_limit(LARGEST_BUILT).build().ok();
        self.built.get_or_init(build).as_ref()
    }

    /// Whether it can be built.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.built().is_some()
    }

    /// To look at this text may take longer than anybody waits.
    fn is_too_much(&self, text: &[u8]) -> bool {
        self.cost.saturating_mul(text.len() as u64) > MOST_STEPS
    }

    /// Whether it is about this text. One that cannot be built, and one that would take too long, is about every text: too
    /// much held is better than too little.
    #[must_use]
    pub fn fits(&self, text: &[u8]) -> bool {
        self.is_too_much(text) || self.built().is_none_or(|built| built.is_match(text))
    }

    /// Whether a group of it has this name.
    #[must_use]
    pub fn catches(&self, name: &str) -> bool {
        self.text.contains(&format!("<{name}>"))
    }

    /// What its named groups catch in a text, group by group; none when it is not about it.
    pub(in crate::rules) fn caught<'t>(&self, text: &'t [u8]) -> Option<Vec<(String, &'t [u8])>> {
        let Some(built) = self.built().filter(|_| !self.is_too_much(text)) else { return Some(Vec::new()) };
        let mut found: Option<Vec<(String, &[u8])>> = None;
        for captures in built.captures_iter(text) {
            let named = built.capture_names().flatten();
            let parts = named.filter_map(|name| Some((name.to_owned(), captures.name(name)?.as_bytes())));
            found.get_or_insert_default().extend(parts);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expression, String> {
        Expression::try_from(text.to_owned())
    }

    #[test]
    fn what_is_no_expression_is_refused_when_it_is_read_and_nothing_is_built_then() {
        for (text, said) in [
            ("(", "unclosed group"),
            ("(?P<x>a)(?P<x>b)", "duplicate"),
            ("(a{1000}){1000}", "too large"),
            ("[z-a]", "range"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with("no regular expression: ") && error.contains(said), "{text}: {error}");
        }
        let one = read("(?i)\\bpassword\\b (?<name>[^ ]+)").expect("one");
        assert!(one.built.get().is_none());
        assert!(one.fits(b"a PASSWORD x") && !one.fits(b"a word"));
        assert!(one.catches("name") && !one.catches("nam"));
        assert_eq!(
            one.caught(b"password x password y"),
            Some(vec![("name".to_owned(), &b"x"[..]), ("name".to_owned(), &b"y"[..])])
        );
        assert_eq!(one.caught(b"nothing"), None);
    }

    #[test]
    fn one_that_would_take_too_long_is_about_everything() {
        let slow = read(r"(?:x?\pL?){40}z").expect("read");
        assert!(slow.is_built() && !slow.fits(b"x"));
        let long = vec![b'x'; 900_000];
        assert!(slow.fits(&long), "nobody has looked");
        assert_eq!(slow.caught(&long), Some(vec![]));
        let plain = read(r"(?m)^  *traefik\.http\.routers\.[a-z0-9-]+\.rule=Host\(").expect("read");
        assert!(
            !plain.fits(&vec![b'x'; 1 << 20]),
            "what people write is looked at in files of any length that is read"
        );
    }

    #[test]
    fn one_that_cannot_be_built_is_about_everything() {
        let large = read(r"(?:\pL{9}){400}").expect("read");
        assert!(!large.is_built() && large.fits(b"x"), "too much held is better than too little");
        assert_eq!(large.caught(b"x"), Some(vec![]));
    }
}
