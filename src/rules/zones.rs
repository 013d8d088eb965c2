//! Which zones a line enters, as far as the line itself says it: by its words, and by the SQL in them. What stands in
//! files, the plan looks at.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::PathBuf;
use std::rc::Rc;

use super::book::Book;
use super::decide::{Wants, behind};
use super::grammar::{self, Line};
use super::piped::{self, Said};
use super::printed::Printed;
use super::sql::{bare_sql, included};
use super::step::{LONGEST_PATH, STDIN, Step, UNKNOWN, is_known};
use super::wanted::Filling;
use super::{Classification, Command, Deed, Told};

/// Words beyond this are values; no glob for a line is about them.
const LONGEST_LINE: usize = 64 * 1024;

/// What zones look at in one command. Only where there are some.
pub(super) fn deed(step: &Step<'_>, wants: &Wants, book: &Book, command: &Command<'_>) -> Deed {
    let mut deed = Deed {
        cwd: step.cwd.clone(),
        host: step.host.clone(),
        inside: step.inside,
        beyond: step.escapes || step.host.is_some() || step.inside,
        writes: wants.touched.clone(),
        passes: wants.reads,
        left_alone: wants.left_alone,
        launches: book.only_starts(step.name()),
        ..Deed::default()
    };
    // Where the typed line's own output goes, the shell has decided before us.
    deed.writes.extend(command.stdout.filter(|_| !step.in_script && !step.inside).map(|stdout| stdout.path.clone()));
    let line = grammar::read(book.program(step.name()), &step.args);
    if book.zones().iter().any(|zone| zone.reads) && !step.inside {
        deed.reads = reads(step, &line);
    }
    if book.zones().iter().any(|zone| !zone.content.is_empty()) && !deed.writes.is_empty() {
        deed.brings = brings(step);
        if step.host.is_none() && !step.inside {
            deed.sources = reads(step, &line);
        }
    }
    // sops is told no SQL, whoever says that it is.
    if !wants.reads && book.zones().iter().any(|zone| !zone.sql.is_empty()) {
        deed.sql = told(step, &line, book, command);
    }
    deed
}

/// Every word that may name a file, and what comes in by standard input.
fn reads(step: &Step<'_>, line: &Line<'_>) -> Vec<PathBuf> {
    let words = line.operands.iter().copied().chain(line.all_values());
    let words = words.filter(|word| !word.is_empty() && word.len() <= LONGEST_PATH && is_known(word));
    words.map(|word| step.path(word)).chain(step.input_from.iter().cloned()).collect()
}

/// What the line itself writes: a here-document, the words of `echo`.
fn brings(step: &Step<'_>) -> Vec<Rc<[u8]>> {
    let said = match piped::said(step.name(), &step.args) {
        Said::Text { text, .. } => Some(text.into()),
        _ => None,
    };
    said.into_iter().chain(step.input.clone()).collect()
}

/// The line without its options: `docker --context prod network rm x` is one of `docker network rm *`.
fn plain(step: &Step<'_>, book: &Book) -> Vec<u8> {
    let line = grammar::read(book.program(step.name()), &step.args);
    let path = Some(OsStr::new(&line.path)).filter(|path| !path.is_empty());
    let mut words = step.name.as_encoded_bytes().to_vec();
    for word in path.into_iter().chain(line.operands.iter().copied()) {
        if words.len() + word.len() > LONGEST_LINE {
            break;
        }
        words.push(b' ');
        words.extend_from_slice(word.as_encoded_bytes());
    }
    words
}

/// The SQL that the line has, and where more of it stands.
pub(super) fn told(step: &Step<'_>, line: &Line<'_>, book: &Book, command: &Command<'_>) -> Told {
    let mut told = Told::default();
    for teller in book.sql(step.name()) {
        let Some(line) = behind(teller.subcommand.as_ref(), line) else { continue };
        let filling = Filling { step, line: &line, caught: &[], env: command.env };
        if line.is_any_on(&teller.unless) {
            continue;
        }
        let texts: Vec<_> = teller.text.iter().flat_map(|template| filling.words(template)).collect();
        let files: Vec<_> = teller.file.iter().flat_map(|template| filling.words(template)).collect();
        let is_input = |file: &OsStr| file == "-" || file == STDIN;
        let by_input = files.iter().any(|file| is_input(file));
        // Each for itself: what one finds in the line says nothing of where another looks.
        if by_input || (teller.input && texts.is_empty() && files.is_empty()) {
            told.texts.extend(step.input.as_deref().map(<[u8]>::to_vec));
            told.input.extend(step.input_from.iter().cloned());
            told.hidden |= step.input_hidden || (step.input.is_none() && step.input_from.is_empty());
        }
        told.texts.extend(texts.iter().map(|text| text.as_encoded_bytes().to_vec()));
        if texts.iter().chain(&files).any(|word| !is_known(word)) {
            let open = texts.iter().any(|text| begins_open(text)) || files.iter().any(|file| !is_known(file));
            told.hidden |= open && step.within.is_nothing();
            told.add(&step.within);
        }
        for file in files.iter().filter(|file| !is_input(file) && is_known(file)) {
            let path = step.path(file);
            let mut made = step.made.iter().filter(|(made, _)| *made == path).peekable();
            match made.peek() {
                Some(_) => made.for_each(|(_, printed)| told.add(printed)),
                None => told.files.push(path),
            }
        }
    }
    told.reader = step.shown();
    let more = told.texts.iter().flat_map(|text| included(text));
    let more: Vec<PathBuf> = more.map(|(name, _)| step.path(OsStr::new(&*String::from_utf8_lossy(&name)))).collect();
    told.files.extend(more);
    told
}

impl Told {
    /// What other commands of the line print is told as well.
    fn add(&mut self, printed: &Printed) {
        self.texts.extend(printed.text.as_deref().map(<[u8]>::to_vec));
        self.input.extend(printed.files.iter().cloned());
        self.hidden |= printed.hidden;
    }
}

/// Whether what stands at the head of a statement is known at run time only: then it may be any.
fn begins_open(text: &OsStr) -> bool {
    let heads = text.as_encoded_bytes().split(|&byte| byte == b';');
    heads.map(<[u8]>::trim_ascii_start).any(|statement| statement.first() == Some(&UNKNOWN))
}

/// Notes the zones that the words of one command enter.
pub(super) fn enter(step: &Step<'_>, deed: &Deed, book: &Book, class: &mut Classification) {
    let lines = [step.words(LONGEST_LINE), plain(step, book)];
    let bare: Vec<Vec<u8>> = deed.sql.texts.iter().map(|text| bare_sql(text)).collect();
    for zone in book.zones() {
        let by_sql = bare.iter().any(|text| zone.has_sql(text));
        // By a read of sops only a zone of reads is entered, and none at all that only adds.
        let starts_or_reads = deed.passes || deed.launches || deed.left_alone;
        let spared = (deed.passes && !zone.reads) || (starts_or_reads && zone.adds_only);
        if !by_sql && (spared || !lines.iter().any(|line| zone.has_command(line))) {
            continue;
        }
        // A server goes on with a statement when the program that sent it is stopped.
        class.remote |= by_sql || deed.beyond;
        class.zones.entry(zone.name.clone()).or_insert(if by_sql { "by its SQL" } else { "by its words" });
    }
    let sql_elsewhere = (step.inside || step.host.is_some()) && !deed.sql.files.is_empty();
    if sql_elsewhere || deed.sql.hidden {
        class.notes.push(format!("{} reads SQL where it cannot be looked at", step.shown()));
    }
}
