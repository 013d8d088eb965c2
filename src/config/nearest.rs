//! The nearest known word to one that was mistyped.
#![forbid(unsafe_code)]

/// The known word that takes the fewest changes of letters, when that is few for its length.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody mistypes a word of this length into another; and the work grows with the square.
    if word.len() > 40 {
        return None;
    }
    let near = |candidate: &&str| changes(word, candidate) <= 1 + candidate.len() / 4;
    known.into_iter().filter(near).min_by_key(|candidate| changes(word, candidate))
}

/// How many letters must be put in, taken out or changed (Levenshtein's distance, by bytes).
fn changes(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (column, second) in other.bytes().enumerate() {
            let changed = corner + usize::from(letter != second);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_foreign_word_none() {
        let known = ["url", "url_env", "url_sops", "via", "advisory"];
        for (word, found) in [
            ("uri", Some("url")),
            ("url-env", Some("url_env")),
            ("urlenv", Some("url_env")),
            ("advisery", Some("advisory")),
            ("database", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), found, "{word}");
        }
        assert_eq!(nearest(&"u".repeat(1_000_000), known), None);
    }

    #[test]
    fn the_distance_is_a_distance() {
        for (one, other, expected) in [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("a", "a", 0)] {
            assert_eq!(changes(one, other), expected);
            assert_eq!(changes(other, one), expected);
        }
    }
}
