//! What a table says: levels and their flags.
#![forbid(unsafe_code)]

/// A program or one of its commands.
pub(crate) struct Level {
    /// Its name and aliases; none for the program itself.
    pub(crate) names: &'static [&'static str],
    /// Its flags, in groups that several commands share. `help` is on every level without being named.
    pub(crate) flags: &'static [&'static [Flag]],
    /// Its commands.
    pub(crate) commands: &'static [Self],
    /// Whether it does something when no command of its own is named; otherwise it shows its help.
    pub(crate) acts: bool,
}

/// One flag under all of its names.
pub(crate) struct Flag {
    pub(super) names: &'static [&'static str],
    pub(super) kind: Kind,
    pub(super) env: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    Text,
    Number,
}

/// A boolean: never eats the next token.
pub(crate) const fn switch(names: &'static [&'static str]) -> Flag {
    Flag { names, kind: Kind::Switch, env: None }
}

/// A flag with a value, which may be any token.
pub(crate) const fn text(names: &'static [&'static str]) -> Flag {
    Flag { names, kind: Kind::Text, env: None }
}

/// A flag whose value must be an integer.
pub(crate) const fn number(names: &'static [&'static str]) -> Flag {
    Flag { names, kind: Kind::Number, env: None }
}

impl Flag {
    /// The same flag with a variable that gives its value when the line does not.
    pub(crate) const fn or_env(self, name: &'static str) -> Self {
        Self { env: Some(name), ..self }
    }
}

const HELP: &[Flag] = &[switch(&["help", "h"])];

/// The flag of that name and the name as the table has it.
pub(super) fn find(flags: &'static [&'static [Flag]], name: &[u8]) -> Option<(&'static Flag, &'static str)> {
    let groups = flags.iter().copied().chain(std::iter::once(HELP));
    groups.flatten().find_map(|flag| flag.names.iter().find(|own| own.as_bytes() == name).map(|own| (flag, *own)))
}
