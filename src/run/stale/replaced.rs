//! The base of what another program puts over a SOPS file (`cp`, `mv`, `tee`, a redirection in a script): the version that
//! it is, or that it was made from, as far as anybody knows. What nobody knows the origin of goes by the file itself.
#![forbid(unsafe_code)]

use crate::canary::{self, Fault, Kind};
use crate::lineage::{self, Base};
use crate::plan::PlannedFile;
use crate::rules::{Change, Leaves};
use crate::store::{Contents, Store, StoreError, StoredReceipt};
use crate::terms::Digest;

use super::super::ending::settle_within;
use super::super::job::Job;
use super::super::read::sops_content;
use super::super::{Before, Context, files};
use super::plaintext::{Plaintext, of_another, read_earlier};
use super::{AtHand, Found, Look, Standing, older, standing, who_wrote_it, would_lose};

pub(super) fn verdict(look: &mut Look<'_>, content: Option<&[u8]>) -> Result<Found, StoreError> {
    let at_hand = content.filter(|content| matches!(canary::sniff(content), Kind::Sops(_))).map(Digest::of);
    if at_hand.is_none() {
        return look.of_file(content);
    }
    let plaintext = Plaintext::of(look.job, look.file);
    // What was encrypted aside is of the version that its plaintext was read from, whatever lay there before.
    if !plaintext.is_carried()
        && let Some(source) = look.file.write.asked.source.as_deref().and_then(sops_content)
        && let Some(found) = known(look, &source, at_hand.as_ref())?
    {
        return Ok(found);
    }
    let own = plaintext.own();
    let head = look.head.clone().flatten();
    if let Some(found) = of_another(look, &plaintext, own.as_ref().map(|note| &note.version).or(head.as_ref())) {
        return Ok(found);
    }
    if let Some(note) = older::betrayed(look, &plaintext, None, own.as_ref())? {
        return read_earlier(look, &note);
    }
    match own {
        Some(note) if head.as_ref() == Some(&note.version) => Ok(Found::Go),
        Some(note) if at_hand.as_ref() != Some(&note.version) => read_earlier(look, &note),
        _ => look.of_file(content),
    }
}

/// What comes is a version that is known, or was made from one; none where nobody knows.
fn known(look: &mut Look<'_>, source: &[u8], at_hand: Option<&Digest>) -> Result<Option<Found>, StoreError> {
    let incoming = Digest::of(source);
    if Some(&incoming) == at_hand || (look.has_chain() && look.is_newest(Some(&incoming))) {
        return Ok(Some(Found::Go));
    }
    let chain = if look.has_chain() { look.chain()? } else { Vec::new() };
    Ok(match origin(look.job, look.file, &chain, source, at_hand, standing, look.store)? {
        Some((_, Standing::Fine)) => Some(Found::Go),
        Some((version, Standing::Stale(refusal))) => Some(look.accepted_or(*refusal, Some(version))),
        Some((_, Standing::Unknown)) | None => None,
    })
}

/// How what comes, or has come, over a file stands to its chain, with the version of the chain that it is, or was made from.
fn origin(
    job: &Job<'_>,
    file: &PlannedFile,
    chain: &[StoredReceipt],
    content: &[u8],
    over: Option<&Digest>,
    judge: Judge,
    store: &mut dyn Store,
) -> Result<Option<(Digest, Standing)>, StoreError> {
    if chain.is_empty() {
        return Ok(None);
    }
    let incoming = Digest::of(content);
    let is_newest = |version: &Digest| chain.first().is_some_and(|newest| newest.new == *version);
    let (version, content) = match made_from(file, chain, &incoming, store)? {
        Some(base) if is_newest(&base) => return Ok(Some((base, Standing::Fine))),
        Some(base) if base != incoming => (base, None),
        _ => (incoming, Some(content)),
    };
    let by = format!("{} (", job.owner.session.short());
    let shown = files::shown(file, &job.context.invocation.cwd);
    let base = Base::Put { over, by: &by };
    let put = AtHand { target: &file.target, shown: &shown, content, version: Some(&version), base };
    let standing = judge(job.context, &job.owner.host, &put, chain);
    Ok(Some((version, standing)))
}

/// Who says how a version stands, aloud or not.
type Judge = fn(&Context, &str, &AtHand<'_>, &[StoredReceipt]) -> Standing;

/// What is worth a line was said before the command ran.
fn quietly(context: &Context, host: &str, at_hand: &AtHand<'_>, chain: &[StoredReceipt]) -> Standing {
    would_lose(context, host, at_hand, chain).map_or(Standing::Fine, Standing::Stale)
}

/// The command has ended, and what it has put over the newest version is an older one: that is no proof, whatever way it
/// came by. What could be known before has been refused; here it is seen at the latest.
pub(super) fn put_back(
    job: &Job<'_>,
    file: &PlannedFile,
    before: &Before,
    store: &mut dyn Store,
) -> Result<Option<Fault>, StoreError> {
    let is_any = file.write.change == Change::Other && file.write.leaves != Leaves::Gone;
    let (Some(over), Some(now)) = (before.version(), sops_content(&file.target.path)) else { return Ok(None) };
    // What was encrypted aside is of the version that its plaintext was read from, and was judged by that.
    let is_judged = || Plaintext::of(job, file).is_carried();
    if !is_any || job.options.accept_stale || Digest::of(&now) == over || is_judged() {
        return Ok(None);
    }
    let limit = settle_within(store);
    let chain = store.receipts(file.target.scope(), &file.target.key, limit)?;
    if chain.first().is_some_and(|newest| newest.new == Digest::of(&now)) {
        return Ok(None);
    }
    Ok(match origin(job, file, &chain, &now, Some(&over), quietly, store)? {
        Some((_, Standing::Stale(refusal))) => Some(Fault::Older(who_wrote_it(&refusal))),
        _ => None,
    })
}

/// The version of this chain that a content is, or was made from in another place, by the receipts of that one.
fn made_from(
    file: &PlannedFile,
    chain: &[StoredReceipt],
    content: &Digest,
    store: &mut dyn Store,
) -> Result<Option<Digest>, StoreError> {
    let is_known = |version: &Digest| lineage::knows(chain, version);
    if is_known(content) {
        return Ok(Some(content.clone()));
    }
    let (limit, scope) = (settle_within(store), file.target.scope());
    let asked = Contents { digests: vec![content.clone()], blobs: Vec::new() };
    let Some(elsewhere) = store.receipts_of(scope, &asked, limit)?.into_iter().next() else { return Ok(None) };
    let theirs = store.receipts(scope, &elsewhere.path, limit)?;
    let mut version = content.clone();
    // No further than the chain is long: it may lead in a circle.
    for _ in &theirs {
        let made = theirs.iter().find(|receipt| receipt.new == version).and_then(|receipt| receipt.base.clone());
        match made {
            None => break,
            Some(base) if is_known(&base) => return Ok(Some(base)),
            Some(base) => version = base,
        }
    }
    Ok(None)
}
