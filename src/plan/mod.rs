//! `plan`: pass through, or hold these resources for these files. It looks at names and at what stands behind them,
//! and changes nothing.
#![forbid(unsafe_code)]

mod archive;
mod below;
mod by_hand;
mod claims;
mod content;
mod files;
mod past;
mod places;
mod rotation;
mod sending;
mod zones;

use std::path::Path;
use std::time::Duration;

pub use by_hand::{Hand, asks};
pub use claims::{StackOf, World};
pub use past::Past;
pub use places::is_safe;
pub use rotation::{Declared, declared};
pub use zones::entered_with;

use self::files::{Files, files};
use crate::naming::{self, Namer, NamingError, Target};
use crate::rules::{Classification, Decrypted, Policy, Stale, Write};
use crate::terms::{Resource, ResourceName, Scope};

/// What is to be done.
#[derive(Debug, Clone)]
#[must_use]
pub enum Plan {
    /// Nothing to lock: exec.
    PassThrough {
        /// Why, in one sentence.
        reason: String,
        /// What could not be told, one sentence each.
        notes: Vec<String>,
    },
    /// Hold these.
    Hold(Box<HoldPlan>),
}

/// What is held, and which files may be written meanwhile.
#[derive(Debug, Clone)]
pub struct HoldPlan {
    /// Sorted, unique.
    pub resources: Vec<Resource>,
    /// Those of them that the rule names and no file stands for.
    pub by_rule: Vec<Resource>,
    /// The files, each with its name.
    pub files: Vec<PlannedFile>,
    /// What it decrypts itself, where plaintext comes out of it: that is read under the lease.
    pub decrypted: Vec<Decrypted>,
    /// The rule that decided, if one did.
    pub rule: Option<String>,
    /// What runs, free of argument values.
    pub operation: String,
    /// Its effect does not stop with its processes on this machine (another user's, or another machine's).
    pub remote: bool,
    /// On what terms the resources are held.
    pub policy: Policy,
    /// Those of the resources that nobody reclaims without a person's word, in the same order.
    pub ask: Vec<Resource>,
    /// Why, in one sentence.
    pub reason: String,
    /// What could not be told of the line, one sentence each.
    pub notes: Vec<String>,
}

/// A file that the command may write.
#[derive(Debug, Clone)]
pub struct PlannedFile {
    /// What the command line says of it.
    pub write: Write,
    /// Its names.
    pub target: Target,
    /// It does not look like SOPS, nor does the line make it so: it was SOPS on this machine, or is to be, and may be open for
    /// an edit.
    pub once: bool,
}

impl HoldPlan {
    /// The resources in one text for messages.
    #[must_use]
    pub fn shown(&self) -> String {
        self.resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    /// It makes a new value of a secret.
    #[must_use]
    pub fn rotates(&self) -> bool {
        self.resources.iter().any(|resource| resource.name.is_rotation())
    }

    /// How long after its start the lease of a command that runs on is given back. What files stand for, and what was
    /// named by hand, is held for as long as the command runs.
    #[must_use]
    pub fn gives_back_after(&self) -> Option<Duration> {
        self.policy.give_back.filter(|_| self.files.is_empty() && !self.has_more())
    }

    /// Something was named by hand, with `-r`, that no rule asks for.
    fn has_more(&self) -> bool {
        let of_files = |resource| self.files.iter().any(|file| file.target.resources().any(|its| its == resource));
        self.resources.iter().any(|resource| !self.by_rule.contains(resource) && !of_files(resource))
    }
}

/// Draws the plan. `by_hand` are the resources of `-r`.
///
/// # Errors
/// When a file cannot be named (a link loop, an unreadable repository): then nothing may run.
pub fn draw(
    class: Classification,
    by_hand: &[ResourceName],
    cwd: &Path,
    world: &World<'_>,
    namer: &mut Namer<'_>,
) -> Result<Plan, NamingError> {
    let Files { mut files, mut passed_over, unfinished, unseen: unpacked } = files(&class, cwd, world, namer)?;
    let mut resources: Vec<Resource> = files.iter().flat_map(|file| file.target.resources().cloned()).collect();
    let written: Vec<_> = files.iter().map(|file| file.target.path.clone()).collect();
    let claimed = claims::claimed(&class.claims, cwd, world, namer)?;
    passed_over = passed_over.or(claimed.passed_over);
    let mut by_rule = claimed.resources;
    let ruled = !resources.is_empty() || !by_rule.is_empty();
    let entered = zones::entered(&class, &claimed.files, world);
    let mut ask = Vec::new();
    for entered in &entered {
        let name = entered.zone.resource();
        let resource = Resource { scope: scope_of(&name, cwd, namer)?, name };
        ask.extend(Some(&resource).filter(|_| entered.zone.stale == Stale::Ask).cloned());
        by_rule.push(resource);
    }
    let unseen = zones::unseen(&class, world);
    let told = files::told(&class, &files);
    let unfinished = unfinished.then(|| {
        "a directory that it takes away could not be looked through; SOPS files in it are not held".to_owned()
    });
    let unpacked = unpacked
        .then(|| "what it unpacks could not be looked at, and SOPS files that it writes over are not held".to_owned());
    let found = unfinished.into_iter().chain(unpacked).chain(told);
    let notes: Vec<String> = class.notes.into_iter().chain(claimed.unknown).chain(unseen).chain(found).collect();
    let hand = Hand { cwd, book: world.book, env: world.env };
    for typed in by_hand {
        let resource = hand.resource(typed, namer)?;
        ask.extend(Some(&resource).filter(|it| asks(&it.name, world.book.zones())).cloned());
        // The name of a secret is what the rule asks for.
        let asked_for = class.asks && resource.name.is_rotation();
        if asked_for { &mut by_rule } else { &mut resources }.push(resource);
    }
    let wanted = [resources.as_slice(), &by_rule].concat();
    let file_of = |name: &str| world.book.workflow(cwd, None, name).into_iter().next();
    let with = rotation::declared(&wanted, world.book.rotations(), cwd, &file_of, namer)?;
    let taken_along = !with.resources.is_empty();
    resources.extend(with.resources);
    files.extend(with.files.into_iter().filter(|file| !written.contains(&file.target.path)));
    let notes: Vec<String> = notes.into_iter().chain(with.notes).collect();
    by_rule.retain(|named| !files.iter().any(|file| file.target.resources().any(|its| its == named)));
    by_rule.sort();
    by_rule.dedup();
    resources.extend(by_rule.iter().cloned());
    resources.sort();
    resources.dedup();
    ask.sort();
    ask.dedup();
    if resources.is_empty() {
        return Ok(Plan::PassThrough { reason: passed_over.unwrap_or(class.reason), notes });
    }
    let mut reasons = if ruled { [vec![class.reason], claimed.because].concat() } else { Vec::new() };
    if files.iter().any(|file| file.once) {
        reasons.push("a file of it was SOPS, or is to be, and may be open for an edit".to_owned());
    }
    reasons.extend(entered.iter().map(zones::Entered::reason));
    if reasons.is_empty() {
        reasons.push("named by hand with -r".to_owned());
    }
    if taken_along {
        reasons.push("its [[rotation]] names what has to learn of the new value".to_owned());
    }
    let reason = reasons.join("; ");
    let by_zone = || entered.first().map(|entered| format!("zone.{}", entered.zone.name));
    let by_files = files.iter().any(|file| file.write.beyond) || entered.iter().any(|entered| entered.remote);
    let remote = class.remote || by_files;
    let rotates = resources.iter().any(|resource| resource.name.is_rotation());
    Ok(Plan::Hold(Box::new(HoldPlan {
        rule: if ruled { class.rule } else { by_zone().or(class.rule) },
        resources,
        by_rule,
        files,
        operation: class.operation,
        decrypted: class.decrypted,
        remote,
        policy: at_once(zones::terms(Some(class.policy).filter(|_| ruled), &entered), rotates),
        ask,
        reason,
        notes,
    })))
}

/// Who comes second to a rotation does not wait to make yet another value, unless somebody says so: it is told who is at
/// it, and looks first.
fn at_once(policy: Policy, rotates: bool) -> Policy {
    let wait = policy.wait.or(rotates.then_some(Duration::ZERO));
    Policy { wait, ..policy }
}

/// The scope of a name: some kinds belong to the repository one stands in, containers to this machine's engine, the rest
/// means the same everywhere.
pub fn scope_of(name: &ResourceName, cwd: &Path, namer: &mut Namer<'_>) -> Result<Scope, NamingError> {
    match name.kind() {
        "sops" | "rotation" | "zone" => namer.scope_of_directory(cwd),
        "container" => Ok(naming::machine_scope()),
        _ => Ok(Scope::global()),
    }
}
