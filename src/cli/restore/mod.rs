//! `locked restore`: brings a bad file back, or accepts the one that is there. Holds the lease meanwhile, keeps inode,
//! mode and links as sops does, looks at the result, and leaves a receipt. Works with the store down: then the file is
//! brought back, and the quarantine is ended later with `--accept`.
#![forbid(unsafe_code)]

mod accept;
mod affected;
mod back;
mod grant;
mod lease;
mod left;
mod version;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::canary::{self, Arbiter, Expect, Sample, Verdict};
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
use crate::store::{Ended, Ending};
use crate::terms::{Digest, shell_path};

use super::RunOptions;
use super::front::refuse;
use super::held::answer;
use super::verbs::Restore;
use lease::Hold;
use left::Left;

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
        let shown = shell_path(&verb.file);
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
        shown: shell_path(&verb.file),
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
        let json = json!({"file": self.verb.file.to_string_lossy(), "resource": self.target.resource.name.as_str(), "version": which,
                          "digest": version.as_str()});
        Done { receipt, json, text }
    }
}
