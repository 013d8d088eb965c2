//! From a script to its commands.
#![forbid(unsafe_code)]

use super::step::Step;

/// What a script comes to.
pub(super) struct Read {
    pub(super) steps: Vec<Step>,
    /// The whole of it could be read.
    pub(super) complete: bool,
}

/// The commands of a script that runs as `around`.
pub(super) fn steps(_text: &[u8], _around: &Step) -> Read {
    Read { steps: Vec::new(), complete: false }
}
