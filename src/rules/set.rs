//! Variables that a line sets for its commands. They stand in one place, however many commands see them: a script has
//! thousands, and a value may be a mebibyte.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// Variables that a line sets for its command. Their values may be secrets: they are counted, not shown.
#[derive(Clone, Default)]
pub struct Set(Option<Arc<Layer>>);

/// Those of one place, and those around it.
struct Layer {
    own: Vec<(OsString, OsString)>,
    around: Set,
}

impl Set {
    /// These, and what is set already.
    pub(super) fn and(&self, own: Vec<(OsString, OsString)>) -> Self {
        if own.is_empty() { self.clone() } else { Self(Some(Arc::new(Layer { own, around: self.clone() }))) }
    }

    /// The last value that is set for a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.last_first().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Every variable, in the order in which they are set.
    #[must_use]
    pub fn each(&self) -> Vec<(&OsStr, &OsStr)> {
        let mut all: Vec<_> = self.last_first().collect();
        all.reverse();
        all
    }

    fn last_first(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let layers = std::iter::successors(self.0.as_deref(), |layer| layer.around.0.as_deref());
        layers.flat_map(|layer| layer.own.iter().rev()).map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        self.last_first().eq(other.last_first())
    }
}

impl Eq for Set {}

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} variables", self.last_first().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_none_is_shown() {
        let of = |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let around = Set::default().and(of(&[("A", "hunter1"), ("B", "hunter2"), ("A", "hunter3")]));
        let set = around.and(of(&[("B", "hunter4")])).and(Vec::new());
        assert_eq!(set.get("A"), Some(OsStr::new("hunter3")));
        assert_eq!(set.get("B"), Some(OsStr::new("hunter4")));
        assert_eq!(around.get("B"), Some(OsStr::new("hunter2")), "what is set inside says nothing around it");
        assert_eq!(set.get("C"), None);
        assert_eq!(set.each().iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["A", "B", "A", "B"]);
        assert_eq!(format!("{set:?}"), "4 variables");
        let same = Set::default().and(of(&[("A", "hunter1"), ("B", "hunter2"), ("A", "hunter3"), ("B", "hunter4")]));
        assert_eq!(set, same, "by what is set, not by how");
        assert_ne!(set, around);
    }
}
