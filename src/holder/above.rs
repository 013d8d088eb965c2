//! Is a holder an ancestor of ours? `sudo` drops the environment that would say so.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::anchor::line_of;
use super::{ProcFs, Processes};

/// Whether the process of this id stands above us and has this very file open. The id alone proves nothing: in another
/// pid namespace it is another process.
#[must_use]
pub fn stands_above(pid: u32, device: u64, inode: u64) -> bool {
    let processes = ProcFs::new();
    let ourselves = processes.ourselves();
    pid != ourselves && line_of(&processes).any(|above| above.pid == pid) && has_open(pid, device, inode)
}

fn has_open(pid: u32, device: u64, inode: u64) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let files = descriptors.filter_map(|entry| fs::metadata(entry.ok()?.path()).ok());
    files.into_iter().any(|file| (file.dev(), file.ino()) == (device, inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ancestor_without_the_file_is_no_holder() {
        let file = tempfile::tempfile().expect("file").metadata().expect("metadata");
        let parent = std::os::unix::process::parent_id();
        assert!(!stands_above(parent, file.dev(), file.ino()), "it does not have our temporary file");
        assert!(!stands_above(std::process::id(), file.dev(), file.ino()), "nobody stands above himself");
    }
}
