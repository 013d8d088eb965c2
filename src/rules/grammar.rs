//! A command line, read by the grammar of its program.
#![forbid(unsafe_code)]

mod level;
mod line;
mod name;
mod option;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};

pub(super) use self::level::Level;
pub(super) use self::line::Line;

use self::option::read_option;
use super::book::Program;
use super::step::UNKNOWN;

/// Nothing that a grammar knows has a longer name.
const LONGEST_NAME: usize = 256;

/// Reads the arguments of a program. A program without a grammar has switches and operands.
pub(super) fn read<'a>(program: Option<&'a Program>, args: &'a [OsString]) -> Line<'a> {
    let mut line = Line::default();
    let Some(program) = program else {
        read_level(Level::default(), args, 0, &mut line);
        return line;
    };
    let top = Level {
        values: &program.values,
        everywhere: &program.everywhere,
        attached: &program.attached,
        digits: &program.digits,
        switches: &[],
        switches_everywhere: &program.switches,
        equals: program.equals,
        single_dash: program.single_dash,
        stop_at: program.stop_at,
        group: program.group,
    };
    let mut at = read_level(top, args, 0, &mut line);
    let mut level = top;
    let mut is_group = program.group;
    while is_group && let Some(word) = line.operands.pop() {
        // It may be the value of an option that nobody knows: then a sub-command that is known stands behind it.
        if !std::mem::take(&mut line.doubtful).is_empty() && !program.has_command(&line.path, word) {
            let mut later = Line { is_guessed: true, ..line.clone() };
            let behind = read_level(level, args, at, &mut later);
            if later.operands.last().is_some_and(|word| program.has_command(&line.path, word)) {
                (line, at) = (later, behind);
                continue;
            }
        }
        if !line.path.is_empty() {
            line.path.push(' ');
        }
        // No sub-command has a longer name.
        let short = Some(word).filter(|word| word.len() <= LONGEST_NAME);
        line.path.push_str(&short.map_or("…".into(), OsStr::to_string_lossy));
        let known = program.command.iter().find(|command| command.path.has(&line.path));
        is_group = known.is_some_and(|command| command.group);
        level = Level {
            values: known.map_or(&[], |command| &command.values),
            attached: known.map_or(&[], |command| &command.attached),
            switches: known.map_or(&[], |command| &command.switches),
            stop_at: known.and_then(|command| command.stop_at),
            group: is_group,
            ..top
        };
        at = read_level(level, args, at, &mut line);
    }
    line.is_cut = is_group;
    line
}

/// Reads one level from `at` on. Answers where it stopped: behind the operand that ended it, or at the end.
pub(super) fn read_level<'a>(level: Level<'a>, args: &'a [OsString], mut at: usize, line: &mut Line<'a>) -> usize {
    let mut options_open = true;
    // The word before is an option that nobody knows.
    let mut in_doubt = false;
    line.places.clear();
    while let Some(word) = args.get(at) {
        at += 1;
        let bytes = word.as_encoded_bytes();
        let doubtful = std::mem::take(&mut in_doubt);
        if options_open && bytes == b"--" {
            options_open = false;
        } else if level.group && bytes == [UNKNOWN] {
            // Options, mostly (`docker compose $FILES up`).
            line.is_unsure = true;
        } else if options_open && bytes.len() > 1 && bytes[0] == b'-' {
            (at, in_doubt) = read_option(level, args, at, line);
        } else {
            line.doubtful.extend(Some(line.operands.len()).filter(|_| doubtful));
            line.places.push(at - 1);
            line.operands.push(word);
            if level.group {
                return at;
            }
            if level.stop_at.is_some_and(|last| line.operands.len() >= last) {
                line.operands.extend(args[at..].iter().map(OsString::as_os_str));
                line.places.extend(at..args.len());
                return args.len();
            }
        }
    }
    at
}
