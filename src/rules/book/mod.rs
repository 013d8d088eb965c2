//! The book of rules: what the tables of a TOML file say of programs, and where the built-in ones are.
//!
//! The built-in tables are written as a user would write theirs. They are divided by program, and a division is read only
//! when one of its programs is met: `sops` needs none of them.
#![forbid(unsafe_code)]

mod asked;
mod built_in;
mod expression;
mod fault;
mod glob;
mod launcher;
mod paths;
mod program;
mod rotation;
mod rule;
mod safe;
mod sql;
mod tables;
mod template;
mod workflows;
mod writer;
mod zone;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use crate::shell::Sourced;

use asked::Ask;

pub(super) use built_in::Verbs;

use crate::terms::Span;
pub use asked::{HostAsker, ManifestAsker, NameAsker, SourceAsker, WorkflowAsker};
pub use expression::Expression;
pub use fault::{Fault, Sound};
pub use glob::Glob;
pub use launcher::Launcher;
pub use paths::Paths;
pub use program::Program;
pub use rotation::Rotation;
pub use rule::{Author, Place, Rule};
pub use safe::Safe;
pub use sql::SqlTeller;
pub use tables::{Several, Tables};
pub use template::{Field, Filter, Part, Template};
pub use workflows::workflow_rules;
pub use writer::Writer;
pub use zone::{Stale, Zone};

/// Every rule that counts: the built-in ones, and those of the settings before them.
#[derive(Debug, Default)]
pub struct Book {
    own: Tables,
    hosts: BTreeMap<String, String>,
    packs: Vec<String>,
    session: Vec<String>,
    ask: Ask<HostAsker>,
    workflows: Ask<WorkflowAsker>,
    sources: Ask<SourceAsker>,
    names: Ask<NameAsker>,
    manifests: Ask<ManifestAsker>,
    built_in: [OnceCell<Tables>; built_in::DIVISIONS.len()],
}

impl Book {
    /// The built-in rules alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The packs of built-in rules that are off until the settings switch them on.
    pub const PACKS: [&str; 1] = ["rotation"];

    /// With the tables of the settings, which count before the built-in ones: what has the name of a built-in one
    /// replaces it. `hosts` maps names of hosts to the one that is meant.
    #[must_use]
    pub fn with(own: Tables, hosts: BTreeMap<String, String>) -> Self {
        Self { own, hosts, ..Self::default() }
    }

    /// With these of [`Book::PACKS`] switched on.
    #[must_use]
    pub fn with_packs(self, packs: Vec<String>) -> Self {
        Self { packs, ..self }
    }

    /// With somebody who is asked which host a name means.
    #[must_use]
    pub fn asking_for_hosts(self, ask: HostAsker) -> Self {
        Self { ask: Ask(Some(ask)), ..self }
    }

    /// With somebody who is asked what a workflow is called.
    #[must_use]
    pub fn asking_for_workflows(self, ask: WorkflowAsker) -> Self {
        Self { workflows: Ask(Some(ask)), ..self }
    }

    /// With somebody who is asked what stands in a file that a script reads in.
    #[must_use]
    pub fn asking_for_sources(self, ask: SourceAsker) -> Self {
        Self { sources: Ask(Some(ask)), ..self }
    }

    /// With somebody who is asked which files a pattern stands for.
    #[must_use]
    pub fn asking_for_names(self, ask: NameAsker) -> Self {
        Self { names: Ask(Some(ask)), ..self }
    }

    /// With somebody who is asked what stands in manifests.
    #[must_use]
    pub fn asking_for_manifests(self, ask: ManifestAsker) -> Self {
        Self { manifests: Ask(Some(ask)), ..self }
    }

    /// What stands in the manifests of this machine there; none where nobody can say.
    pub(super) fn manifests(&self, path: &Path, recursive: bool) -> Option<Vec<Vec<u8>>> {
        self.manifests.0.as_ref().and_then(|ask| ask(path, recursive))
    }

    /// The files of this machine that a pattern stands for; none where nobody can say.
    pub(super) fn named(&self, directory: &Path, pattern: &[u8]) -> Option<Vec<Vec<u8>>> {
        self.names.0.as_ref().and_then(|ask| ask(directory, pattern))
    }

    /// What stands in a file of this machine.
    pub(super) fn sourced(&self, path: &Path) -> Sourced {
        self.sources.0.as_ref().map_or(Sourced::Unseen, |ask| ask(path))
    }

    /// What a workflow is called that is named so: its file first, then its display name; nothing where nobody can say.
    #[must_use]
    pub fn workflow(&self, cwd: &Path, repository: Option<&str>, named: &str) -> Vec<String> {
        self.workflows.0.as_ref().and_then(|ask| ask(cwd, repository, Some(named)).pop()).unwrap_or_default()
    }

    /// What each workflow is called of which the files at hand say it, as for one.
    pub(super) fn workflows(&self, cwd: &Path, repository: Option<&str>) -> Vec<Vec<String>> {
        self.workflows.0.as_ref().map(|ask| ask(cwd, repository, None)).unwrap_or_default()
    }

    /// For a session with these names. Before anybody says who acts, what is safe for some sessions is safe for none;
    /// `names` is asked only where that makes a difference, since it takes a look at the processes above us.
    #[must_use]
    pub fn for_session(mut self, names: impl FnOnce() -> Vec<String>) -> Self {
        if self.own.safe.iter().any(|safe| safe.sessions.is_some()) {
            self.session = names();
        }
        self
    }

    /// Whether a rule or a zone came with a repository that nobody has vouched for.
    pub(super) fn hears_strangers(&self) -> bool {
        self.own.rule.iter().any(Rule::adds_only) || self.own.zone.iter().any(|zone| zone.adds_only)
    }

    /// The zones, in the order in which they are written.
    #[must_use]
    pub fn zones(&self) -> &[Zone] {
        &self.own.zone
    }

    /// The rotations.
    #[must_use]
    pub fn rotations(&self) -> &[Rotation] {
        &self.own.rotation
    }

    /// Whether there are safe paths for this session.
    #[must_use]
    pub fn has_safe(&self) -> bool {
        self.own.safe.iter().any(|safe| safe.is_for(&self.session))
    }

    /// Whether writing this file wants nothing. Both paths are physical; `inside` begins at the root of its repository.
    #[must_use]
    pub fn is_safe(&self, absolute: &Path, inside: Option<&Path>) -> bool {
        self.own.safe.iter().any(|safe| safe.is_for(&self.session) && safe.paths.has(absolute, inside))
    }

    /// Whether a built-in rule has this name, packs included.
    #[must_use]
    pub fn has_built_in(rule: &str) -> bool {
        built_in::rules().contains(rule)
    }

    /// The names of the built-in rules, packs included.
    pub fn built_in_rules() -> impl Iterator<Item = &'static str> {
        built_in::rules().iter().copied()
    }

    /// Whether the built-in tables say anything of this program.
    #[must_use]
    pub fn knows(program: &str) -> bool {
        built_in::DIVISIONS.iter().any(|division| division.programs.contains(&program))
    }

    /// Whether any table says anything of this program.
    pub(super) fn has(&self, program: &str) -> bool {
        let names = |several: &Several| several.has(program);
        Self::knows(program)
            || self.own.program.iter().any(|own| names(&own.name))
            || self.own.launcher.iter().any(|own| names(&own.program))
            || self.own.rule.iter().any(|own| own.program.as_ref().is_some_and(names))
    }

    /// The built-in tables as they are written.
    #[must_use]
    pub fn built_in() -> String {
        built_in::DIVISIONS.iter().map(|division| division.text).collect::<Vec<_>>().join("\n")
    }

    /// The host that a name means under these options of the ssh client.
    pub(super) fn host(&self, options: &[OsString], name: &str) -> String {
        let named = |name: &str| self.hosts.get(name).cloned();
        let asked = || self.ask.0.as_ref().and_then(|ask| ask(options, name));
        // What the client answers may be another name of a host as well.
        let asked = || asked().map(|real| named(&real).unwrap_or(real));
        named(name).or_else(asked).unwrap_or_else(|| name.to_owned())
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

    /// Whether it starts other programs on this machine, and is nothing besides.
    pub(super) fn launches_here(&self, name: &str) -> bool {
        self.launchers(name).any(|launcher| !launcher.inside)
    }

    /// Whether all that it is for is to start a program here (`sudo`, `env`, a shell): what that does, the program decides.
    pub(super) fn only_starts(&self, name: &str) -> bool {
        let plain =
            |it: &Launcher| it.subcommand.is_none() && it.option.is_empty() && !it.inside && !it.host && !it.copies;
        self.launchers(name).any(plain)
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

    /// How a program is told SQL.
    pub(super) fn sql(&self, name: &str) -> impl Iterator<Item = &SqlTeller> {
        let built_in = self.division(name).into_iter().flat_map(|tables| &tables.sql);
        self.own.sql.iter().chain(built_in).filter(move |teller| teller.program.has(name))
    }

    /// The rules that a command of this name, here or on another host, can meet; those of the settings first.
    pub(super) fn rules<'b>(&'b self, name: &'b str, remote: bool) -> impl Iterator<Item = &'b Rule> {
        let division = self.division(name);
        let whole = [(built_in::SERVER, remote), (built_in::ROTATION, self.is_on(built_in::ROTATION))];
        let others = whole.into_iter().filter(|(_, counts)| *counts).map(|(at, _)| self.tables(at));
        let others = others.filter(move |tables| !division.is_some_and(|it| std::ptr::eq(it, *tables)));
        let replaced = |rule: &Rule| self.own.rule.iter().any(|own| own.name == rule.name);
        let built_in = division.into_iter().chain(others).flat_map(|tables| &tables.rule);
        let built_in = built_in.filter(move |rule| !replaced(rule));
        let counts = |rule: &&Rule| rule.enabled && rule.pack.as_ref().is_none_or(|pack| self.packs.contains(pack));
        let rules = self.own.rule.iter().chain(built_in).filter(counts);
        rules.filter(move |rule| rule.program.as_ref().is_none_or(|program| program.has(name)))
    }

    /// Every program for which a rule that counts here may want something, by name.
    #[must_use]
    pub fn programs(&self) -> BTreeSet<String> {
        let ours = |rule: &&Rule| rule.on != Place::Remote;
        let own = self.own.rule.iter();
        let built_in = (0..built_in::DIVISIONS.len()).filter(|&at| self.is_on(at)).flat_map(|at| &self.tables(at).rule);
        let candidates = own.chain(built_in).filter(ours).filter_map(|rule| rule.program.as_ref());
        let names = candidates.flat_map(Several::iter).chain(["sops"]);
        // Asked as for a command, so that what is replaced, switched off or of a pack that is off does not count.
        let counts = |name: &&str| *name == "sops" || self.rules(name, false).any(|rule| rule.program.is_some());
        names.filter(counts).map(str::to_owned).collect()
    }

    /// By which words the built-in tables of this program have anything to say; none where they must be read, or where the
    /// settings have a say.
    pub(super) fn verbs(&self, name: &str) -> Option<&'static Verbs> {
        if !self.own.is_empty() || !self.packs.is_empty() {
            return None;
        }
        built_in::DIVISIONS.iter().find(|division| division.programs.contains(&name))?.verbs.as_ref()
    }

    fn division(&self, name: &str) -> Option<&Tables> {
        let at = built_in::DIVISIONS.iter().position(|division| division.programs.contains(&name))?;
        self.is_on(at).then(|| self.tables(at))
    }

    fn is_on(&self, at: usize) -> bool {
        built_in::DIVISIONS[at].pack.is_none_or(|pack| self.packs.iter().any(|on| on == pack))
    }

    fn tables(&self, at: usize) -> &Tables {
        self.built_in[at].get_or_init(|| {
            // A test reads every division; what stands there is ours.
            expression::of_ours(|| serde_json::from_str(built_in::DIVISIONS[at].quick)).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests;
