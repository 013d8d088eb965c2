//! What a quarantine is about: the files that the bad command may have written, and the leases that stand with them.
#![forbid(unsafe_code)]

use crate::exit;
use crate::report::Refusal;
use crate::run;
use crate::store::{FileRecord, LeaseState, LeaseView};
use crate::terms::{Resource, shell_quote};

use super::Work;
use super::left::Left;

/// Quarantined leases that no file can be restored for (`-r server:web`, a hard link that is gone): they were taken with
/// the ones of these resources by one command, and are freed with them.
pub(super) fn companions(resources: &[Resource], live: &[LeaseView]) -> Vec<Resource> {
    let bad = || live.iter().filter(|lease| lease.state == LeaseState::Quarantined);
    let grants: Vec<_> =
        bad().filter(|lease| resources.contains(&lease.resource)).map(|lease| (lease.grant, &lease.files)).collect();
    // The first is the file's own name; a hard link's comes after it.
    let named: Vec<&Resource> =
        grants.iter().flat_map(|(_, files)| *files).filter_map(|record| record.resources.first()).collect();
    bad()
        .filter(|lease| grants.iter().any(|(grant, _)| *grant == lease.grant))
        .map(|lease| lease.resource.clone())
        .filter(|resource| !named.contains(&resource))
        .collect()
}

impl Work<'_> {
    /// Two files may have one resource. The quarantine of one does not end because the other is sound.
    pub(super) fn concerned(&self) -> Result<(), Box<Left>> {
        let files = self.owed();
        let Some(first) = files.first() else { return Ok(()) };
        if files.iter().any(|record| self.is_ours(record)) {
            return Ok(());
        }
        let bad = quoted(first);
        let refusal = Refusal {
            word: "QUARANTINED",
            what: format!("{} is not the file that was found bad, that is {bad}", self.shown),
            why: format!("both are {}; nothing was changed", self.target.resource.name),
            retry: "no".to_owned(),
            next: format!("locked restore {bad}"),
        };
        Err(Box::new(Left { refusal, status: exit::QUARANTINED }))
    }

    /// Another file of the same resource that is still bad: its place with the fault, and what to say.
    pub(super) fn still_another(&self) -> Option<(String, Refusal)> {
        let others = self.owed().into_iter().filter(|record| !self.is_ours(record));
        let now = crate::clock::Clock::wall_ms(self.context.clock.as_ref());
        let find = |record: FileRecord| {
            run::fault_of(&record, &self.target.resource, &self.copies, &self.arbiter, now)
                .map(|fault| (quoted(&record), fault))
        };
        let (bad, fault) = others.into_iter().find_map(find)?;
        let refusal = Refusal {
            word: "QUARANTINED",
            what: format!("{} stays quarantined: {bad}: {fault}", self.target.resource.name),
            why: format!("{} is done, and the same command left another file bad", self.shown),
            retry: "no, restore that one too first".to_owned(),
            next: format!("locked restore {bad}"),
        };
        Some((format!("{}: {bad}: {fault}", crate::holder::ProcFs::host()), refusal))
    }

    /// The recorded files of this resource.
    fn owed(&self) -> Vec<FileRecord> {
        let mut files = self.hold.owed();
        files.retain(|record| record.concerns(&self.target.resource));
        files
    }

    /// The same file, in whichever checkout.
    fn is_ours(&self, record: &FileRecord) -> bool {
        record.scope == self.target.scope().0 && record.key == self.target.key
    }
}

fn quoted(record: &FileRecord) -> String {
    shell_quote(run::path_of(record).as_os_str().as_encoded_bytes())
}
