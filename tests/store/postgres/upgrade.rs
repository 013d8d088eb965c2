//! A later version of the schema, before there is one.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use locked::store::{Difference, Initialised, PostgresStore, Renewal, Schema, Store as _, StoreError, With};
use tokio_postgres::NoTls;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, release, take};

/// A step as a later program may bring it: it rewrites the tables that everybody uses.
const LATER: &str = "
alter table @schema@.leases add column colour text not null default md5(random()::text);
alter table @schema@.resources add column colour text;
create table @schema@.colours (name text primary key);
";

fn admin(lab: &Lab, schema: Schema) -> PostgresStore {
    PostgresStore::new(lab.cluster().config("postgres"), Box::new(With(NoTls)), schema)
}

#[test]
fn an_upgrade_under_heartbeats_costs_nobody_a_lease_and_programs_of_before_go_on() {
    let lab = Lab::running(Way::Client);
    let (over, beats) = (AtomicBool::new(false), AtomicU32::new(0));
    let later = lab.schema().clone().and_later(LATER);
    let mut of_before = admin(&lab, lab.schema().clone());
    let mut of_after = admin(&lab, later);
    let today = Schema::default().version();
    assert_eq!(of_after.check(LIMIT).expect("compared"), [Difference::Version(today)]);
    std::thread::scope(|threads| {
        let holders: Vec<_> = (0..4)
            .map(|number| {
                let (lab, over, beats) = (&lab, &over, &beats);
                threads.spawn(move || {
                    let (mut kept, holder) = (lab.contender(), actor("holder"));
                    let held = take(&mut kept, &holder.asks(&[&format!("r{number}"), &format!("s{number}")]));
                    let mut after = 0;
                    while after < 3 {
                        after += u32::from(over.load(Ordering::SeqCst));
                        let beat = kept.renew(&held, LIMIT).expect("the store answers");
                        assert!(matches!(beat, Renewal::Renewed(_)), "{beat:?}");
                        beats.fetch_add(1, Ordering::SeqCst);
                        // Short commands of the same program meanwhile, over the connection that was there before.
                        let short = take(&mut kept, &holder.asks(&[&format!("t{number}")]));
                        release(&mut kept, &short);
                    }
                    release(&mut kept, &held);
                })
            })
            .collect();
        while beats.load(Ordering::SeqCst) < 8 && !holders.iter().any(|it| it.is_finished()) {
            std::thread::yield_now();
        }
        let applied = of_after.init(LIMIT);
        over.store(true, Ordering::SeqCst);
        assert_eq!(applied.expect("upgraded"), Initialised::Applied);
        for holder in holders {
            holder.join().expect("nobody lost a lease");
        }
    });
    assert_eq!(of_after.init(LIMIT).expect("again"), Initialised::Unchanged);
    assert_eq!(of_after.check(LIMIT).expect("compared"), []);
    assert!(
        matches!(of_before.init(LIMIT), Err(StoreError::Newer { found, .. }) if found == today + 1),
        "nobody goes back"
    );
    let live = format!("select count(*) from {}.leases where ended_at is null", lab.schema());
    assert_eq!(lab.cluster().sql(&live), [["0"]]);
}
