//! Control groups of one's own (cgroups(7)), where root may make them: a service of systemd's, and a freezer of either version.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use super::ends::{so, until};

/// One that goes with the test.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
}

impl Group {
    /// A group of this name in the hierarchy that is mounted here, with this file in it; none where it cannot be made.
    fn below(hierarchy: &str, name: &str, with: &str) -> Option<Self> {
        let path = Path::new(hierarchy).join(name);
        fs::create_dir(&path).ok()?;
        // Where it is no such hierarchy there is a directory like any other, or nothing.
        let group = Self { path };
        group.path.join(with).exists().then_some(group)
    }

    /// One by which the kernel tells a process that systemd would have started as this service.
    pub(crate) fn of_a_service(name: &str) -> Option<Self> {
        let hierarchies = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup"];
        hierarchies.iter().find_map(|hierarchy| Self::below(hierarchy, name, "cgroup.procs"))
    }

    /// Each kind of freezer that there is here, with its name.
    pub(crate) fn freezers(name: &str) -> Vec<(&'static str, Self)> {
        let second = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
        let second = second.iter().find_map(|hierarchy| Self::below(hierarchy, name, "cgroup.freeze"));
        let first = Self::below("/sys/fs/cgroup/freezer", name, "freezer.state");
        second.map(|group| ("version 2", group)).into_iter().chain(first.map(|group| ("version 1", group))).collect()
    }

    /// Where a process writes its number to belong to it.
    pub(crate) fn door(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    /// Takes these in.
    pub(crate) fn takes(&self, pids: &[u32]) {
        pids.iter().for_each(|pid| fs::write(self.door(), pid.to_string()).expect("taken in"));
    }

    /// Nothing in it runs any more when this is done.
    pub(crate) fn freeze(&self) {
        self.turn("1", "FROZEN");
        so("it is frozen", || self.is("frozen 1", "FROZEN"));
    }

    /// Everything in it runs on.
    pub(crate) fn thaw(&self) {
        self.turn("0", "THAWED");
    }

    fn turn(&self, second: &str, first: &str) {
        let (file, word) = match self.path.join("cgroup.freeze") {
            file if file.exists() => (file, second),
            _ => (self.path.join("freezer.state"), first),
        };
        fs::write(file, word).expect("a freezer");
    }

    fn is(&self, second: &str, first: &str) -> bool {
        let says = |file: &str, word: &str| fs::read_to_string(self.path.join(file)).is_ok_and(|it| it.contains(word));
        says("cgroup.events", second) || says("freezer.state", first)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A test that failed half-way leaves nothing frozen behind.
        if self.is("frozen 1", "FROZEN") {
            self.thaw();
        }
        until("nobody is in it", || fs::remove_dir(&self.path).ok());
    }
}
