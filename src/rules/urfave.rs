//! `parser = "urfave"`: command lines as urfave/cli v1.22 reads them, with Go's `flag` beneath it.
//!
//! Two readings of one line. The root level stops at the first token that is no flag. A command's level first moves
//! every token that names one of its flags to the front, and then reads in the same way; in moving, the token behind a
//! flag without `=` goes along, even behind a boolean. Facts: `reorderArgs` and `argIsFlag` of urfave/cli's
//! `command.go`, `parseOne` of Go's `flag`; compared with the real sops by `tests/differential.rs`.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use super::argument::tail;
use super::golang::{is_integer, parse_bool};

/// A program or one of its commands.
pub(crate) struct Level {
    /// Its name and aliases; none for the program itself.
    pub(crate) names: &'static [&'static str],
    /// Its flags, in groups that several commands share. `help` is on every level without being named.
    pub(crate) flags: &'static [&'static [Flag]],
    /// Its commands.
    pub(crate) commands: &'static [Level],
    /// Whether it does something when no command of its own is named; otherwise it shows its help.
    pub(crate) acts: bool,
}

/// One flag under all of its names.
pub(crate) struct Flag {
    names: &'static [&'static str],
    kind: Kind,
    env: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
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
const COMPLETION: &str = "--generate-bash-completion";

/// What becomes of a command line.
pub(crate) enum Line<'a> {
    /// The action of a command (or of the program itself) runs.
    Runs(Run<'a>),
    /// Help, a version, or words for a shell's completion: nothing else happens.
    Shows,
    /// The parser refuses it.
    Refused(Refusal),
}

/// Why the parser refuses a line. Names no token of the line: any of them may be a secret in the wrong place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("it has a flag that this command does not know")]
    Unknown,
    #[error("it has a malformed flag")]
    Malformed,
    #[error("--{0} is a switch and takes no such value")]
    NotBoolean(&'static str),
    #[error("--{0} wants a whole number")]
    NotInteger(&'static str),
    #[error("--{0} wants a value")]
    NoValue(&'static str),
    #[error("--{0} is given in two forms")]
    TwoForms(&'static str),
    #[error("the variable {0} holds no boolean")]
    Environment(&'static str),
}

/// An action with what it sees.
pub(crate) struct Run<'a> {
    /// The command's names from the outside in; empty for the program's own action.
    pub(crate) path: Vec<&'static str>,
    /// The program's own flags.
    pub(crate) root: Flags<'a>,
    /// The flags of the command that acts; empty for the program's own action, which sees `root`.
    pub(crate) own: Flags<'a>,
    /// What is left.
    pub(crate) positionals: Vec<&'a OsStr>,
}

/// The flags of one level with their values.
#[derive(Default)]
pub(crate) struct Flags<'a> {
    known: &'static [&'static [Flag]],
    given: Vec<Given<'a>>,
    env: Vec<(&'static str, OsString)>,
}

struct Given<'a> {
    flag: &'static Flag,
    spelled: &'static str,
    value: Cow<'a, OsStr>,
}

impl<'a> Flags<'a> {
    /// Whether this level has a flag of that name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        find(self.known, name.as_bytes()).is_some()
    }

    /// The value of a flag, by any of its names: the last one given, else its variable's. An empty value is none.
    pub(crate) fn text(&self, name: &str) -> Option<&OsStr> {
        let given = self.given.iter().rev().find(|given| given.flag.names.contains(&name));
        given.map(|given| given.value.as_ref()).or_else(|| self.from_env(name)).filter(|value| !value.is_empty())
    }

    /// Every value given for a flag that may be repeated.
    pub(crate) fn list(&self, name: &str) -> impl Iterator<Item = &OsStr> {
        self.given.iter().filter(move |given| given.flag.names.contains(&name)).map(|given| given.value.as_ref())
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name).and_then(|value| parse_bool(value.as_encoded_bytes())).unwrap_or(false)
    }

    fn from_env(&self, name: &str) -> Option<&OsStr> {
        let flag = find(self.known, name.as_bytes())?.0;
        self.env.iter().find(|(first, _)| *first == flag.names[0]).map(|(_, value)| value.as_os_str())
    }
}

/// Reads a command line (without the program) by a table of levels.
pub(crate) fn parse<'a>(
    program: &'static Level,
    args: &'a [OsString],
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Line<'a> {
    if args.last().is_some_and(|last| last == COMPLETION) {
        return Line::Shows;
    }
    let tokens = args.iter().map(OsString::as_os_str).collect();
    descend(program, tokens, env).unwrap_or_else(Line::Refused)
}

fn descend<'a>(
    program: &'static Level,
    tokens: Vec<&'a OsStr>,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Line<'a>, Refusal> {
    let (root, mut positionals) = read(program.flags, tokens, env)?;
    if root.is_on("help") || root.is_on("version") {
        return Ok(Line::Shows);
    }
    let (mut level, mut path, mut own) = (program, Vec::new(), Flags::default());
    while let Some(name) = positionals.first().copied().filter(|_| !level.commands.is_empty()) {
        // Every level with commands has this one, too.
        if name == "help" || name == "h" {
            return Ok(Line::Shows);
        }
        let Some(command) = level.commands.iter().find(|command| command.names.iter().any(|own| name == *own)) else {
            break;
        };
        let mut tokens = positionals.split_off(1);
        // A level with commands of its own is a small program: it is not reordered.
        if command.commands.is_empty() {
            tokens = reorder(command.flags, tokens);
        }
        (own, positionals) = read(command.flags, tokens, env)?;
        if own.is_on("help") {
            return Ok(Line::Shows);
        }
        path.push(command.names[0]);
        level = command;
    }
    Ok(if level.acts { Line::Runs(Run { path, root, own, positionals }) } else { Line::Shows })
}

/// Moves flags before the rest, in the way that urfave/cli does it.
fn reorder<'a>(flags: &'static [&'static [Flag]], tokens: Vec<&'a OsStr>) -> Vec<&'a OsStr> {
    let (mut moved, mut rest) = (Vec::new(), Vec::new());
    let mut drags = false;
    for (at, &token) in tokens.iter().enumerate() {
        let is_flag = names_a_flag(flags, token);
        if drags && !is_flag {
            // Also behind a boolean, and also when the token is `--`.
            drags = false;
            moved.push(token);
        } else if token == "--" {
            rest.insert(0, token);
            rest.extend_from_slice(&tokens[at + 1..]);
            break;
        } else if is_flag {
            moved.push(token);
            drags = !token.as_encoded_bytes().contains(&b'=');
        } else {
            rest.push(token);
        }
    }
    moved.append(&mut rest);
    moved
}

/// Whether a token is taken for one of these flags in reordering: up to three dashes are stripped, and `=…`.
fn names_a_flag(flags: &'static [&'static [Flag]], token: &OsStr) -> bool {
    let bytes = token.as_encoded_bytes();
    let name = match bytes {
        b"-" | b"--" => return false,
        [b'-', b'-', b'-', name @ ..] | [b'-', b'-', name @ ..] | [b'-', name @ ..] => name,
        _ => return false,
    };
    let name = name.split(|&byte| byte == b'=').next().unwrap_or_default();
    find(flags, name).is_some()
}

/// Go's `flag`: reads flags until the first token that is none, or to `--`; then checks what urfave/cli checks.
fn read<'a>(
    known: &'static [&'static [Flag]],
    tokens: Vec<&'a OsStr>,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<(Flags<'a>, Vec<&'a OsStr>), Refusal> {
    let mut flags = Flags { known, given: Vec::new(), env: environment(known, env)? };
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next_if(|token| token.len() > 1 && token.as_encoded_bytes()[0] == b'-') {
        if token == "--" {
            break;
        }
        let given = one(known, token, &mut tokens)?;
        flags.given.push(given);
    }
    one_form_each(&flags.given)?;
    Ok((flags, tokens.collect()))
}

fn one<'a>(
    known: &'static [&'static [Flag]],
    token: &'a OsStr,
    tokens: &mut impl Iterator<Item = &'a OsStr>,
) -> Result<Given<'a>, Refusal> {
    let bytes = token.as_encoded_bytes();
    let dashes = if bytes[1] == b'-' { 2 } else { 1 };
    let name = &bytes[dashes..];
    if matches!(name.first(), None | Some(b'-' | b'=')) {
        return Err(Refusal::Malformed);
    }
    let equals = name.iter().position(|&byte| byte == b'=');
    let (flag, spelled) = find(known, &name[..equals.unwrap_or(name.len())]).ok_or(Refusal::Unknown)?;
    let after_equals = equals.map(|at| tail(token, dashes + at + 1));
    let value = match (flag.kind, after_equals) {
        (_, Some(value)) => value,
        (Kind::Switch, None) => Cow::Borrowed(OsStr::new("true")),
        (_, None) => Cow::Borrowed(tokens.next().ok_or(Refusal::NoValue(flag.names[0]))?),
    };
    let bytes = value.as_encoded_bytes();
    match flag.kind {
        Kind::Switch if parse_bool(bytes).is_none() => Err(Refusal::NotBoolean(flag.names[0])),
        Kind::Number if !is_integer(bytes) => Err(Refusal::NotInteger(flag.names[0])),
        _ => Ok(Given { flag, spelled, value }),
    }
}

/// `-i` twice is fine, `-i --in-place` is not.
fn one_form_each(given: &[Given<'_>]) -> Result<(), Refusal> {
    let clash = given
        .iter()
        .find(|one| given.iter().any(|other| std::ptr::eq(one.flag, other.flag) && one.spelled != other.spelled));
    clash.map_or(Ok(()), |given| Err(Refusal::TwoForms(given.flag.names[0])))
}

fn environment(
    known: &'static [&'static [Flag]],
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, OsString)>, Refusal> {
    let mut values = Vec::new();
    for flag in known.iter().copied().flatten() {
        let Some(name) = flag.env else { continue };
        let Some(value) = env(name) else { continue };
        if flag.kind == Kind::Switch && !value.is_empty() && parse_bool(value.as_encoded_bytes()).is_none() {
            return Err(Refusal::Environment(name));
        }
        values.push((flag.names[0], value));
    }
    Ok(values)
}

fn find(flags: &'static [&'static [Flag]], name: &[u8]) -> Option<(&'static Flag, &'static str)> {
    let groups = flags.iter().copied().chain(std::iter::once(HELP));
    groups.flatten().find_map(|flag| flag.names.iter().find(|own| own.as_bytes() == name).map(|own| (flag, *own)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: Level = Level {
        names: &["add"],
        flags: &[&[text(&["file", "f"]), switch(&["in-place", "i"])]],
        commands: &[],
        acts: true,
    };
    const PROGRAM: Level = Level {
        names: &[],
        flags: &[&[
            switch(&["decrypt", "d"]),
            text(&["output"]).or_env("P_OUTPUT"),
            number(&["indent"]),
            switch(&["quiet"]).or_env("P_QUIET"),
        ]],
        commands: &[
            Level {
                names: &["do", "d2"],
                flags: &[&[switch(&["in-place", "i"]), text(&["output"]), switch(&["force"])]],
                commands: &[],
                acts: true,
            },
            Level { names: &["groups"], flags: &[], commands: &[ADD], acts: false },
        ],
        acts: true,
    };

    /// The reading as one line of text: command, flags in order, positionals.
    fn shown(line: &str, env: &[(&str, &str)]) -> String {
        static TABLE: Level = PROGRAM;
        let args: Vec<OsString> = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let env = |name: &str| env.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into());
        match parse(&TABLE, &args, &env) {
            Line::Shows => "shows".to_owned(),
            Line::Refused(why) => format!("{why:?}"),
            Line::Runs(run) => {
                let flags = run.root.given.iter().chain(&run.own.given);
                let flags: Vec<_> = flags.map(|g| format!("{}={}", g.flag.names[0], g.value.display())).collect();
                let rest: Vec<_> = run.positionals.iter().map(|p| p.display().to_string()).collect();
                format!("{}[{}]({})", run.path.join(" "), flags.join(" "), rest.join(" "))
            }
        }
    }

    #[test]
    fn lines_are_read_as_urfave_reads_them() {
        let table = [
            ("", "[]()"),
            ("x", "[](x)"),
            ("x -d", "[](x -d)"),
            ("-d x", "[decrypt=true](x)"),
            ("--d x", "[decrypt=true](x)"),
            ("-decrypt=F x", "[decrypt=F](x)"),
            ("-d=no x", r#"NotBoolean("decrypt")"#),
            ("-dx", "Unknown"),
            ("---d x", "Malformed"),
            ("-=d x", "Malformed"),
            ("- -d", "[](- -d)"),
            ("-d -- do -i x", "do[decrypt=true in-place=true](x)"),
            ("--output -d x", "[output=-d](x)"),
            ("--output", r#"NoValue("output")"#),
            ("--output= x", "[output=](x)"),
            ("--output a --output b x", "[output=a output=b](x)"),
            ("--indent 0x2 x", "[indent=0x2](x)"),
            ("--indent two x", r#"NotInteger("indent")"#),
            ("-d --decrypt x", r#"TwoForms("decrypt")"#),
            ("-d -d x", "[decrypt=true decrypt=true](x)"),
            ("do x -i", "do[in-place=true](x)"),
            ("d2 x -i", "do[in-place=true](x)"),
            ("do x -i y", "do[in-place=true](y x)"),
            ("do x -i=t y", "do[in-place=t](x y)"),
            ("do x --zap -i", "do[in-place=true](x --zap)"),
            ("do --zap -i x", "do[in-place=true](x --zap)"),
            ("do --zap x", "Unknown"),
            ("do --zap -i", "Unknown"),
            ("do -i -- x", "do[in-place=true](x)"),
            ("do -- x -i", "do[](x -i)"),
            ("do x -- -i", "do[](x -i)"),
            ("do x --output -i y", "do[output=-i](y x)"),
            ("do x ---i", "Malformed"),
            ("do -d x", "Unknown"),
            ("do x -h", "shows"),
            ("do x -i y -h", "do[in-place=true](y -h x)"),
            ("-h do -i x", "shows"),
            ("--help=false do -i x", "do[help=false in-place=true](x)"),
            ("help do -i x", "shows"),
            ("h", "shows"),
            ("do -i x --generate-bash-completion", "shows"),
            ("groups", "shows"),
            ("groups x", "shows"),
            ("groups help add", "shows"),
            ("groups -- add -f x -i", "groups add[file=x in-place=true]()"),
            ("groups -i add -f x", "Unknown"),
            ("groups add 0 -f x -i", "groups add[file=x in-place=true](0)"),
        ];
        for (line, expected) in table {
            assert_eq!(shown(line, &[]), expected, "{line}");
        }
    }

    #[test]
    fn a_boolean_drags_the_next_token_along_and_reading_stops_there() {
        // The dragged token ends the flags, so that a later flag is a positional although it was moved.
        assert_eq!(shown("do x -i y --force", &[]), "do[in-place=true](y --force x)");
    }

    #[test]
    fn a_variable_gives_a_value_that_the_line_can_override() {
        static TABLE: Level = PROGRAM;
        let env = |name: &str| (name == "P_OUTPUT").then(|| OsString::from("e"));
        for (args, expected) in [(vec![], Some("e")), (vec!["--output=l"], Some("l")), (vec!["--output="], None)] {
            let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
            let Line::Runs(run) = parse(&TABLE, &args, &env) else { panic!("runs") };
            assert_eq!(run.root.text("output"), expected.map(OsStr::new), "{args:?}");
        }
        assert_eq!(shown("x", &[("P_QUIET", "maybe")]), r#"Environment("P_QUIET")"#);
        assert_eq!(shown("x", &[("P_QUIET", "")]), "[](x)");
    }
}
