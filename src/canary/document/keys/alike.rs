//! Whether one tree of keys was made from another one: by its names, by its values, and by how long these are.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::{Keys, Leaf};

/// So many values, with so many bytes together, are not as long as others by accident.
const NO_ACCIDENT: (usize, usize) = (3, 8);

impl Keys {
    /// Of what two versions differ in, how much `self` has as the older has it, and how much as the newer. `values`: what
    /// stands at a place counts, and not only that something does.
    #[must_use]
    pub fn sides(&self, older: &Self, newer: &Self, values: bool) -> (usize, usize) {
        let [own, older, newer] = [self, older, newer].map(|keys| keys.marks(values));
        let places: BTreeSet<&String> = older.keys().chain(newer.keys()).collect();
        let differing = places.into_iter().filter(|place| older.get(*place) != newer.get(*place));
        differing.fold((0, 0), |(as_older, as_newer), place| {
            let mark = own.get(place);
            (as_older + usize::from(mark == older.get(place)), as_newer + usize::from(mark == newer.get(place)))
        })
    }

    /// The paths at which `self` lacks what `newer` differs in from `base`. Values tell only where both are under one data
    /// key. `is_later`: `self` was written after `newer`, so that a third value was put there by somebody after that.
    #[must_use]
    pub fn lacking(&self, base: &Self, newer: &Self, is_later: bool) -> Vec<String> {
        let [own, base, newer] = [self, base, newer].map(|keys| keys.marks(true));
        let decided = is_later && are_of_one_key(&own, &base);
        let places: BTreeSet<&String> = base.keys().chain(newer.keys()).collect();
        let differing = places.into_iter().filter(|place| base.get(*place) != newer.get(*place));
        let lacks = |place: &&String| match (base.get(*place), newer.get(*place), own.get(*place)) {
            (_, newer, own) if newer == own => false,
            // Nobody invents a name that somebody else has just put in.
            (None, _, own) => own.is_none(),
            (base, _, own) => own == base || !decided,
        };
        differing.filter(lacks).cloned().collect()
    }

    fn marks(&self, values: bool) -> BTreeMap<String, Option<Leaf>> {
        let mark = |at: usize| (self.path(at), self.nodes[at].leaf.filter(|_| values));
        (0..self.nodes.len()).filter(|at| self.nodes[*at].is_key()).map(mark).collect()
    }

    /// `plain` is what these values are when they are decrypted, but for a few that were changed since: at most places
    /// where something is encrypted it has something in the open, and most of that is as long as what is encrypted.
    #[must_use]
    pub fn are_bared_in(&self, plain: &Self) -> bool {
        let (all, named, as_long, _) = self.laid_onto(plain);
        named > 0 && named * 2 >= all && as_long * 3 >= named * 2
    }

    /// The same where nothing else speaks for it: at nearly all places, nearly all of them as long, and so many that this is no
    /// accident. Two short values of an example are as long as those of any file of that kind.
    #[must_use]
    pub fn are_copied_in(&self, plain: &Self) -> bool {
        let (all, named, as_long, bytes) = self.laid_onto(plain);
        as_long >= NO_ACCIDENT.0 && bytes >= NO_ACCIDENT.1 && named * 10 >= all * 9 && as_long * 10 >= named * 9
    }

    /// How many places have something encrypted; at how many of them the other one has something in the open; and how many of
    /// these are as long, with the length of those together.
    fn laid_onto(&self, plain: &Self) -> (usize, usize, usize, usize) {
        let there = self.mapped_onto(plain);
        let (mut all, mut named, mut as_long, mut bytes) = (0, 0, 0, 0);
        for (node, it) in self.nodes.iter().zip(&there) {
            let Some(Leaf::Encrypted(_, length)) = node.leaf else { continue };
            all += 1;
            if let Some(Leaf::Plain(_, found)) = it.and_then(|it| plain.nodes[it as usize].leaf) {
                named += 1;
                as_long += usize::from(found == length);
                bytes += if found == length { length } else { 0 };
            }
        }
        (all, named, as_long, bytes)
    }
}

/// Whether values of both can be compared: something is encrypted alike in both, or nothing is in both.
fn are_of_one_key(one: &BTreeMap<String, Option<Leaf>>, other: &BTreeMap<String, Option<Leaf>>) -> bool {
    let encrypted = |leaf: &Option<Leaf>| matches!(leaf, Some(Leaf::Encrypted(..)));
    let both = |(place, leaf): (&String, &Option<Leaf>)| {
        other.get(place).filter(|it| encrypted(it) && encrypted(leaf)).map(|it| it == leaf)
    };
    let mut alike = one.iter().filter_map(both).peekable();
    alike.peek().is_none() || alike.any(|is_alike| is_alike)
}

#[cfg(test)]
mod tests {
    use crate::canary::document::{Format, read_as};

    fn keys(text: &str) -> super::Keys {
        read_as(text.as_bytes(), Format::Yaml).expect("YAML").keys
    }

    #[test]
    fn what_was_made_from_one_of_two_versions_has_what_that_one_has() {
        let (older, newer) = ("a: 1\nb: 2\ngone: x\n", "a: 1\nb: 3\nnew:\n    c: 1\n");
        // By names `gone`, `new` and `new.c` tell, by values `b` as well.
        for (own, names, values) in [
            (older, (3, 0), (4, 0)),
            (newer, (0, 3), (0, 4)),
            ("a: 9\nb: 2\ngone: y\nown: 1\n", (3, 0), (3, 0)),
            ("a: 1\nb: 4\n", (2, 1), (2, 1)),
        ] {
            let sides = |values| keys(own).sides(&keys(older), &keys(newer), values);
            assert_eq!((sides(false), sides(true)), (names, values), "{own}");
        }
    }

    #[test]
    fn what_one_side_has_brought_is_there_or_is_lacked() {
        let enc = |data: &str| format!("ENC[AES256_GCM,data:{data},iv:x,tag:y,type:str]");
        let text = |values: &[(&str, &str)]| -> String {
            values.iter().map(|(name, data)| format!("{name}: {}\n", enc(data))).collect()
        };
        let base = text(&[("a", "a"), ("b", "b"), ("c", "c")]);
        let (added, changed) =
            (text(&[("a", "a"), ("b", "b"), ("c", "c"), ("k", "k")]), text(&[("a", "a"), ("b", "B"), ("c", "c")]));
        let removed = text(&[("a", "a"), ("c", "c")]);
        for (newer, now, lacks, lacks_later) in [
            (&added, &base, true, true),
            (&added, &added, false, false),
            (&added, &text(&[("a", "a"), ("k", "own"), ("x", "x")]), false, false),
            (&added, &text(&[("a", "z"), ("b", "y"), ("c", "w"), ("k", "v")]), false, false),
            (&changed, &base, true, true),
            (&changed, &changed, false, false),
            // Both have changed it.
            (&changed, &text(&[("a", "a"), ("b", "third"), ("c", "c")]), true, false),
            (&changed, &text(&[("a", "a"), ("c", "c")]), true, false),
            // It was encrypted anew: nobody can tell which value that is.
            (&changed, &text(&[("a", "z"), ("b", "y"), ("c", "w")]), true, true),
            (&removed, &base, true, true),
            (&removed, &removed, false, false),
            (&removed, &text(&[("a", "a"), ("b", "again"), ("c", "c")]), true, false),
        ] {
            let lack = |later| !keys(now).lacking(&keys(&base), &keys(newer), later).is_empty();
            assert_eq!((lack(false), lack(true)), (lacks, lacks_later), "{newer}\n{now}");
        }
    }

    #[test]
    fn what_has_the_names_and_the_lengths_of_encrypted_values_is_what_they_are() {
        let enc = |data: &str| format!("ENC[AES256_GCM,data:{data},iv:x,tag:y,type:str]");
        // Of 1, 2, 3 and 4 bytes.
        let sops = format!("a: {}\nb: {}\nc: {}\nd: {}\n", enc("AA=="), enc("AAA="), enc("AAAA"), enc("AAAAAA=="));
        for (plain, bared, copied) in [
            ("a: 1\nb: 12\nc: abc\nd: '1234'\n", true, true),
            ("a: 9\nb: 98\nc: xyz\nd: '9999'\nnew: 1\n", true, true),
            // As a file of another stage.
            ("a: 1\nb: 12\nc: abc\nd: changed\ne: 5\n", true, false),
            ("a: ''\nb: ''\nc: ''\nd: ''\n", false, false),
            ("a: change-me\nb: change-me\nc: abc\nd: '1234'\n", false, false),
            ("x: 1\ny: 12\nz: abc\nd: '1234'\n", false, false),
            ("", false, false),
        ] {
            let (sops, plain_keys) = (keys(&sops), keys(plain));
            assert_eq!((sops.are_bared_in(&plain_keys), sops.are_copied_in(&plain_keys)), (bared, copied), "{plain}");
        }
        let one = format!("token: {}\n", enc("AAAA"));
        assert!(keys(&one).are_bared_in(&keys("token: abc\n")) && !keys(&one).are_copied_in(&keys("token: abc\n")));
        // As an example may look.
        let few = format!("user: {}\npass: {}\n", enc("AAAA"), enc("AAAAAAAAAAA="));
        assert!(!keys(&few).are_copied_in(&keys("user: app\npass: changeme\n")));
        let short = format!("a: {0}\nb: {0}\nc: {0}\n", enc("AA=="));
        assert!(!keys(&short).are_copied_in(&keys("a: 1\nb: 2\nc: 3\n")));
        assert!(!keys("a: 1\n").are_bared_in(&keys("a: 1\n")), "nothing was encrypted");
    }
}
