//! Which machine this is, over all its boots: a number drawn by lot, kept in the state directory. A machine's own number
//! (`/etc/machine-id`) would not do: every machine made from one image may have the same, and a container has none. The
//! directory's place on its disk is part of it, so that a copy of the directory on another machine is another one. Machines
//! made from one image have all of that in common; so each remembers in which boots it has been here, and what was written in
//! another one was written elsewhere.
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

/// Where its boots are remembered: a line each.
const BOOTS: &str = "boots";

/// Of more than that the first are forgotten: then they were another machine's.
const MOST_BOOTS: usize = 1024;

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
        let boot = half(&format!("{} {device} {inode}", clock.boot_id()));
        let _then_it_is_another_machine_after_the_next_boot = self.remember(&boot);
        machine + &boot
    }

    /// Whether a name of a host ([`StateDir::host_id`]) is of a boot of this very machine that was seen in this directory.
    #[must_use]
    pub fn has_seen(&self, host_id: &str) -> bool {
        host_id.get(OF_MACHINE..).is_some_and(|boot| self.boots().lines().any(|known| known == boot))
    }

    fn boots(&self) -> String {
        fs::read_to_string(self.path().join(BOOTS)).unwrap_or_default()
    }

    fn remember(&self, boot: &str) -> std::io::Result<()> {
        let known = self.boots();
        if known.lines().any(|it| it == boot) {
            return Ok(());
        }
        let _as_owner = self.as_owner();
        let path = self.path().join(BOOTS);
        let lines: Vec<&str> = known.lines().collect();
        if lines.len() < MOST_BOOTS {
            // For its owner alone, as everything here. Two at once lose nothing of each other.
            let mut options = fs::OpenOptions::new();
            let mut file = crate::platform::owners_alone(options.append(true).create(true)).open(&path)?;
            return file.write_all(format!("{boot}\n").as_bytes());
        }
        let kept: String = lines[MOST_BOOTS / 2..].iter().chain([&boot]).map(|line| format!("{line}\n")).collect();
        fs::write(&path, kept)
    }

    /// The number, drawn if there is none yet.
    fn number(&self) -> Option<String> {
        let path = self.path().join(NAME);
        let known = || fs::read_to_string(&path).ok().filter(|text| !text.is_empty());
        known().or_else(|| {
            let _as_owner = self.as_owner();
            // Whole or not at all, and whoever comes second reads what the first has drawn.
            let _another_was_first = draw(self.path(), &path, &GrantId::random().to_string());
            known()
        })
    }
}

fn draw(directory: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
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
