//! What was left to a person: `release R --as human-action`, until `release R --duty` says that it is done.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::exit::{self, Exit};
use crate::report::{self, day_and_time};
use crate::store::{Discharge, Ended, PastLease, Store, StoreError};
use crate::terms::{Resource, ResourceName};

use super::front::refuse;
use super::held::{answer, elsewhere, names};
use super::rotation;
use super::table::table;
use super::verbs::ReleaseVerb;
use super::world::{CALL, World};

/// The duties of these resources, or of all.
///
/// # Errors
/// The store could not answer.
pub(super) fn open(store: &mut dyn Store, of: &[ResourceName]) -> Result<Vec<PastLease>, StoreError> {
    let mut duties = store.duties(CALL)?;
    duties.retain(|duty| of.is_empty() || of.contains(&duty.resource.name));
    Ok(duties)
}

/// For programs.
pub(super) fn objects(duties: &[PastLease]) -> Value {
    Value::Array(duties.iter().map(super::history::object).collect())
}

/// For people; empty when there are none.
pub(super) fn rows(duties: &[PastLease]) -> String {
    if duties.is_empty() {
        return String::new();
    }
    let mut rows = vec![["LEFT TO A PERSON", "BY", "AT", "WHAT"].map(str::to_owned).to_vec()];
    rows.extend(duties.iter().map(|duty| {
        vec![
            duty.resource.name.to_string(),
            format!("{} ({})", duty.session, duty.label),
            day_and_time(duty.ended_at),
            what(duty),
        ]
    }));
    table(&rows)
}

/// Who must do what, as far as it was said.
fn what(duty: &PastLease) -> String {
    duty.note.clone().unwrap_or_else(|| format!("finish: {}", duty.operation))
}

/// Who takes a rotation up is told what is still to be done about its secret.
pub(super) fn tell(world: &mut World<'_>, resources: &[Resource]) {
    let rotations = resources.iter().filter(|resource| resource.name.is_rotation());
    let wanted: Vec<ResourceName> = rotations.map(|resource| resource.name.clone()).collect();
    if wanted.is_empty() {
        return;
    }
    // It stands in nobody's way, so a store that cannot say it changes nothing.
    for duty in open(world.store.as_mut(), &wanted).unwrap_or_default() {
        report::say(&format!("locked: {} was left to a person: {}", duty.resource, what(&duty)));
    }
}

/// Somebody says that it is done.
pub(super) fn discharge(world: &mut World<'_>, verb: &ReleaseVerb, resources: &[Resource]) -> Result<Exit, Exit> {
    let ended = match verb.ended_as.as_str() {
        "completed" => Ended::Completed,
        "failed" => Ended::Failed,
        _ => {
            return Err(refuse(
                &report::misuse("a duty is done (--as completed) or given up (--as failed)", "locked release --help"),
                exit::USAGE,
            ));
        }
    };
    let how =
        Discharge { session: world.session.id, label: world.session.label.clone(), ended, note: verb.note.clone() };
    let open = world.store.duties(CALL).map_err(|error| world.down(&error))?;
    if let Some(refusal) = elsewhere::of_duties(resources, &open) {
        return Err(refuse(&refusal, exit::USAGE));
    }
    let resources = with_their_parts(world, resources, &open)?;
    let mut done = 0;
    for resource in &resources {
        done += world.store.discharge(resource, &how, CALL).map_err(|error| world.down(&error))?;
    }
    if done == 0 {
        return Err(refuse(&nothing(&resources), exit::USAGE));
    }
    Ok(answer(verb.json, &json!({"duties": done, "of": names(&resources), "as": ended.as_str()}), None))
}

/// These, and the files and workflows that were left to a person in one word with a rotation among them: they are one duty with
/// it. Where that word left several rotations they go with the last of them, unless the settings say whose they are. What
/// another word left as well stays with that; another rotation is a duty of its own, and so is what is no part of any.
fn with_their_parts(world: &World<'_>, resources: &[Resource], open: &[PastLease]) -> Result<Vec<Resource>, Exit> {
    let word = |duty: &PastLease| (duty.session, duty.ended_at);
    let rotations: Vec<&PastLease> = open.iter().filter(|duty| duty.resource.name.is_rotation()).collect();
    let is_done = |duty: &PastLease| resources.contains(&duty.resource);
    let mut all = resources.to_vec();
    for done in rotations.iter().filter(|rotation| is_done(rotation)) {
        let others: Vec<&PastLease> =
            rotations.iter().filter(|it| word(it) == word(done) && !is_done(it)).copied().collect();
        let (mut own, mut theirs) = (Vec::new(), Vec::new());
        if !others.is_empty() {
            own = rotation::with_declared(world.context, vec![done.resource.clone()])?;
            let names = others.iter().map(|other| other.resource.clone()).collect();
            theirs = rotation::with_declared(world.context, names)?;
        }
        let is_its = |it: &Resource| others.is_empty() || (own.contains(it) && !theirs.contains(it));
        let parts = open.iter().filter(|duty| PARTS.contains(&duty.resource.name.kind()) && word(duty) == word(done));
        all.extend(parts.map(|duty| duty.resource.clone()).filter(is_its));
    }
    let of_done_words = |resource: &Resource| {
        let mut of_it = open.iter().filter(|duty| duty.resource == *resource);
        of_it.all(|duty| rotations.iter().any(|rotation| is_done(rotation) && word(rotation) == word(duty)))
    };
    all.retain(|resource| resources.contains(resource) || of_done_words(resource));
    all.sort();
    all.dedup();
    Ok(all)
}

/// What is part of a rotation: files, and the workflows that bring a secret to where it is used.
const PARTS: [&str; 2] = ["sops", "workflow"];

fn nothing(resources: &[Resource]) -> report::Refusal {
    report::Refusal {
        word: "REFUSED",
        what: format!("nothing of {} is left to a person", names(resources).join(" ")),
        why: "there is no such duty, or it is done already".to_owned(),
        retry: "no".to_owned(),
        next: "locked status --duties".to_owned(),
    }
}
