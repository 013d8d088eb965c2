//! One rule: which commands, and what is held for them.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::{Expression, Glob, Several, Span, Template};
use crate::rules::policy::{self, Policy};

/// A rule. Everything that it asks must be so; a list is satisfied by one of its entries, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name; one of the settings with the name of a built-in rule stands in its place.
    pub name: String,
    /// False: it does not count (for switching a built-in rule off).
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The pack that it belongs to; it counts only where the settings switch that on.
    pub pack: Option<String>,
    /// The program's names; none: any program.
    pub program: Option<Several>,
    /// The sub-command, its words divided by a space. Where no grammar says that the program has some, the first
    /// operands are looked at.
    #[serde(default)]
    pub subcommand: Option<Several>,
    /// Options that are all given: `"-i|--in-place"`, `"--type=*.env"`.
    #[serde(default)]
    pub option: Several,
    /// Options with which the command changes nothing, each by itself: `"-n|--dry-run"`, `"--dry-run={client,server}"`.
    #[serde(default)]
    pub unless: Several,
    /// Globs for operands: one operand fits one of them.
    #[serde(default)]
    pub args: Vec<Glob>,
    /// Globs for the first operand, with which the rule is not about it.
    #[serde(default)]
    pub unless_first: Vec<Glob>,
    /// Regular expressions for operands; what their named groups catch can be used in `resource`.
    #[serde(default, rename = "match")]
    pub matches: Vec<Expression>,
    /// The same for everything that is said: operands, values of options, what stands on standard input and in the files of
    /// `uses`.
    #[serde(default)]
    pub text: Vec<Expression>,
    /// The same for the SQL that it is told, without comments and texts in quotes.
    #[serde(default)]
    pub sql: Vec<Expression>,
    /// Where manifests of Kubernetes are named (`{-f}`; `{-k}` names a kustomization): they have a secret, whose name `{secret}`
    /// is.
    #[serde(default)]
    pub manifests: Templates,
    /// Variables that are set: `NAME`, or `NAME=GLOB`.
    #[serde(default)]
    pub env: Several,
    /// Globs for the whole line on another host, its words joined by spaces.
    #[serde(default)]
    pub remote: Vec<Glob>,
    /// Globs for the files that it writes.
    #[serde(default)]
    pub writes: Vec<Glob>,
    /// Globs for those of them that do not count.
    #[serde(default)]
    pub unless_writes: Vec<Glob>,
    /// Where the command runs.
    #[serde(default)]
    pub on: Place,
    /// Files that say what it does (`{--compose-file}`): zones look at what stands in them, and `text` does.
    pub uses: Option<Template>,
    /// What is held; several are held together.
    #[serde(default)]
    pub resource: Templates,
    /// What is held where `resource` cannot be filled in.
    pub otherwise: Option<Template>,
    /// Where nothing can be filled in: refuse, and ask for `--secret NAME`.
    #[serde(default)]
    pub ask: bool,
    /// Its effect is elsewhere (an engine, a service): it goes on when the command is stopped.
    #[serde(default)]
    pub elsewhere: bool,
    /// How long the lease lives without a renew.
    pub ttl: Option<Span>,
    /// How long a request waits.
    pub wait: Option<Span>,
    /// The proof after it.
    pub canary: Option<CanaryText>,
    /// When the lease is kept after a failure.
    pub keep: Option<KeepText>,
    /// For how long, where no file tells what changed.
    pub keep_for: Option<Span>,
    /// How long the lease stays after success.
    pub hold_for: Option<Span>,
    /// After success the run that was triggered is waited for.
    #[serde(default)]
    pub follow: bool,
    /// How long after its start a command that does not end by itself holds the lease.
    pub give_back: Option<Span>,
    /// `give_back` counts unless one of these options is given (`-d`).
    #[serde(default)]
    pub detached: Several,
    /// Who says it.
    #[serde(skip)]
    pub author: Author,
}

/// Who says a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Author {
    /// It is built in.
    #[default]
    BuiltIn,
    /// The settings.
    Settings,
    /// The settings of a repository that nobody has vouched for: it adds, and takes no read away.
    Untrusted,
}

fn yes() -> bool {
    true
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On this machine.
    #[default]
    Here,
    /// On another host, over ssh.
    Remote,
    /// On either.
    Anywhere,
}

/// Several templates.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "Several")]
pub struct Templates(Vec<Template>);

impl TryFrom<Several> for Templates {
    type Error = String;

    fn try_from(texts: Several) -> Result<Self, String> {
        texts.0.into_iter().map(Template::try_from).collect::<Result<_, _>>().map(Self)
    }
}

impl Templates {
    /// Those of them that are good.
    pub(in crate::rules) fn only(&self, is_good: impl Fn(&Template) -> bool) -> Self {
        Self(self.0.iter().filter(|template| is_good(template)).cloned().collect())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Template> {
        self.0.iter()
    }
}

/// `canary = false`, or a command.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "CanaryWritten")]
pub enum CanaryText {
    /// On or off.
    Switch(bool),
    /// A command.
    Command(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a value of the wrong type, expected true, false or a command as a list of words")]
enum CanaryWritten {
    Switch(bool),
    Command(Vec<String>),
}

impl TryFrom<CanaryWritten> for CanaryText {
    type Error = &'static str;

    fn try_from(written: CanaryWritten) -> Result<Self, Self::Error> {
        match written {
            CanaryWritten::Switch(on) => Ok(Self::Switch(on)),
            // Taken for none, it would be a proof that nobody makes.
            CanaryWritten::Command(words) if words.first().is_none_or(String::is_empty) => {
                Err("a canary without a program; false means none")
            }
            CanaryWritten::Command(words) => Ok(Self::Command(words)),
        }
    }
}

/// `keep = …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepText {
    /// Never.
    Never,
    /// When something may have changed.
    Changed,
    /// Always.
    Always,
}

impl KeepText {
    pub(super) fn keep(self) -> policy::Keep {
        match self {
            Self::Never => policy::Keep::Never,
            Self::Changed => policy::Keep::Changed,
            Self::Always => policy::Keep::Always,
        }
    }
}

impl Rule {
    /// Whether it came with a repository that nobody has vouched for.
    #[must_use]
    pub fn adds_only(&self) -> bool {
        self.author == Author::Untrusted
    }

    /// Whether writing this file is what it is about.
    #[must_use]
    pub fn is_about(&self, path: &std::ffi::OsStr) -> bool {
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.fits_path(path));
        fits(&self.writes) && !fits(&self.unless_writes)
    }

    /// On what terms it holds.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let span = |given: &Option<Span>| given.as_ref().map(|span| span.0);
        Policy {
            ttl: span(&self.ttl),
            wait: span(&self.wait),
            canary: match &self.canary {
                None | Some(CanaryText::Switch(true)) => policy::Canary::Ready,
                Some(CanaryText::Switch(false)) => policy::Canary::Off,
                Some(CanaryText::Command(words)) => policy::Canary::Command(words.clone()),
            },
            keep: self.keep.map(KeepText::keep),
            keep_for: span(&self.keep_for),
            hold_for: span(&self.hold_for),
            follow: Vec::new(),
            give_back: span(&self.give_back),
        }
    }
}
