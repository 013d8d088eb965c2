//! The endless editor. sops (3.11) starts the editor anew when what it saved is not valid, after a question on standard
//! input; at end of file the question answers itself, hundreds of times a second, for ever. Nobody is there to see it
//! when standard input is no terminal, so we look.
//!
//! Nobody tells a grandparent of a new process without a debugger's or an administrator's rights, so this looks five
//! times a second, in this one mode only. An editor that lives shorter than that is seen often enough all the same: it
//! is there at most looks when it is started all the time.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use crate::clock::Moment;

use super::tree;

/// How often to look.
pub(super) const EVERY: Duration = Duration::from_millis(200);
/// So many starts after the first …
const RESTARTS: usize = 5;
/// … within this time are no work of a person.
const WITHIN: Duration = Duration::from_secs(10);

/// The editors that were seen.
#[derive(Debug)]
pub(super) struct Editors {
    /// The names that the edited file may have: sops gives its editor a temporary file of the same name.
    names: Vec<OsString>,
    /// Process id and start time of the last one; a process id may come again.
    last: Option<(i32, u64)>,
    starts: VecDeque<Moment>,
    next_look: Moment,
}

impl Editors {
    /// Those of a command with these arguments, one of which names the file.
    pub(super) fn of(args: &[OsString], now: Moment) -> Self {
        let names = args.iter().filter_map(|arg| Path::new(arg).file_name()).map(OsStr::to_owned).collect();
        Self { names, last: None, starts: VecDeque::new(), next_look: now }
    }

    /// When to look again.
    pub(super) fn next_look(&self) -> Moment {
        self.next_look
    }

    /// Looks at the children of sops, if it is time to. True when the editor goes round in a circle.
    pub(super) fn look(&mut self, sops: i32, now: Moment) -> bool {
        if now < self.next_look {
            return false;
        }
        self.next_look = now.after(EVERY);
        let seen = tree::children(sops).into_iter().find(|child| self.is_editor(child.pid));
        seen.is_some_and(|editor| self.saw((editor.pid, editor.started()), now))
    }

    /// gpg and plugins of age are children of sops too; the editor is the one that is given the file.
    fn is_editor(&self, pid: i32) -> bool {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let last = line.strip_suffix(&[0]).unwrap_or(&line).rsplit(|&byte| byte == 0).next().unwrap_or_default();
        Path::new(OsStr::from_bytes(last)).file_name().is_some_and(|name| self.names.iter().any(|known| known == name))
    }

    fn saw(&mut self, editor: (i32, u64), now: Moment) -> bool {
        if self.last == Some(editor) {
            return false;
        }
        self.last = Some(editor);
        self.starts.push_back(now);
        self.starts.retain(|start| start.until(now) <= WITHIN);
        self.starts.len() > RESTARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment(Duration::from_millis(1_000_000 + ms))
    }

    fn seen_every(ms: u64, times: u64) -> bool {
        let mut editors = Editors::of(&[], at(0));
        (0..times).any(|n| editors.saw((100, n), at(n * ms)))
    }

    #[test]
    fn five_restarts_within_ten_seconds_are_a_circle() {
        assert!(seen_every(200, 6));
        assert!(seen_every(2_000, 6), "the sixth comes after just ten seconds");
        assert!(!seen_every(200, 5));
        assert!(!seen_every(2_001, 100), "a person who errs now and then");
    }

    #[test]
    fn one_editor_that_stays_is_no_circle() {
        let mut editors = Editors::of(&[], at(0));
        assert!((0..1_000).all(|n| !editors.saw((7, 7), at(n * 200))));
    }
}
