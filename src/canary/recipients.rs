//! Who can decrypt the file after the command, against who should. Pure.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use super::document::{Document, Metadata};
use super::names::Names;
use super::{Expect, Fault};
use crate::rules::{Asked, Change};

/// Says who is missing, or who is there unasked.
pub(super) fn check(before: Option<&Document>, after: &Document, expect: &Expect) -> Result<(), Fault> {
    let Some(now) = after.metadata.as_ref() else { return Ok(()) };
    let was = before.and_then(|document| document.metadata.as_ref());
    match (expect.change, was) {
        (Some(Change::Groups | Change::DecryptInPlace | Change::DecryptTo), _) => Ok(()),
        (Some(Change::UpdateKeys), _) => compare(expect.rule_recipients.as_deref().map(age_set), age_of(now)),
        (Some(Change::Encrypt), _) | (_, None) => compare(demanded(expect), age_of(now)),
        (Some(Change::Rotate), Some(was)) => rotated(was, now, &expect.asked),
        (Some(Change::Set | Change::Unset | Change::Edit | Change::Other) | None, Some(was)) => {
            compare(Some(all_of(was)), all_of(now))
        }
    }
}

/// Whether a file has the age recipients of its creation rule. With `others` the rule names keys of other kinds as well, and
/// more recipients than it tells are no fault.
pub(super) fn of_rule(document: &Document, age: &[String], others: bool) -> Result<(), Fault> {
    let Some(metadata) = document.metadata.as_ref().filter(|_| !age.is_empty()) else { return Ok(()) };
    match compare(Some(age_set(age)), age_of(metadata)) {
        Err(Fault::RecipientsAdded(_)) if others => Ok(()),
        other => other,
    }
}

/// All that can decrypt a file.
pub(super) fn named(document: &Document) -> BTreeSet<String> {
    document.metadata.as_ref().map(all_of).unwrap_or_default()
}

/// The age recipients that a new file must have; none when nothing is known of them.
fn demanded(expect: &Expect) -> Option<BTreeSet<String>> {
    match (&expect.asked.age, expect.asked.other_keys) {
        (Some(age), _) => Some(age_set(age)),
        (None, true) => None,
        (None, false) => expect.rule_recipients.as_deref().map(age_set),
    }
}

fn rotated(was: &Metadata, now: &Metadata, asked: &Asked) -> Result<(), Fault> {
    let removed = age_set(&asked.remove_age);
    let mut age: BTreeSet<String> = age_of(was).difference(&removed).cloned().collect();
    age.extend(age_set(&asked.add_age));
    compare(Some(age), age_of(now))?;
    match asked.changes_other_keys {
        true => Ok(()),
        false => compare(Some(others_of(was)), others_of(now)),
    }
}

fn compare(should: Option<BTreeSet<String>>, now: BTreeSet<String>) -> Result<(), Fault> {
    let Some(should) = should else { return Ok(()) };
    let names = |some: Vec<&String>| Names::new(some.iter().map(|name| (*name).clone()), some.len());
    let dropped: Vec<&String> = should.difference(&now).collect();
    if !dropped.is_empty() {
        return Err(Fault::RecipientsDropped(names(dropped)));
    }
    let added: Vec<&String> = now.difference(&should).collect();
    if !added.is_empty() {
        return Err(Fault::RecipientsAdded(names(added)));
    }
    Ok(())
}

/// Options and variables may hold several recipients with commas between them.
fn age_set(recipients: &[String]) -> BTreeSet<String> {
    let parts = recipients.iter().flat_map(|some| some.split(','));
    parts.map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

fn age_of(metadata: &Metadata) -> BTreeSet<String> {
    metadata.age().map(str::to_owned).collect()
}

fn others_of(metadata: &Metadata) -> BTreeSet<String> {
    metadata.recipients.iter().filter(|one| one.kind != "age").map(ToString::to_string).collect()
}

fn all_of(metadata: &Metadata) -> BTreeSet<String> {
    let mut all = others_of(metadata);
    all.extend(age_of(metadata));
    all
}
