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

/// From its first line to its last. Its ends are lines of their own: who writes about them within a line means no block.
fn find(text: &str, path: &Path) -> Result<Option<Range<usize>>, AgentsError> {
    let wrong = |line, what| Err(AgentsError::HalfBlock { path: path.to_owned(), line, what });
    let (mut begun, mut found, mut at) = (None, None, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        match (line.trim_end(), begun) {
            (BEGIN, None) if found.is_some() => {
                return wrong(
                    number,
                    "a second block of our rules begins here; what stands between them is nobody's but yours",
                );
            }
            (BEGIN, None) => begun = Some((at, number)),
            (END, Some((start, _))) => {
                found = Some(start..at + END.len());
                begun = None;
            }
            (BEGIN, Some(_)) | (END, None) => return wrong(number, ONE_END),
            _ => {}
        }
        at += line.len();
    }
    match begun {
        Some((_, number)) => wrong(number, ONE_END),
        None => Ok(found),
    }
}

const ONE_END: &str = "only one end of our block of rules, so nobody can tell how far it goes";

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
    }

    /// What people have written around it, and about it, is theirs.
    #[test]
    fn only_lines_of_their_own_are_its_ends_and_two_blocks_are_nobodys_guess() {
        let path = Path::new("AGENTS.md");
        let quoted = format!("`{BEGIN}` begins it.\n\nMINE\n\n{BEGIN} so\n  {END}\nand `{END}` ends it.\n");
        assert_eq!(look(&quoted, path).expect("none"), Block::Absent);
        let once = with(&quoted, path).expect("put");
        assert!(once.starts_with(&quoted));
        assert_eq!(without(&once, path).expect("taken"), quoted);
        let two = format!("{BLOCK}\n\nMINE\n\n{BLOCK}\n");
        let second = BLOCK.lines().count() + 4;
        for (text, line) in [
            (BEGIN.to_owned(), 1),
            (format!("a\n{END}\n"), 2),
            (format!("{END}\n{BEGIN}\n"), 1),
            (format!("{BEGIN}\na\n{BEGIN}\n{END}\n"), 3),
            (format!("{BLOCK}\n{END}\n"), BLOCK.lines().count() + 1),
            (format!("a\n{BEGIN}\r\nMINE\r\n"), 2),
            (two, second),
        ] {
            for refused in [with(&text, path), without(&text, path), look(&text, path).map(|_| String::new())] {
                let said = refused.expect_err(&text).to_string();
                assert!(said.starts_with(&format!("\"AGENTS.md\":{line}: ")), "{said}");
            }
        }
    }
}
