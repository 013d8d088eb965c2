//! `xargs`: the commands that it starts. What it is told the line may say (`echo x | xargs`), or only run time.
//! Facts: xargs(1) of the GNU findutils.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use super::book::Book;
use super::find::{command, unknown};
use super::grammar::Line;
use super::step::{Step, name_of};
use super::unfold::handed;
use super::words::Words;

/// So many words of one line are told apart; what is beyond is taken together as something that only run time knows.
const MOST: usize = 256;

/// The commands that `xargs` starts with these words and what stands on its standard input.
pub(super) fn by_xargs<'a>(words: &Words<'a>, line: &Line<'_>, step: &Step<'a>, book: &Book) -> Vec<Step<'a>> {
    let own = Step { input: None, input_from: Vec::new(), input_hidden: false, ..step.clone() };
    let replaces = line.is_given("-I") || line.is_given("-i|--replace");
    let placeholder = line.value("-I").or_else(|| line.value("-i|--replace")).and_then(OsStr::to_str);
    let placeholder = placeholder.filter(|placeholder| !placeholder.is_empty()).unwrap_or("{}");
    let items = items(line, &told(line, step), replaces, book);
    if replaces {
        return items.iter().flatten().filter_map(|item| command(words, placeholder, item, &own)).collect();
    }
    let most =
        line.value("-n|--max-args").and_then(|most| most.to_str()?.parse::<usize>().ok()).filter(|&most| most > 0);
    let by_line = line.is_given("-L|--max-lines") || line.is_given("-l");
    let all: Vec<OsString>;
    let groups: Vec<&[OsString]> = match most {
        _ if by_line => items.iter().map(Vec::as_slice).collect(),
        most => {
            all = items.concat();
            all.chunks(most.unwrap_or(usize::MAX)).collect()
        }
    };
    let started = groups.into_iter().filter_map(|group| {
        let (program, args) = words.split_first()?;
        let args = args.iter().chain(group).cloned().collect();
        Some(Step {
            name: name_of(program),
            called: program.clone(),
            args,
            redirected: Vec::new(),
            found: true,
            ..own.clone()
        })
    });
    started.collect()
}

/// The same with what it is told on its standard input: `-a FILE` stands for that.
pub(super) fn told<'a>(line: &Line<'_>, step: &Step<'a>) -> Step<'a> {
    let Some(file) = line.value("-a|--arg-file") else { return step.clone() };
    let here = step.host.is_none() && !step.inside;
    let input_from = if here { vec![step.path(file)] } else { Vec::new() };
    Step { input: None, input_from, input_hidden: !here, ..step.clone() }
}

/// What comes in by standard input, where the line says it, or files that can be looked at.
pub(super) fn text<'s>(step: &'s Step<'_>, book: &Book) -> Option<Cow<'s, [u8]>> {
    let by_line = step.input.as_deref().filter(|_| !step.input_hidden && step.input_from.is_empty());
    by_line.map(Cow::Borrowed).or_else(|| handed(step, book).map(Cow::Owned))
}

/// What `xargs` is told, line by line; one word that only run time knows where neither the line says it nor a file that can
/// be looked at.
fn items(line: &Line<'_>, step: &Step<'_>, replaces: bool, book: &Book) -> Vec<Vec<OsString>> {
    let open = || vec![vec![unknown()]];
    let Some(text) = text(step, book) else { return open() };
    let text = &*text;
    let delimiter = line.value("-d|--delimiter").map(OsStr::as_encoded_bytes);
    let apart = match delimiter {
        _ if line.is_given("-0|--null") => Some(0),
        Some([byte]) => Some(*byte),
        Some(b"\\n") => Some(b'\n'),
        Some(b"\\t") => Some(b'\t'),
        Some(b"\\0") => Some(0),
        Some(_) => return open(),
        None => None,
    };
    let lines: Vec<Vec<OsString>> = match apart {
        Some(apart) => {
            let text = text.strip_suffix(&[apart]).unwrap_or(text);
            text.split(|&byte| byte == apart).map(|item| vec![os(item)]).collect()
        }
        None => text.split(|&byte| byte == b'\n').map(|line| words(line, replaces)).collect(),
    };
    let mut lines: Vec<_> = lines.into_iter().filter(|line| line.iter().any(|word| !word.is_empty())).collect();
    if lines.iter().map(Vec::len).sum::<usize>() > MOST {
        lines.truncate(MOST);
        lines.iter_mut().for_each(|line| line.truncate(1));
        lines.push(vec![unknown()]);
    }
    lines
}

/// The words of a line, without the quotes that xargs knows; with `-I` the whole line is one.
fn words(line: &[u8], whole: bool) -> Vec<OsString> {
    let (mut done, mut word, mut open, mut quote) = (Vec::new(), Vec::new(), false, None);
    let mut bytes = line.trim_ascii_start().iter();
    while let Some(&byte) = bytes.next() {
        match (quote, byte) {
            (Some(closing), _) if closing == byte => quote = None,
            (None, b'\'' | b'"') => (quote, open) = (Some(byte), true),
            (None, b'\\') => {
                word.extend(bytes.next());
                open = true;
            }
            (None, b' ' | b'\t') if !whole => {
                if std::mem::take(&mut open) {
                    done.push(os(&std::mem::take(&mut word)));
                }
            }
            _ => {
                word.push(byte);
                open = true;
            }
        }
    }
    if open {
        done.push(os(&word));
    }
    done
}

/// Text, or it is shown as text.
fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
