//! `locked completions`: from the same definitions as the help.
#![forbid(unsafe_code)]

use crate::exit::Exit;

use super::front::print;

pub(super) fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::definition(), "locked", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}
