//! Words that others left for this session.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::store::{Store, Word};
use crate::terms::SessionId;

use super::{clock_time, day_and_time, is_hushed, say};

/// How long putting one back may take.
const PUT_BACK_WITHIN: Duration = Duration::from_secs(2);

/// What stands before a word that was put back: its moment is another then.
const LEFT: &str = "(left ";

/// Says each on a line of its own. They are heard with that; where nothing is said (`-q`) they are put back into the store, for
/// the session's next command that may speak.
pub fn say_words(words: &[Word], store: &mut dyn Store, session: SessionId) {
    if !is_hushed() {
        words.iter().for_each(|word| say(&line(word)));
        return;
    }
    let Some(board) = store.board() else { return };
    for word in words {
        // A lease may have been granted along with them: nobody waits for a store that does not answer.
        if board.leave_word(session, &put_back(word.clone()), PUT_BACK_WITHIN).is_err() {
            return;
        }
    }
}

/// The same word with the moment of before in it.
fn put_back(word: Word) -> Word {
    let text = match word.text.starts_with(LEFT) {
        true => word.text,
        false => format!("{LEFT}{}) {}", day_and_time(word.at), word.text),
    };
    Word { text, ..word }
}

fn line(word: &Word) -> String {
    format!("locked: {} about {} at {}: {}", word.holder, word.about, clock_time(word.at), word.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_line_that_says_who_and_about_what() {
        let word = Word {
            holder: "0badc0de (bob@ws-2)".to_owned(),
            about: "sops:monitoring".to_owned(),
            text: "please release it".to_owned(),
            at: 1_795_000_000_000,
        };
        let line = line(&word);
        assert!(line.starts_with("locked: 0badc0de (bob@ws-2) about sops:monitoring at "), "{line}");
        assert!(line.ends_with(": please release it") && line.lines().count() == 1, "{line}");
        let again = put_back(put_back(word));
        assert!(again.text.starts_with("(left 2026-1") && again.text.ends_with(") please release it"), "{again:?}");
        assert_eq!(again.text.matches(LEFT).count(), 1, "{again:?}");
    }
}
