//! Our words as arguments of the functions.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde_json::{Value, json};

use crate::store::{
    Claim, Contents, Discharge, Ending, FileRecord, Forced, ForcedEnd, HistoryFilter, Holding, Live, Mode, Owner,
    Receipt, Request, Settlement, StoreError, Theft,
};
use crate::terms::{Digest, FencingToken, Resource, Scope};

use super::call::Call;

/// A span in milliseconds, never more than the functions take: a hundred years.
fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX).min(3_155_760_000_000)
}

fn resource(resource: &Resource) -> Value {
    json!({ "name": resource.name.as_str(), "scope": resource.scope.0 })
}

fn resources<'a>(all: impl IntoIterator<Item = &'a Resource>) -> Value {
    all.into_iter().map(resource).collect()
}

fn with_tokens(held: &[(Resource, FencingToken)]) -> Value {
    let one = |(it, token): &(Resource, FencingToken)| json!({ "name": it.name.as_str(), "scope": it.scope.0, "token": token.0 });
    held.iter().map(one).collect()
}

fn files(records: &[FileRecord]) -> Result<Value, StoreError> {
    serde_json::to_value(records).map_err(|_| StoreError::Failed("a record of files cannot be written".to_owned()))
}

fn receipts(all: &[Receipt]) -> Value {
    let receipt = |receipt: &Receipt| {
        json!({
            "scope": receipt.scope.0,
            "path": receipt.path,
            "resource": resource(&receipt.resource),
            "base": receipt.base.as_ref().map(Digest::as_str),
            "new": receipt.new.as_str(),
            "blob": receipt.blob,
            "branch": receipt.branch,
            "worktree": receipt.worktree,
            "kind": receipt.kind.as_str(),
        })
    };
    all.iter().map(receipt).collect()
}

/// Who asks, but for the process.
fn owner(call: Call, owner: &Owner) -> Call {
    call.uuid("session", Some(owner.session.whole()))
        .text("label", Some(&owner.label))
        .text("host", Some(&owner.host))
        .text("host_id", Some(&owner.host_id))
        .text("operation", Some(&owner.operation))
        .text("rule", owner.rule.as_deref())
}

/// The live file's numbers; the server's integers are signed, the bits are the same.
fn live(call: Call, live: Option<Live>) -> Call {
    call.number("live_device", live.map(|it| it.device.cast_signed()))
        .number("live_inode", live.map(|it| it.inode.cast_signed()))
}

pub(super) fn acquire(request: &Request) -> Result<Call, StoreError> {
    let claim = match request.claim {
        Claim::Command => "command",
        Claim::Explicit => "explicit",
        Claim::Restore => "restore",
        Claim::Steal => "steal",
    };
    let silence = match request.mode {
        Mode::Try => None,
        Mode::Wait { silence } => Some(ms(silence)),
    };
    let call = Call::new("acquire_v1")
        .uuid("grant_id", Some(request.grant.to_string()))
        .text("key", Some(&request.key.reveal()))
        .json("resources", &resources(&request.resources))
        .number("ttl_ms", Some(ms(request.ttl)))
        .number("first_ms", Some(ms(request.first_grant)))
        .text("claim", Some(claim))
        .number("silence_ms", silence)
        .number("pid", Some(i64::from(request.owner.pid)))
        .uuid("within_grant", request.within.map(|it| it.to_string()))
        .json("files", &files(&request.files)?)
        .flag("remote", request.remote);
    // A schema of before knows no such argument, and needs none where nobody asks.
    let call = if request.ask.is_empty() { call } else { call.json("ask", &resources(&request.ask)) };
    let call = if request.gone.is_empty() { call } else { call.grants("gone", &request.gone) };
    Ok(live(owner(call, &request.owner), request.live))
}

/// A call for who has the holding.
pub(super) fn held(function: &'static str, holding: &Holding) -> Call {
    let call = Call::new(function);
    match holding {
        Holding::Grant { grant, key, resources } => call
            .uuid("grant_id", Some(grant.to_string()))
            .text("key", Some(&key.reveal()))
            .json("resources", &with_tokens(resources)),
        Holding::Session { session, resources: all } => {
            call.uuid("session", Some(session.whole())).json("resources", &resources(all))
        }
        // Tokens beside a session: a keeper. A schema of before does not look at them.
        Holding::Kept { session, resources } => {
            call.uuid("session", Some(session.whole())).json("resources", &with_tokens(resources))
        }
    }
}

pub(super) fn record_files(holding: &Holding, records: &[FileRecord], left: &[Receipt]) -> Result<Call, StoreError> {
    Ok(held("record_files_v1", holding).json("files", &files(records)?).json("receipts", &receipts(left)))
}

pub(super) fn settle(holding: &Holding, settlement: &Settlement) -> Call {
    let call = held("settle_v1", holding).json("receipts", &receipts(&settlement.receipts));
    let call = match &settlement.ending {
        Ending::Release(ended) => call
            .text("ending", Some("release"))
            .text("ended_as", Some(ended.as_str()))
            .text("reason", settlement.note.as_deref()),
        Ending::Keep { reason, keep_for, takeable } => call
            .text("ending", Some("keep"))
            .text("reason", Some(reason))
            .number("keep_ms", Some(ms(*keep_for)))
            .flag("takeable", *takeable),
        Ending::Elsewhere { reason, keep_for } => {
            call.text("ending", Some("linger")).text("reason", Some(reason)).number("keep_ms", Some(ms(*keep_for)))
        }
        Ending::Linger { reason } => call.text("ending", Some("linger")).text("reason", Some(reason)),
        Ending::Quarantine { reason } => call.text("ending", Some("quarantine")).text("reason", Some(reason)),
    };
    if settlement.apart.is_empty() { call } else { call.json("apart", &settlement.apart.iter().map(apart).collect()) }
}

/// A resource that ends in another way than the rest.
fn apart((of, ending): &(Resource, Ending)) -> Value {
    let how = match ending {
        Ending::Release(ended) => json!({ "ending": "release", "ended_as": ended.as_str() }),
        Ending::Keep { reason, keep_for, takeable } => {
            json!({ "ending": "keep", "reason": reason, "keep_ms": ms(*keep_for), "takeable": takeable })
        }
        Ending::Elsewhere { reason, keep_for } => {
            json!({ "ending": "linger", "reason": reason, "keep_ms": ms(*keep_for) })
        }
        Ending::Linger { reason } => json!({ "ending": "linger", "reason": reason }),
        Ending::Quarantine { reason } => json!({ "ending": "quarantine", "reason": reason }),
    };
    named(of, how)
}

/// The words of an ending beside the resource that ends so.
fn named(of: &Resource, mut how: Value) -> Value {
    how["name"] = of.name.as_str().into();
    how["scope"] = of.scope.0.as_str().into();
    how
}

pub(super) fn revoke(of: &[Resource], theft: &Theft) -> Call {
    Call::new("revoke_v1")
        .json("resources", &of.iter().map(|resource| shown(resource, theft)).collect())
        .text("reason", Some(&theft.why()))
        .uuid("session", Some(theft.session.whole()))
        .text("label", Some(&theft.label))
        .flag("at_once", theft.at_once)
}

/// A resource, and where a person was shown who has it, under which token. A schema of before does not look at that.
fn shown(resource: &Resource, theft: &Theft) -> Value {
    let mut told = named(resource, json!({}));
    let shown = theft.shown.as_ref().and_then(|shown| shown.iter().find(|(it, _)| it == resource));
    if let Some((_, token)) = shown {
        told["shown"] = token.map(|token| token.0).into();
    }
    told
}

pub(super) fn forced(forced: &Forced) -> Result<Call, StoreError> {
    let call = Call::new("record_forced_v1")
        .uuid("grant_id", Some(forced.grant.to_string()))
        .json("resources", &resources(&forced.resources))
        .text("forced_because", Some(&forced.reason))
        .number("began_ms", Some(forced.began_at))
        .number("ended_ms", Some(forced.ended_at))
        .json("files", &files(&forced.files)?)
        .json("receipts", &receipts(&forced.receipts));
    let call = match &forced.end {
        ForcedEnd::Ended(ended) => call.text("ending", Some("ended")).text("ended_as", Some(ended.as_str())),
        ForcedEnd::Quarantine { reason } => call.text("ending", Some("quarantine")).text("reason", Some(reason)),
        ForcedEnd::Lingers { reason, lasts } => {
            call.text("ending", Some("lingers")).text("reason", Some(reason)).number("lasts_ms", Some(ms(*lasts)))
        }
        ForcedEnd::Unsettled => call.text("ending", Some("unsettled")),
    };
    let call = owner(call, &forced.owner);
    Ok(if forced.apart.is_empty() {
        call
    } else {
        call.json("apart", &forced.apart.iter().map(forced_apart).collect())
    })
}

fn forced_apart((of, end): &(Resource, ForcedEnd)) -> Value {
    let how = match end {
        ForcedEnd::Ended(ended) => json!({ "ending": "ended", "ended_as": ended.as_str() }),
        ForcedEnd::Quarantine { reason } => json!({ "ending": "quarantine", "reason": reason }),
        ForcedEnd::Lingers { reason, lasts } => {
            json!({ "ending": "lingers", "reason": reason, "lasts_ms": ms(*lasts) })
        }
        ForcedEnd::Unsettled => json!({ "ending": "unsettled" }),
    };
    named(of, how)
}

pub(super) fn leases(of: Option<&[Resource]>) -> Call {
    let call = Call::new("leases_v1");
    match of {
        Some(of) => call.json("resources", &resources(of)),
        None => call,
    }
}

pub(super) fn chains(scope: &Scope, paths: &[&str]) -> Call {
    Call::new("chains_v1").text("scope", Some(&scope.0)).json("paths", &paths.iter().copied().collect())
}

pub(super) fn receipts_of(scope: &Scope, contents: &Contents) -> Call {
    let digests = contents.digests.iter().map(Digest::as_str).collect();
    Call::new("receipts_of_v1")
        .text("scope", Some(&scope.0))
        .json("digests", &digests)
        .json("blobs", &contents.blobs.iter().map(String::as_str).collect())
}

pub(super) fn history(filter: &HistoryFilter) -> Call {
    Call::new("history_v1")
        .text("name", filter.name.as_deref())
        .number("since_ms", filter.since.map(ms))
        .count("most", filter.limit)
}

pub(super) fn discharge(of: &Resource, how: &Discharge) -> Call {
    Call::new("discharge_v1")
        .json("resources", &resources([of]))
        .text("ended_as", Some(how.ended.as_str()))
        .text("note", Some(&how.told()))
}
