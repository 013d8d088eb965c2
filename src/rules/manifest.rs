//! Manifests of Kubernetes: which secrets they have, by their names. Read from YAML's events (JSON is YAML), so that neither
//! size nor anchors cost anything; values are passed over.
//!
//! Sources: kubernetes.io/docs/reference/kubectl (`-f` takes files, directories, addresses and `-`; of a directory the files
//! that end with .yaml, .yml and .json), kubectl.docs.kubernetes.io/references/kustomize.
#![forbid(unsafe_code)]

mod custom;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use self::custom::Custom;
use self::walk::{Node, walk};
use super::book::{Book, Field, Part, Template};
use super::step::{STDIN, Step, UNKNOWN, is_known};
use super::wanted::Filling;

/// Kustomizations that take others in are followed so deep.
const DEEPEST_BASE: usize = 6;

/// So many texts are read for one line.
const MOST: usize = 256;

/// How a kustomization's file may be called.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Secrets {
    /// The names, as often as they stand there.
    pub(super) names: Vec<String>,
    /// There is one whose name cannot be read.
    pub(super) unnamed: bool,
    /// There is more than was looked at.
    pub(super) unseen: bool,
    /// So many texts were read.
    read: usize,
}

impl Secrets {
    /// Whether there is any.
    pub(super) fn are_there(&self) -> bool {
        self.unnamed || !self.names.is_empty()
    }
}

/// The secrets of what these templates name (`{-f}`; `{-k}` names a kustomization).
pub(super) fn secrets<'t>(
    templates: impl Iterator<Item = &'t Template>,
    filling: &Filling<'_>,
    book: &Book,
) -> Secrets {
    let mut found = Secrets::default();
    let (step, recursive) = (filling.step, filling.line.is_on("-R|--recursive"));
    for template in templates {
        let custom =
            template.parts().iter().any(|part| matches!(part, Part::Gap(Field::Option(name), _) if name == "-k"));
        // `-f a.yaml,b.yaml` are two files, as Go's `pflag` reads a list.
        let words = filling.words(template);
        let words = words.iter().flat_map(|word| {
            let parts = word.as_encoded_bytes().split(|&byte| byte == b',').filter(|_| !custom && is_known(word));
            let parts: Vec<Cow<'_, OsStr>> =
                parts.map(|part| Cow::Owned(String::from_utf8_lossy(part).into_owned().into())).collect();
            if parts.len() > 1 { parts } else { vec![word.clone()] }
        });
        for word in words {
            let made = step.made.iter().find(|(made, _)| is_known(&word) && *made == step.path(&word));
            match word.as_encoded_bytes() {
                b"-" => found.input(step, book),
                text if text == STDIN.as_bytes() => found.input(step, book),
                [UNKNOWN] if !step.within.is_nothing() => found.printed(&step.within, book),
                _ if made.is_some() => made.into_iter().for_each(|(_, printed)| found.printed(printed, book)),
                _ if custom => found.kustomization(step, &step.path(&word), book, 0),
                _ => found.file(step, &word, recursive, book),
            }
        }
    }
    found
}

impl Secrets {
    fn input(&mut self, step: &Step<'_>, book: &Book) {
        self.texts(step.input.as_deref());
        for file in &step.input_from {
            self.path(file, false, book);
        }
        self.unseen |= step.input_hidden;
    }

    fn printed(&mut self, printed: &super::printed::Printed, book: &Book) {
        self.texts(printed.text.as_deref());
        printed.files.iter().for_each(|file| self.path(file, false, book));
        self.unseen |= printed.hidden;
    }

    fn file(&mut self, step: &Step<'_>, word: &OsStr, recursive: bool, book: &Book) {
        let is_address = word.as_encoded_bytes().windows(3).any(|three| three == b"://");
        if step.host.is_some() || step.inside || is_address || !is_known(word) {
            self.unseen = true;
        } else {
            self.path(&step.path(word), recursive, book);
        }
    }

    fn path(&mut self, path: &Path, recursive: bool, book: &Book) {
        if !is_known(path.as_os_str()) || path.as_os_str() == STDIN {
            self.unseen = true;
            return;
        }
        match book.manifests(path, recursive) {
            Some(texts) => texts.iter().for_each(|text| self.texts(Some(text))),
            None => self.unseen = true,
        }
    }

    /// What stands in the kustomization of a directory, and in those that it takes in.
    fn kustomization(&mut self, step: &Step<'_>, directory: &Path, book: &Book, depth: usize) {
        if step.host.is_some() || step.inside || depth > DEEPEST_BASE || !is_known(directory.as_os_str()) {
            self.unseen = true;
            return;
        }
        let text = |name: &&str| book.manifests(&directory.join(name), false).filter(|texts| !texts.is_empty());
        let Some(texts) = KUSTOMIZATIONS.iter().find_map(text) else {
            self.unseen = true;
            return;
        };
        let custom = texts.first().map(|text| Custom::read(text)).unwrap_or_default();
        let before = self.names.len();
        self.names.extend(custom.generated);
        for taken in custom.taken {
            let path = directory.join(&taken);
            let is_address = taken.contains("://") || taken.contains("?ref=") || taken.starts_with("github.com/");
            match (is_address, path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json")) {
                (true, _) => self.unseen = true,
                (_, true) => self.path(&path, false, book),
                _ => self.kustomization(step, &path, book, depth + 1),
            }
        }
        for name in &mut self.names[before..] {
            *name = format!("{}{name}{}", custom.prefix, custom.suffix);
        }
    }

    fn texts(&mut self, text: Option<&[u8]>) {
        let Some(text) = text else { return };
        self.read += 1;
        if self.read > MOST {
            self.unseen = true;
            return;
        }
        // Most manifests have none, and of those nothing more need be known.
        if text.windows(6).any(|six| six == b"Secret") {
            self.unseen |= walk(text, &mut |node| self.node(node)).is_none();
        }
    }

    fn node(&mut self, node: &Node) {
        if node.text("kind") != Some("Secret") {
            return;
        }
        // What SOPS has encrypted, and a template, is no name.
        match node.name.as_deref().filter(|name| !name.is_empty() && !name.contains(['[', '{', '$', ' '])) {
            Some(name) => self.names.push(name.to_owned()),
            None => self.unnamed = true,
        }
    }
}
