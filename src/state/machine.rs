//! Which machine this is, over all its boots: a number drawn by lot, kept in the state directory. A machine's own number
//! (`/etc/machine-id`) would not do: every machine made from one image may have the same, and a container has none. The
//! directory's place on its disk is part of it, so that a copy of the directory on another machine is another one.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use sha2::Digest as _;

use super::StateDir;
use crate::clock::Clock;
use crate::terms::GrantId;

/// Where the number lies.
const NAME: &str = "machine";

/// So many letters of a host's name are the machine's; the others are this boot's.
const OF_MACHINE: usize = 16;

impl StateDir {
    /// Names this machine, this boot of it and this very directory: only contenders with the same text look at the same
    /// live files under the same kernel. Its first half stays the same over a reboot ([`is_same_machine`]).
    #[must_use]
    pub fn host_id(&self, clock: &dyn Clock) -> String {
        let (device, inode) = self.identity();
        // Without a number it is what nothing else is taken for: another machine from boot to boot.
        let number = self.number().unwrap_or_else(|| format!("{} {device}", clock.boot_id()));
        let machine = half(&format!("{number} {inode}"));
        machine + &half(&format!("{} {device} {inode}", clock.boot_id()))
    }

    /// The number, drawn if there is none yet.
    fn number(&self) -> Option<String> {
        let path = self.path().join(NAME);
        let known = || fs::read_to_string(&path).ok().filter(|text| !text.is_empty());
        known().or_else(|| {
            let _as_owner = self.as_owner();
            // Whole or not at all, and whoever comes second reads what the first has drawn.
            let _another_was_first = draw(self.path(), &path);
            known()
        })
    }
}

fn draw(directory: &Path, path: &Path) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(GrantId::random().to_string().as_bytes())?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

fn half(text: &str) -> String {
    let hash = sha2::Sha256::digest(text.as_bytes());
    hash.iter().take(OF_MACHINE / 2).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Whether two names of hosts ([`StateDir::host_id`]) are of one machine, in whichever boot of it.
#[must_use]
pub fn is_same_machine(one: &str, other: &str) -> bool {
    let machine = |id: &str| id.get(..OF_MACHINE).filter(|_| id.len() == 2 * OF_MACHINE).map(str::to_owned);
    machine(one).is_some() && machine(one) == machine(other)
}
