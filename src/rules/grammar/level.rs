//! One level of a line, from the program or a sub-command to the next: what is known of its options.
#![forbid(unsafe_code)]

use std::borrow::Cow;

use super::LONGEST_NAME;
use super::name::{Named, has, has_name};

/// What a level knows of its options.
#[derive(Clone, Copy, Default)]
pub(in crate::rules) struct Level<'b> {
    /// Options with a value.
    pub(in crate::rules) values: &'b [String],
    /// Options with a value at every level.
    pub(in crate::rules) everywhere: &'b [String],
    /// Options with an attached value.
    pub(in crate::rules) attached: &'b [String],
    /// Options with digits attached.
    pub(in crate::rules) digits: &'b [String],
    /// Options without a value.
    pub(in crate::rules) switches: &'b [String],
    /// The same, at every level.
    pub(in crate::rules) switches_everywhere: &'b [String],
    /// `-p=NAME` is `-p NAME`.
    pub(in crate::rules) equals: bool,
    /// `-name` is one option.
    pub(in crate::rules) single_dash: bool,
    /// The options end with this operand, and what follows are operands as they stand.
    pub(in crate::rules) stop_at: Option<usize>,
    /// The first operand is a sub-command: there the level ends.
    pub(in crate::rules) group: bool,
}

impl<'b> Level<'b> {
    pub(super) fn takes_value(&self, name: &[u8]) -> bool {
        has(self.values, name) || has(self.everywhere, name)
    }

    /// Whether it is known what stands behind this option. A name that no option has is none (a word of a mebibyte).
    pub(super) fn knows(&self, name: &[u8]) -> bool {
        let known = [self.values, self.everywhere, self.attached, self.switches, self.switches_everywhere];
        let always: [&[u8]; 3] = [b"--help", b"--version", b"-help"];
        name.len() > LONGEST_NAME || always.contains(&name) || known.into_iter().any(|names| has(names, name))
    }

    /// The option that is called so, by all of its names if the level knows them.
    pub(super) fn named<'a>(&self, typed: Cow<'a, [u8]>) -> Named<'a>
    where
        'b: 'a,
    {
        let known = [self.values, self.everywhere, self.attached, self.switches, self.switches_everywhere];
        let mut all = known.into_iter().flatten();
        match all.find(|names| has_name(names, &typed)) {
            Some(names) => Named::Known(names),
            None => Named::Typed(typed),
        }
    }
}
