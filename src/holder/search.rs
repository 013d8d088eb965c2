//! What a look for the processes of a dead holder comes to.
#![forbid(unsafe_code)]

/// What a search for the processes of a grant found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// Every process could be looked at, and none belongs to it.
    None,
    /// These belong to it; lowest pid first.
    Found(Vec<u32>),
    /// None was found, but some could not be looked at: nobody may conclude that there is none.
    Blind,
}
