//! Is it the same hold still? What a session holds between its commands goes from row to row: a command of it adopts the
//! hold, under another token, and hands it back. (Pure.)
#![forbid(unsafe_code)]

use crate::store::PastLease;
use crate::terms::{FencingToken, Resource, SessionId};

/// Whether the lease that has this resource now, under the token `to`, is what the session held under `from`: every row
/// from that one on was adopted by the session. `past` are the ended rows, in any order; `since` is when the lease began.
pub(super) fn leads(
    past: &[PastLease],
    resource: &Resource,
    session: SessionId,
    (from, to): (FencingToken, FencingToken),
    since: i64,
) -> bool {
    let between = |lease: &&PastLease| lease.resource == *resource && (from.0..to.0).contains(&lease.token.0);
    let mut line: Vec<&PastLease> = past.iter().filter(between).collect();
    line.sort_by_key(|lease| (lease.token.0, lease.ended_at));
    // What a command below another inherited has the token of its row: the last word under a token counts.
    let last = |at: usize| line.get(at + 1).is_none_or(|next| next.token != line[at].token);
    let next_began = |at: usize| line.get(at + 1).map_or(since, |next| next.acquired_at);
    line.first().is_some_and(|first| first.token == from)
        && (0..line.len())
            .filter(|&at| last(at))
            .all(|at| line[at].session == session && line[at].was_adopted(next_began(at)))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::store::Ended;
    use crate::terms::{ResourceName, Scope};

    const OURS: SessionId = SessionId(Uuid::from_u128(1));
    const OTHERS: SessionId = SessionId(Uuid::from_u128(2));

    fn resource() -> Resource {
        Resource { name: ResourceName::of("server", b"a"), scope: Scope::global() }
    }

    fn past(token: i64, session: SessionId, ended_as: Ended, note: &str) -> PastLease {
        PastLease {
            resource: resource(),
            token: FencingToken(token),
            session,
            label: String::new(),
            host: String::new(),
            operation: String::new(),
            acquired_at: token,
            ended_at: token + 10,
            ended_as,
            note: Some(note.to_owned()).filter(|note| !note.is_empty()),
            receipt: None,
        }
    }

    #[test]
    fn only_adoptions_lead_from_hold_to_hold() {
        let adopted = |token| past(token, OURS, Ended::Completed, "ran sops set x; adopted by its session");
        let cut = "it exited with 1 …";
        let cases: [(&str, Vec<PastLease>, bool); 10] = [
            ("one command after the other", vec![adopted(30), adopted(10), adopted(20)], true),
            (
                "one that had failed",
                vec![adopted(10), past(30, OURS, Ended::Failed, "it failed; adopted by its session")],
                true,
            ),
            ("a long reason, and the next began then", vec![past(30, OURS, Ended::Failed, cut), adopted(10)], true),
            ("a long reason, and the next began later", vec![past(10, OURS, Ended::Failed, cut), adopted(30)], false),
            ("given back, and acquired anew", vec![past(10, OURS, Ended::Completed, "")], false),
            ("stolen and given back", vec![past(10, OURS, Ended::Stolen, "revoked by x: y"), adopted(20)], false),
            (
                "another's in between",
                vec![adopted(10), past(20, OTHERS, Ended::Completed, "adopted by its session")],
                false,
            ),
            ("run out and taken back", vec![past(10, OURS, Ended::Expired, "presumed crashed, reclaimed")], false),
            ("its row is not known any more", vec![adopted(20), adopted(30)], false),
            ("nothing is known", Vec::new(), false),
        ];
        for (what, rows, expected) in cases {
            let led = leads(&rows, &resource(), OURS, (FencingToken(10), FencingToken(40)), 40);
            assert_eq!(led, expected, "{what}");
        }
        let inherited = [past(10, OTHERS, Ended::Failed, "a command below it goes on with the lease"), adopted(10)];
        assert!(leads(&inherited, &resource(), OURS, (FencingToken(10), FencingToken(40)), 40), "the last word counts");
    }
}
