//! What was done and what came of it, counted.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::checker::{Finding, Rule};
use super::fault::Fault;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) faults: BTreeMap<Fault, u64>,
    pub(crate) verdicts: BTreeMap<&'static str, u64>,
    pub(crate) findings: BTreeMap<Rule, u64>,
    pub(crate) left_out: BTreeSet<(&'static str, &'static str)>,
    pub(crate) grants: u64,
    pub(crate) rounds: u64,
}

/// What an exit status of `locked` says.
pub(crate) fn verdict(status: &str) -> &'static str {
    match status {
        "0" => "done",
        "69" => "refused: store out of reach",
        "72" => "quarantined",
        "74" => "refused: stale base",
        "75" => "refused: busy",
        "77" => "lease lost, child stopped",
        "78" => "refused: settings",
        "70" => "internal error",
        killed if killed.starts_with("signal-") => "killed",
        _ => "the program failed",
    }
}

impl Tally {
    pub(crate) fn dealt(&mut self, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
    }

    pub(crate) fn ended(&mut self, status: &str) {
        *self.verdicts.entry(verdict(status)).or_default() += 1;
    }

    pub(crate) fn found(&mut self, findings: &[Finding]) {
        findings.iter().for_each(|finding| *self.findings.entry(finding.rule).or_default() += 1);
    }

    pub(crate) fn add(&mut self, other: Self) {
        other.faults.into_iter().for_each(|(fault, count)| *self.faults.entry(fault).or_default() += count);
        other.verdicts.into_iter().for_each(|(word, count)| *self.verdicts.entry(word).or_default() += count);
        other.findings.into_iter().for_each(|(rule, count)| *self.findings.entry(rule).or_default() += count);
        self.left_out.extend(other.left_out);
        self.grants += other.grants;
        self.rounds += other.rounds;
    }
}

/// A table: one line for each fault, each end of a run and each promise; one column for each store.
pub(crate) fn table(stores: &[(&str, &Tally)]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, count: &dyn Fn(&Tally) -> Option<u64>| {
        let counts = stores.iter().map(|(_, tally)| count(tally).map_or("-".to_owned(), |count| count.to_string()));
        text += &format!("{name:<44}{}\n", counts.map(|count| format!("{count:>12}")).collect::<String>());
    };
    line("rounds", &|tally| Some(tally.rounds));
    line("leases granted", &|tally| Some(tally.grants));
    for fault in Fault::ALL {
        line(&format!("fault: {}", fault.name()), &|tally| tally.faults.get(&fault).copied());
    }
    let verdicts: BTreeSet<&str> = stores.iter().flat_map(|(_, tally)| tally.verdicts.keys().copied()).collect();
    for verdict in verdicts {
        line(&format!("run: {verdict}"), &|tally| Some(tally.verdicts.get(verdict).copied().unwrap_or(0)));
    }
    for rule in Rule::ALL {
        line(&format!("broken: {}", rule.name()), &|tally| Some(tally.findings.get(&rule).copied().unwrap_or(0)));
    }
    let names: String = stores.iter().map(|(name, _)| format!("{name:>12}")).collect();
    let left_out: BTreeSet<String> = stores
        .iter()
        .flat_map(|(_, tally)| &tally.left_out)
        .map(|(fault, why)| format!("left out: {fault}: {why}\n"))
        .collect();
    format!("{:<44}{names}\n{text}{}", "", left_out.into_iter().collect::<String>())
}
