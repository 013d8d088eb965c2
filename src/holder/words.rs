//! What the programs above us were told.
#![forbid(unsafe_code)]

use super::ProcFs;
use super::anchor::line_of;
#[cfg(target_os = "linux")]
use super::procfs::words_of;
#[cfg(windows)]
use super::windows::words_of;

/// The words of each process above us that runs this program, the nearest first. What cannot be seen is left out.
pub fn words_above(program: &str) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
    let above: Vec<u32> = line_of(&ProcFs::new())
        .skip(1)
        .filter(|process| process.program == program)
        .map(|process| process.pid)
        .collect();
    above.into_iter().filter_map(words_of)
}
