//! The YAML store, read as events: comments fall away, anchors are not followed (sops writes what they stand for),
//! and no value is given a type. Of several documents the first carries the metadata that counts.
#![forbid(unsafe_code)]

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::json::below;
use super::keys::{NodeId, Segment};
use super::{DEPTH_CAP, Draft, Flawed};

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Flawed> {
    let mut walk = Walk { draft, frames: Vec::new(), documents: 0 };
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, span) = event.map_err(|error| (error.marker().line(), "the syntax is broken there"))?;
        if walk.frames.len() > DEPTH_CAP {
            return Err((span.start.line(), "it is nested too deeply to be followed"));
        }
        walk.step(&event);
    }
    Ok(())
}

/// Where the walk is.
#[derive(Clone)]
enum Place {
    Data(NodeId),
    /// Inside the metadata, below this flat name.
    Sops(String),
    /// Inside a key that is itself a map or a list, or the metadata of a later document: not followed.
    Aside,
}

/// An open map or list.
enum Frame {
    Map {
        place: Place,
        /// The place of the value that comes next; none when a key comes next.
        next: Option<Place>,
    },
    List {
        place: Place,
        number: u32,
    },
}

struct Walk<'a> {
    draft: &'a mut Draft,
    frames: Vec<Frame>,
    documents: u32,
}

impl Walk<'_> {
    fn step(&mut self, event: &Event<'_>) {
        match event {
            Event::DocumentStart(_) => {
                self.frames.clear();
                self.documents += 1;
            }
            Event::MappingStart(..) => {
                let place = self.open();
                self.frames.push(Frame::Map { place, next: None });
            }
            Event::SequenceStart(..) => {
                let place = self.open();
                self.frames.push(Frame::List { place, number: 0 });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                self.frames.pop();
            }
            Event::Scalar(text, style, ..) => self.scalar(text, *style),
            Event::Alias(_) => {
                if let Some(place) = self.value_or_key("*") {
                    self.leaf(&place, None);
                }
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }

    /// The place of a map or list that begins. One in the place of a key becomes that key, and is not followed.
    fn open(&mut self) -> Place {
        self.value_or_key("?").unwrap_or(Place::Aside)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle) {
        let Some(place) = self.value_or_key(text) else { return };
        let null = style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL");
        self.leaf(&place, (!null).then_some(text));
    }

    /// The place of the value that this event is or begins; none when it was taken as a key.
    fn value_or_key(&mut self, key: &str) -> Option<Place> {
        let first = self.documents <= 1;
        let draft = &mut *self.draft;
        match self.frames.last_mut() {
            None => Some(Place::Data(top(draft, self.documents))),
            Some(Frame::List { place, number }) => {
                let at = *number;
                *number += 1;
                Some(match place {
                    Place::Data(node) => Place::Data(draft.node(*node, Segment::Item(at))),
                    Place::Sops(name) => Place::Sops(below(name, "__list_", &at.to_string())),
                    Place::Aside => Place::Aside,
                })
            }
            Some(Frame::Map { place, next }) => match next.take() {
                Some(place) => Some(place),
                None => {
                    let top_level = matches!(place, Place::Data(node) if is_top(draft, *node, self.documents));
                    *next = Some(match place {
                        Place::Data(_) if top_level && key == "sops" && !first => Place::Aside,
                        Place::Data(_) if top_level && key == "sops" => {
                            draft.metadata.begin();
                            Place::Sops(String::new())
                        }
                        Place::Data(node) => Place::Data(draft.node(*node, Segment::Key(key.into()))),
                        Place::Sops(name) => Place::Sops(below(name, "__map_", key)),
                        Place::Aside => Place::Aside,
                    });
                    None
                }
            },
        }
    }

    fn leaf(&mut self, place: &Place, value: Option<&str>) {
        match place {
            Place::Data(node) => self.draft.value(*node, value),
            Place::Sops(name) => self.draft.metadata.put(name, value.unwrap_or_default()),
            Place::Aside => {}
        }
    }
}

/// The top of a document. The first one is the file itself, as in the formats that have only one.
fn top(draft: &mut Draft, documents: u32) -> NodeId {
    match documents {
        0 | 1 => NodeId::ROOT,
        number => draft.node(NodeId::ROOT, Segment::Document(number - 1)),
    }
}

fn is_top(draft: &mut Draft, node: NodeId, documents: u32) -> bool {
    top(draft, documents) == node
}
