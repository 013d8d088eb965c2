//! What HEAD has when the hooks are put there gets receipts: from then on every version has one. A file whose chain has
//! begun already is left alone: others know newer versions of it, and HEAD's would pass for the newest.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashSet};

use crate::audit::{self, Audited, Door, Wanted};
use crate::exit;
use crate::git::Repository;
use crate::report::{self, Refusal};
use crate::run::{self, Context, InPerson, env_of};
use crate::state::StateDir;
use crate::store::{
    Acquisition, Claim, Ended, Ending, Holding, Receipt, ReceiptKind, Release, Request, Settlement, StoreError,
};
use crate::terms::{Digest, LeaseKey, Resource, SessionId, Times};

use super::no_git;
use crate::cli::RunOptions;
use crate::cli::ledger::{self, Ledger, Unasked};
use crate::cli::world::CALL;

/// So many files are held by one lease: what a store does for each of a grant grows with how many there are.
const AT_ONCE: usize = 100;

/// What came of it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Adopted {
    /// So many versions have a receipt now that had none.
    pub(super) adopted: usize,
    /// So many files are held by somebody just now.
    pub(super) busy: usize,
    /// So many are not as they must be.
    pub(super) bad: usize,
}

/// One file of HEAD, with its names.
struct File<'a> {
    wanted: &'a Wanted,
    resource: Resource,
    key: String,
}

/// Writes the receipts.
pub(super) fn adopt(context: &Context, options: &RunOptions) -> Result<Adopted, Unasked> {
    let door = Door::at(&context.invocation.cwd, &run::env_of(context));
    let git = |error| no_git(&error);
    let Some(head) = door.commit("HEAD").map_err(git)? else { return Ok(Adopted::default()) };
    let Audited { mut wanted, findings, .. } = audit::tree(&door, &head).map_err(git)?;
    // What nobody can decrypt gets no receipt, which would say that it was proven.
    let merged: HashSet<String> =
        audit::resealed(&door, &wanted).map_err(git)?.into_iter().filter_map(|finding| finding.blob).collect();
    wanted.retain(|wanted| !merged.contains(&wanted.blob));
    let mut adopted = Adopted { bad: findings.len() + merged.len(), ..Adopted::default() };
    let root = door.root().map_err(git)?;
    if wanted.is_empty() {
        return Ok(adopted);
    }
    let setting = ledger::setting(context)?;
    let Some(scope) = ledger::lasting_scope(context, root.as_ref())?.filter(|_| !setting.advisory) else {
        return Ok(adopted);
    };
    let mut ledger = Ledger::open(context, &setting, scope, root.clone(), options.session.map(SessionId))?;
    let down = |error: StoreError| (report::store_down(&error), run::status_of(&error));
    let missing = audit::unlocked(&wanted, &ledger.known(&wanted).map_err(down)?);
    let chains = ledger.chains(missing.iter()).map_err(down)?;
    let begins = missing.iter().filter(|wanted| chains.get(&wanted.path).is_none_or(Vec::is_empty));
    let files: Vec<File<'_>> = begins
        .filter(|wanted| wanted.digest.is_some())
        .map(|wanted| {
            let names = ledger.tracked(&wanted.path);
            File { wanted, resource: names.resource, key: names.key }
        })
        .collect();
    let resources: Vec<Resource> =
        files.iter().map(|file| file.resource.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    let taken = ledger.taken(&resources).map_err(down)?;
    let (busy, free): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| taken.contains(&file.resource));
    adopted.busy = busy.len();
    for some in free.chunks(AT_ONCE) {
        let written = write(context, &mut ledger, root.as_deref(), some)?;
        *(if written { &mut adopted.adopted } else { &mut adopted.busy }) += some.len();
    }
    Ok(adopted)
}

/// Under one lease over all of these. False when somebody was faster.
fn write(
    context: &Context,
    ledger: &mut Ledger<'_>,
    root: Option<&std::path::Path>,
    files: &[File<'_>],
) -> Result<bool, Unasked> {
    let down = |error: StoreError| (report::store_down(&error), run::status_of(&error));
    let internal = || (report::misuse("no lease can be asked for", "locked hooks install"), exit::INTERNAL);
    let state = StateDir::open(&env_of(context)).map_err(down)?;
    let settings = run::settings_here(context).map_err(|_| internal())?;
    let session = run::session(context, ledger.session(), &settings).map_err(|refusal| (refusal, exit::USAGE))?;
    let resources: BTreeSet<Resource> = files.iter().map(|file| file.resource.clone()).collect();
    let times = Times::new(None, None, None, None).map_err(|_| internal())?;
    let key = LeaseKey::random().map_err(|_| internal())?;
    let owner = run::owner(context, &state, &session, "locked hooks install".to_owned(), None);
    let resources = resources.into_iter().collect();
    let mut request = Request::without_a_command(key, owner, Claim::Command, resources, &times, run::within(context));
    let in_person = InPerson::stands_for(context, &state, &mut request);
    let Acquisition::Granted(granted) = ledger.store().acquire(&request, CALL).map_err(down)? else {
        in_person.is_over();
        return Ok(false);
    };
    report::say_words(&granted.words, ledger.store(), session.id);
    let holding = Holding::Grant { grant: request.grant, key: request.key.clone(), resources: granted.tokens };
    let repository = root.and_then(|root| Repository::around(root).ok().flatten());
    let branch = repository.as_ref().and_then(|repository| repository.branch(&env_of(context)).ok().flatten());
    let receipts = files.iter().filter_map(|file| receipt(branch.as_ref(), root, file)).collect();
    let settlement = Settlement::whole(Ending::Release(Ended::Completed), receipts);
    let release = ledger.store().settle(&holding, &settlement, CALL).map_err(down)?;
    in_person.is_over();
    Ok(release == Release::Released)
}

fn receipt(branch: Option<&String>, root: Option<&std::path::Path>, file: &File<'_>) -> Option<Receipt> {
    Some(Receipt {
        scope: file.resource.scope.clone(),
        path: file.key.clone(),
        resource: file.resource.clone(),
        base: None,
        new: Digest::from(file.wanted.digest.clone()?),
        blob: Some(file.wanted.blob.clone()),
        branch: branch.cloned(),
        worktree: root.map(|root| root.display().to_string()),
        kind: ReceiptKind::Adopted,
    })
}

impl Adopted {
    /// What is worth a line; nothing when there was nothing to do.
    pub(super) fn told(self) -> Vec<String> {
        let mut lines = Vec::new();
        let files = |count: usize| {
            if count == 1 { "1 SOPS file of HEAD".to_owned() } else { format!("{count} SOPS files of HEAD") }
        };
        if self.adopted > 0 {
            lines.push(format!("{} got a receipt", files(self.adopted)));
        }
        if self.busy > 0 {
            lines.push(format!(
                "locked: {} is held by somebody and got no receipt; locked hooks install again later",
                files(self.busy)
            ));
        }
        if self.bad > 0 {
            lines.push(format!("locked: {} is not as it must be; locked audit", files(self.bad)));
        }
        lines
    }
}

/// The store does not answer: the hooks are there all the same.
pub(super) fn not_now(refusal: &Refusal) -> String {
    format!(
        "locked: what HEAD has got no receipts ({}); the hooks work, run locked hooks install again later",
        refusal.what
    )
}
