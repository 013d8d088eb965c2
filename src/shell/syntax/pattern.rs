//! Which special characters of a word are special: brackets that close, braces with a list or a range in them.
#![forbid(unsafe_code)]

use super::tree::{Piece, Raw};

/// Makes patterns and lists in braces one piece each, and all else text.
pub(super) fn fold(pieces: Raw) -> Raw {
    if !pieces.iter().any(|piece| matches!(piece, Piece::Special(_))) {
        return pieces;
    }
    let groups = groups(&pieces);
    let (mut folded, mut inner) = (Raw::new(), Raw::new());
    let mut groups = groups.into_iter().peekable();
    for (at, piece) in pieces.into_iter().enumerate() {
        match groups.peek() {
            Some(&(start, end)) if at >= start => {
                inner.push(piece);
                if at == end {
                    folded.push(group(std::mem::take(&mut inner)));
                    groups.next();
                }
            }
            _ => folded.push(piece),
        }
    }
    folded.append(&mut inner);
    folded.into_iter().map(special).collect()
}

/// A list in braces, where nothing but that is to be seen; else a pattern.
fn group(inner: Raw) -> Piece {
    let opens = matches!(inner.first(), Some(Piece::Special(b'{')));
    let closes = matches!(inner.last(), Some(Piece::Special(b'}')));
    let has_brackets = inner.iter().any(|piece| matches!(piece, Piece::Special(b'[' | b']')));
    if opens && closes && !has_brackets { Piece::Braces(inner) } else { Piece::Pattern(plain(inner)) }
}

/// Makes all special characters text.
pub(super) fn plain(pieces: Raw) -> Raw {
    let text = |piece| match piece {
        Piece::Special(byte) => Piece::text(byte, false),
        piece => piece,
    };
    pieces.into_iter().map(text).collect()
}

fn special(piece: Piece) -> Piece {
    match piece {
        Piece::Special(byte @ (b'*' | b'?')) => Piece::Pattern(vec![Piece::text(byte, false)]),
        Piece::Special(byte) => Piece::text(byte, false),
        piece => piece,
    }
}

/// The outermost groups, from the first place to the last.
fn groups(pieces: &Raw) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    // Open braces, with whether they hold a list or a range.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut bracket = None;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Special(b'{') => open.push((at, false)),
            Piece::Special(b',') => open.iter_mut().last().into_iter().for_each(|(_, listed)| *listed = true),
            Piece::Text { text, quoted: false } if text.windows(2).any(|two| two == b"..") => {
                open.iter_mut().last().into_iter().for_each(|(_, listed)| *listed = true);
            }
            Piece::Special(b'}') => {
                if let Some((start, true)) = open.pop() {
                    add(&mut found, (start, at));
                }
            }
            Piece::Special(b'[') => bracket = bracket.or(Some(at)),
            Piece::Special(b']') => {
                // `[]` holds nothing: the bracket would be the first of the set.
                if let Some(start) = bracket.filter(|start| at > start + 1) {
                    add(&mut found, (start, at));
                    bracket = None;
                }
            }
            _ => {}
        }
    }
    found
}

/// Adds a group, which takes in those that it overlaps: they come in the order of their ends.
fn add(found: &mut Vec<(usize, usize)>, (mut start, end): (usize, usize)) {
    while let Some(&(first, last)) = found.last().filter(|(_, last)| *last >= start) {
        start = start.min(first);
        debug_assert!(last < end, "groups come in the order of their ends");
        found.pop();
    }
    found.push((start, end));
}
