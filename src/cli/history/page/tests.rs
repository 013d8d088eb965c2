use uuid::Uuid;

use super::super::lanes::Lanes;
use super::super::timeline::timeline;
use super::*;
use crate::store::{Ended, PastLease};
use crate::terms::{FencingToken, Resource, ResourceName, Scope, SessionId};

fn lease(name: &str, session: u128, from: i64, to: i64, ended_as: Ended) -> PastLease {
    PastLease {
        resource: Resource {
            name: ResourceName::of("sops", name.as_bytes()),
            scope: Scope("example.org/a".to_owned()),
        },
        token: FencingToken(1),
        session: SessionId(Uuid::from_u128(session << 96)),
        label: "claude@ws-1".to_owned(),
        host: "ws-1".to_owned(),
        operation: "sops set".to_owned(),
        acquired_at: from,
        ended_at: to,
        ended_as,
        note: None,
        receipt: None,
    }
}

#[test]
fn a_timeline_reads_without_colour() {
    let past = [
        lease("a", 1, 0, 50_000, Ended::Completed),
        lease("a", 2, 60_000, 100_000, Ended::Stolen),
        lease("b", 1, 20_000, 30_000, Ended::Failed),
    ];
    let lanes = Lanes::of(&past, &[], 100_000).expect("leases");
    let text = timeline(&lanes, 28);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[2], "sops:a  AAAAAAAAAA. BBBBBBB!");
    assert_eq!(lines[3], "sops:b      AAx");
    assert_eq!(lines[5], "A 00000001 (claude@ws-1), 2 leases");
    assert!(lines.last().is_some_and(|line| line.contains("! stolen")), "{text}");
    assert!(Lanes::of(&[], &[], 0).is_none());
}

#[test]
fn leases_in_one_place_are_several_and_none_is_lost() {
    let past = [
        lease("a", 1, 0, 1, Ended::Completed),
        lease("a", 2, 1, 2, Ended::Completed),
        lease("b", 3, 0, 100_000, Ended::Expired),
    ];
    let lanes = Lanes::of(&past, &[], 0).expect("leases");
    assert!(timeline(&lanes, 60).contains("sops:a  #"), "{}", timeline(&lanes, 60));
    assert_eq!((0..3).map(|holder| lanes.count(holder)).sum::<usize>(), 3);
}

/// Whoever may write to the store must not be able to write into the page.
#[test]
fn nothing_that_a_holder_says_is_markup() {
    let evil = "</title></svg><script>alert(1)</script>\" onload='x' &lt;";
    let mut hostile = lease("a", 1, 0, 90_000, Ended::Failed);
    (hostile.label, hostile.operation, hostile.note) = (evil.to_owned(), evil.to_owned(), Some(evil.to_owned()));
    hostile.resource.scope = Scope(evil.to_owned());
    hostile.resource.name = ResourceName::of("sops", evil.as_bytes());
    let twin = PastLease {
        resource: Resource { scope: Scope("other".to_owned()), ..hostile.resource.clone() },
        ..hostile.clone()
    };
    let page = page(Lanes::of(&[hostile, twin], &[], 0).as_ref(), 0);
    assert!(!page.contains("<script") && !page.contains("</title></svg>") && !page.contains("onload='"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("&amp;lt;"), "{page}");
    for outside in ["src=", "href=", "@import", "http://", "https://"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for (open, close) in [("<svg", "</svg>"), ("<g", "</g>"), ("<tr", "</tr>"), ("<title", "</title>")] {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
}
