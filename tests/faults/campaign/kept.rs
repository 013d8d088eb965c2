//! The last long run, as it is kept in the repository and told in the README.
#![forbid(unsafe_code)]

use super::checker::Rule;
use super::fault::Fault;

/// The numbers of the rows that begin like this.
fn sum(table: &str, row: &str) -> u64 {
    let rows = table.lines().filter(|line| line.starts_with(row));
    rows.flat_map(|line| line.get(44..).unwrap_or_default().split_whitespace().filter_map(|it| it.parse::<u64>().ok()))
        .sum()
}

#[test]
fn the_last_run_names_every_fault_and_every_promise_and_none_was_broken() {
    let table = include_str!("../last-run.txt");
    let head = table.lines().next().unwrap_or_default();
    assert!(head.starts_with("tests/faults/run --seconds ") && head.contains(" --seed "), "{head}");
    for line in ["date ", "machine ", "stores "] {
        assert!(table.lines().any(|it| it.starts_with(line)), "{line}");
    }
    for fault in Fault::ALL {
        let is_left_out = table.contains(&format!("left out: {}: ", fault.name()));
        assert!(is_left_out || sum(table, &format!("fault: {} ", fault.name())) > 0, "{}", fault.name());
    }
    for rule in Rule::ALL {
        let row = format!("broken: {}", rule.name());
        assert!(table.lines().any(|line| line.starts_with(&row)), "{row}");
        assert_eq!(sum(table, &row), 0, "{row}");
    }
    let readme = include_str!("../../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let told = format!("{} leases, {} faults, no promise broken", sum(table, "leases granted"), sum(table, "fault: "));
    assert!(readme.contains(&told), "the README does not say: {told}");
}
