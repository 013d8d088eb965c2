//! A notation for what was found, so that a table can be read: `[NAME=VALUE] word word >file @directory |input`.
//!
//! `·` is a blank in a word and `⏎` a newline in it, `''` an empty word, `?` unknown, `$x` from outside, `«a*»` a
//! pattern, each with `…` if it may become none or several words. `@d` is the directory, `|3` a pipe from command 3, `|3-5`
//! from one or more of these, `|?` from elsewhere, `<3.0` the first redirection of command 3. `!` at the end: not complete.
#![forbid(unsafe_code)]

use crate::shell::{Descriptor, Directory, Input, Kind, Part, Redirection, Script, Simple, Span, Word};

pub(super) fn script(script: &Script) -> String {
    let mut all: Vec<String> = script.commands.iter().enumerate().map(|(at, command)| simple(at, command)).collect();
    all.extend((!script.complete).then(|| "!".to_owned()));
    all.join(" ; ")
}

fn simple(at: usize, command: &Simple) -> String {
    let mut all = Vec::new();
    for assignment in &command.assignments {
        let sign = if assignment.appends { "+=" } else { "=" };
        all.push(format!("[{}{sign}{}]", text(&assignment.name), parts(&assignment.value)));
    }
    all.extend(command.words.iter().map(word));
    all.extend(command.redirections.iter().map(redirection));
    match &command.directory {
        Directory::Start => {}
        Directory::Moved(to) => all.push(format!("@{}", word(to))),
        Directory::Either(places) => {
            let shown = places.iter().map(|place| match place {
                Directory::Moved(to) => word(to),
                _ => ".".to_owned(),
            });
            all.push(format!("@{}", shown.collect::<Vec<_>>().join("|")));
        }
        Directory::Unknown => all.push("@?".to_owned()),
    }
    match command.input {
        Input::Inherited => {}
        Input::Redirection(command, _) if command == at => {}
        Input::Redirection(command, place) => all.push(format!("<{command}.{place}")),
        Input::Pipe(Some(Span { from, to })) if to <= from + 1 => all.push(format!("|{from}")),
        Input::Pipe(Some(Span { from, to })) => all.push(format!("|{from}-{}", to - 1)),
        Input::Pipe(None) => all.push("|?".to_owned()),
        Input::Unknown => all.push("<?".to_owned()),
    }
    all.join(" ")
}

fn redirection(redirection: &Redirection) -> String {
    let left = match &redirection.descriptor {
        Descriptor::Ready => String::new(),
        Descriptor::Number(number) => number.to_string(),
        Descriptor::Both => "&".to_owned(),
        Descriptor::Named(name) => format!("{{{}}}", text(name)),
    };
    let operator = match redirection.kind {
        Kind::Read => "<",
        Kind::Write => ">",
        Kind::Append => ">>",
        Kind::ReadWrite => "<>",
        Kind::Clobber => ">|",
        Kind::Duplicate => ">&",
        Kind::HereDoc => "<<",
        Kind::HereString => "<<<",
    };
    format!("{left}{operator}{}", word(&redirection.target))
}

pub(super) fn word(word: &Word) -> String {
    if word.parts().is_empty() { "''".to_owned() } else { parts(word) }
}

fn parts(word: &Word) -> String {
    let several = |splits: &bool| if *splits { "…" } else { "" };
    let part = |part: &Part| match part {
        Part::Known(bytes) => text(bytes),
        Part::Pattern(bytes) => format!("«{}»", text(bytes)),
        Part::Variable { name, splits } => format!("${}{}", text(name), several(splits)),
        Part::Unknown { splits } | Part::Output { splits, .. } => format!("?{}", several(splits)),
        Part::Stream(_) => "?".to_owned(),
    };
    word.parts().iter().map(part).collect()
}

fn text(bytes: &[u8]) -> String {
    bytes
        .escape_ascii()
        .to_string()
        .replace(' ', "·")
        .replace("\\n", "⏎")
        .replace("\\'", "'")
        .replace("\\\"", "\"")
        .replace("\\\\", "\\")
}
