//! What a server says of itself: role, clock, replication, and who could read along. Pure: numbers in, findings out.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::report::rough_span;
use crate::store::{Condition, Exposure};

use super::Finding;

/// So far apart clocks may be. Expiry is the store's own matter; what suffers is what people compare by hand.
const APART: u64 = 10_000;

/// More rights than a client needs.
pub(super) fn of_role(condition: &Condition) -> Option<Finding> {
    let role = &condition.role;
    let (id, what) = match (condition.superuser, condition.owner) {
        (true, _) => ("store.superuser", format!("the role {role} is a superuser of the server")),
        (false, true) => ("store.owner", format!("the role {role} may act as locked_owner")),
        (false, false) => return of_writes(condition),
    };
    Some(
        Finding::warn(id, what)
            .because(
                "with its rights the ledger itself can be rewritten; a client needs none but to call the functions",
            )
            .remedy("use a role of its own: `create role NAME login in role locked_client`"),
    )
}

/// Rights on the tables themselves, whoever gave them: to the role, to a role that it is in, to everybody.
fn of_writes(condition: &Condition) -> Option<Finding> {
    let (role, tables) = (&condition.role, condition.writes.as_ref()?);
    Some(
        Finding::warn("store.writes", format!("the role {role} may write tables of the ledger past its functions: {tables}"))
            .because("a lease can be ended, or made, that nobody released or was granted")
            .remedy(format!(
                "`locked store init` takes back what was granted; a role that may write all tables (pg_write_all_data) is taken \
                 from {role} with `revoke`"
            )),
    )
}

/// The clocks of the server and of this machine, looked at between two moments of ours.
pub(super) fn of_clock(server: i64, before: i64, after: i64) -> Option<Finding> {
    let (way, apart) = if server < before {
        ("behind", before.abs_diff(server))
    } else if server > after {
        ("ahead of", server.abs_diff(after))
    } else {
        return None;
    };
    (apart > APART).then(|| {
        let span = rough_span(Duration::from_millis(apart));
        Finding::warn("store.clock", format!("the server's clock is {span} {way} this machine's"))
            .because("leases expire by the server's clock alone; but the times shown are wrong, and so may tokens be after a fail-over")
            .remedy("timedatectl set-ntp true")
    })
}

/// What a crash or a fail-over would cost.
pub(super) fn of_replication(condition: &Condition) -> Vec<Finding> {
    let mut found = Vec::new();
    if condition.synchronous_commit == "off" {
        let what = format!("commits of the role {} do not wait for the server's disk", condition.role);
        found.push(
            Finding::warn("store.asynchronous", what)
                .because("a crash of the server forgets the last grants, and grants them again")
                .remedy(format!("say `alter role {} set synchronous_commit = on` on the server", condition.role)),
        );
    }
    if !condition.fsync {
        found.push(
            Finding::note("store.fsync", "the server does not write through to its disk (fsync = off)")
                .because("a loss of power can destroy the ledger")
                .remedy("set fsync = on, unless this server is for tests"),
        );
    }
    if condition.standbys > 0 && !condition.confirmed {
        found.push(
            Finding::note("store.standbys", "standbys follow the server, and none confirms a commit")
                .because("a fail-over can lose the last grants")
                .remedy("after one `locked store epoch`; or name a standby in synchronous_standby_names"),
        );
    }
    found
}

/// What the address alone says of the way there.
pub(super) fn of_address(exposure: Exposure, place: &str) -> Option<Finding> {
    let finding = match exposure {
        Exposure::Plain => Finding::warn("store.tls", format!("the way to {place} is not encrypted (sslmode=disable)"))
            .because("who reads along learns the password's proof and every resource's name, and can answer in the store's place"),
        Exposure::Optional(mode) => {
            Finding::note("store.tls", format!("the way to {place} is encrypted only if the other end likes (sslmode={mode})"))
                .because("a stranger on the way can see to it that it is not")
        }
        Exposure::Unverified => {
            Finding::note("store.tls", format!("the way to {place} is encrypted, with whoever answers (sslmode=require)"))
                .because("the server's certificate is not verified")
        }
        Exposure::Sheltered | Exposure::Verified | Exposure::Unknown => return None,
    };
    Some(finding.remedy("add sslmode=verify-full to the store's address, and sslrootcert if its authority is your own"))
}

/// What the connection turned out to be, where the address left it open.
pub(super) fn of_connection(condition: &Condition, exposure: Exposure, place: &str) -> Option<Finding> {
    let optional = matches!(exposure, Exposure::Optional(_)) && condition.encrypted == Some(false);
    optional.then(|| {
        Finding::warn("store.tls-plain", format!("the connection to {place} is in the clear"))
            .because("the server offered no TLS, and the address does not insist")
            .remedy("switch TLS on at the server, and add sslmode=verify-full to the store's address")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> Condition {
        Condition {
            role: "worker".to_owned(),
            superuser: false,
            owner: false,
            wall_ms: 0,
            encrypted: Some(true),
            synchronous_commit: "on".to_owned(),
            fsync: true,
            standbys: 0,
            confirmed: false,
            writes: None,
        }
    }

    fn ids(condition: &Condition, exposure: Exposure) -> Vec<&'static str> {
        let role = of_role(condition);
        let connection = of_connection(condition, exposure, "db");
        let address = of_address(exposure, "db");
        let all = role.into_iter().chain(of_replication(condition)).chain(connection).chain(address);
        all.inspect(|it| assert!(!it.remedy.is_empty() && !it.why.is_empty(), "{it:?}")).map(|it| it.id).collect()
    }

    #[test]
    fn each_condition_has_its_finding_and_a_good_one_none() {
        let good = healthy();
        for sound in [Exposure::Sheltered, Exposure::Verified] {
            assert!(ids(&good, sound).is_empty());
        }
        let cases = [
            (Condition { superuser: true, owner: true, ..good.clone() }, Exposure::Verified, "store.superuser"),
            (Condition { owner: true, ..good.clone() }, Exposure::Verified, "store.owner"),
            (
                Condition { synchronous_commit: "off".to_owned(), ..good.clone() },
                Exposure::Verified,
                "store.asynchronous",
            ),
            (Condition { writes: Some("leases".to_owned()), ..good.clone() }, Exposure::Verified, "store.writes"),
            (Condition { fsync: false, ..good.clone() }, Exposure::Verified, "store.fsync"),
            (Condition { standbys: 1, ..good.clone() }, Exposure::Verified, "store.standbys"),
            (good.clone(), Exposure::Plain, "store.tls"),
            (good.clone(), Exposure::Unverified, "store.tls"),
            (good.clone(), Exposure::Optional("prefer"), "store.tls"),
        ];
        for (condition, exposure, id) in cases {
            assert_eq!(ids(&condition, exposure), [id]);
        }
        let plain = Condition { encrypted: Some(false), ..good.clone() };
        assert_eq!(ids(&plain, Exposure::Optional("prefer")), ["store.tls-plain", "store.tls"]);
        assert!(ids(&plain, Exposure::Sheltered).is_empty(), "a socket needs no TLS");
        assert!(ids(&Condition { standbys: 2, confirmed: true, ..good }, Exposure::Verified).is_empty());
    }

    #[test]
    fn clocks_may_differ_by_the_time_that_asking_took_and_a_little() {
        let what = |server, before, after| of_clock(server, before, after).map(|it| it.what);
        for (server, before, after) in [(5, 0, 10), (-9_999, 0, 10), (10_010, 0, 10), (0, 0, 0)] {
            assert_eq!(what(server, before, after), None, "{server}");
        }
        assert_eq!(what(-60_000, 0, 10).as_deref(), Some("the server's clock is 60 s behind this machine's"));
        assert_eq!(what(7_200_010, 0, 10).as_deref(), Some("the server's clock is 2 h ahead of this machine's"));
        assert!(what(i64::MIN, 0, 10).is_some() && what(i64::MAX, 0, 10).is_some());
    }
}
