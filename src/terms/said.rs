//! What a person says for others to read: why something is forced, what a hold is for, a word to its holder. It goes to the
//! store, to other people's terminals and into the history, so every such text comes through here, and what looks like a
//! secret in it stays outside.
#![forbid(unsafe_code)]

use super::value::{assigns, has_user_part, is_token};

/// The longest such text, in characters.
const LONGEST: usize = 200;

/// What stands where something is not shown.
const HIDDEN: char = '…';

/// Why a text says nothing to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSaid {
    /// There is nothing in it.
    #[error("there is nothing in it; say it in a few words")]
    Nothing,
    /// It is no line, or a long one.
    #[error("one line of at most {LONGEST} characters, each of which shows")]
    NoLine,
}

/// Does the character show as itself, where it stands? What controls a terminal (escape sequences begin so), and what reorders
/// or hides its neighbours, does not.
#[must_use]
pub fn shows(character: char) -> bool {
    let hidden = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    );
    !character.is_control() && !hidden
}

/// A text that says something, on one line of at most 200 characters, without spaces around it and without secrets.
///
/// # Errors
/// See [`NotSaid`].
pub fn said(text: &str) -> Result<String, NotSaid> {
    match text.trim() {
        "" => Err(NotSaid::Nothing),
        text if !text.chars().all(shows) || text.chars().count() > LONGEST => Err(NotSaid::NoLine),
        text => Ok(without_secrets(text)),
    }
}

/// The same of a text that is taken as it comes: lines become one, what does not show and the end of a long one are left out.
#[must_use]
pub fn said_somehow(text: &str) -> String {
    let letters = text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter });
    let line: String = letters.filter(|letter| shows(*letter)).collect();
    without_secrets(line.trim()).chars().take(LONGEST).collect()
}

/// The text with `…` in the place of what may be a secret by its form: the value of an assignment, an address with a user's
/// part, a key or token of a known make. A text without one stays as it is.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    // The quote that a hidden value ends with, while it goes on over several words.
    let mut open: Option<char> = None;
    for word in text.split_inclusive(char::is_whitespace) {
        let space = word.trim_start_matches(|letter: char| !letter.is_whitespace());
        let bare = word.trim_end_matches(char::is_whitespace);
        match open {
            Some(quote) => {
                if bare.ends_with(quote) {
                    open = None;
                    told.push_str(space);
                }
            }
            // What is armoured goes on over lines.
            None if bare.starts_with("-----BEGIN") => {
                told.push(HIDDEN);
                return told;
            }
            None => {
                let (shown, quote) = hidden(bare);
                told.push_str(&shown);
                open = quote;
                if open.is_none() {
                    told.push_str(space);
                }
            }
        }
    }
    told
}

/// One word as it may be shown, and the quote that its hidden value leaves open.
fn hidden(word: &str) -> (String, Option<char>) {
    if has_user_part(word.as_bytes()) {
        return (HIDDEN.to_string(), None);
    }
    if let Some(at) = assigns(word) {
        let (name, value) = word.split_at(at + 1);
        let name = if is_token(name.as_bytes()) { "" } else { name };
        let quote = value.chars().next().filter(|first| "'\"".contains(*first));
        let quote = quote.filter(|quote| value.len() == 1 || !value.ends_with(*quote));
        return (format!("{name}{HIDDEN}"), quote);
    }
    if is_token(word.as_bytes()) { (HIDDEN.to_string(), None) } else { (word.to_owned(), None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_outside_and_words_do_not_change() {
        let key = format!("AGE-SECRET-KEY-1{}", "Q".repeat(58));
        let github = format!("ghp_{}", "aB3".repeat(12));
        for (text, shown) in [
            ("the store moves today", "the store moves today"),
            ("  two  spaces\tand a tab ", "  two  spaces\tand a tab "),
            ("", ""),
            ("a => b, x == y, =", "a => b, x == y, ="),
            ("12:30 ana@ws-1: see https://h/x#1", "12:30 ana@ws-1: see https://h/x#1"),
            ("set KEY=hunter2 now", "set KEY=… now"),
            ("--password=hunter2", "--password=…"),
            ("KEY='hunter2 and hunter2' now", "KEY=… now"),
            ("KEY=\"hunter2\" now", "KEY=… now"),
            ("KEY=' hunter2' now", "KEY=… now"),
            ("KEY='hunter2 without an end", "KEY=…"),
            ("by postgres://me:hunter2@h/x, me:hunter2@h", "by … …"),
            (&format!("lost {key} there"), "lost … there"),
            (&format!("lost '{}'.", key.to_lowercase()), "lost …"),
            (&format!("{github}={key}"), "…"),
            (&format!("token:{github}, too"), "… too"),
            ("-----BEGIN PRIVATE KEY----- hunter2", "…"),
        ] {
            assert_eq!(without_secrets(text), shown, "{text}");
        }
    }

    #[test]
    fn it_is_one_line_that_says_something() {
        assert_eq!(said(" why KEY=hunter2 "), Ok("why KEY=…".to_owned()));
        assert_eq!(said(&"x".repeat(LONGEST)), Ok("x".repeat(LONGEST)));
        for (text, wrong) in [
            ("", NotSaid::Nothing),
            (" \n", NotSaid::Nothing),
            ("a\nb", NotSaid::NoLine),
            ("a\u{202e}b", NotSaid::NoLine),
        ] {
            assert_eq!(said(text), Err(wrong), "{text:?}");
        }
        assert_eq!(said(&"x".repeat(LONGEST + 1)), Err(NotSaid::NoLine));
        assert_eq!(said_somehow("a\nKEY=hunter2\u{1b}[2J"), "a KEY=…");
        assert_eq!(said_somehow("a\u{1b}[2J\tb"), "a[2J b");
        assert_eq!(said_somehow(&"x".repeat(LONGEST + 1)), "x".repeat(LONGEST));
        // Hidden first, cut after: half of a key is no longer known as one.
        let key = format!("{} AGE-SECRET-KEY-1{}", "x".repeat(170), "Q".repeat(58));
        assert_eq!(said_somehow(&key), format!("{} …", "x".repeat(170)));
    }
}
