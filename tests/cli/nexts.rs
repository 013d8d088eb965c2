//! Every next step that stands in the source, also of refusals that no test brings about: a line to paste, or a sentence.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::next::mixed;

/// A text of a source file: where it begins and ends there, and what it says, with an `X` in each gap.
struct Literal {
    start: usize,
    end: usize,
    said: String,
}

fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).expect("directory") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The plain texts between quotes; what is raw or a single sign is none of ours.
fn literals(source: &str) -> Vec<Literal> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            at += 3;
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            at += 3 + raw.find("\"#").expect("its end") + 2;
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (said, length) = read(quoted);
            found.push(Literal { start: at, end: at + 1 + length, said });
            at += 1 + length;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// Up to the closing quote, with the length of what was read.
fn read(rest: &str) -> (String, usize) {
    let mut said = String::new();
    let mut signs = rest.char_indices().peekable();
    let mut depth = 0_usize;
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return (said, at + 1),
            '\\' => match signs.next().map(|(_, sign)| sign) {
                // A line that goes on in the next.
                Some('\n') => while signs.next_if(|(_, sign)| sign.is_whitespace()).is_some() {},
                Some('n') => said.push('\n'),
                Some(sign) => said.push(sign),
                None => {}
            },
            '{' if depth == 0 && signs.next_if(|(_, next)| *next == '{').is_some() => said.push('('),
            '}' if depth == 0 => drop(signs.next_if(|(_, next)| *next == '}')),
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                said.push('X');
            }
            _ if depth > 0 => {}
            sign => said.push(sign),
        }
    }
    (said, rest.len())
}

/// The places in a source that hold nothing but next steps: bodies of functions of that name, and what is bound to it.
fn bodies(source: &str, all: &[Literal]) -> Vec<(usize, usize)> {
    let starts = ["fn remedy(", "fn next("].iter().flat_map(|name| source.match_indices(name)).map(|(at, _)| at);
    let in_text = |at: usize| all.iter().any(|it| it.start <= at && at < it.end);
    let body = |start: usize| {
        let mut depth = 0;
        for (at, sign) in source[start..].char_indices().map(|(at, sign)| (start + at, sign)) {
            match sign {
                '{' if !in_text(at) => depth += 1,
                '}' if !in_text(at) && depth == 1 => return (start, at),
                '}' if !in_text(at) => depth -= 1,
                _ => {}
            }
        }
        (start, source.len())
    };
    let statement = |start: usize| {
        let ends = source[start..].match_indices(";\n").map(|(at, _)| start + at);
        (start, ends.into_iter().find(|&at| !in_text(at)).unwrap_or(source.len()))
    };
    let chosen = ["let remedy = ", "let next = "].iter().flat_map(|name| source.match_indices(name));
    starts.map(body).chain(chosen.map(|(at, _)| statement(at))).collect()
}

/// Whether the code around a text makes it a next step.
fn is_next(source: &str, it: &Literal) -> bool {
    let mut before = source[..it.start].trim_end();
    for wrapper in ["format!(", "&format!(", "Some(", "&"] {
        before = before.strip_suffix(wrapper).unwrap_or(before).trim_end();
    }
    let named =
        ["next:", "remedy:", ".remedy(", "let next =", "let remedy ="].iter().any(|name| before.ends_with(name));
    named || is_last_of_a_refusal(source, it)
}

fn is_last_of_a_refusal(source: &str, it: &Literal) -> bool {
    let statement = source[..it.start].rfind(';').map_or(0, |at| at + 1);
    let before = &source[statement..it.start];
    let call = ["misuse(", "misconfigured("].iter().filter_map(|name| before.rfind(name)).max();
    let behind = source[it.end..].trim_start().trim_start_matches(',').trim_start();
    call.is_some_and(|at| before[at..].contains(',') && !before[at..].contains(')')) && behind.starts_with(')')
}

#[test]
fn every_next_step_is_a_line_or_a_sentence() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).expect("source");
        let source = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let all = literals(source);
        let bodies = bodies(source, &all);
        let steps = all
            .iter()
            .filter(|it| is_next(source, it) || bodies.iter().any(|(start, end)| (start..end).contains(&&it.start)));
        for step in steps.filter(|step| !step.said.is_empty()) {
            seen += 1;
            // What is put in front of another command is a line as that is.
            let said = step.said.strip_prefix("X && ").unwrap_or(&step.said);
            if let Some(why) = mixed(said) {
                let line = source[..step.start].matches('\n').count() + 1;
                wrong.push(format!("{}:{line}: {why}: {}", file.display(), step.said));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // As many as there are: who moves them to where they are not seen should know.
    assert!(seen > 180, "{seen} next steps");
}
