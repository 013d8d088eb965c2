//! The block of rules in an agent's instructions (CLAUDE.md, AGENTS.md): a text goes in, a text comes out.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::path::Path;

use super::AgentsError;

/// The block, from its first line to its last, without the end of that.
pub const BLOCK: &str = include_str!("../../shims/agents/block.md").trim_ascii_end();

const BEGIN: &str = "<!-- locked: begin -->";
const END: &str = "<!-- locked: end -->";

/// How a block stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// There is none.
    Absent,
    /// As it is now.
    Whole,
    /// Of another version, or changed.
    Other,
}

/// How it stands.
pub(super) fn look(text: &str, path: &Path) -> Result<Block, AgentsError> {
    let newline = newline(text);
    Ok(match find(text, path)? {
        None => Block::Absent,
        Some(range) if text[range.clone()] == laid_out(newline) => Block::Whole,
        Some(_) => Block::Other,
    })
}

/// The text with the block: in the place of an older one, else at the end, an empty line before it.
pub(super) fn with(text: &str, path: &Path) -> Result<String, AgentsError> {
    let newline = newline(text);
    let block = laid_out(newline);
    Ok(match find(text, path)? {
        Some(range) => format!("{}{block}{}", &text[..range.start], &text[range.end..]),
        None if text.is_empty() => format!("{block}{newline}"),
        None if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        // As the text ended without the end of a line, so does the block: that is how it is taken out again.
        None => format!("{text}{newline}{newline}{block}"),
    })
}

/// The text without the block.
pub(super) fn without(text: &str, path: &Path) -> Result<String, AgentsError> {
    let Some(range) = find(text, path)? else { return Ok(text.to_owned()) };
    let newline = newline(text);
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    if behind.is_empty() {
        let before = before.strip_suffix(newline).unwrap_or(before);
        return Ok(before.strip_suffix(newline).unwrap_or(before).to_owned());
    }
    let behind = behind.strip_prefix(newline).unwrap_or(behind);
    let double = [newline, newline].concat();
    let before = if before.ends_with(&double) { &before[..before.len() - newline.len()] } else { before };
    Ok(format!("{before}{behind}"))
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn laid_out(newline: &str) -> String {
    BLOCK.replace('\n', newline)
}

/// From its first line to its last.
fn find(text: &str, path: &Path) -> Result<Option<Range<usize>>, AgentsError> {
    let half = |line| Err(AgentsError::HalfBlock { path: path.to_owned(), line });
    match (text.find(BEGIN), text.rfind(END)) {
        (None, None) => Ok(None),
        (Some(begin), Some(end)) if begin < end => Ok(Some(begin..end + END.len())),
        (Some(_), _) => half(BEGIN),
        (None, Some(_)) => half(END),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_short_and_has_its_ends() {
        assert!(BLOCK.lines().count() <= 15 && BLOCK.starts_with(BEGIN) && BLOCK.ends_with(END));
        assert!(BLOCK.lines().all(|line| line.chars().count() <= 150), "a line is too long to be read");
    }

    #[test]
    fn a_text_gets_it_once_and_loses_it_byte_for_byte() {
        let path = Path::new("AGENTS.md");
        for text in ["", "a\n", "a", "a\n\n", "a\r\nb\r\n", "\n", "a\r\nb"] {
            let once = with(text, path).expect("put");
            assert_eq!(with(&once, path).expect("put"), once);
            assert_eq!(look(&once, path).expect("whole"), Block::Whole);
            assert_eq!(without(&once, path).expect("taken"), text, "{text:?}");
        }
        let old = format!("a\n\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(look(&old, path).expect("there"), Block::Other);
        assert_eq!(with(&old, path).expect("renewed"), format!("a\n\n{BLOCK}\nb\n"));
        assert_eq!(without(&old, path).expect("taken"), "a\nb\n");
        for half in [BEGIN, END, "<!-- locked: end -->\n<!-- locked: begin -->"] {
            assert!(with(half, path).is_err() && without(half, path).is_err() && look(half, path).is_err());
        }
    }
}
