//! `locked adopt FILE…`: receipts for files that came another way. Each file is proven under a lease of its own; one that is
//! refused leaves the others as they are. An older version than the newest one known is not adopted: it would pass for the
//! newest then.
#![forbid(unsafe_code)]

use std::path::Path;

use serde_json::{Value, json};

use crate::audit::{self, Door};
use crate::canary::{self, Expect, Fault, Kind, Sample, Verdict};
use crate::clock::Clock as _;
use crate::config::StoreSetting;
use crate::copies::{Chain, Quality};
use crate::exit::{self, Exit};
use crate::holder::ProcFs;
use crate::lease::{self, Asker, Obtained};
use crate::lineage::Base;
use crate::naming::{Local, Namer, Target};
use crate::report::{self, Refusal};
use crate::rules::{Asked, Via};
use crate::run::{self, AtHand, Before, Context, InPerson, Keepers, Predecessors};
use crate::settle;
use crate::state::StateDir;
use crate::store::{Claim, Ended, Ending, Granted, Holding, Receipt, ReceiptKind, Release, Request, Settlement, Store};
use crate::terms::{Digest, LeaseKey, SessionId, Times, shell_path};

use super::RunOptions;
use super::front::refuse;
use super::held::answer;
use super::verbs::Adopt;
use super::world::{CALL, down};

pub(super) fn adopt(context: &Context, options: &RunOptions, verb: &Adopt) -> Exit {
    let (mut adopted, mut refused, mut lines, mut status) = (Vec::new(), Vec::new(), Vec::new(), Exit::OK);
    for file in &verb.files {
        let shown = shell_path(file);
        match one(context, options, file, &shown) {
            Ok(done) => {
                lines.push(done.text(&shown));
                adopted.push(done.object(file));
            }
            Err(exit) => {
                if let Exit::Code(code) = exit {
                    refused.push(json!({"file": file.to_string_lossy(), "exit": code}));
                }
                if status == Exit::OK {
                    status = exit;
                }
            }
        }
    }
    let text = (!lines.is_empty()).then(|| lines.join("\n"));
    let said = answer(verb.json, &json!({"adopted": adopted, "refused": refused}), text);
    if status == Exit::OK { said } else { status }
}

/// A file with a receipt now.
struct Done {
    resource: String,
    digest: Digest,
    /// It had one already.
    before: bool,
    verdict: &'static str,
}

impl Done {
    fn text(&self, shown: &str) -> String {
        match (self.before, self.verdict) {
            (true, _) => format!("{shown} has a receipt already"),
            (false, "unverified") => format!("adopted {shown}, which is whole and was not decrypted"),
            (false, _) => format!("adopted {shown}"),
        }
    }

    fn object(&self, file: &Path) -> Value {
        json!({"file": file.to_string_lossy(), "resource": self.resource, "digest": self.digest.as_str(), "had_receipt": self.before,
               "verdict": self.verdict})
    }
}

fn one(context: &Context, options: &RunOptions, file: &Path, shown: &str) -> Result<Done, Exit> {
    let env = run::env_of(context);
    let said = run::said_scope(context);
    let path = context.invocation.cwd.join(file);
    // Before opening: a pipe would keep us waiting.
    if !std::fs::metadata(&path).is_ok_and(|found| found.is_file()) {
        return Err(cannot(shown, "there is no such file", "git status", exit::USAGE));
    }
    let target =
        Namer::new(Local::Make, &env).heeding(&said).name(&path).map_err(|error| run::refuse_unnamed(&error))?;
    let state = StateDir::open(&env).map_err(|error| down(&error))?;
    let roots = target.worktree();
    let setting = run::store_for(context, roots.as_slice()).map_err(|wrong| wrong.refuse(context))?;
    let mut store = run::open_store(context, &state, &setting).map_err(|error| down(&error))?;
    let (request, granted, in_person) = lease(context, options, &target, (&state, &setting), store.as_mut())?;
    let holding = Holding::Grant { grant: request.grant, key: request.key.clone(), resources: granted.tokens.clone() };
    let host = &request.owner.host;
    let (mut receipts, bad) = match run::predecessors(context, &state, host, &granted, true) {
        Ok(Predecessors::Sound { receipts, .. }) => (receipts, None),
        Ok(Predecessors::Bad { bad, receipts }) => (receipts, bad.into_iter().next()),
        // Not settled: it runs out, and what it owes goes on to the next one.
        Ok(Predecessors::Run(grant)) => {
            let refusal = run::still_running(&target.resource.to_string(), grant, THEN);
            return Err(refuse(&refusal, exit::BUSY));
        }
        Err(error) => return Err(down(&error)),
    };
    let proven = match &bad {
        Some(bad) => {
            let (refusal, status) = bad.refusal(THEN);
            Err(refuse(&refusal, status))
        }
        None => prove(context, options, &target, shown, &state, store.as_mut()),
    };
    receipts.extend(proven.as_ref().ok().and_then(|(_, receipt)| receipt.clone()));
    if bad.is_none() && granted.unsettled.iter().all(|left| left.host == *host) {
        // What they left is proven; lost or not, the settling says.
        let _what_it_says = store.record_files(&holding, &[], &[], CALL);
    }
    let ending = bad.map_or_else(|| ending(&granted, host, proven.is_ok()), |bad| bad.ending().1);
    let settlement = Settlement::whole(ending, receipts);
    match store.settle(&holding, &settlement, CALL).map_err(|error| down(&error))? {
        Release::Released => {
            in_person.is_over();
            proven.map(|(done, _)| done)
        }
        Release::NotOurs => {
            report::say(&report::lost_by_the_end(&target.resource.to_string(), None, None));
            Err(Exit::Code(exit::LOST))
        }
    }
}

/// What an earlier command of the session left open stays open.
fn ending(granted: &Granted, host: &str, fine: bool) -> Ending {
    let here = granted.carried.iter().filter(|debt| debt.host == host);
    match here.into_iter().find_map(|debt| run::plaintext_of(&debt.files)) {
        Some(open) => settle::open_edit(&format!("{host}:{open}"), settle::MAX_HOLD),
        None => Ending::Release(if fine { Ended::Completed } else { Ended::Failed }),
    }
}

/// Why nothing is adopted after all.
const THEN: &str = "nothing was adopted";

/// Under the lease: the canary, then the chain.
fn prove(
    context: &Context,
    options: &RunOptions,
    target: &Target,
    shown: &str,
    state: &StateDir,
    store: &mut dyn Store,
) -> Result<(Done, Option<Receipt>), Exit> {
    let read = Before::read(&target.path).ok().and_then(|before| before.content);
    let content = read.ok_or_else(|| cannot(shown, "it cannot be read", &format!("ls -l {shown}"), exit::USAGE))?;
    let verdict = look(context, target, &content, shown)?;
    let digest = Digest::of(&content);
    let chain = store.receipts(target.scope(), &target.key, CALL).map_err(|error| down(&error))?;
    let resource = target.resource.name.to_string();
    let is_newest = chain.first().is_some_and(|newest| newest.new == digest);
    if is_newest && options.accept_stale {
        // Whatever was lost on the way here: a person has it before him, and begins the chain anew with it.
        let receipt = run::receipt_of(context, target, None, &content, ReceiptKind::Accepted);
        return Ok((Done { resource, digest, before: false, verdict }, Some(receipt)));
    }
    if is_newest {
        return Ok((Done { resource, digest, before: true, verdict }, None));
    }
    let host = ProcFs::host();
    let (content_now, version) = (Some(&*content), Some(&digest));
    let at_hand = AtHand { target, shown, content: content_now, version, base: Base::File };
    let base = match run::taken(context, &host, &at_hand, &chain) {
        Ok(base) => base,
        // Where a person says so the chain begins anew.
        Err(_) if options.accept_stale => None,
        Err(refusal) => return Err(refuse(&refusal, exit::STALE)),
    };
    if let Ok(copies) = state.copies() {
        let chain = Chain::of(&copies, target.scope(), &target.key, &target.path);
        let _a_copy_more_or_less = chain.keep(&content, Quality::Proven, context.clock.wall_ms());
    }
    let receipt = run::receipt_of(context, target, base, &content, ReceiptKind::Adopted);
    Ok((Done { resource, digest, before: false, verdict }, Some(receipt)))
}

fn look(context: &Context, target: &Target, content: &[u8], shown: &str) -> Result<&'static str, Exit> {
    let encrypt = format!("locked sops encrypt -i{} {shown}", crate::rules::types(&target.path));
    if matches!(canary::sniff(content), Kind::Plain) {
        return Err(cannot(shown, "it is no SOPS file", &encrypt, exit::QUARANTINED));
    }
    let expect = Expect { change: None, via: Via::InPlace, asked: Asked::default(), rule_recipients: None };
    let sample = Sample { path: &target.path, before: None, expect: &expect };
    match canary::look(&sample, &run::arbiter(context, None)) {
        Verdict::Sound => Ok("sound"),
        // Without a key only its likeness to what git has tells that two versions were mixed into it.
        Verdict::Unverified(_) if is_resealed(context, target, content) => {
            Err(cannot(shown, &Fault::Merged.to_string(), &format!("locked restore {shown}"), exit::QUARANTINED))
        }
        Verdict::Unverified(_) => Ok("unverified"),
        Verdict::OpenEdit => Err(cannot(shown, "it is plaintext", &encrypt, exit::QUARANTINED)),
        Verdict::Bad(fault) => {
            Err(cannot(shown, &fault.to_string(), &format!("locked restore {shown}"), exit::QUARANTINED))
        }
    }
}

/// Whether it bears the code of another version that git has, with other values.
pub(super) fn is_resealed(context: &Context, target: &Target, content: &[u8]) -> bool {
    let Some(repository) = &target.repository else { return false };
    let door = Door::at(&repository.worktree_root, &run::env_of(context));
    let blob = repository.stored_as(&target.path, content, &run::env_of(context)).unwrap_or_default();
    audit::is_resealed(&door, content, &blob).unwrap_or(false)
}

fn cannot(shown: &str, why: &str, next: &str, status: i32) -> Exit {
    let refusal = Refusal {
        word: "REFUSED",
        what: format!("{shown} is not adopted"),
        why: why.to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: next.to_owned(),
    };
    refuse(&refusal, status)
}

/// The lease on the file; a quarantine is not taken over.
fn lease(
    context: &Context,
    options: &RunOptions,
    target: &Target,
    (state, setting): (&StateDir, &StoreSetting),
    store: &mut dyn Store,
) -> Result<(Request, Granted, InPerson), Exit> {
    let settings = run::settings_of(context, target.worktree())?;
    let session = run::session(context, options.session.map(SessionId), &settings)
        .map_err(|refusal| refuse(&refusal, exit::USAGE))?;
    let times = Times::new(None, None, None, None).map_err(|_| Exit::Code(exit::INTERNAL))?;
    let mut resources: Vec<_> = target.resources().cloned().collect();
    resources.sort();
    let key = LeaseKey::random().map_err(|_| Exit::Code(exit::INTERNAL))?;
    let owner = run::owner(context, state, &session, "locked adopt".to_owned(), None);
    let within = run::within(context);
    let mut request = Request::without_a_command(key, owner, Claim::Command, resources, &times, within);
    let in_person = InPerson::stands_for(context, state, &mut request);
    let host_id = request.owner.host_id.clone();
    let witness = run::retry_witness(state, &host_id);
    let mut silent = |_: lease::Notice<'_>| {};
    let mut asker = Asker { store, clock: context.clock.as_ref(), witness: &witness, notice: &mut silent };
    let patience = options.patience(&settings);
    match lease::acquire(request.clone(), patience, &mut asker).map_err(|error| down(&error))? {
        Obtained::Granted { granted, .. } => {
            report::say_words(&granted.words, store, request.owner.session);
            Ok((request, granted, in_person))
        }
        Obtained::Busy(busy) => {
            in_person.is_over();
            let renewed = run::renewed_for(&Keepers::of(state, setting), &settings, &busy);
            let refusal = report::busy(&busy, &target.resource.to_string(), context.clock.wall_ms(), renewed);
            Err(refuse(&refusal, options.conflict_exit_code.map_or(exit::BUSY, i32::from)))
        }
        Obtained::Quarantined(busy) => {
            in_person.is_over();
            let bad = busy.blockers.iter().find(|blocker| blocker.quarantined());
            let file = bad.and_then(|bad| run::bad_file(context, &bad.lease, &[]));
            Err(refuse(&report::quarantined(&busy, file.as_deref()), exit::QUARANTINED))
        }
    }
}
