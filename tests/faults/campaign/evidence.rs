//! What a campaign leaves behind, as values: the log of the children and of the hand, the store's own events in their
//! order, and what still lives at the end. Knows nothing of `locked`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::Duration;

/// One line of the log: `NS WORD WHO RESOURCE TOKEN DETAIL`, where `-` stands for nothing. The order of the lines is the
/// order in which things were so.
///
/// Children say `begin` (with what they read), `beat`, `wrote` (with what), `end`, `clash` (another had the file), `spoil`
/// (they left it bad). The hand says `ask`, `over` (with the exit status), `hurt`, `outage`, `mended`, `foreign` (it wrote into a
/// file itself), `restoring` and `restored` (a restore began, and ended), `older` (it told that it had no copy of the newest
/// version), and at the very end `final` (with what a file holds).
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) ns: u128,
    pub(crate) word: String,
    pub(crate) who: String,
    pub(crate) resource: String,
    pub(crate) token: Option<i64>,
    pub(crate) detail: String,
}

/// Something that happened in the store, told by the store itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) what: What,
    pub(crate) who: String,
    pub(crate) resource: String,
    pub(crate) token: Option<i64>,
}

/// Its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A ticket was drawn.
    Asked,
    /// The ticket went, granted or not.
    Left,
    /// A lease was granted.
    Granted,
}

/// A lease that lives when all is over.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(crate) who: String,
    pub(crate) resource: String,
    pub(crate) is_quarantined: bool,
    /// The store's own words about it.
    pub(crate) state: String,
}

/// What nobody may go beyond.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How long a resource may lie idle while somebody waits for it: TTL and grace, and what a busy machine adds.
    pub(crate) idle: Duration,
    /// How many younger requests may go before one that does its part.
    pub(crate) overtaken: usize,
}

/// All of it.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) log: Vec<Line>,
    pub(crate) events: Vec<Event>,
    pub(crate) left: Vec<Left>,
    pub(crate) bounds: Bounds,
}

/// One child's life on one resource.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) who: String,
    pub(crate) resource: String,
    pub(crate) token: Option<i64>,
    /// The places of its first and last line.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// What it found in the file.
    pub(crate) read: String,
    pub(crate) wrote: Option<String>,
    pub(crate) has_ended: bool,
}

/// Reads a log.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [ns, word, who, resource, token, detail] = words[..] else { panic!("a torn line: {line:?}") };
        Line {
            ns: ns.parse().expect("ns"),
            word: word.to_owned(),
            who: who.to_owned(),
            resource: resource.to_owned(),
            token: token.parse().ok(),
            detail: detail.to_owned(),
        }
    };
    text.lines().map(line).collect()
}

impl Evidence {
    /// The lives, by their beginning.
    pub(crate) fn lives(&self) -> Vec<Life> {
        let mut lives: BTreeMap<(&str, &str), Life> = BTreeMap::new();
        for (place, line) in self.log.iter().enumerate() {
            if line.word == "begin" {
                let life = Life {
                    who: line.who.clone(),
                    resource: line.resource.clone(),
                    token: line.token,
                    first: place,
                    last: place,
                    read: line.detail.clone(),
                    wrote: None,
                    has_ended: false,
                };
                lives.insert((&line.who, &line.resource), life);
            } else if ["beat", "wrote", "end", "spoil"].contains(&line.word.as_str())
                && let Some(life) = lives.get_mut(&(line.who.as_str(), line.resource.as_str()))
            {
                life.last = place;
                life.has_ended |= line.word == "end";
                if line.word == "wrote" {
                    life.wrote = Some(line.detail.clone());
                }
            }
        }
        let mut lives: Vec<Life> = lives.into_values().collect();
        lives.sort_by_key(|life| life.first);
        lives
    }

    /// The lines with this word.
    pub(crate) fn said<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (usize, &'a Line)> {
        self.log.iter().enumerate().filter(move |(_, line)| line.word == word)
    }

    /// With which status a run ended, as the hand saw it.
    pub(crate) fn status(&self, who: &str) -> Option<&str> {
        self.said("over").find(|(_, line)| line.who == who).map(|(_, line)| line.detail.as_str())
    }
}
