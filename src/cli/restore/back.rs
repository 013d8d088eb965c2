//! A good version over the bad one.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::canary::{self, Fault, Kind, Verdict};
use crate::clock::Clock as _;
use crate::exit;
use crate::holder::ProcFs;
use crate::report::{self, Refusal};
use crate::run::{self, Before};
use crate::store::{ReceiptKind, StoredReceipt};
use crate::terms::Digest;

use super::left::{Left, Why};
use super::version::{self, Version};
use super::{Done, Work};

impl Work<'_> {
    pub(super) fn bring_back(&self) -> Result<Done, Box<Left>> {
        let bad =
            Before::read(&self.target.path).map_err(|error| self.cannot(&format!("it cannot be read: {error}")))?;
        let content = bad.content.clone().unwrap_or_default();
        let Some(why) = self.why_bad(&bad)? else { return Ok(self.nothing(&content)) };
        let proves = |copy: &Path| self.look(copy) == Verdict::Sound;
        let versions = version::versions(self.context, &self.chain, &self.target, &content, proves);
        if matches!(why, Why::Plaintext) && self.verb.from.is_none() {
            return Err(self.plaintext(versions.first()));
        }
        let Some(version) =
            versions.iter().find(|version| self.verb.from.as_deref().is_none_or(|from| version.which == from))
        else {
            let why = format!("{why}; no sound version of it is known here");
            let retry = "yes, once a good version lies there: then with the next step";
            return Err(self.still_bad(why, retry, &format!("locked restore {} --accept", self.shown)));
        };
        self.put(&bad, version)?;
        if let Verdict::Bad(fault) = self.look(&self.target.path) {
            let other = versions.iter().find(|other| other.which != version.which);
            let next = other.map_or_else(
                || format!("locked restore {} --accept", self.shown),
                |other| format!("locked restore {} --from {}", self.shown, other.which),
            );
            let why = format!("the version brought back is bad too: {fault}");
            return Err(self.still_bad(why, "yes, with another version", &next));
        }
        self.keep(&version.content);
        let older = self.older(&version.content).filter(|_| !self.accepts_stale);
        let others =
            versions.iter().filter(|other| other.which != version.which).map(|other| format!("--from {}", other.which));
        let others = others.collect::<Vec<_>>().join(", ");
        let other = if others.is_empty() { String::new() } else { format!("; other versions: {others}") };
        let newer =
            older.as_ref().map_or_else(String::new, |older| format!("; a newer version is known: {}", older.next));
        let gone = self.newest_here().filter(|newest| {
            let has_it = |content: &[u8]| Digest::of(content) == newest.new;
            newer.is_empty() && !has_it(&content) && !versions.iter().any(|version| has_it(&version.content))
        });
        let gone = gone.map_or_else(String::new, |gone| {
            let at = report::day_and_time(gone.at);
            format!("; what {} wrote at {at} is lost: there is no copy of it here", gone.holder)
        });
        let text = format!("restored {} from {}{other}{newer}{gone}", self.shown, version.describe());
        let receipt = older
            .is_none()
            .then(|| run::receipt_of(self.context, &self.target, None, &version.content, ReceiptKind::Restored));
        Ok(self.done(&Digest::of(&version.content), receipt, text, version.which))
    }

    /// The newest version that was written in this work tree, by the store: what another one has is no matter of this one's.
    fn newest_here(&self) -> Option<StoredReceipt> {
        let (host, root) = (ProcFs::host(), self.target.worktree().map(|root| root.display().to_string()));
        self.hold.chain(&self.target).into_iter().find(|receipt| receipt.host == host && receipt.worktree == root)
    }

    /// What is wrong with the file now. A sound file is never overwritten, unless it is the very one that was found bad:
    /// lost keys, for one, are seen only against what was before.
    fn why_bad(&self, bad: &Before) -> Result<Option<Why>, Box<Left>> {
        let Some(content) = &bad.content else { return Ok(Some(Why::Fault(Fault::Missing.to_string()))) };
        match self.look(&self.target.path) {
            Verdict::Bad(Fault::Plaintext) => Ok(Some(Why::Plaintext)),
            Verdict::Bad(fault) => Ok(Some(Why::Fault(fault.to_string()))),
            _ if matches!(canary::sniff(content), Kind::Plain) => Ok(Some(Why::Plaintext)),
            _ if self.chain.is_bad(&Digest::of(content)) && self.hold.may_be_quarantined() => {
                Ok(Some(Why::Fault("it is the one that was found bad".to_owned())))
            }
            _ if !self.hold.may_be_quarantined() && self.verb.from.is_none() => Ok(None),
            _ => {
                // In an older checkout its sound copy is no answer.
                if let Some(refusal) = self.older(content).filter(|_| !self.accepts_stale) {
                    return Err(Left::of_stale(*refusal));
                }
                let refusal = Refusal {
                    word: "REFUSED",
                    what: format!("{} is a sound SOPS file now and is not overwritten", self.shown),
                    why: "somebody has put it right already, or it never was bad".to_owned(),
                    retry: "no".to_owned(),
                    next: format!("locked restore {} --accept", self.shown),
                };
                let status = if self.hold.may_be_quarantined() { exit::QUARANTINED } else { exit::USAGE };
                Err(Box::new(Left { refusal, status }))
            }
        }
    }

    /// It is sound, and nobody has called it bad.
    fn nothing(&self, content: &[u8]) -> Done {
        self.done(
            &Digest::of(content),
            None,
            format!("{} is sound; there is nothing to restore", self.shown),
            "as it is",
        )
    }

    /// Writes the version over the bad file, if that is still the one that was found bad; what is overwritten is put
    /// aside, unless it is plaintext.
    fn put(&self, bad: &Before, version: &Version) -> Result<(), Box<Left>> {
        let now = Before::read(&self.target.path).map_err(|error| self.cannot(&error.to_string()))?;
        if now.digest() != bad.digest() {
            return Err(self.cannot("it changed while it was looked at"));
        }
        if let Some(content) = bad.content.as_deref().filter(|content| !content.is_empty()) {
            self.chain
                .put_aside(content, !canary::has_encrypted_value(content), self.context.clock.wall_ms())
                .map_err(|error| self.cannot(&format!("no copy of it can be put aside: {error}")))?;
        }
        let write = || -> std::io::Result<()> {
            let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).open(&self.target.path)?;
            file.write_all(&version.content)?;
            file.sync_all()
        };
        write().map_err(|error| self.cut_off(&error.to_string()))
    }
}
