//! `parser = "urfave"`: command lines as urfave/cli v1.22 reads them, with Go's `flag` beneath it.
//!
//! Two readings of one line. The root level stops at the first token that is no flag. A command's level first moves
//! every token that names one of its flags to the front, and then reads in the same way; in moving, the token behind a
//! flag without `=` goes along, even behind a boolean. Facts: `reorderArgs` and `argIsFlag` of urfave/cli's
//! `command.go`, `parseOne` of Go's `flag`; compared with the real sops by `tests/differential.rs`.
#![forbid(unsafe_code)]

mod read;
mod table;

use std::ffi::{OsStr, OsString};

pub(crate) use read::Flags;
pub(crate) use table::{Flag, Level, number, switch, text};

use self::read::{read, reorder};

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
