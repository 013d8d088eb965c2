//! The one door through which texts of a store come to people.
#![forbid(unsafe_code)]

use crate::terms::shows;

/// The longest text that is shown, in characters.
const LONGEST: usize = 200;

/// The same of a text in which several people and programs have their say.
const LONGEST_OF_MANY: usize = 1_000;

/// A text from a store, fit to be shown: at most 200 characters on one line, without control characters (escape
/// sequences begin with one) and without characters that reorder or hide what stands around them. Who may write to the
/// store must not be able to draw on another's terminal.
#[must_use]
pub(crate) fn shown(text: &str) -> String {
    cut(text, LONGEST)
}

fn cut(text: &str, longest: usize) -> String {
    let mut kept = text.chars().filter(|&character| shows(character));
    let head: String = kept.by_ref().take(longest).collect();
    if kept.next().is_none() {
        return head;
    }
    // One character makes room for the mark that something is missing.
    head.chars().take(longest - 1).chain(['…']).collect()
}

/// The same for a note or a reason, where what a person said, which may be as long, stands beside who said it and what else
/// happened: none of that is cut from the other.
#[must_use]
pub(crate) fn shown_whole(text: &str) -> String {
    cut(text, LONGEST_OF_MANY)
}

/// The same for a text of many sources that is not cut.
#[must_use]
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|&character| shows(character)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_escapes_and_bidi_marks_do_not_pass() {
        let cases = [
            ("plain text, ünï", "plain text, ünï"),
            ("\u{1b}[31mred\u{1b}[0m", "[31mred[0m"),
            ("two\nlines\r\t", "twolines"),
            ("a\u{202e}b\u{2066}c\u{200b}d", "abcd"),
            ("\u{9b}2J", "2J"),
            ("\u{7f}\0", ""),
        ];
        for (stored, expected) in cases {
            assert_eq!(shown(stored), expected, "{stored:?}");
        }
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!(shown(&"x".repeat(LONGEST)).chars().count(), LONGEST);
        let cut = shown(&"é".repeat(LONGEST + 1));
        assert_eq!(cut.chars().count(), LONGEST);
        assert!(cut.ends_with('…'));
    }
}
