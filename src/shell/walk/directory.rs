//! Where `cd` leads, by its text.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::Walker;
use super::fields::length;
use super::join::one_of;
use super::state::State;
use crate::shell::script::Directory;
use crate::shell::word::{Part, Word};

/// Longer paths are unknown (Linux has no longer ones).
const LONGEST: usize = 4096;

impl Walker<'_> {
    /// The directory after `cd` with these operands (options and all).
    pub(super) fn changed(&mut self, operands: &[Word], state: &State) -> Directory {
        if let Directory::Either(places) = &state.directory {
            let from = |place: &Directory| State { directory: place.clone(), log: None, ..state.clone() };
            let to: Vec<Directory> = places.iter().map(|place| self.changed(operands, &from(place))).collect();
            return one_of(&to);
        }
        let options = operands
            .iter()
            .take_while(|word| matches!(word.known(), Some(b"-L" | b"-P" | b"-e" | b"-@" | b"-Pe")))
            .count();
        // Links on the way change what `..` means.
        let physical = operands[..options].iter().any(|word| word.known().is_some_and(|option| option != b"-L"));
        let operands = &operands[options..];
        let operands =
            if operands.first().is_some_and(|word| word.known() == Some(b"--")) { &operands[1..] } else { operands };
        let to = match operands {
            [] => self.value(b"HOME", state),
            [to] => to.clone(),
            _ => return Directory::Unknown,
        };
        if to.known() == Some(b"-") {
            return state.previous.clone().unwrap_or(Directory::Unknown);
        }
        if let Some(there) = self.asked_place(&to) {
            return there;
        }
        let searched = state.is_assigned(b"CDPATH") || self.surroundings.variables.contains_key(b"CDPATH".as_slice());
        if let Some(to) = from_start(&to) {
            return resolved(Word::default(), &to);
        }
        let from = match (&state.directory, to.head()) {
            (_, [b'/', ..]) => Word::default(),
            (_, []) if to.parts().first().is_some_and(is_home) => Word::default(),
            (Directory::Unknown | Directory::Either(_), _) => return Directory::Unknown,
            (_, [b'-'] | [b'-' | b'+', b'0'..=b'9', ..]) if to.known().is_some() => return Directory::Unknown,
            (_, head) if head.is_empty() || (searched && !head.starts_with(b"./") && !head.starts_with(b"../")) => {
                return Directory::Unknown;
            }
            (Directory::Start, _) => Word::default(),
            (Directory::Moved(from), _) => Word::clone(from),
        };
        let bytes: usize = from.parts().iter().chain(to.parts()).map(length).sum();
        if bytes > LONGEST || !self.charge(bytes) || (physical && to.known().is_none_or(goes_up)) {
            return Directory::Unknown;
        }
        resolved(from, &to)
    }

    /// Where `pwd` was asked for the directory (`D=$(pwd); …; cd "$D/x"`).
    fn asked_place(&self, to: &Word) -> Option<Directory> {
        let (commands, way) = match to.parts() {
            [Part::Output { commands, .. }] => (commands, b"".as_slice()),
            [Part::Output { commands, .. }, Part::Known(text)] => (commands, text.strip_prefix(b"/")?),
            _ => return None,
        };
        let [asked] = self.commands.get(commands.from..commands.to)? else { return None };
        let is_pwd = matches!(&*asked.words, [pwd] if pwd.known() == Some(b"pwd"));
        let from = match &asked.directory {
            Directory::Start => Word::default(),
            Directory::Moved(from) => Word::clone(from),
            Directory::Either(_) | Directory::Unknown => return None,
        };
        (is_pwd && !asked.is_call && asked.redirections.is_empty()).then(|| resolved(from, &Word::literal(way)))
    }
}

/// The way from where the script was started, of a word that begins with its `$PWD`.
fn from_start(to: &Word) -> Option<Word> {
    let [Part::Variable { name, .. }, rest @ ..] = to.parts() else { return None };
    let way = match rest {
        [] => b"".as_slice(),
        [Part::Known(text)] => text.strip_prefix(b"/")?,
        _ => return None,
    };
    (name == b"PWD").then(|| Word::literal(way))
}

fn goes_up(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'/').any(|part| part == b"..")
}

fn is_home(part: &Part) -> bool {
    matches!(part, Part::Variable { name, splits: false } if name == b"HOME")
}

/// The path, if only a home directory at its head is unknown.
fn resolved(mut from: Word, to: &Word) -> Directory {
    if !from.parts().is_empty() {
        from.push(Part::Known(b"/".to_vec()));
    }
    from.append(to);
    let mut parts = from.parts().to_vec();
    let home = parts.first().is_some_and(is_home).then(|| parts.remove(0));
    let text = match parts.as_slice() {
        [] => b"".as_slice(),
        [Part::Known(text)] => text,
        _ => return Directory::Unknown,
    };
    // Behind a home directory only something that starts with a slash is below it.
    if home.is_some() && text.first().is_some_and(|byte| *byte != b'/') {
        return Directory::Unknown;
    }
    let Some(text) = cleaned(text, home.is_some()) else { return Directory::Unknown };
    let mut word = Word::default();
    word.parts.extend(home);
    word.push(Part::Known(text));
    if word.parts().is_empty() { Directory::Start } else { Directory::Moved(Arc::new(word)) }
}

/// Without `.`, doubled slashes and what `..` takes back. Nothing if it leads above a home directory.
fn cleaned(text: &[u8], below_home: bool) -> Option<Vec<u8>> {
    let absolute = text.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in text.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => drop(kept.pop()),
            b".." if below_home => return None,
            b".." if absolute => {}
            part => kept.push(part),
        }
    }
    let joined = kept.join(&b'/');
    Some(if absolute && !(below_home && joined.is_empty()) { [b"/", joined.as_slice()].concat() } else { joined })
}
