//! Words that others left for this session.
#![forbid(unsafe_code)]

use crate::store::Word;

use super::{clock_time, say};

/// Says each on a line of its own.
pub fn say_words(words: &[Word]) {
    for word in words {
        say(&line(word));
    }
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
    }
}
