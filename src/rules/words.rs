//! The words behind a program: shared, never copied on the way from a launcher to what it starts.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::ops::Deref;
use std::rc::Rc;

/// Words of a line.
#[derive(Clone)]
pub(super) enum Words<'a> {
    /// As they were typed, from some place on.
    Typed(&'a [OsString]),
    /// What was read in a script or made up, from a place on.
    Read(Rc<[OsString]>, usize),
}

impl Words<'_> {
    /// Those from a place on.
    pub(super) fn from(&self, at: usize) -> Self {
        match self {
            Self::Typed(words) => Self::Typed(words.get(at..).unwrap_or_default()),
            Self::Read(words, from) => Self::Read(Rc::clone(words), words.len().min(from + at)),
        }
    }

    /// The program, and what is behind it.
    pub(super) fn split(&self) -> Option<(&OsString, Self)> {
        self.first().map(|program| (program, self.from(1)))
    }
}

impl Deref for Words<'_> {
    type Target = [OsString];

    fn deref(&self) -> &[OsString] {
        match self {
            Self::Typed(words) => words,
            Self::Read(words, from) => &words[*from..],
        }
    }
}

impl FromIterator<OsString> for Words<'_> {
    fn from_iter<T: IntoIterator<Item = OsString>>(words: T) -> Self {
        Self::Read(words.into_iter().collect(), 0)
    }
}

impl Default for Words<'_> {
    fn default() -> Self {
        Self::Typed(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_from_a_place_on_are_the_same_words() {
        let all = ["a", "b", "c"].map(OsString::from);
        for words in [Words::Typed(&all), all.iter().cloned().collect()] {
            assert_eq!(words[..], all);
            assert_eq!(words.from(1).from(1)[..], all[2..]);
            assert!(words.from(1).from(7).is_empty());
            assert!(std::ptr::eq(&words.from(2)[0], &words[2]), "the same, no copy");
            assert_eq!(words.split().map(|(first, rest)| (first.clone(), rest.len())), Some(("a".into(), 2)));
        }
        assert!(Words::default().split().is_none());
    }
}
