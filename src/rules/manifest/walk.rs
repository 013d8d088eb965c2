//! The maps of a document, from YAML's events.
#![forbid(unsafe_code)]

use saphyr_parser::{Event, Parser};

/// Maps inside maps deeper than this are not followed.
const DEEPEST: usize = 64;

/// A map of a document, once it is read.
#[derive(Default)]
pub(super) struct Node {
    /// The keys below which it stands.
    pub(super) under: Vec<String>,
    /// What it says in words, key by key.
    pub(super) texts: Vec<(String, String)>,
    /// Lists of words that it has.
    pub(super) lists: Vec<(String, Vec<String>)>,
    /// What its `metadata` says under `name`.
    pub(super) name: Option<String>,
}

impl Node {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.texts.iter().find(|(own, _)| own == key).map(|(_, text)| text.as_str())
    }
}

/// An open map or list.
enum Frame {
    Map(Node, Option<String>),
    List(Vec<String>),
}

/// Goes through every map of the documents, the innermost first; none where it is no YAML, or nested too deeply.
pub(super) fn walk(text: &[u8], seen: &mut dyn FnMut(&Node)) -> Option<()> {
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
