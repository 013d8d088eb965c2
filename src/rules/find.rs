//! `find`: what it does with the files that it finds (`-exec`, `-delete`). Which they are only run time knows; that their
//! names fit `-name` the line says.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::step::{Step, UNKNOWN, name_of};

/// The expressions that start a program, which goes to the next `;`, or `+` behind `{}`.
const STARTS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// The commands that it starts.
pub(super) fn started<'a>(step: &Step<'a>) -> Vec<Step<'a>> {
    let found = found(&step.args);
    let command = |words: &[OsString]| {
        let (program, args) = words.split_first()?;
        let name = name_of(program);
        let args = args.iter().map(|word| if word == "{}" { found.clone() } else { word.clone() });
        let called = program.clone();
        Some(Step { name, called, args: args.collect(), redirected: Vec::new(), ..step.clone() })
    };
    let mut commands = Vec::new();
    let mut rest = &*step.args;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        if word == "-delete" {
            commands.extend(command(&["rm".into(), "{}".into()]));
        } else if STARTS.iter().any(|start| word == start) {
            let ends = |at: usize| rest[at] == ";" || (rest[at] == "+" && at > 0 && rest[at - 1] == "{}");
            let end = (0..rest.len()).find(|&at| ends(at)).unwrap_or(rest.len());
            commands.extend(command(&rest[..end]));
            rest = &rest[end..];
        }
    }
    commands
}

/// A file that it finds, as far as the line names it: the only place where it looks, where that is a file's name, else
/// something by the name that is asked for.
fn found(args: &[OsString]) -> OsString {
    let is_place = |word: &&OsString| !matches!(word.as_encoded_bytes().first(), Some(b'-' | b'(' | b'!'));
    let mut places = args.iter().take_while(is_place);
    if let (Some(place), None) = (places.next(), places.next())
        && std::path::Path::new(place).extension().is_some_and(|extension| !extension.is_empty())
    {
        return place.clone();
    }
    let name = args.iter().position(|word| word == "-name" || word == "-iname").and_then(|at| args.get(at + 1));
    let mut found = OsString::from(String::from(char::from(UNKNOWN)));
    if let Some(name) = name {
        found.push(OsStr::new("/"));
        found.push(name);
    }
    found
}
