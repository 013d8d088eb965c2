//! What betrays that plaintext is of an older version than it is taken for. A session may have looked at the newest one since
//! (a `decrypt` into a pipe), or have read nothing at all and encrypt what another one has left: then the place where it
//! lies tells, or what stands in it.
#![forbid(unsafe_code)]

use crate::canary::{Fault, Likeness, likeness};
use crate::lineage::Base;
use crate::notes::Note;
use crate::plan::PlannedFile;
use crate::rules::{Change, Via};
use crate::store::{Store, StoreError, StoredReceipt};
use crate::terms::Digest;

use super::super::ending::settle_within;
use super::super::job::Job;
use super::super::read::{content, sops_content};
use super::super::{Before, env_of, files};
use super::plaintext::Plaintext;
use super::{AtHand, Look, who_wrote_it, would_lose};

/// So many older versions are held against the plaintext, at most.
const MOST: usize = 8;

/// So many versions of the history of HEAD are looked at for one of them.
const MOST_OF_HISTORY: usize = 32;

/// The note of the version that it was made from, where that is older than what `own` says; without a word of its own, than
/// the newest. `lies`: what lies in the file, where that is the plaintext.
pub(super) fn betrayed(
    look: &mut Look<'_>,
    plaintext: &Plaintext<'_>,
    lies: Option<&[u8]>,
    own: Option<&Note>,
) -> Result<Option<Note>, StoreError> {
    if !look.has_chain() || !plaintext.may_be_older(own) {
        return Ok(None);
    }
    let chain = look.chain()?;
    let lies = lies.map(<[u8]>::to_vec).or_else(|| plaintext.source().and_then(content));
    Ok(Versions { job: look.job, file: look.file, chain: &chain }.older(plaintext, lies.as_deref(), own))
}

/// The same where nobody could look at the plaintext (it came by a pipe), from what has come of it: what is wrong, if anything.
pub(super) fn has_come(job: &Job<'_>, file: &PlannedFile, store: &mut dyn Store) -> Result<Option<Fault>, StoreError> {
    let encrypts = file.write.change == Change::Encrypt && file.write.via != Via::InPlace;
    if !encrypts || job.options.accept_stale {
        return Ok(None);
    }
    let plaintext = Plaintext::of(job, file);
    let own = plaintext.own();
    let is_seen = plaintext.source().and_then(content).is_some();
    if is_seen || plaintext.is_made_here() || !plaintext.may_be_older(own.as_ref()) {
        return Ok(None);
    }
    let (Some(now), limit) = (sops_content(&file.target.path), settle_within(store)) else { return Ok(None) };
    let chain = store.receipts(file.target.scope(), &file.target.key, limit)?;
    let older = Versions { job, file, chain: &chain }.older(&plaintext, Some(&now), own.as_ref());
    let Some(note) = older else { return Ok(None) };
    let shown = files::shown(file, &job.context.invocation.cwd);
    let (content, version) = (None, Some(&note.version));
    let read = AtHand { target: &file.target, shown: &shown, content, version, base: Base::Read };
    let lost = would_lose(job.context, &job.owner.host, &read, &chain);
    Ok(lost.map(|refusal| Fault::Older(who_wrote_it(&refusal))))
}

/// How far from the newest it is; none for what the chain does not know.
fn age(chain: &[StoredReceipt], version: &Digest) -> Option<usize> {
    let made = chain.iter().position(|receipt| receipt.new == *version);
    made.or_else(|| chain.iter().rposition(|receipt| receipt.base.as_ref() == Some(version)).map(|at| at + 1))
}

/// The versions of a file, as far as anything here has them still.
struct Versions<'a> {
    job: &'a Job<'a>,
    file: &'a PlannedFile,
    chain: &'a [StoredReceipt],
}

impl Versions<'_> {
    fn older(&self, plaintext: &Plaintext<'_>, lies: Option<&[u8]>, own: Option<&Note>) -> Option<Note> {
        let newest = own.map(|note| &note.version).or_else(|| self.chain.first().map(|newest| &newest.new))?;
        let limit = age(self.chain, newest)?;
        let is_older = |note: &Note| age(self.chain, &note.version).is_some_and(|age| age > limit);
        let told = |note: &Note| lies.map_or(Likeness::Unclear, |lies| self.told_apart(lies, &note.version, newest));
        if let Some(there) = plaintext.last_there() {
            // Another one has put it there: it is what that one has read, unless it shows that it is newer.
            return Some(there).filter(|note| is_older(note) && told(note) != Likeness::Newer);
        }
        let mut notes = plaintext.all();
        notes.retain(is_older);
        // The oldest that it may be of: what came after that is what would be lost.
        notes.sort_by_key(|note| std::cmp::Reverse(age(self.chain, &note.version)));
        notes.dedup_by(|one, other| one.version == other.version);
        notes.truncate(MOST);
        notes.into_iter().find(|note| told(note) == Likeness::Older)
    }

    /// Whether this was made of the older version or of the newer.
    fn told_apart(&self, lies: &[u8], older: &Digest, newer: &Digest) -> Likeness {
        match (self.content(older), self.content(newer)) {
            (Some(older), Some(newer)) => likeness(lies, &older, &newer, &self.job.arbiter),
            _ => Likeness::Unclear,
        }
    }

    /// From the file, the copies, or the history of HEAD.
    fn content(&self, version: &Digest) -> Option<Vec<u8>> {
        let is_it = |content: &Vec<u8>| Digest::of(content) == *version;
        let file = &self.file.target;
        let present = Before::read(&file.path).ok().and_then(|now| now.content).filter(is_it);
        let copy = || self.job.chain(self.file).with_digest(version).ok().flatten();
        present.or_else(copy).or_else(|| {
            let (repository, env) = (file.repository.as_ref()?, env_of(self.job.context));
            let line = repository.line_of(&file.path, &env).ok()?;
            let mut blobs = line.iter().take(MOST_OF_HISTORY);
            blobs.find_map(|blob| repository.content_of(blob, &env).ok().flatten().filter(is_it))
        })
    }
}
