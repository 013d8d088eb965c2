//! The book of rules: what the tables of a TOML file say of programs, and where the built-in ones are.
//!
//! The built-in tables are written as a user would write theirs. They are divided by program, and a division is read only
//! when one of its programs is met: `sops` needs none of them.
#![forbid(unsafe_code)]

mod built_in;
mod glob;
mod launcher;
mod program;
mod rule;
mod span;
mod tables;
mod template;
mod writer;

use std::cell::OnceCell;
use std::collections::BTreeMap;

pub use glob::Glob;
pub use launcher::Launcher;
pub use program::Program;
pub use rule::{Expression, Place, Rule};
pub use span::Span;
pub use tables::{Several, Tables};
pub use template::{Field, Filter, Part, Template};
pub use writer::Writer;

/// Every rule that counts: the built-in ones, and those of the settings before them.
#[derive(Debug, Default)]
pub struct Book {
    own: Tables,
    hosts: BTreeMap<String, String>,
    built_in: [OnceCell<Tables>; built_in::DIVISIONS.len()],
}

impl Book {
    /// The built-in rules alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the tables of the settings, which count before the built-in ones: what has the name of a built-in one
    /// replaces it. `hosts` maps names of hosts to the one that is meant.
    #[must_use]
    pub fn with(own: Tables, hosts: BTreeMap<String, String>) -> Self {
        Self { own, hosts, ..Self::default() }
    }

    /// With a test's own tables.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn of_a_test(text: &str) -> Self {
        Self::with(Tables::read(text).expect("a test's own rules"), BTreeMap::new())
    }

    /// The built-in tables as they are written.
    #[must_use]
    pub fn built_in() -> String {
        built_in::DIVISIONS.iter().map(|division| division.text).collect::<Vec<_>>().join("\n")
    }

    /// The host that a name means.
    pub(super) fn host<'a>(&'a self, name: &'a str) -> &'a str {
        self.hosts.get(name).map_or(name, String::as_str)
    }

    /// How the options of a program are read.
    pub(super) fn program(&self, name: &str) -> Option<&Program> {
        let own = self.own.program.iter().find(|program| program.name.has(name));
        own.or_else(|| self.division(name)?.program.iter().find(|program| program.name.has(name)))
    }

    /// How a program starts other programs, in the forms that it has for that.
    pub(super) fn launchers<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b Launcher> {
        let built_in = self.division(name).into_iter().flat_map(|tables| &tables.launcher);
        self.own.launcher.iter().chain(built_in).filter(move |launcher| launcher.program.has(name))
    }

    /// Whether it starts other programs at all.
    pub(super) fn launches(&self, name: &str) -> bool {
        self.launchers(name).next().is_some()
    }

    /// By what lines a program writes files.
    pub(super) fn writers(&self, name: &str) -> impl Iterator<Item = &Writer> {
        let built_in = self.division(name).into_iter().flat_map(|tables| &tables.writer);
        self.own.writer.iter().chain(built_in).filter(move |writer| writer.program.has(name))
    }

    /// The rules that a command of this name, here or on another host, can meet; those of the settings first.
    pub(super) fn rules<'b>(&'b self, name: &'b str, remote: bool) -> impl Iterator<Item = &'b Rule> {
        let anywhere = remote.then(|| self.tables(built_in::SERVER));
        let division = self.division(name);
        let tables =
            division.into_iter().chain(anywhere.filter(|tables| !division.is_some_and(|it| std::ptr::eq(it, *tables))));
        let replaced = |rule: &Rule| self.own.rule.iter().any(|own| own.name == rule.name);
        let built_in = tables.flat_map(|tables| &tables.rule).filter(move |rule| !replaced(rule));
        self.own
            .rule
            .iter()
            .chain(built_in)
            .filter(move |rule| rule.enabled && rule.program.as_ref().is_none_or(|program| program.has(name)))
    }

    fn division(&self, name: &str) -> Option<&Tables> {
        built_in::DIVISIONS.iter().position(|division| division.programs.contains(&name)).map(|at| self.tables(at))
    }

    fn tables(&self, at: usize) -> &Tables {
        self.built_in[at].get_or_init(|| {
            // A test reads every division; what stands there is ours.
            Tables::read(built_in::DIVISIONS[at].text).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_division_can_be_read_and_is_about_its_programs_alone() {
        let mut seen: Vec<&str> = Vec::new();
        for division in &built_in::DIVISIONS {
            let tables = Tables::read(division.text).unwrap_or_else(|error| panic!("{:?}: {error}", division.programs));
            let rules = tables.rule.iter().filter_map(|rule| rule.program.as_ref());
            let names = tables.program.iter().map(|program| &program.name).chain(rules);
            let names = names.chain(tables.launcher.iter().map(|launcher| &launcher.program));
            let names = names.chain(tables.writer.iter().map(|writer| &writer.program));
            for name in names.flat_map(Several::iter).filter(|name| *name != "sops") {
                assert!(division.programs.contains(&name), "{name} is not listed for its division");
            }
            for program in division.programs {
                assert!(!seen.contains(program), "{program} stands in two divisions");
                seen.push(program);
            }
        }
    }
}
