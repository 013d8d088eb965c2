//! What the store is asked about versions of files: whether they have a receipt, and what is in this session's hands. It is
//! opened when there is a question, and not before.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use crate::audit::{Chains, Known, Wanted, Written};
use crate::config::{Address, StoreSetting};
use crate::exit;
use crate::git::Repository;
use crate::naming::{self, Local, Namer, NamingError, Tracked};
use crate::report::{self, Refusal};
use crate::run::{self, Context, env_of};
use crate::state::StateDir;
use crate::store::{Contents, HistoryFilter, LeaseState, LeaseView, MOST_CONTENTS, Store, StoreError, StoredReceipt};
use crate::terms::{Digest, Resource, ResourceName, Scope, SessionId};

use super::check::inherited;
use super::world::CALL;
use super::zoned::Spell;

/// How long after its end a lease on a zone still covers the commit of what was done under it.
pub(super) const COVERS: Duration = Duration::from_secs(24 * 60 * 60);

/// So many leases of a zone are looked at, the last ones: what lies before them nobody judges.
const MOST_SPELLS: u32 = 10_000;

/// A question that could not be put: what to say, and the exit status.
pub(super) type Unasked = (Refusal, i32);

/// The store of a repository, as far as versions are concerned.
pub(super) struct Ledger<'a> {
    context: &'a Context,
    store: Box<dyn Store>,
    scope: Scope,
    root: Option<PathBuf>,
    session: Option<SessionId>,
}

/// Which store the settings name here.
pub(super) fn setting(context: &Context) -> Result<StoreSetting, Unasked> {
    run::store_here(context).map_err(|wrong| wrong.refusal())
}

/// Whether nobody named a store: then each machine has its own.
pub(super) fn is_own(setting: &StoreSetting) -> bool {
    setting.address == Address::Embedded
}

/// The scope of the repository whose working tree this is; none without one.
pub(super) fn scope(context: &Context, root: Option<&PathBuf>) -> Result<Option<Scope>, Unasked> {
    scope_of(context, root, Local::Peek)
}

/// The same; a repository without a remote is given an identity that lasts.
pub(super) fn lasting_scope(context: &Context, root: Option<&PathBuf>) -> Result<Option<Scope>, Unasked> {
    scope_of(context, root, Local::Make)
}

fn scope_of(context: &Context, root: Option<&PathBuf>, local: Local) -> Result<Option<Scope>, Unasked> {
    let Some(root) = root else { return Ok(None) };
    let refused = |error: &NamingError| {
        let words = if matches!(error, NamingError::Settings { .. }) { report::misconfigured } else { report::misuse };
        (words(&error.to_string(), error.remedy()), exit::CONFIG)
    };
    let there = Repository::around(root).map_err(|error| refused(&error.into()))?;
    let env = env_of(context);
    let said = run::said_scope(context);
    let mut namer = Namer::new(local, &env).heeding(&said);
    let scope = there.map(|_| namer.scope_of_directory(root));
    scope.transpose().map_err(|error| refused(&error))
}

impl<'a> Ledger<'a> {
    /// Opens it. `session`: who is asked about as "this session"; a caller that none can be told of holds nothing.
    pub(super) fn open(
        context: &'a Context,
        setting: &StoreSetting,
        scope: Scope,
        root: Option<PathBuf>,
        session: Option<SessionId>,
    ) -> Result<Self, Unasked> {
        let settings = run::settings_here(context).ok();
        let session = session.or_else(|| Some(run::session(context, None, settings.as_ref()?).ok()?.id));
        let opened = StateDir::open(&env_of(context)).and_then(|state| run::open_store(context, &state, setting));
        let store = opened.map_err(|error| (report::store_down(&error), run::status_of(&error)))?;
        Ok(Self { context, store, scope, root, session })
    }

    /// Which of these contents have a receipt, in this scope or one that the repository had before.
    pub(super) fn known(&mut self, wanted: &[Wanted]) -> Result<Known, StoreError> {
        let mut known = Known::default();
        let former = self.former();
        for some in wanted.chunks(MOST_CONTENTS / 2) {
            let digests: BTreeSet<&String> = some.iter().filter_map(|wanted| wanted.digest.as_ref()).collect();
            let blobs: BTreeSet<&String> = some.iter().map(|wanted| &wanted.blob).collect();
            let contents = Contents {
                digests: digests.into_iter().cloned().map(Digest::from).collect(),
                blobs: blobs.into_iter().cloned().collect(),
            };
            for scope in [&self.scope].into_iter().chain(&former) {
                for receipt in self.store.receipts_of(scope, &contents, CALL)? {
                    known.digests.insert(receipt.new.as_str().to_owned());
                    known.blobs.extend(receipt.blob);
                }
            }
        }
        Ok(known)
    }

    /// The other scopes that this repository has had.
    fn former(&self) -> Vec<Scope> {
        let repository = self.root.as_deref().and_then(|root| Repository::around(root).ok().flatten());
        let mut former = repository.as_ref().map(naming::former_scopes).unwrap_or_default();
        former.retain(|scope| *scope != self.scope);
        former
    }

    /// The chains of these paths.
    pub(super) fn chains<'w>(&mut self, wanted: impl Iterator<Item = &'w Wanted>) -> Result<Chains, StoreError> {
        let paths: BTreeSet<&Vec<u8>> = wanted.map(|wanted| &wanted.path).collect();
        let keys: Vec<String> = paths.iter().map(|path| self.tracked(path).key).collect();
        // Two spellings may be one file.
        let asked: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        let asked: Vec<&str> = asked.into_iter().collect();
        let mut chains: HashMap<String, Vec<Written>> = HashMap::new();
        for receipt in self.store.chains(&self.scope, &asked, CALL)? {
            chains.entry(receipt.path.clone()).or_default().push(written(receipt));
        }
        let chain = |key: &String| chains.get(key).cloned().unwrap_or_default();
        Ok(paths.into_iter().cloned().zip(keys.iter().map(chain)).collect())
    }

    /// The names of a tracked file.
    pub(super) fn tracked(&self, path: &[u8]) -> Tracked {
        naming::tracked(&self.scope, self.root.as_deref(), path)
    }

    /// The resource of a zone.
    pub(super) fn zone(&self, name: ResourceName) -> Resource {
        Resource { name, scope: self.scope.clone() }
    }

    /// Which of these this session holds now: by itself, or as what runs below a `locked`.
    pub(super) fn held(&mut self, resources: &[Resource]) -> Result<BTreeSet<Resource>, StoreError> {
        if resources.is_empty() {
            return Ok(BTreeSet::new());
        }
        let inherited = inherited(self.context);
        let ours = |lease: &LeaseView| {
            let good = matches!(lease.state, LeaseState::Held | LeaseState::Kept);
            let by_token =
                || inherited.iter().any(|(name, token)| *name == lease.resource.name.as_str() && *token == lease.token);
            good && (Some(lease.session) == self.session || by_token())
        };
        let live = self.store.leases(Some(resources), CALL)?;
        Ok(live.into_iter().filter(ours).map(|lease| lease.resource).collect())
    }

    /// Which of these anybody holds, or has left behind.
    pub(super) fn taken(&mut self, resources: &[Resource]) -> Result<BTreeSet<Resource>, StoreError> {
        if resources.is_empty() {
            return Ok(BTreeSet::new());
        }
        Ok(self.store.leases(Some(resources), CALL)?.into_iter().map(|lease| lease.resource).collect())
    }

    /// The store itself.
    pub(super) fn store(&mut self) -> &mut dyn Store {
        self.store.as_mut()
    }

    /// Who is asked about as "this session".
    pub(super) fn session(&self) -> Option<SessionId> {
        self.session
    }

    /// From when to when anybody has held it, as far back as the ledger goes.
    pub(super) fn spells(&mut self, resource: &Resource) -> Result<Vec<Spell>, StoreError> {
        let live = self.store.leases(Some(std::slice::from_ref(resource)), CALL)?;
        let filter = HistoryFilter { name: Some(resource.name.to_string()), since: None, limit: Some(MOST_SPELLS) };
        let past = self.store.history(&filter, CALL)?.into_iter().filter(|lease| lease.resource == *resource);
        let live = live.into_iter().map(|lease| (lease.acquired_at, None));
        Ok(live.chain(past.map(|lease| (lease.acquired_at, Some(lease.ended_at)))).collect())
    }

    /// Whether this session has held it not long ago.
    pub(super) fn has_held(&mut self, resource: &Resource) -> Result<bool, StoreError> {
        let Some(session) = self.session else { return Ok(false) };
        let filter = HistoryFilter { name: Some(resource.name.to_string()), since: Some(COVERS), limit: Some(200) };
        let past = self.store.history(&filter, CALL)?;
        Ok(past.iter().any(|lease| lease.resource == *resource && lease.session == session))
    }
}

fn written(receipt: StoredReceipt) -> Written {
    Written {
        base: receipt.base.map(|base| base.as_str().to_owned()),
        new: receipt.new.as_str().to_owned(),
        blob: receipt.blob,
        token: receipt.token.0,
        at: receipt.at,
    }
}
