//! Variables that a line sets for its commands. They stand in one place, however many commands see them: a script has
//! thousands, and a value may be a mebibyte.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use super::step::is_known;

/// Variables that a line sets for its command. Their values may be secrets: they are counted, not shown.
#[derive(Clone, Default)]
pub struct Set(Option<Arc<Layer>>);

/// Those of one place, and those around it.
struct Layer {
    /// Each with its value; none where it is taken away.
    own: Vec<(OsString, Option<OsString>)>,
    /// Of what is around it, these alone count; none: all of it does.
    only: Option<Box<[String]>>,
    around: Set,
}

impl Layer {
    /// Whether what is around it counts for this name; `LC_*` are all that begin so.
    fn lets(&self, name: &OsStr) -> bool {
        let is_it = |kept: &String| match kept.strip_suffix('*') {
            Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
            None => name == kept.as_str(),
        };
        self.only.as_ref().is_none_or(|only| only.iter().any(is_it))
    }
}

/// What a line says of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said<'a> {
    /// This value.
    Value(&'a OsStr),
    /// It is not set, whatever the environment has.
    Unset,
    /// Nothing: it is as the environment has it.
    Nothing,
}

impl Set {
    /// These, and what is set already.
    pub(super) fn and(&self, own: Vec<(OsString, OsString)>) -> Self {
        self.and_some(own.into_iter().map(|(name, value)| (name, Some(value))).collect())
    }

    /// The same, where some are taken away.
    pub(super) fn and_some(&self, own: Vec<(OsString, Option<OsString>)>) -> Self {
        if own.is_empty() {
            self.clone()
        } else {
            Self(Some(Arc::new(Layer { own, only: None, around: self.clone() })))
        }
    }

    /// No variable at all (`env -i`).
    pub(super) fn none() -> Self {
        Self::default().only(Vec::new())
    }

    /// Of these, and of the environment, those with one of these names (`sudo`).
    pub(super) fn only(&self, names: Vec<String>) -> Self {
        Self(Some(Arc::new(Layer { own: Vec::new(), only: Some(names.into()), around: self.clone() })))
    }

    /// What is said of a name last.
    #[must_use]
    pub fn get(&self, name: &str) -> Said<'_> {
        for layer in self.layers() {
            match layer.own.iter().rfind(|(own, _)| own == name) {
                Some((_, Some(value))) => return Said::Value(value),
                Some((_, None)) => return Said::Unset,
                None if !layer.lets(OsStr::new(name)) => return Said::Unset,
                None => {}
            }
        }
        Said::Nothing
    }

    /// An environment with what is said here on top.
    #[must_use]
    pub fn over(&self, around: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let mut all: BTreeMap<OsString, OsString> = around.into_iter().collect();
        let layers: Vec<&Layer> = self.layers().collect();
        for layer in layers.into_iter().rev() {
            all.retain(|name, _| layer.lets(name));
            for (name, value) in &layer.own {
                match value {
                    Some(value) => drop(all.insert(name.clone(), value.clone())),
                    None => drop(all.remove(name)),
                }
            }
        }
        all.into_iter().collect()
    }

    /// Whether a value is one that only run time knows.
    pub(super) fn is_open(&self) -> bool {
        self.last_first().filter_map(|(_, value)| value).any(|value| !is_known(value))
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::successors(self.0.as_deref(), |layer| layer.around.0.as_deref())
    }

    fn last_first(&self) -> impl Iterator<Item = (&OsStr, Option<&OsStr>)> {
        self.layers().flat_map(|layer| layer.own.iter().rev()).map(|(name, value)| (name.as_os_str(), value.as_deref()))
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        let only = |set: &Self| set.layers().filter_map(|layer| layer.only.clone()).collect::<Vec<_>>();
        self.last_first().eq(other.last_first()) && only(self) == only(other)
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
        let of = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
        };
        let around = Set::default().and(of(&[("A", "hunter1"), ("B", "hunter2"), ("A", "hunter3")]));
        let set = around.and(of(&[("B", "hunter4")])).and(Vec::new());
        let value = |value| Said::Value(OsStr::new(value));
        assert_eq!(set.get("A"), value("hunter3"));
        assert_eq!(set.get("B"), value("hunter4"));
        assert_eq!(around.get("B"), value("hunter2"), "what is set inside says nothing around it");
        assert_eq!(set.get("C"), Said::Nothing);
        let without = set.and_some(vec![("B".into(), None)]);
        assert_eq!(without.get("B"), Said::Unset, "nor what is around it");
        let environment = of(&[("B", "x"), ("C", "y")]);
        assert_eq!(without.over(environment.clone()), of(&[("A", "hunter3"), ("C", "y")]));
        assert_eq!(Set::none().and(of(&[("D", "z")])).over(environment), of(&[("D", "z")]));
        assert_eq!(Set::none().get("C"), Said::Unset);
        assert_ne!(Set::none(), Set::default());
        let kept = around.only(vec!["A".to_owned(), "LC_*".to_owned()]);
        assert_eq!((kept.get("A"), kept.get("B"), kept.get("LC_ALL")), (value("hunter3"), Said::Unset, Said::Nothing));
        assert_eq!(kept.over(of(&[("B", "x"), ("LC_ALL", "C"), ("D", "y")])), of(&[("A", "hunter3"), ("LC_ALL", "C")]));
        assert_eq!(kept.and(of(&[("B", "z")])).get("B"), value("z"), "what is set for it counts");
        assert_eq!(format!("{set:?}"), "4 variables");
        let same = Set::default().and(of(&[("A", "hunter1"), ("B", "hunter2"), ("A", "hunter3"), ("B", "hunter4")]));
        assert_eq!(set, same, "by what is set, not by how");
        assert_ne!(set, around);
    }
}
