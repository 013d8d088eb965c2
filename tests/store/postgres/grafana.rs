//! The dashboard: every panel's query runs on a real server as the role that may only look, and says what is so.

use locked::store::{Ended, Ending, Request, Store as _};
use serde_json::Value;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, bad, busy, file, granted, kept, settled, take};

fn board() -> Value {
    serde_json::from_str(include_str!("../../../install/grafana/locked.json")).expect("JSON")
}

/// Title and query of every panel.
fn queries() -> Vec<(String, String)> {
    let board = board();
    let panels = board["panels"].as_array().expect("panels");
    let of_panel = |panel: &Value| {
        let title = panel["title"].as_str().expect("a title").to_owned();
        let targets = panel["targets"].as_array().expect("targets").clone();
        targets.into_iter().map(move |it| (title.clone(), it["rawSql"].as_str().expect("a query").to_owned()))
    };
    panels.iter().flat_map(of_panel).collect()
}

/// As Grafana would send it: its one macro that we use, filled with the last day.
fn filled(sql: &str, schema: &str) -> String {
    let mut sql = sql.replace("locked.", &format!("{schema}."));
    while let Some((before, rest)) = sql.split_once("$__timeFilter(") {
        let (column, after) = rest.split_once(')').expect("closed");
        let range = "(clock_timestamp() - interval '1 day') and (clock_timestamp() + interval '1 hour')";
        sql = format!("{before}{column} between {range}{after}");
    }
    assert!(!sql.contains('$'), "another macro: {sql}");
    sql
}

#[test]
fn every_panel_s_query_runs_as_the_reader_and_shows_what_is_so() {
    let lab = Lab::running(Way::Client);
    let mut store = lab.contender();
    let (ana, bob) = (actor("ana"), actor("bob"));
    // One of each: held with a waiter, kept, quarantined, ended well and badly, and waits granted and given up.
    let held = take(&mut store, &ana.asks(&["held"]));
    busy(&mut store, &bob.waits_for(&["held"]));
    let failed = take(&mut store, &Request { files: vec![file("k", "1")], ..ana.asks(&["kept"]) });
    settled(&mut store, &failed, kept(false));
    let broken = take(&mut store, &ana.asks(&["bad"]));
    settled(&mut store, &broken, bad());
    for ended in [Ended::Completed, Ended::Failed] {
        let over = take(&mut store, &ana.asks(&["over"]));
        let (waits, goes) = (bob.waits_for(&["over"]), bob.waits_for(&["over"]));
        busy(&mut store, &waits);
        busy(&mut store, &goes);
        store.leave_queue(goes.grant, LIMIT).expect("answer");
        settled(&mut store, &over, Ending::Release(ended));
        granted(&mut store, &waits);
        let after = store.leases(None, LIMIT).expect("answer");
        assert!(after.iter().any(|lease| lease.grant == waits.grant));
        lab.cluster().sql(&format!(
            "update {0}.leases set ended_at = clock_timestamp(), ended_as = 'expired' where ended_at is null and grant_id = '{1}'",
            lab.schema(), waits.grant
        ));
    }
    let answer = |title: &str| {
        let all = queries();
        let (_, sql) = all.iter().find(|(it, _)| it == title).unwrap_or_else(|| panic!("no panel {title}"));
        let rows = lab.cluster().try_sql_as("looker", &filled(sql, &lab.schema().to_string()));
        rows.unwrap_or_else(|error| panic!("{title}: {error:?}"))
    };
    let titles: Vec<String> = queries().into_iter().map(|(title, _)| title).collect();
    for title in &titles {
        assert!(!answer(title).is_empty(), "{title} shows nothing");
    }
    for (title, number) in [
        ("Live leases", "3"),
        ("Waiting requests", "1"),
        ("Kept", "1"),
        ("Quarantined", "1"),
        ("Expired or remote", "0"),
    ] {
        assert_eq!(answer(title), [[number]], "{title}");
    }
    let holds = answer("Who holds what");
    assert_eq!((holds.len(), holds[0][0].as_str()), (3, "sops:held"), "the one that is waited for comes first");
    assert_eq!(answer("Kept and quarantined").len(), 2);
    let waited = answer("Time waited per resource");
    assert_eq!(
        (waited.len(), waited[0][0].as_str(), waited[0][2].as_str(), waited[0][6].as_str()),
        (1, "sops:over", "4", "2")
    );
    assert_eq!(answer("Time held per resource")[0][2], "4");
    assert_eq!(answer("Failed, expired, stolen").len(), 3);
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), locked::store::Renewal::Renewed(_)));
}

#[test]
fn the_dashboard_is_one_that_grafana_takes() {
    let board = board();
    assert_eq!(board["templating"]["list"][0]["type"], "datasource");
    let mut taken: Vec<(i64, i64)> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for panel in board["panels"].as_array().expect("panels") {
        let at = |key: &str| panel["gridPos"][key].as_i64().expect("a number");
        assert!(ids.insert(panel["id"].as_i64().expect("an id")), "{panel}");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "whose data it is the user chooses");
        assert!(panel["description"].as_str().is_some_and(|it| !it.is_empty()), "{}", panel["title"]);
        assert!(at("x") + at("w") <= 24);
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(!taken.contains(&(x, y)), "{} lies over another", panel["title"]);
                taken.push((x, y));
            }
        }
    }
}
