//! Measurements: printed, never asserted.
//! `cargo test --release --test tests store::postgres::measure -- --ignored --nocapture`

use std::time::{Duration, Instant};

use super::lab::{Lab, Way};
use crate::world::cluster::Desk;

const RUNS: usize = 40;

/// What the first acquire and the settling after it cost in a fresh session, as each one-shot command has it: time on the
/// clock, and the server's own on the processor, which other work of the machine does not lengthen.
#[test]
#[ignore = "a measurement"]
fn the_first_calls_of_a_fresh_session() {
    let lab = Lab::running(Way::Client);
    let schema = lab.schema();
    let mut spans = [const { Vec::new() }; 3];
    for run in 0..RUNS {
        let mut config = lab.config();
        let name = format!("measured {run}");
        let begun = Instant::now();
        let desk = Desk::at(config.application_name(&name)).expect("a session");
        spans[0].push((begun.elapsed(), Duration::ZERO));
        let found = lab.cluster().sql(&format!("select pid from pg_stat_activity where application_name = '{name}'"));
        let pid: u32 = found[0][0].parse().expect("a pid");
        let (grant, key) = (uuid::Uuid::new_v4(), "5e".repeat(32));
        let resource = r#""name": "sops:a", "scope": "example.org/acme/infra""#;
        let acquire = format!(
            "select t ->> 'token' from jsonb_array_elements({schema}.acquire_v1('{grant}', '{key}', '{grant}', \
             '[{{{resource}}}]', 600000, silence_ms => 5000, label => 'ana', host => 'ws-1', pid => 4711) -> 'tokens') t"
        );
        let token = measured(&mut spans[1], pid, || desk.sql(&acquire).expect("granted").remove(0).remove(0));
        let settle = format!(
            "select {schema}.settle_v1('[{{{resource}, \"token\": {token}}}]', 'release', '{grant}', '{key}') ->> 'answer'"
        );
        let answer = measured(&mut spans[2], pid, || desk.sql(&settle).expect("released").remove(0).remove(0));
        assert_eq!(answer, "released");
    }
    for (what, spans) in ["connection", "acquire", "settle"].iter().zip(&mut spans) {
        spans.sort_unstable();
        let (fastest, median) = (spans[0].0, spans[RUNS / 2].0);
        spans.sort_unstable_by_key(|(_, server)| *server);
        println!(
            "{what}: {fastest:.1?} at best, {median:.1?} median; the server's processor {:.1?} at best, {:.1?} median",
            spans[0].1,
            spans[RUNS / 2].1
        );
    }
}

fn measured<T>(spans: &mut Vec<(Duration, Duration)>, pid: u32, work: impl FnOnce() -> T) -> T {
    let (begun, before) = (Instant::now(), on_processor(pid));
    let done = work();
    spans.push((begun.elapsed(), on_processor(pid).saturating_sub(before)));
    done
}

/// How long the process has run, as the scheduler counts it; nothing where it does not say.
fn on_processor(pid: u32) -> Duration {
    let said = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    Duration::from_nanos(said.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or_default())
}
