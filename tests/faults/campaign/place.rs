//! Places for faults that not everybody may make: a small disk that can be filled.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Unmounts it at the end of the tests, however they end: it reads until its standard input ends.
const WARD: &str = r#"trap "" HUP INT TERM; cat >/dev/null; umount -l "$1"; rmdir "$1""#;

/// A file system in memory, of a few megabytes. It goes when this is dropped or the process ends.
pub(crate) struct Disk {
    path: PathBuf,
    ward: Child,
}

impl Disk {
    /// None where this may not be done.
    pub(crate) fn new() -> Option<Self> {
        let path = tempfile::Builder::new().prefix("locked-disk-").tempdir().expect("directory").keep();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16m,mode=0755", "tmpfs"]).arg(&path).stderr(Stdio::null());
        if !mount.status().is_ok_and(|status| status.success()) {
            std::fs::remove_dir(path).expect("empty");
            return None;
        }
        let mut ward = Command::new("sh");
        ward.args(["-c", WARD, "ward"]).arg(&path).stdin(Stdio::piped()).stderr(Stdio::null());
        Some(Self { ward: ward.spawn().expect("sh"), path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// There is no room any more.
    pub(crate) fn fill(&self) {
        let mut ballast = std::fs::File::create(self.path.join("ballast")).expect("a name");
        for size in [64 * 1024, 1024, 1] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
    }

    pub(crate) fn make_room(&self) {
        let _filled_or_not = std::fs::remove_file(self.path.join("ballast"));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.ward.stdin.take());
        let _gone = self.ward.wait();
    }
}
