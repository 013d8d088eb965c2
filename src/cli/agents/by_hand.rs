//! The files that a line writes without sops: by its shell's redirections, and by other programs. They are judged as an agent's
//! own edits are, command by command, in the line's order: what an earlier one opens or takes is the session's for the next.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::agents::{Brings, Judgement};
use crate::exit::Exit;
use crate::naming;
use crate::program::is_our_name;
use crate::report;
use crate::rules::{self, Book, Change, Leaves, Part, Write};
use crate::run::Context;

use super::files;
use super::place::places;
use super::seen::{behind_locked, name_of};

/// On the way through a line.
pub(super) struct Walk<'a> {
    context: &'a Context,
    book: &'a Book,
    /// Files that a locked decrypt of this line has opened.
    opened: Vec<PathBuf>,
    /// Files that it has encrypted.
    encrypted: Vec<PathBuf>,
    /// Leases that it has acquired.
    acquired: Vec<String>,
}

/// A file that is written by hand.
struct ByHand {
    path: PathBuf,
    brings: Brings,
    /// Its new content, where that comes from another file.
    source: Option<PathBuf>,
    /// The shell opens it, before anybody could take a lease.
    by_shell: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(context: &'a Context, book: &'a Book) -> Self {
        Self { context, book, opened: Vec::new(), encrypted: Vec::new(), acquired: Vec::new() }
    }

    /// Whether the line itself has opened this file for edits.
    pub(super) fn has_opened(&self, path: &Path) -> bool {
        self.opened.contains(&physical(path))
    }

    /// The next command. `seen`: somebody in front of it takes its leases.
    pub(super) fn step(&mut self, parts: &[Part], at: usize, seen: bool) -> Result<Judgement, Exit> {
        let part = &parts[at];
        let locked = behind_locked(self.context, part, self.book);
        // What it starts comes right behind it, deeper.
        let deeper = parts[at + 1..].iter().take_while(|inner| inner.under.len() > part.under.len());
        let encrypts = std::iter::once(part).chain(deeper).chain(&locked).flat_map(|part| &part.class.writes);
        let encrypted: Vec<&Path> = encrypts.filter(|write| is_by_sops(write)).map(|write| &*write.path).collect();
        let by_shell = part.redirected.iter().filter(|path| !encrypted.contains(&path.as_path()));
        let by_shell = by_shell.map(|path| ByHand {
            path: path.clone(),
            brings: Brings::Part(String::new()),
            source: None,
            by_shell: true,
        });
        let writes = std::iter::once(part).chain(&locked).flat_map(|part| &part.class.writes);
        let others = writes.filter(|write| write.change == Change::Other && !part.redirected.contains(&write.path));
        let all: Vec<ByHand> = by_shell.chain(others.map(ByHand::of)).collect();
        for one in &all {
            if let Some(why) = self.against(one)? {
                return Ok(Judgement::Deny(why));
            }
        }
        self.note(part, &locked, seen);
        Ok(Judgement::Pass)
    }

    fn against(&self, one: &ByHand) -> Result<Option<String>, Exit> {
        let places = places(self.context, &one.path);
        if places.is_empty() && one.by_shell && is_called_sops(&one.path) {
            return Ok(Some(report::opened_blindly().to_string()));
        }
        for path in places {
            let is_sops = naming::holds_sops(&path);
            // Of what another program does to a SOPS file the plan speaks, or who stands in front of the program.
            if self.has_opened(&path) || (is_sops && !one.by_shell) || (!path.exists() && self.brings_sops(one)) {
                continue;
            }
            if let Some(why) = files::against(self.context, &path, &one.brings, &self.acquired)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    /// What comes there is SOPS already.
    fn brings_sops(&self, one: &ByHand) -> bool {
        one.source
            .as_deref()
            .is_some_and(|source| naming::holds_sops(source) || self.encrypted.contains(&physical(source)))
    }

    /// What is another for the commands behind it.
    fn note(&mut self, part: &Part, locked: &[Part], seen: bool) {
        let writes = std::iter::once(part).filter(|_| seen).chain(locked).flat_map(|part| &part.class.writes);
        for write in writes.filter(|write| rules::is_known(write.path.as_os_str())) {
            let path = physical(&write.path);
            match write.change {
                Change::DecryptInPlace => self.opened.push(path),
                Change::Encrypt => {
                    self.opened.retain(|opened| *opened != path);
                    self.encrypted.push(path);
                }
                _ => {}
            }
        }
        let mut words = part.args.iter().filter_map(|word| word.to_str());
        if is_our_name(name_of(&part.caller.word)) && words.next() == Some("acquire") {
            self.acquired.extend(words.filter(|word| word.contains(':')).map(str::to_owned));
        }
    }
}

impl ByHand {
    fn of(write: &Write) -> Self {
        let brings = if write.leaves == Leaves::Gone { Brings::Nothing } else { Brings::Part(String::new()) };
        Self { path: write.path.clone(), brings, source: write.asked.source.clone(), by_shell: false }
    }
}

/// sops writes ciphertext there.
fn is_by_sops(write: &Write) -> bool {
    !matches!(write.change, Change::Other | Change::DecryptTo | Change::DecryptInPlace)
}

/// Whether what is known of its name has the marker of SOPS files.
fn is_called_sops(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().windows(5).any(|five| five == b".sops")
}

fn physical(path: &Path) -> PathBuf {
    naming::place(path).map_or_else(|_| path.to_owned(), |place| place.path)
}
