//! One workflow by all of its names: file and display name are one resource, and either may be what a rule asks for.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::fits::{Around, Groups, fits};
use crate::rules::Command;
use crate::rules::book::{Book, Rule};
use crate::rules::followed::Named;
use crate::rules::grammar::Line;
use crate::rules::step::{Step, is_known};

/// What a line of gh names, and how else that can be named.
#[derive(Default)]
pub(super) struct Spellings {
    named: Option<Named>,
    /// The first operand with each of its names, the file's first.
    operands: Vec<OsString>,
    /// The name by which it is held, whichever was found.
    file: Option<OsString>,
}

impl Spellings {
    /// Those of this line. Of other programs there are none.
    pub(super) fn of(step: &Step<'_>, line: &Line<'_>, book: &Book, command: &Command<'_>) -> Self {
        let Some(named) = (step.name() == "gh").then(|| Named::read(line)).flatten() else { return Self::default() };
        let here = step.host.is_none() && !step.inside && is_known(step.cwd.as_os_str());
        let of_variable = || step.variable("GH_REPO", command.env)?.into_string().ok().filter(|name| !name.is_empty());
        let repository = named.repository.clone().or_else(of_variable);
        let ask = || book.workflow(&step.cwd, repository.as_deref(), &named.workflow);
        let names = if here && !named.is_number() { ask() } else { Vec::new() };
        let typed = [named.workflow.clone()];
        let operands = names.iter().chain(&typed).map(|name| named.with(name)).collect();
        Self { file: names.first().map(OsString::from), named: Some(named), operands }
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
        let by_name = |operand: &OsString| {
            let mut spelled: Line<'_> = line.clone();
            *spelled.operands.first_mut()? = operand.as_os_str();
            fits(rule, step, &spelled, touched, around)
        };
        let mut caught = if rule.matches.is_empty() { None } else { self.operands.iter().find_map(by_name) }
            .or_else(|| fits(rule, step, line, touched, around))?;
        if let Some(file) = &self.file {
            for (_, text) in caught.iter_mut().filter(|(name, _)| name == "workflow") {
                text.clone_from(file);
            }
        }
        Some(caught)
    }

    /// What to say of a workflow of which nobody here knows the names.
    pub(super) fn unknown(&self, line: &Line<'_>) -> Option<String> {
        let named = self.named.as_ref().filter(|named| named.is_number() && !line.is_on("-h|--help"))?;
        let number = OsStr::new(&named.workflow).to_string_lossy();
        Some(format!("only GitHub knows which workflow has the number {number}: nothing is held for it; name its file"))
    }
}
