//! `locked restore`: brings a bad file back, or accepts the one that is there. Holds the lease meanwhile, keeps inode,
//! mode and links as sops does, looks at the result, and leaves a receipt. Works with the store down: then the file is
//! brought back, and the quarantine is ended later with `--accept`.
#![forbid(unsafe_code)]

mod affected;
mod lease;
mod left;
mod version;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::canary::{self, Arbiter, Expect, Fault, Kind, Sample, Verdict};
use crate::clock::Clock as _;
use crate::copies::{Chain, Quality};
use crate::exit::{self, Exit};
use crate::holder::ProcFs;
use crate::lineage::Base;
use crate::naming::{Local, Namer, NamingError, Target};
use crate::report::{self, Refusal};
use crate::rules::{Asked, Via};
use crate::run::{self, AtHand, Before, Context};
use crate::state::StateDir;
use crate::store::{Ended, Ending, ReceiptKind};
use crate::terms::{Digest, shell_quote};

use super::RunOptions;
use super::front::refuse;
use super::held::answer;
use super::verbs::Restore;
use lease::Hold;
use left::{Left, Why};
use version::Version;

struct Work<'a> {
    context: &'a Context,
    /// A person has said that an older version may be the base.
    accepts_stale: bool,
    verb: &'a Restore,
    target: Target,
    shown: String,
    copies: PathBuf,
    chain: Chain,
    arbiter: Arbiter,
    hold: Hold,
}

pub(super) fn restore(context: &Context, options: &RunOptions, verb: &Restore) -> Exit {
    attempt(context, options, verb).unwrap_or_else(|exit| exit)
}

fn attempt(context: &Context, options: &RunOptions, verb: &Restore) -> Result<Exit, Exit> {
    let env = run::env_of(context);
    let path = context.invocation.cwd.join(&verb.file);
    let said = run::said_scope(context);
    let target = Namer::new(Local::Make, &env).heeding(&said).name(&path).map_err(|error| match error {
        NamingError::Settings { .. } => run::refuse_unnamed(&error),
        _ => refuse(&report::misuse(&error.to_string(), error.remedy()), exit::USAGE),
    })?;
    // Reading a pipe would wait for ever, a device might never end.
    if fs::metadata(&target.path).is_ok_and(|found| !found.is_file()) {
        let shown = shell_quote(verb.file.as_os_str().as_encoded_bytes());
        return Err(refuse(
            &report::misuse(&format!("{shown} is no regular file"), "name the file itself"),
            exit::USAGE,
        ));
    }
    let state = StateDir::open(&env).and_then(|state| state.copies().map(|copies| (state, copies)));
    // Without a state directory there are no copies, and HEAD may still have the file.
    let copies = state.as_ref().map_or_else(|_| PathBuf::new(), |(_, copies)| copies.clone());
    let hold = match &state {
        Ok((state, _)) => Hold::take(context, options, state, &target)?,
        Err(error) => Hold::without(error),
    };
    let work = Work {
        context,
        accepts_stale: options.accept_stale,
        verb,
        hold,
        shown: shell_quote(verb.file.as_os_str().as_encoded_bytes()),
        chain: Chain::of(&copies, target.scope(), &target.key, &target.path),
        copies,
        target,
        arbiter: run::arbiter(context, None),
    };
    let outcome = work.concerned().and_then(|()| if verb.accept { work.accept() } else { work.bring_back() });
    match outcome {
        Ok(done) => {
            if let Some((reason, refusal)) = work.still_another() {
                work.hold.settle(Ending::Quarantine { reason }, done.receipt.into_iter().collect())?;
                let _the_refusal_has_the_status = answer(verb.json, &done.json, Some(done.text));
                return Err(refuse(&refusal, exit::QUARANTINED));
            }
            work.hold.settle(Ending::Release(Ended::Completed), done.receipt.into_iter().collect())?;
            Ok(answer(verb.json, &done.json, Some(done.text)))
        }
        Err(left) => {
            let Left { refusal, status } = *left;
            work.hold.give_back()?;
            Err(refuse(&refusal, status))
        }
    }
}

/// Done.
struct Done {
    /// None where nothing was brought, or an older version than the newest: that must not pass for the newest.
    receipt: Option<crate::store::Receipt>,
    json: serde_json::Value,
    text: String,
}

impl Work<'_> {
    fn look(&self, path: &Path) -> Verdict {
        let expect = Expect { change: None, via: Via::InPlace, asked: Asked::default(), rule_recipients: None };
        canary::look(&Sample { path, before: None, expect: &expect }, &self.arbiter)
    }

    fn accept(&self) -> Result<Done, Box<Left>> {
        let content = self.content()?;
        let sops = format!("locked sops encrypt -i {}", self.shown);
        match self.look(&self.target.path) {
            Verdict::Sound | Verdict::Unverified(_) => {}
            Verdict::OpenEdit => {
                return Err(self.still_bad("it is plaintext".to_owned(), "yes, after the next step", &sops));
            }
            Verdict::Bad(fault) => {
                return Err(self.still_bad(fault.to_string(), "no", &format!("locked restore {}", self.shown)));
            }
        }
        let version = Digest::of(&content);
        let chain = self.hold.chain(&self.target);
        let base = match run::taken(self.context, &ProcFs::host(), &self.at_hand(&content, &version), &chain) {
            Ok(base) => base,
            Err(_) if self.accepts_stale => None,
            Err(refusal) => return Err(Left::of_stale(*refusal)),
        };
        self.keep(&content);
        let receipt = run::receipt_of(self.context, &self.target, base, &content, ReceiptKind::Adopted);
        Ok(self.done(&version, Some(receipt), format!("accepted {} as it is", self.shown), "as it is"))
    }

    fn at_hand<'w>(&'w self, content: &'w [u8], version: &'w Digest) -> AtHand<'w> {
        AtHand {
            target: &self.target,
            shown: &self.shown,
            content: Some(content),
            version: Some(version),
            base: Base::File,
        }
    }

    /// A newer version of it is known, which this one would pass over.
    fn older(&self, content: &[u8]) -> Option<Box<Refusal>> {
        let (version, chain) = (Digest::of(content), self.hold.chain(&self.target));
        run::would_lose(self.context, &ProcFs::host(), &self.at_hand(content, &version), &chain)
    }

    fn bring_back(&self) -> Result<Done, Box<Left>> {
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
        let other = if others.is_empty() { String::new() } else { format!("; others: {others}") };
        let newer =
            older.as_ref().map_or_else(String::new, |older| format!("; a newer version is known: {}", older.next));
        let text = format!("restored {} from {}{other}{newer}", self.shown, version.describe());
        let receipt = older
            .is_none()
            .then(|| run::receipt_of(self.context, &self.target, None, &version.content, ReceiptKind::Restored));
        Ok(self.done(&Digest::of(&version.content), receipt, text, version.which))
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
                    why: "somebody has mended it already, or it never was bad".to_owned(),
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
        write().map_err(|error| self.cannot(&format!("it cannot be written: {error}")))
    }

    fn content(&self) -> Result<Vec<u8>, Box<Left>> {
        match Before::read(&self.target.path) {
            Ok(Before { content: Some(content), .. }) => Ok(content),
            Ok(_) => Err(self.cannot("it does not exist")),
            Err(error) => Err(self.cannot(&format!("it cannot be read: {error}"))),
        }
    }

    fn keep(&self, content: &[u8]) {
        let _a_copy_more_or_less = self.chain.keep(content, Quality::Proven, self.context.clock.wall_ms());
    }

    fn done(&self, version: &Digest, receipt: Option<crate::store::Receipt>, text: String, which: &str) -> Done {
        let json = json!({"file": self.shown, "resource": self.target.resource.name.as_str(), "version": which,
                          "digest": version.as_str()});
        Done { receipt, json, text }
    }
}
