//! Whether one tree of keys was made from another one: by its names, by its values, and by how long these are.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::{Keys, Leaf};

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

    fn marks(&self, values: bool) -> BTreeMap<String, Option<Leaf>> {
        let mark = |at: usize| (self.path(at), self.nodes[at].leaf.filter(|_| values));
        (0..self.nodes.len()).filter(|at| self.nodes[*at].is_key()).map(mark).collect()
    }

    /// `plain` is what these values are when they are decrypted, but for a few that were changed since: at most places
    /// where something is encrypted it has something in the open, and most of that is as long as what is encrypted.
    #[must_use]
    pub fn are_bared_in(&self, plain: &Self) -> bool {
        let there = self.mapped_onto(plain);
        let (mut all, mut named, mut as_long) = (0, 0, 0);
        for (node, it) in self.nodes.iter().zip(&there) {
            let Some(Leaf::Encrypted(_, length)) = node.leaf else { continue };
            all += 1;
            if let Some(Leaf::Plain(_, found)) = it.and_then(|it| plain.nodes[it as usize].leaf) {
                named += 1;
                as_long += usize::from(found == length);
            }
        }
        named > 0 && named * 2 >= all && as_long * 3 >= named * 2
    }
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
    fn what_has_the_names_and_the_lengths_of_encrypted_values_is_what_they_are() {
        let enc = |data: &str| format!("ENC[AES256_GCM,data:{data},iv:x,tag:y,type:str]");
        // Of 1, 2, 3 and 4 bytes.
        let sops = format!("a: {}\nb: {}\nc: {}\nd: {}\n", enc("AA=="), enc("AAA="), enc("AAAA"), enc("AAAAAA=="));
        for (plain, bared) in [
            ("a: 1\nb: 12\nc: abc\nd: '1234'\n", true),
            ("a: 1\nb: 12\nc: abc\nd: changed\ne: 5\n", true),
            ("a: ''\nb: ''\nc: ''\nd: ''\n", false),
            ("a: change-me\nb: change-me\nc: abc\nd: '1234'\n", false),
            ("x: 1\ny: 12\nz: abc\nd: '1234'\n", false),
            ("", false),
        ] {
            assert_eq!(keys(&sops).are_bared_in(&keys(plain)), bared, "{plain}");
        }
        assert!(!keys("a: 1\n").are_bared_in(&keys("a: 1\n")), "nothing was encrypted");
    }
}
