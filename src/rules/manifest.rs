//! Manifests of Kubernetes: which secrets they have, by their names. Read from YAML's events (JSON is YAML), so that neither
//! size nor anchors cost anything; values are passed over.
//!
//! Sources: kubernetes.io/docs/reference/kubectl (`-f` takes files, directories, addresses and `-`; of a directory the files
//! that end with .yaml, .yml and .json), kubectl.docs.kubernetes.io/references/kustomize.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use saphyr_parser::{Event, Parser};

use super::book::{Book, Field, Part, Template};
use super::step::{STDIN, Step, UNKNOWN, is_known};
use super::wanted::Filling;

/// Maps inside maps deeper than this are not followed.
const DEEPEST: usize = 64;

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
        for word in filling.words(template) {
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

/// What a kustomization says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Custom {
    generated: Vec<String>,
    taken: Vec<String>,
    prefix: String,
    suffix: String,
}

impl Custom {
    fn read(text: &[u8]) -> Self {
        let mut custom = Self::default();
        let _broken = walk(text, &mut |node| {
            match node.under.as_slice() {
                [] => {
                    custom.prefix = node.text("namePrefix").unwrap_or_default().to_owned();
                    custom.suffix = node.text("nameSuffix").unwrap_or_default().to_owned();
                }
                [list] if list == "secretGenerator" => custom.generated.extend(node.text("name").map(str::to_owned)),
                _ => {}
            }
            let taken = ["resources", "bases", "components"]
                .iter()
                .filter_map(|key| node.lists.iter().find(|(own, _)| own == key));
            if node.under.is_empty() {
                custom.taken.extend(taken.flat_map(|(_, words)| words.clone()));
            }
        });
        custom
    }
}

/// A map of a document, once it is read.
#[derive(Default)]
struct Node {
    /// The keys below which it stands.
    under: Vec<String>,
    /// What it says in words, key by key.
    texts: Vec<(String, String)>,
    /// Lists of words that it has.
    lists: Vec<(String, Vec<String>)>,
    /// What its `metadata` says under `name`.
    name: Option<String>,
}

impl Node {
    fn text(&self, key: &str) -> Option<&str> {
        self.texts.iter().find(|(own, _)| own == key).map(|(_, text)| text.as_str())
    }
}

/// An open map or list.
enum Frame {
    Map(Node, Option<String>),
    List(Vec<String>),
}

/// Goes through every map of the documents, the innermost first; none where it is no YAML, or nested too deeply.
fn walk(text: &[u8], seen: &mut dyn FnMut(&Node)) -> Option<()> {
    let text = std::str::from_utf8(text).ok()?;
    let mut frames: Vec<Frame> = Vec::new();
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, _) = event.ok()?;
        match event {
            Event::DocumentStart(_) => frames.clear(),
            Event::MappingStart(..) | Event::SequenceStart(..) if frames.len() >= DEEPEST => return None,
            Event::MappingStart(..) => {
                let key = |frame: &Frame| match frame {
                    Frame::Map(_, key) => key.clone(),
                    Frame::List(_) => None,
                };
                let under = frames.iter().filter_map(key).collect();
                frames.push(Frame::Map(Node { under, ..Node::default() }, None));
            }
            Event::SequenceStart(..) => frames.push(Frame::List(Vec::new())),
            Event::Scalar(text, ..) => match frames.last_mut() {
                Some(Frame::Map(node, key)) => match key.take() {
                    Some(key) => node.texts.push((key, text.into_owned())),
                    None => *key = Some(text.into_owned()),
                },
                Some(Frame::List(words)) => words.push(text.into_owned()),
                None => {}
            },
            Event::Alias(_) => {
                if let Some(Frame::Map(_, key)) = frames.last_mut() {
                    *key = if key.is_some() { None } else { Some(String::new()) };
                }
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let done = frames.pop();
                if let Some(Frame::Map(node, _)) = &done {
                    seen(node);
                }
                if let Some(Frame::Map(around, key)) = frames.last_mut() {
                    let key = key.take();
                    match (done, key) {
                        (Some(Frame::Map(node, _)), Some(key)) if key == "metadata" => {
                            around.name = node.text("name").map(str::to_owned);
                        }
                        (Some(Frame::List(words)), Some(key)) => around.lists.push((key, words)),
                        // A map for a key: nothing is named so.
                        (_, None) => frames.last_mut().into_iter().for_each(|frame| {
                            if let Frame::Map(_, key) = frame {
                                *key = Some(String::new());
                            }
                        }),
                        _ => {}
                    }
                }
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Secrets {
        let mut found = Secrets::default();
        found.texts(Some(text.as_bytes()));
        found.read = 0;
        found
    }

    #[test]
    fn secrets_are_found_by_their_names_wherever_they_stand() {
        for (text, names, unnamed) in [
            ("kind: Secret\nmetadata:\n  name: app\n", &["app"][..], false),
            ("metadata: {name: app}\ntype: Opaque\nkind: Secret\nstringData: {name: Secret}\n", &["app"], false),
            ("kind: ConfigMap\nmetadata:\n  name: a\n---\nkind: Secret\nmetadata:\n  name: b\n", &["b"], false),
            ("metadata: {name: a}\nkind: Secret\n---\nkind: Deployment\nmetadata: {name: b}\n", &["a"], false),
            (
                "kind: List\nitems:\n- {kind: Secret, metadata: {name: a}}\n- kind: Secret\n  metadata: {name: b}\n",
                &["a", "b"],
                false,
            ),
            (
                "{\"kind\": \"Secret\", \"metadata\": {\"labels\": {\"name\": \"x\"}, \"name\": \"app\"}}",
                &["app"],
                false,
            ),
            ("kind: Secret\nmetadata: {generateName: app-}\n", &[], true),
            ("kind: Secret\nmetadata: {name: 'ENC[AES256_GCM,x]'}\n", &[], true),
            ("kind: Deployment\nmetadata: {name: a}\nspec: {volumes: [{secret: {secretName: Secret}}]}\n", &[], false),
            ("kind: SealedSecret\nmetadata: {name: a}\n", &[], false),
            ("? [kind]\n: x\nkind: Secret\nmetadata: {name: a}\n", &["a"], false),
        ] {
            let expected =
                Secrets { names: names.iter().map(ToString::to_string).collect(), unnamed, ..Secrets::default() };
            assert_eq!(of(text), expected, "{text}");
        }
        for broken in ["Secret: [", "Secret: \u{0}", &format!("Secret: {}", "[".repeat(1000))] {
            assert!(of(broken).unseen, "{broken}");
        }
    }

    #[test]
    fn a_kustomization_says_what_it_makes_and_takes_in() {
        let text = "namePrefix: prod-\nresources: [a.yaml, ../base]\nsecretGenerator:\n- name: app\n  literals: [a=b]\n- {name: db}\n\
                    configMapGenerator:\n- name: conf\nbases:\n- old\n";
        let custom = Custom::read(text.as_bytes());
        assert_eq!(
            (custom.generated, custom.taken),
            (vec!["app".into(), "db".into()], vec!["a.yaml".into(), "../base".into(), "old".into()])
        );
        assert_eq!((custom.prefix.as_str(), custom.suffix.as_str()), ("prod-", ""));
    }
}
