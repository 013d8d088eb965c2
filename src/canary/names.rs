//! Key names on their way into a message: few, short, and of printable characters only, since the file may come from
//! anyone.
#![forbid(unsafe_code)]

use std::fmt;

/// How many names are shown.
const SHOWN: usize = 3;
/// How long a name may be (characters).
const LENGTH: usize = 64;

/// A few names, and how many there are. Shown as `a, b, c and 4 more`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    shown: Vec<String>,
    count: usize,
}

impl Names {
    /// The first of these names, cleaned; `count` is how many there are in all.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>, count: usize) -> Self {
        let shown: Vec<String> = names.into_iter().take(SHOWN).map(|name| clean(&name)).collect();
        Self { count: count.max(shown.len()), shown }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown.join(", "))?;
        match self.count - self.shown.len() {
            0 => Ok(()),
            more if self.shown.is_empty() => write!(f, "{more} in all"),
            more => write!(f, " and {more} more"),
        }
    }
}

fn clean(name: &str) -> String {
    let mut clean: String = name.chars().filter(|c| !c.is_control() && !is_invisible(*c)).take(LENGTH).collect();
    if name.chars().nth(LENGTH).is_some() {
        clean.push('…');
    }
    clean
}

/// Characters that change how the text around them is shown (Unicode's bidi controls and other format characters).
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_few_short_and_printable() {
        for (names, count, text) in [
            (vec!["A"], 1, "A"),
            (vec!["A", "B", "C", "D", "E"], 7, "A, B, C and 4 more"),
            (vec!["a\u{1b}[31mb\u{202e}c\nd"], 1, "a[31mbcd"),
            (vec![], 5, "5 in all"),
        ] {
            let names = Names::new(names.into_iter().map(str::to_owned), count);
            assert_eq!(names.to_string(), text);
        }
        let long = Names::new([String::from("x").repeat(500)], 1).to_string();
        assert_eq!(long.chars().count(), LENGTH + 1);
    }
}
