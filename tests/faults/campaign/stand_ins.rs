//! The checker catches bugs in real runs: short campaigns without faults, in which something stands in the place of
//! `locked` or of its store that has one bug.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::arena::Arena;
use super::checker::{Rule, judge};
use super::evidence::Bounds;
use super::hand::{Plan, play};
use super::ledger::LAST_IN_FIRST_OUT;
use crate::world::board::write_program;

/// It gets the words of `locked`: so many of them are options (`CAMPAIGN_OPTIONS`). The real one is `REAL_LOCKED`.
const STAND_INS: [(&str, Rule, &str); 5] = [
    (
        "takes no lease",
        Rule::Exclusion,
        r#"shift "$CAMPAIGN_OPTIONS"
        export LOCKED_RESOURCES="$CAMPAIGN_RESOURCES" LOCKED_TOKENS
        LOCKED_TOKENS=$(date +%s%N)
        exec "$@""#,
    ),
    (
        "lets go before its child ends",
        Rule::Exclusion,
        r#"before=$CAMPAIGN_OPTIONS
        while [ "$before" -gt 0 ]; do set -- "$@" "$1"; shift; before=$((before - 1)); done
        case $1 in sops) ;; *) set -- sh -c 'setsid env -u LOCKED_LEASE CAMPAIGN_FOR=4000 "$@" & sleep 0.2' sh "$@" ;; esac
        while [ "${1-}" != --wait ]; do set -- "$@" "$1"; shift; done
        exec "$REAL_LOCKED" "$@""#,
    ),
    (
        "counts tokens down",
        Rule::Tokens,
        r#"case " $* " in *" sops "*) exec "$REAL_LOCKED" "$@" ;; esac
        before=$CAMPAIGN_OPTIONS
        while [ "$before" -gt 0 ]; do set -- "$@" "$1"; shift; before=$((before - 1)); done
        set -- sh -c 'down=; for it in $LOCKED_TOKENS; do down="$down $((9000000000000 - it))"; done
                      export LOCKED_TOKENS="${down# }"; exec "$@"' sh "$@"
        while [ "${1-}" != --wait ]; do set -- "$@" "$1"; shift; done
        exec "$REAL_LOCKED" "$@""#,
    ),
    ("loses a write and does not tell", Rule::Loss, r#"CAMPAIGN_SPOIL=lose exec "$REAL_LOCKED" "$@""#),
    (
        "never frees a lease",
        Rule::Freed,
        r#"LOCKED_SESSION=eeeeeeee-0000-4000-8000-000000000000 "$REAL_LOCKED" --no-wait acquire test:a >/dev/null 2>&1
        exec "$REAL_LOCKED" "$@""#,
    ),
];

fn found(name: &str, arena: &Arena) -> Vec<Rule> {
    let plan = Plan {
        seed: 3,
        round: 0,
        span: Duration::ZERO,
        runs: 9,
        holders: 5,
        faults: 0,
        wait: if name.contains("frees") { "1s" } else { "20s" },
        // The bug of the files is in sops; the others have one resource to meet at.
        sets: &[&["test:a"]],
        sops: if name.contains("write") { 100 } else { 0 },
    };
    let _counts = play(arena, plan);
    let evidence = arena.evidence(Bounds { idle: Duration::from_secs(60), overtaken: 1 });
    let findings = judge(&evidence);
    println!("{name}: {findings:?}");
    findings.into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_bug_in_a_real_run_is_found() {
    std::thread::scope(|scope| {
        for (name, rule, script) in STAND_INS {
            scope.spawn(move || {
                let mut arena = Arena::embedded(None);
                let path = arena.world.root().join("bin/stand-in");
                write_program(&path, &format!("#!/bin/sh\n{script}\n"));
                arena.stand_in = Some(path);
                let found = found(name, &arena);
                assert!(found.contains(&rule), "{name}: {found:?}");
            });
        }
        scope.spawn(|| {
            let arena = Arena::embedded(None);
            arena.ledger.is_planted_with(LAST_IN_FIRST_OUT);
            let found = found("serves the last first", &arena);
            assert!(found.contains(&Rule::Fair), "{found:?}");
        });
    });
}
