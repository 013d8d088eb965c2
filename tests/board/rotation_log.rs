//! The same of the old rotation log: its rows are the duties and leases of `locked`, whichever side opens or closes them.
#![forbid(unsafe_code)]

use locked::store::{Discharge, Ended, Ending, HistoryFilter, Release, Settlement, Store as _};

use crate::store::cast::{LIMIT, actor, busy, release, take};

use super::compat::Old;

fn open(old: &Old, secret: &str) -> Result<String, String> {
    let text = format!(
        "insert into @dev_r_rotation_log (repo, secret_name, status) values ('infra', '{secret}', 'pending') returning id"
    );
    old.sql(&text).map(|rows| rows[0][0].clone())
}

#[test]
fn the_rotation_log_is_the_same_lock() {
    let (old, bob) = (Old::new(), actor("bob"));
    let mut store = old.store();
    let mut rotation = bob.asks(&["a"]);
    rotation.resources[0].name = locked::terms::ResourceName::of("rotation", b"DB_URL");
    let first = open(&old, "DB_URL").expect("free");
    assert!(open(&old, "DB_URL").is_err_and(|it| it.starts_with("23505 rotation:DB_URL is held by ")));
    open(&old, "OTHER").expect("another secret");
    let (blockers, _) = busy(&mut store, &rotation);
    assert_eq!((blockers[0].lease.label.as_str(), blockers[0].lease.host.as_str()), ("infra", "rotation-log"));
    // Of two who reclaim a crashed one, one does.
    let reclaim = format!(
        "update @dev_r_rotation_log set status = 'failed', error_message = 'presumed crashed' where id = {first} and status = 'pending'"
    );
    let both = std::thread::scope(|threads| {
        [(); 2]
            .map(|()| threads.spawn(|| old.rows(&reclaim, "1")))
            .map(|it| it.join().expect("no panic"))
            .iter()
            .sum::<usize>()
    });
    assert_eq!(both, 1);
    let row = format!("select repo, secret_name, status, error_message from @dev_r_rotation_log where id = {first}");
    assert_eq!(old.sql(&row), Ok(vec![["infra", "DB_URL", "failed", "presumed crashed"].map(str::to_owned).into()]));
    let held = take(&mut store, &rotation);
    assert!(open(&old, "DB_URL").is_err_and(|it| it.contains("held by") && it.starts_with("23505")));
    let close =
        "update @dev_r_rotation_log set status = 'completed' where status = 'pending' and secret_name = 'DB_URL'";
    assert!(
        old.sql(close).is_err_and(|it| it.starts_with("42501 rotation:DB_URL is held by ")),
        "not closed from here"
    );
    release(&mut store, &held);
    for status in ["completed", "human-action"] {
        let id = open(&old, "DB_URL").expect("free");
        assert_eq!(old.rows(&format!("update @dev_r_rotation_log set status = '{status}' where id = {id}"), "1"), 1);
        assert_eq!(
            old.sql(&format!("select status from @dev_r_rotation_log where id = {id}")),
            Ok(vec![vec![status.to_owned()]])
        );
    }
    for (wrong, code) in [
        ("delete from @dev_r_rotation_log", "42501"),
        ("insert into @dev_r_rotation_log (repo, secret_name, status) values ('infra', 'X', 'completed')", "0A000"),
        ("insert into @dev_r_rotation_log (repo, secret_name) values ('infra', 'A B')", "22023"),
    ] {
        assert!(old.sql(wrong).is_err_and(|it| it.starts_with(code)), "{wrong}: {:?}", old.sql(wrong));
    }
}

/// Every change of a status that the old helper may make, and the row as the view and the ledger show it then.
#[test]
fn every_transition_of_the_old_log_is_made_or_told_why_not() {
    let old = Old::new();
    let set = |id: &str, status: &str, said: &str| {
        old.sql(&format!(
            "update @dev_r_rotation_log set status = '{status}', error_message = {said} where id = {id} returning status"
        ))
        .map(|rows| rows.len())
    };
    let row = |id: &str| {
        let text = format!("select status, coalesce(error_message, '-') from @dev_r_rotation_log where id = {id}");
        old.sql(&text).expect("seen").remove(0)
    };
    for (number, (from, to, changes, becomes, message)) in [
        ("pending", "pending", Ok(1), "pending", "said"),
        ("pending", "completed", Ok(1), "completed", "said"),
        ("pending", "failed", Ok(1), "failed", "said"),
        ("pending", "human-action", Ok(1), "human-action", "said"),
        ("pending", "done", Err("22023"), "pending", "left"),
        ("human-action", "completed", Ok(1), "completed", "left; done through the rotation log: said"),
        ("human-action", "failed", Ok(1), "failed", "left; given up through the rotation log: said"),
        ("human-action", "human-action", Ok(1), "human-action", "left; said"),
        ("human-action", "pending", Err("0A000"), "human-action", "left"),
        ("human-action", "done", Err("22023"), "human-action", "left"),
        // History stays as it is, as for the guarded update of a helper that came second.
        ("completed", "failed", Ok(0), "completed", "left"),
        ("failed", "completed", Ok(0), "failed", "left"),
        ("failed", "human-action", Ok(0), "failed", "left"),
        ("failed", "pending", Ok(0), "failed", "left"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = open(&old, &format!("KEY_{number}")).expect("free");
        assert_eq!(set(&id, from, "'left'"), Ok(1), "{from}");
        let done = set(&id, to, "'said'");
        match changes {
            Ok(rows) => assert_eq!(done, Ok(rows), "{from} to {to}"),
            Err(code) => assert!(done.as_ref().is_err_and(|it| it.starts_with(code)), "{from} to {to}: {done:?}"),
        }
        assert_eq!(row(&id), [becomes, message], "{from} to {to}");
        // What is pending holds the slot, and nothing else does.
        assert_eq!(open(&old, &format!("KEY_{number}")).is_err(), becomes == "pending", "{from} to {to}");
    }
    // A word that is the same, or none, adds nothing.
    let id = open(&old, "SAME").expect("free");
    assert_eq!(set(&id, "human-action", "'left'"), Ok(1));
    let close =
        format!("update @dev_r_rotation_log set status = 'completed' where id = {id} and status = 'human-action'");
    let both = std::thread::scope(|threads| {
        [(); 2]
            .map(|()| threads.spawn(|| old.rows(&close, "1")))
            .map(|it| it.join().expect("no panic"))
            .iter()
            .sum::<usize>()
    });
    assert_eq!(both, 1, "of two who close it one does");
    assert_eq!(row(&id), ["completed", "left; done through the rotation log"]);
    assert!(
        old.as_user("looker", &close).is_err_and(|it| it.starts_with("42501")),
        "who may look alone closes nothing"
    );
}

/// Left by one of the two, closed by the other.
#[test]
fn a_duty_is_seen_and_closed_from_either_side() {
    let (old, bob) = (Old::new(), actor("bob"));
    let mut store = old.store();
    let mut rotation = bob.asks(&["a"]);
    rotation.resources[0].name = locked::terms::ResourceName::of("rotation", b"DB_URL");
    let resource = rotation.resources[0].clone();
    let held = take(&mut store, &rotation);
    let left = Settlement::whole(Ending::Release(Ended::HumanAction), Vec::new()).noting(Some("revoke it".to_owned()));
    assert_eq!(store.settle(&held, &left, LIMIT).expect("answer"), Release::Released);
    let close =
        "update @dev_r_rotation_log set status = 'completed' where secret_name = 'DB_URL' and status = 'human-action'";
    assert_eq!(old.rows(close, "1"), 1);
    assert!(store.duties(LIMIT).expect("answer").is_empty());
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer").remove(0);
    assert_eq!(
        (past.ended_as, past.note.as_deref()),
        (Ended::Completed, Some("revoke it; done through the rotation log"))
    );
    let id = open(&old, "DB_URL").expect("free");
    let leave =
        format!("update @dev_r_rotation_log set status = 'human-action', error_message = 'revoke' where id = {id}");
    assert_eq!(old.rows(&leave, "1"), 1);
    assert_eq!(store.duties(LIMIT).expect("answer").remove(0).note.as_deref(), Some("revoke"));
    let how = Discharge { session: bob.session, label: "bob@ws".to_owned(), ended: Ended::Failed, note: None };
    assert_eq!(store.discharge(&resource, &how, LIMIT).expect("answer"), 1);
    let shown = old.sql(&format!("select status, error_message from @dev_r_rotation_log where id = {id}"));
    assert!(shown.expect("seen")[0].concat().starts_with("failedrevoke; given up by "), "as the ledger says");
}
