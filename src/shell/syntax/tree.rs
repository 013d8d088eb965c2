//! A script as the grammar sees it.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::rc::Rc;

/// Commands one after the other.
#[derive(Debug, Default)]
pub(crate) struct List(pub(crate) Vec<Item>);

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Link, Pipeline)>,
    pub(crate) background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    And,
    Or,
}

#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) body: Body,
    pub(crate) redirections: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum Body {
    Simple { assignments: Vec<Assign>, words: Vec<Raw> },
    Subshell(List),
    Group(List),
    If { arms: Vec<(List, List)>, otherwise: List },
    While { condition: List, body: List, until: bool },
    // Without a name: `for ((…))`.
    For { name: Option<Vec<u8>>, words: Vec<Raw>, body: List },
    Case { subject: Raw, arms: Vec<Arm> },
    Function { name: Raw, body: Rc<Command> },
    // `[[ … ]]` and `((…))`: no program, but what they substitute runs.
    Test(Vec<Raw>),
    Coprocess(Box<Command>),
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Raw>,
    pub(crate) body: List,
    /// `;&` or `;;&`: the next arm may follow.
    pub(crate) falls: bool,
}

#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: Vec<u8>,
    /// `NAME[…]=`: the value goes into an array.
    pub(crate) element: bool,
    pub(crate) appends: bool,
    pub(crate) value: Raw,
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) left: Left,
    pub(crate) operator: &'static [u8],
    pub(crate) target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    Ready,
    Number(u32),
    Named(Vec<u8>),
}

#[derive(Debug)]
pub(crate) enum Target {
    Word(Raw),
    /// Filled at the end of the line.
    Here(Rc<OnceCell<Raw>>),
}

/// A word as it is written.
pub(crate) type Raw = Vec<Piece>;

#[derive(Debug)]
pub(crate) enum Piece {
    Text {
        text: Vec<u8>,
        quoted: bool,
    },
    /// A character that may be special in a pattern or in braces: it is, if it is left after `pattern::fold`.
    Special(u8),
    /// A pattern, or a list in braces that is too tangled to be one.
    Pattern(Vec<Self>),
    /// A list or a range in braces, the braces with it.
    Braces(Vec<Self>),
    /// `~` or `~NAME` at a place where it is a home directory.
    Home(Vec<u8>),
    Parameter(Box<Parameter>),
    Substitution {
        list: List,
        quoted: bool,
    },
    /// `<(…)`, `>(…)`, with whether the commands read.
    Process {
        list: List,
        reads: bool,
    },
    Arithmetic(Vec<Self>),
    /// `NAME=(…)`.
    Array(Vec<Raw>),
    /// Something that shells read differently.
    Opaque,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Vec<u8>,
    pub(crate) quoted: bool,
    pub(crate) operation: Operation,
}

#[derive(Debug)]
pub(crate) enum Operation {
    Plain,
    /// `-`, `=`, `?` or `+`, with a colon or without.
    Otherwise {
        sign: u8,
        colon: bool,
        word: Raw,
    },
    /// `[@]` or `[*]`: all of an array.
    All {
        star: bool,
    },
    /// `#` or `%`, single or double.
    Strip {
        suffix: bool,
        word: Raw,
    },
    /// Whatever else; its text may hold commands.
    Other(Raw),
}

impl Piece {
    pub(crate) fn text(byte: u8, quoted: bool) -> Self {
        Self::Text { text: vec![byte], quoted }
    }
}

/// The text of a word without any expansion or pattern.
pub(crate) fn literal(word: &Raw) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for piece in word {
        let Piece::Text { text, .. } = piece else { return None };
        all.extend(text);
    }
    Some(all)
}
