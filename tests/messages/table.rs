//! What was played, and how it is written down.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::process::{Command, Output};

use super::example::as_on_anas_machine;
use crate::world::World;
use crate::world::ends::text;

/// Messages of one kind, in the order in which they were played.
pub(super) struct Chapter {
    title: &'static str,
    played: Vec<Played>,
}

/// One command, and what it said.
struct Played {
    what: &'static str,
    typed: String,
    status: i32,
    said: String,
}

/// What the world of every test sets; anything else in the environment is part of what was typed.
const EVERYWHERE: [&str; 2] = ["LOCKED_STATE_DIR", "LOCKED_SHIMS_DIR"];

impl Chapter {
    pub(super) fn new(title: &'static str) -> Self {
        Self { title, played: Vec::new() }
    }

    /// Runs it and writes down what it says; the answer is its standard error.
    #[track_caller]
    pub(super) fn plays(&mut self, world: &World, what: &'static str, command: &mut Command) -> String {
        let output = command.output().expect("it runs");
        self.heard(world, what, command, &output)
    }

    /// The same for what has run already.
    #[track_caller]
    pub(super) fn heard(&mut self, world: &World, what: &'static str, command: &Command, output: &Output) -> String {
        let said = text(&output.stderr);
        crate::world::next::each_is_one_thing(&said);
        let whole = format!("{}{said}", text(&output.stdout));
        let whole = if whole.is_empty() { "(says nothing)".to_owned() } else { whole };
        self.played.push(Played {
            what,
            typed: as_on_anas_machine(world, &typed(command)),
            status: output.status.code().expect("a status"),
            said: as_on_anas_machine(world, &whole),
        });
        said
    }
}

/// As it would be typed in a shell.
fn typed(command: &Command) -> String {
    let sets = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?)));
    let sets = sets.filter(|(name, value)| {
        let is_ours = name.starts_with("LOCKED_") && !EVERYWHERE.contains(name);
        is_ours && !(*name == "LOCKED_SESSION" && value.to_string_lossy().ends_with("-0000-4000-8000-000000000000"))
    });
    let sets = sets.map(|(name, value)| format!("{name}={} ", quoted(value)));
    let program = std::path::Path::new(command.get_program()).file_name().expect("a name");
    let words: Vec<_> = std::iter::once(program).chain(command.get_args()).map(quoted).collect();
    format!("{}{}", sets.collect::<String>(), words.join(" "))
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_str().expect("UTF-8");
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_./:=@%+,#".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}

/// How it was read; see `tests/messages.rs` for how it was made.
const HEAD: &str = include_str!("head.md");

/// The whole table.
pub(super) fn told(chapters: &[Chapter]) -> String {
    let mut told = HEAD.to_owned();
    let mut number = 0;
    for Chapter { title, played } in chapters {
        write!(told, "\n## {title}\n").expect("a text");
        for Played { what, typed, status, said } in played {
            number += 1;
            let said = said.trim_end_matches('\n');
            write!(told, "\n### {number}. {what} · exit {status}\n\n```text\n$ {typed}\n{said}\n```\n")
                .expect("a text");
        }
    }
    told
}
