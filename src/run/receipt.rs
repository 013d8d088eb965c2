//! Receipts: the record of a proven write.
#![forbid(unsafe_code)]

use crate::canary::Verdict;
use crate::naming::Target;
use crate::plan::PlannedFile;
use crate::settle::Finding;
use crate::store::{Receipt, ReceiptKind};
use crate::terms::Digest;

use super::{Before, Context, witness};

/// The receipt of a file that changed and is not bad. None when it is unchanged, bad, plaintext or gone.
#[must_use]
pub(super) fn receipt(context: &Context, file: &PlannedFile, before: &Before, finding: &Finding) -> Option<Receipt> {
    let kind = match finding.verdict.as_ref()? {
        Verdict::Sound => ReceiptKind::Proven,
        Verdict::Unverified(_) => ReceiptKind::Unverified,
        Verdict::OpenEdit | Verdict::Bad(_) => return None,
    };
    let content = Before::read(&file.target.path).ok()?.content?;
    Some(of(context, &file.target, before.version(), &content, kind))
}

/// The receipt for this content.
#[must_use]
pub fn of(context: &Context, target: &Target, base: Option<Digest>, content: &[u8], kind: ReceiptKind) -> Receipt {
    let repository = target.repository.as_ref();
    let env = |name: &str| context.invocation.var(name);
    let new = Digest::of(content);
    if let Some(repository) = repository {
        witness::note(repository, &new);
    }
    Receipt {
        scope: target.scope().clone(),
        path: target.key.clone(),
        resource: target.resource.clone(),
        base,
        new,
        // What git cannot tell is left out: a receipt without it still proves the write.
        blob: repository.and_then(|repository| repository.stored_as(&target.path, content, &env).ok()),
        branch: repository.and_then(|repository| repository.branch(&env).ok().flatten()),
        worktree: repository.map(|repository| repository.worktree_root.display().to_string()),
        kind,
    }
}
