//! What commands print, for whoever reads it: a pipe, a word, a file that the line makes.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::rc::Rc;

use super::archive::Packed;

/// What commands print, as far as the line says it.
#[derive(Default, Clone)]
pub(super) struct Printed {
    /// Texts.
    pub(super) text: Option<Rc<[u8]>>,
    /// What stands in these files of this machine.
    pub(super) files: Vec<PathBuf>,
    /// And more.
    pub(super) hidden: bool,
    /// An archive of these.
    pub(super) packed: Rc<[Packed]>,
    /// It is the text alone, to the letter.
    pub(super) exact: bool,
}

impl Printed {
    /// Something that nobody can look at.
    pub(super) fn hidden() -> Self {
        Self { hidden: true, ..Self::default() }
    }

    /// What is printed behind it as well; a text begins a line of its own.
    pub(super) fn add(&mut self, other: &Self) {
        self.text = match (self.text.take(), &other.text) {
            (None, text) => text.clone(),
            (text, None) => text,
            (Some(one), Some(two)) => {
                let between: &[u8] = if one.ends_with(b"\n") || one.is_empty() { b"" } else { b"\n" };
                Some([&*one, between, &**two].concat().into())
            }
        };
        self.files.extend(other.files.iter().cloned());
        self.hidden |= other.hidden;
        if !other.packed.is_empty() {
            self.packed = self.packed.iter().chain(other.packed.iter()).cloned().collect();
        }
    }

    /// Whether nothing is printed at all.
    pub(super) fn is_nothing(&self) -> bool {
        self.text.is_none() && self.files.is_empty() && !self.hidden
    }
}
