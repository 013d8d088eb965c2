//! A file whose times are set whenever something may have become free: the waiter who is next hears that at once, instead of
//! looking again and again. It is manners alone, as the gate is: where it cannot be had nobody is told, and the next look finds it.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::Account;

#[cfg(not(target_os = "linux"))]
use elsewhere::{Watch, touch};
#[cfg(target_os = "linux")]
use linux::{Watch, touch};

/// Its name, in the directory of the store's file.
const NAME: &str = "bell";

/// The bell of a store.
pub(super) struct Bell {
    place: PathBuf,
    account: Account,
    ear: Ear,
}

enum Ear {
    Untried,
    Open(Watch),
    Deaf,
}

impl Bell {
    pub(super) fn beside(file: &Path, account: Account) -> Self {
        Self { place: file.with_file_name(NAME), account, ear: Ear::Untried }
    }

    /// Something may have become free. There is a bell where somebody has waited.
    pub(super) fn ring(&self) {
        let _as_owner = self.account.act();
        // Unheard, it is found at the next look.
        drop(touch(&self.place));
    }

    /// Waits until it rings, for at most so long; at once the first time, since what rang before was heard by nobody. False where
    /// it cannot be heard: then nobody has waited.
    pub(super) fn hear(&mut self, span: Duration) -> bool {
        match &self.ear {
            Ear::Open(watch) => {
                watch.wait(span);
                true
            }
            Ear::Untried if Watch::IS_THERE => {
                self.ear = self.listen().map_or(Ear::Deaf, Ear::Open);
                matches!(self.ear, Ear::Open(_))
            }
            Ear::Untried | Ear::Deaf => false,
        }
    }

    fn listen(&self) -> io::Result<Watch> {
        let _as_owner = self.account.act();
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        options.mode(0o600);
        drop(options.open(&self.place)?);
        Watch::on(&self.place)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Longer than any test may take.
    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn who_waits_hears_it_and_a_ring_between_two_waits_is_not_lost() {
        let directory = tempfile::tempdir().expect("directory");
        let new = || Bell::beside(&directory.path().join("locked.db"), Account::ours());
        let (mut waiter, holder) = (new(), new());
        holder.ring();
        assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 0, "nobody has waited yet");
        let (sender, heard) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            for _ in 0..3 {
                assert!(waiter.hear(LONG));
                sender.send(()).expect("listened to");
            }
            assert!(waiter.hear(Duration::ZERO), "it can be heard, and has not rung");
        });
        let hears = || heard.recv_timeout(Duration::from_secs(60)).expect("it is heard");
        // What rang before the first wait is looked at.
        hears();
        holder.ring();
        hears();
        holder.ring();
        hears();
        waiting.join().expect("it hears nothing else");
    }

    #[test]
    fn where_there_can_be_none_nobody_waits_for_it() {
        let mut waiter = Bell::beside(Path::new("/nowhere/at/all/locked.db"), Account::ours());
        waiter.ring();
        assert!(!waiter.hear(LONG) && !waiter.hear(LONG));
    }
}
