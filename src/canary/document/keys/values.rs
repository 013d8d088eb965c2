//! What stands under the keys of one name, so that it can be told whether that is another value now.
#![forbid(unsafe_code)]

use super::{Keys, Leaf, Segment};

/// What stands under one key: its value, or all of them below it. Of an encrypted one that is the ciphertext, which sops
/// makes anew for every new value and leaves alone where there is none.
#[derive(Clone, PartialEq, Eq)]
pub struct Values(Vec<Leaf>);

/// Values may be in the open: only how many they are is shown.
impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Values({})", self.0.len())
    }
}

impl Values {
    fn says_something(&self) -> bool {
        self.0.iter().any(|leaf| *leaf != Leaf::Empty)
    }
}

impl Keys {
    /// What stands under every key of this name, at any depth. What is empty counts where there is nothing else.
    #[must_use]
    pub fn values_of(&self, name: &str) -> Vec<Values> {
        let is_it = |at: usize| matches!(&self.nodes[at].segment, Segment::Key(key) if &**key == name);
        let tops = (1..self.nodes.len()).filter(|&at| is_it(at) && self.nodes[at].is_key());
        let mut found: Vec<Values> = tops.map(|top| self.values_below(top)).collect();
        if found.iter().any(Values::says_something) {
            found.retain(Values::says_something);
        }
        found
    }

    /// A place lies behind the one that it is below.
    fn values_below(&self, top: usize) -> Values {
        let mut below = vec![false; self.nodes.len() - top];
        below[0] = true;
        for at in top + 1..self.nodes.len() {
            let parent = self.nodes[at].parent as usize;
            below[at - top] = parent >= top && below[parent - top];
        }
        let nodes = self.nodes[top..].iter().zip(below);
        Values(nodes.filter_map(|(node, is_below)| node.leaf.filter(|_| is_below)).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::canary::document;

    #[test]
    fn the_values_under_a_name_are_told_apart_by_their_ciphertext() {
        let of = |text: &str| document::read(text.as_bytes()).expect("yaml").keys.values_of("KEY");
        let first = of("a:\n  - KEY: ENC[AES256_GCM,data:x,iv:1,tag:1,type:str]\nKEY: {b: 1, c: 2}\nOTHER: 3\n");
        let moved =
            of("a:\n  - new: 1\n  - KEY: ENC[AES256_GCM,data:x,iv:1,tag:1,type:str]\nKEY: {b: 1, c: 4}\nOTHER: 4\n");
        assert_eq!((first.len(), moved.len()), (2, 2));
        assert_eq!(first[0], moved[0], "wherever it stands");
        assert_ne!(first[1], moved[1]);
        assert_ne!(first[0], of("KEY: ENC[AES256_GCM,data:x,iv:2,tag:1,type:str]\n")[0], "the same length");
        assert_eq!(of("KEY: ''\n"), of("KEY: null\n"), "nothing is nothing");
        assert_eq!(of("KEY: ''\na: {KEY: 1}\n"), of("KEY: 1\n"));
        assert!(of("KEYS: 1\n").is_empty());
    }
}
