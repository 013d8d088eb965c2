//! One workflow by all of its names: file and display name are one resource, and either may be what a rule asks for. By its
//! number it may be each of those that are at hand.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::fits::{Around, Groups, fits};
use crate::rules::Command;
use crate::rules::book::{Book, Expression, Rule};
use crate::rules::followed::Named;
use crate::rules::grammar::Line;
use crate::rules::step::{Step, is_known};

/// What a line of gh names, and how else that can be named.
#[derive(Default)]
pub(super) struct Spellings {
    named: Option<Named>,
    /// The workflows that it may be. One where the files at hand say which; of a number all that they have.
    candidates: Vec<Candidate>,
    /// It is gh, which asks for what the line does not name.
    asks: bool,
}

/// A workflow.
struct Candidate {
    /// The first operand with each of its names, the file's first.
    operands: Vec<OsString>,
    /// The name by which it is held, whichever was found.
    file: Option<OsString>,
}

impl Spellings {
    /// Those of this line. Of other programs there are none.
    pub(super) fn of(step: &Step<'_>, line: &Line<'_>, book: &Book, command: &Command<'_>) -> Self {
        let asks = step.name() == "gh";
        let Some(named) = asks.then(|| Named::read(line)).flatten() else { return Self { asks, ..Self::default() } };
        let here = step.host.is_none() && !step.inside && is_known(step.cwd.as_os_str());
        let of_variable = || step.variable("GH_REPO", command.env)?.into_string().ok().filter(|name| !name.is_empty());
        let repository = named.repository.clone().or_else(of_variable);
        let candidate = |names: &[String], typed: Option<&String>| Candidate {
            operands: names.iter().chain(typed).map(|name| named.with(name)).collect(),
            file: names.first().map(OsString::from),
        };
        let candidates = if named.is_number() {
            let all = if here { book.workflows(&step.cwd, repository.as_deref()) } else { Vec::new() };
            all.iter().map(|names| candidate(names, None)).collect()
        } else {
            let names =
                if here { book.workflow(&step.cwd, repository.as_deref(), &named.workflow) } else { Vec::new() };
            vec![candidate(&names, Some(&named.workflow))]
        };
        Self { named: Some(named), candidates, asks }
    }

    /// Whether the rule is about the command by one of the names; then what its expressions caught, the workflow by the
    /// name of its file.
    pub(super) fn fits(
        &self,
        rule: &Rule,
        step: &Step<'_>,
        line: &Line<'_>,
        touched: &[PathBuf],
        around: Around<'_>,
    ) -> Option<Groups> {
        let own = || fits(rule, step, line, touched, around);
        if rule.matches.is_empty() {
            return own();
        }
        let by_name = |operand: &OsString| {
            let mut spelled: Line<'_> = line.clone();
            *spelled.operands.first_mut()? = operand.as_os_str();
            fits(rule, step, &spelled, touched, around)
        };
        let each = self.candidates.iter().filter_map(|candidate| {
            let mut caught = candidate.operands.iter().find_map(by_name)?;
            if let Some(file) = &candidate.file {
                workflow_of(&mut caught).for_each(|text| text.clone_from(file));
            }
            Some(caught)
        });
        let found: Vec<Groups> = each.collect();
        if !found.is_empty() {
            return Some(found.concat());
        }
        own().or_else(|| self.by_number(rule, step, line, touched, around))
    }

    /// A rule about workflows, where nobody here knows which one the number means: it is held by that.
    fn by_number(
        &self,
        rule: &Rule,
        step: &Step<'_>,
        line: &Line<'_>,
        touched: &[PathBuf],
        around: Around<'_>,
    ) -> Option<Groups> {
        let named = self.named.as_ref().filter(|named| named.is_number() && self.candidates.is_empty())?;
        if !rule.matches.iter().any(catches_workflow) {
            return None;
        }
        let any = Rule { matches: Vec::new(), ..rule.clone() };
        let mut caught = fits(&any, step, line, touched, around)?;
        caught.push(("workflow".to_owned(), OsString::from(&named.workflow)));
        Some(caught)
    }

    /// What to say of a workflow of which nobody here knows the names.
    pub(super) fn unknown(&self, line: &Line<'_>, holds: bool) -> Option<String> {
        if line.path == "workflow run" && line.operands.is_empty() && self.asks && !line.is_on("-h|--help") {
            return Some(
                "gh asks which workflow it is, and what that is nobody here knows: nothing is held for it".to_owned(),
            );
        }
        let named = self.named.as_ref().filter(|named| named.is_number() && !line.is_on("-h|--help"))?;
        let number = OsStr::new(&named.workflow).to_string_lossy();
        let what = match (holds, self.candidates.is_empty()) {
            (true, true) => "it is held by that alone",
            (true, false) => "those here that it may be are held",
            (false, _) => "of those here none locks, and nothing is held for it",
        };
        Some(format!("only GitHub knows which workflow has the number {number}: {what}; name its file"))
    }
}

fn catches_workflow(expression: &Expression) -> bool {
    expression.catches("workflow")
}

fn workflow_of(caught: &mut Groups) -> impl Iterator<Item = &mut OsString> {
    caught.iter_mut().filter(|(name, _)| name == "workflow").map(|(_, text)| text)
}
