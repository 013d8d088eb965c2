//! One word of a command: what is known of its text.
#![forbid(unsafe_code)]

use super::script::Span;

/// A word after quote removal and the expansions that the script itself decides. Known neighbours are one part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    pub(super) parts: Vec<Part>,
}

/// One piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// These bytes.
    Known(Vec<u8>),
    /// A variable or parameter that comes from outside of the script (`HOME` also for `~`).
    Variable {
        /// Its name; `@` and `*` are all parameters.
        name: Vec<u8>,
        /// Whether it may become none or several words.
        splits: bool,
    },
    /// A pattern or a list in braces, as it is written: it stands for the file names that match or for several words,
    /// or for itself.
    Pattern(Vec<u8>),
    /// Bytes that only run time knows: what a command prints, a variable that was read, arithmetic.
    Unknown {
        /// Whether it may become none or several words.
        splits: bool,
    },
    /// What these commands print (`$(…)`), without the newlines at its end.
    Output {
        /// The commands.
        commands: Span,
        /// Whether it may become none or several words.
        splits: bool,
    },
    /// The name of a pipe out of which comes what these commands print (`<(…)`).
    Stream(Span),
}

impl Word {
    /// A word with this text.
    #[must_use]
    pub fn literal(text: &[u8]) -> Self {
        let mut word = Self::default();
        word.push(Part::Known(text.to_vec()));
        word
    }

    /// A word of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self { parts: vec![Part::Unknown { splits: false }] }
    }

    /// What it is made of.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text, if all of it is known.
    #[must_use]
    pub fn known(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(b""),
            [Part::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it may become none or several words when it is run.
    #[must_use]
    pub fn may_split(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Known(_) | Part::Stream(_) => false,
            Part::Pattern(_) => true,
            Part::Variable { splits, .. } | Part::Unknown { splits } | Part::Output { splits, .. } => *splits,
        })
    }

    /// Whether it may become none or several words for another cause than that it stands for the names of files.
    pub(super) fn may_be_several(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Known(_) | Part::Stream(_) | Part::Pattern(_) => false,
            Part::Variable { splits, .. } | Part::Unknown { splits } | Part::Output { splits, .. } => *splits,
        })
    }

    /// Whether it may turn out to be this text.
    #[must_use]
    pub fn could_be(&self, text: &[u8]) -> bool {
        if let Some(known) = self.known() {
            return known == text;
        }
        let (Some(rest), tail) = (text.strip_prefix(self.head()), self.tail()) else { return false };
        let Some(mut rest) = rest.strip_suffix(tail) else { return false };
        // Head and tail are apart, since something unknown stands between them; the first places that fit will do.
        let last = self.parts.len() - usize::from(!tail.is_empty());
        for part in &self.parts[usize::from(!self.head().is_empty())..last] {
            let Part::Known(inner) = part else { continue };
            let Some(place) = rest.windows(inner.len()).position(|window| window == inner) else { return false };
            rest = &rest[place + inner.len()..];
        }
        true
    }

    /// Whether it may turn out to start like this.
    #[must_use]
    pub fn could_start_with(&self, text: &[u8]) -> bool {
        let head = self.head();
        head.starts_with(text) || (self.known().is_none() && text.starts_with(head))
    }

    /// Whether it may turn out to end like this.
    #[must_use]
    pub fn could_end_with(&self, text: &[u8]) -> bool {
        let tail = self.tail();
        tail.ends_with(text) || (self.known().is_none() && text.ends_with(tail))
    }

    /// The known bytes that it starts with.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        match self.parts.first() {
            Some(Part::Known(text)) => text,
            _ => b"",
        }
    }

    /// The known bytes that it ends with.
    #[must_use]
    pub fn tail(&self) -> &[u8] {
        match self.parts.last() {
            Some(Part::Known(text)) => text,
            _ => b"",
        }
    }

    pub(super) fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (_, Part::Known(text)) if text.is_empty() => {}
            (Some(Part::Known(before)), Part::Known(text)) => before.extend(text),
            (_, part) => self.parts.push(part),
        }
    }

    /// The same with each part put through [`Self::push`].
    pub(super) fn tidy(self) -> Self {
        let mut word = Self::default();
        self.parts.into_iter().for_each(|part| word.push(part));
        word
    }

    pub(super) fn append(&mut self, other: &Self) {
        other.parts.iter().for_each(|part| self.push(part.clone()));
    }
}
