//! The base of what another program puts over a SOPS file (`cp`, `mv`, `tee`, a redirection in a script): the version that
//! it is, or that it was made from, as far as anybody knows. What nobody knows the origin of goes by the file itself.
#![forbid(unsafe_code)]

use crate::canary::{self, Kind};
use crate::lineage::Base;
use crate::store::{Contents, StoreError, StoredReceipt};
use crate::terms::Digest;

use super::super::ending::settle_within;
use super::super::read::sops_content;
use super::plaintext::{Plaintext, of_another, read_earlier};
use super::{AtHand, Found, Look, Standing, standing};

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
    if chain.is_empty() {
        return Ok(None);
    }
    let (version, content) = match made_from(look, &chain, &incoming)? {
        Some(base) if look.is_newest(Some(&base)) => return Ok(Some(Found::Go)),
        Some(base) if base != incoming => (base, None),
        _ => (incoming, Some(source)),
    };
    let by = format!("{} (", look.job.owner.session.short());
    let base = Base::Put { over: at_hand, by: &by };
    let shown = look.shown();
    let put = AtHand { target: &look.file.target, shown: &shown, content, version: Some(&version), base };
    Ok(match standing(look.job.context, &look.job.owner.host, &put, &chain) {
        Standing::Fine => Some(Found::Go),
        Standing::Stale(refusal) => Some(look.accepted_or(*refusal, Some(version))),
        Standing::Unknown => None,
    })
}

/// The version of this chain that a content is, or was made from in another place, by the receipts of that one.
fn made_from(look: &mut Look<'_>, chain: &[StoredReceipt], content: &Digest) -> Result<Option<Digest>, StoreError> {
    let is_known = |version: &Digest| chain.iter().any(|it| it.new == *version || it.base.as_ref() == Some(version));
    if is_known(content) {
        return Ok(Some(content.clone()));
    }
    let (limit, scope) = (settle_within(look.store), look.file.target.scope());
    let asked = Contents { digests: vec![content.clone()], blobs: Vec::new() };
    let Some(elsewhere) = look.store.receipts_of(scope, &asked, limit)?.into_iter().next() else { return Ok(None) };
    let theirs = look.store.receipts(scope, &elsewhere.path, limit)?;
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
