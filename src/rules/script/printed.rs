//! What comes out of the commands of a script, where the line says it: into a pipe, a word (`$(…)`), a stream (`<(…)`), or
//! a file that a later command reads.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::rc::Rc;

use super::{Reader, Unset, is_stdout};
use crate::rules::archive;
use crate::rules::piped::{self, Said};
use crate::rules::printed::Printed;
use crate::rules::step::{STDIN, UNKNOWN};
use crate::shell::{Input, Kind, Part, Redirection, Simple, Span};

/// Pipes behind pipes beyond this are not followed.
const DEEPEST: usize = 24;

/// So many bytes are put together for one script.
const MOST: usize = 4 * 1024 * 1024;

/// A command, and the place among its redirections.
type Origin = (usize, usize);

/// What was found out already.
#[derive(Default)]
pub(super) struct Known {
    of: RefCell<BTreeMap<Span, Rc<Printed>>>,
    /// Texts on standard input, by the command and the place among its redirections: several commands may read one.
    texts: RefCell<BTreeMap<Origin, Rc<[u8]>>>,
    depth: Cell<usize>,
    spent: Cell<usize>,
}

impl Known {
    /// What was found out is not so any more.
    pub(super) fn forget(&self) {
        self.of.borrow_mut().clear();
    }

    fn pays(&self, bytes: usize) -> bool {
        self.spent.set(self.spent.get().saturating_add(bytes));
        self.spent.get() <= MOST
    }
}

impl Reader<'_, '_> {
    /// What a command reads from standard input.
    pub(super) fn input(&self, simple: &Simple) -> Printed {
        match simple.input {
            Input::Inherited => Printed {
                text: self.around.input.clone(),
                files: self.around.input_from.clone(),
                hidden: self.around.input_hidden,
                packed: Rc::clone(&self.around.packed),
                exact: false,
            },
            Input::Redirection(command, place) => {
                let opens = self.script.commands.get(command);
                let from = opens.and_then(|opens| Some((opens, opens.redirections.get(place)?)));
                from.map_or_else(Printed::hidden, |(opens, from)| self.redirected((command, place), opens, from))
            }
            Input::Pipe(Some(span)) => Printed::clone(&self.printed(span)),
            Input::Pipe(None) | Input::Unknown => Printed::hidden(),
        }
    }

    fn redirected(&self, of: Origin, opens: &Simple, from: &Redirection) -> Printed {
        match (from.kind, from.target.parts()) {
            // What commands print, word for word or in files.
            (Kind::HereString, [Part::Output { commands, .. }]) if self.to_the_letter(*commands).is_none() => {
                Printed { exact: false, ..Printed::clone(&self.printed(*commands)) }
            }
            (Kind::HereDoc | Kind::HereString, _) => {
                let mut texts = self.known.texts.borrow_mut();
                let text = texts.entry(of).or_insert_with(|| self.bytes(&from.target).into());
                Printed { text: Some(Rc::clone(text)), exact: true, ..Printed::default() }
            }
            (Kind::Read, [Part::Stream(span)]) => Printed::clone(&self.printed(*span)),
            (Kind::Read, _) => self.files(opens, [self.word(&from.target)]),
            _ => Printed::hidden(),
        }
    }

    /// What these commands print.
    pub(super) fn printed(&self, span: Span) -> Rc<Printed> {
        if let Some(found) = self.known.of.borrow().get(&span) {
            return Rc::clone(found);
        }
        let depth = self.known.depth.get();
        if depth >= DEEPEST {
            return Rc::new(Printed::hidden());
        }
        self.known.depth.set(depth + 1);
        let found = Rc::new(self.all_printed(span));
        self.known.depth.set(depth);
        self.known.of.borrow_mut().insert(span, Rc::clone(&found));
        found
    }

    fn all_printed(&self, span: Span) -> Printed {
        let mut all = Printed::default();
        let commands = self.script.commands.get(span.from..span.to).unwrap_or_default();
        let mut speakers = 0_usize;
        for (simple, elsewhere) in commands.iter().zip(self.goes_elsewhere(span)) {
            let is_read = commands.len() == 1 && simple.words.is_empty();
            if elsewhere || simple.is_call || (simple.words.is_empty() && !is_read) {
                continue;
            }
            let printed = if is_read { self.input_alone(simple) } else { self.of(simple) };
            speakers += usize::from(!printed.is_nothing() || may_decide(simple));
            let bytes = printed.text.as_ref().map_or(0, |text| text.len());
            if !self.known.pays(bytes) {
                return Printed::hidden();
            }
            all.exact = printed.exact;
            all.add(&printed);
        }
        let is_text = all.files.is_empty() && !all.hidden;
        all.exact &= speakers == 1 && is_text && self.script.complete;
        all
    }

    /// Whether what each of these commands prints goes into another pipe, a word or a stream among them.
    fn goes_elsewhere(&self, span: Span) -> Vec<bool> {
        let mut elsewhere = vec![false; span.to.saturating_sub(span.from)];
        let mut mark = |inner: &Span| {
            let (from, to) = (inner.from.max(span.from) - span.from, inner.to.min(span.to).saturating_sub(span.from));
            if let Some(inner) = elsewhere.get_mut(from..to) {
                inner.fill(true);
            }
        };
        for simple in self.script.commands.get(span.from..span.to).unwrap_or_default() {
            if let Input::Pipe(Some(inner)) = &simple.input
                && inner.from >= span.from
            {
                mark(inner);
            }
            for part in simple.words.iter().flat_map(|word| word.parts()) {
                if let Part::Output { commands: inner, .. } | Part::Stream(inner) = part
                    && inner.from >= span.from
                {
                    mark(inner);
                }
            }
        }
        elsewhere
    }

    /// `$(<FILE)`.
    fn input_alone(&self, simple: &Simple) -> Printed {
        match simple.input {
            Input::Redirection(..) => self.input(simple),
            _ => Printed::default(),
        }
    }

    /// What one command prints on its standard output.
    fn of(&self, simple: &Simple) -> Printed {
        let leads_off = |redirection: &&Redirection| {
            is_stdout(&redirection.descriptor)
                && (redirection.kind.writes()
                    || (redirection.kind == Kind::Duplicate && redirection.target.known() != Some(b"1")))
        };
        if simple.redirections.iter().any(|redirection| leads_off(&redirection)) {
            return Printed::default();
        }
        self.said(simple)
    }

    /// The same, wherever it goes.
    pub(super) fn said(&self, simple: &Simple) -> Printed {
        let step = self.step(simple, Unset::Unknown);
        let exactly = |text: Vec<u8>, exact| Printed { text: Some(text.into()), exact, ..Printed::default() };
        match piped::said(step.name(), &step.args) {
            Said::Text { text, exact } => {
                let exact = exact && !text.contains(&UNKNOWN);
                exactly(text, exact)
            }
            Said::Files(files) => {
                let mut all = Printed::default();
                for file in files {
                    let is_input = file == "-" || file == STDIN;
                    all.add(&if is_input { self.input(simple) } else { self.files(simple, [file]) });
                }
                let streams = simple.words.iter().flat_map(|word| word.parts());
                for part in streams {
                    if let Part::Stream(span) = part {
                        all.add(&self.printed(*span));
                    }
                }
                all
            }
            // What is secret in them nobody here sees.
            Said::Decrypted(files) => Printed { hidden: true, ..self.files(simple, files) },
            Said::Through(files) if files.is_empty() => {
                Printed { text: None, hidden: true, exact: false, ..self.input(simple) }
            }
            Said::Through(files) => Printed { text: None, hidden: true, ..self.files(simple, files) },
            Said::Packed => {
                let here = self.around.host.is_none() && !self.around.inside;
                let packed = archive::packed(&step.args, &step.cwd).filter(|_| here);
                Printed { packed: packed.unwrap_or_default(), ..Printed::hidden() }
            }
            Said::Input => self.input(simple),
            Said::Directory if self.around.host.is_none() => {
                exactly(self.directory(&simple.directory).into_os_string().into_encoded_bytes(), true)
            }
            Said::Nothing => Printed::default(),
            Said::Directory | Said::Unknown => Printed::hidden(),
        }
    }

    /// Files as the command that opens them names them; on another host and in a container there are none of ours.
    fn files(&self, opened: &Simple, files: impl IntoIterator<Item = OsString>) -> Printed {
        let directory = self.directory(&opened.directory);
        let mut all = Printed::default();
        for file in files {
            let path = directory.join(&file);
            let before = all.text.is_some() || all.hidden;
            self.made.iter().filter(|(made, _)| *made == path).for_each(|(_, printed)| all.add(printed));
            let is_made = !before && (all.text.is_some() || all.hidden);
            match self.around.host.is_none() && !self.around.inside {
                _ if is_made => {}
                true if file == STDIN => all.files.push(file.into()),
                true => all.files.push(path),
                false => all.hidden = true,
            }
        }
        all
    }

    /// What goes into the words of a command besides what these say.
    pub(super) fn within(&self, simple: &Simple) -> Rc<Printed> {
        let mut all = Printed::default();
        for part in simple.words.iter().flat_map(|word| word.parts()) {
            if let Part::Output { commands, .. } | Part::Stream(commands) = part {
                all.add(&self.printed(*commands));
            }
        }
        if all.is_nothing() { Rc::clone(&self.around.within) } else { Rc::new(all) }
    }

    /// What these commands print, if all of it is known, without the newlines at its end.
    pub(super) fn to_the_letter(&self, span: Span) -> Option<Vec<u8>> {
        let printed = self.printed(span);
        let text = printed.text.as_ref().filter(|_| printed.exact)?;
        let end = text.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
        self.known.pays(end).then(|| text[..end].to_vec())
    }
}

/// Whether what is printed may depend on it.
fn may_decide(simple: &Simple) -> bool {
    let name = simple.words.first().and_then(|word| word.known());
    !matches!(name, Some(b"cd" | b"pushd" | b"export" | b"set" | b"local" | b"readonly" | b"unset" | b":" | b"umask"))
}
