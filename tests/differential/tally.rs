//! What came of all lines.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;

use locked::rules::{Change, Via};

use super::yard::Outcome;

/// Counts, and the findings in full.
#[derive(Default)]
pub(crate) struct Tally {
    runs: usize,
    /// Predicted, and every predicted file was written.
    written: usize,
    /// Predicted for several files, and some were written.
    part: usize,
    /// Predicted, but sops failed before it wrote: no such file, wrong format, no key.
    failed: usize,
    /// Predicted, but the editor changed nothing (200).
    unchanged: usize,
    /// Predicted, nothing written, exit 0.
    idle: Vec<String>,
    /// Nothing predicted, nothing written.
    passed: usize,
    /// Killed for taking too long.
    killed: usize,
    /// Files written that were not predicted.
    surprises: Vec<String>,
    /// Lines of which we said that sops refuses them, and it did not.
    taken: Vec<String>,
    forms: BTreeMap<String, usize>,
}

/// What a default run must have written at least once.
const REACHED: &[(&str, Via, Change)] = &[
    ("sops.encrypt", Via::InPlace, Change::Encrypt),
    ("sops.encrypt", Via::Output, Change::Encrypt),
    ("sops.encrypt", Via::Stdout, Change::Encrypt),
    ("sops.decrypt", Via::InPlace, Change::DecryptInPlace),
    ("sops.decrypt", Via::Output, Change::DecryptInPlace),
    ("sops.decrypt", Via::Output, Change::DecryptTo),
    ("sops.rotate", Via::InPlace, Change::Rotate),
    ("sops.rotate", Via::Output, Change::Rotate),
    ("sops.rotate", Via::Stdout, Change::Rotate),
    ("sops.edit", Via::InPlace, Change::Edit),
    ("sops.set", Via::InPlace, Change::Set),
    ("sops.unset", Via::InPlace, Change::Unset),
    ("sops.updatekeys", Via::InPlace, Change::UpdateKeys),
    ("sops.groups", Via::InPlace, Change::Groups),
    ("sops.groups", Via::Stdout, Change::Groups),
    ("sops.exec-file", Via::Output, Change::DecryptTo),
];

fn form(rule: &str, via: Via, change: Change) -> String {
    format!("{rule} {via:?} {change:?}")
}

impl Tally {
    /// Adds one outcome.
    pub(crate) fn count(&mut self, outcome: Outcome) {
        let Outcome { shown, predicted, resolved, changed, exit } = outcome;
        self.runs += 1;
        for file in changed.iter().filter(|file| !resolved.contains(file)) {
            // The rule leaves the configuration alone on purpose.
            if file.file_name().is_none_or(|name| name != ".sops.yaml") {
                self.surprises.push(format!("{shown} exit {exit:?}: wrote {}; {}", file.display(), predicted.reason));
            }
        }
        if predicted.rule.as_deref() == Some("sops.refused") && exit == Some(0) {
            self.taken.push(format!("{shown}: {}", predicted.reason));
        }
        let hit = predicted.writes.iter().zip(&resolved).filter(|(_, path)| changed.contains(path));
        let hit: Vec<_> =
            hit.map(|(write, _)| form(predicted.rule.as_deref().unwrap_or("none"), write.via, write.change)).collect();
        match (predicted.writes.len(), hit.len(), exit) {
            (_, _, None) => self.killed += 1,
            (0, _, _) => self.passed += 1,
            (all, found, _) if all == found => self.written += 1,
            (_, 1.., _) => self.part += 1,
            (_, 0, Some(0)) => self.idle.push(shown),
            (_, 0, Some(200)) => self.unchanged += 1,
            _ => self.failed += 1,
        }
        for form in hit {
            *self.forms.entry(form).or_default() += 1;
        }
    }

    /// Adds another worker's counts.
    pub(crate) fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.written += other.written;
        self.part += other.part;
        self.failed += other.failed;
        self.unchanged += other.unchanged;
        self.passed += other.passed;
        self.killed += other.killed;
        self.idle.extend(other.idle);
        self.surprises.extend(other.surprises);
        self.taken.extend(other.taken);
        for (form, count) in other.forms {
            *self.forms.entry(form).or_default() += count;
        }
    }

    /// No surprise, no false refusal, and hardly a lease for nothing.
    pub(crate) fn assert_sound(&self) {
        assert!(self.surprises.is_empty(), "written, but not predicted:\n{}", self.surprises.join("\n"));
        assert!(self.taken.is_empty(), "called refused, but sops took them:\n{}", self.taken.join("\n"));
        assert!(
            self.idle.len() * 50 <= self.runs,
            "more than 2 % locked for nothing ({} of {}):\n{}",
            self.idle.len(),
            self.runs,
            self.idle.join("\n")
        );
    }

    /// Every main form was written at least once: a generator that reaches nothing proves nothing.
    pub(crate) fn assert_reached(&self) {
        let missing: Vec<String> = REACHED
            .iter()
            .map(|(rule, via, change)| form(rule, *via, *change))
            .filter(|form| !self.forms.contains_key(form))
            .collect();
        assert!(missing.is_empty(), "never written: {missing:?}");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: usize| count as f64 * 100.0 / self.runs.max(1) as f64;
        writeln!(f, "{} runs", self.runs)?;
        writeln!(f, "  predicted and written      {}", self.written)?;
        writeln!(f, "  predicted, part written    {}", self.part)?;
        writeln!(f, "  predicted, sops failed     {} ({:.1} %)", self.failed, percent(self.failed))?;
        writeln!(f, "  predicted, editor idle     {}", self.unchanged)?;
        writeln!(f, "  predicted, exit 0, nothing {} ({:.2} %)", self.idle.len(), percent(self.idle.len()))?;
        writeln!(f, "  passed, nothing written    {}", self.passed)?;
        writeln!(f, "  killed after 8 s           {}", self.killed)?;
        writeln!(f, "  written, not predicted     {}", self.surprises.len())?;
        for line in self.idle.iter().take(10) {
            writeln!(f, "    locked for nothing: {line}")?;
        }
        for (form, count) in &self.forms {
            writeln!(f, "    {count:5} {form}")?;
        }
        Ok(())
    }
}
