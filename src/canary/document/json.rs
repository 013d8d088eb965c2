//! The JSON store (and the binary one). The text is walked, not built, so that keys that stand twice are seen.
#![forbid(unsafe_code)]

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::keys::{NodeId, Segment};
use super::{Draft, Flawed};

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Flawed> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let walked = Walk { draft, place: Place::Data(NodeId::ROOT) }.deserialize(&mut deserializer);
    walked.and_then(|()| deserializer.end()).map_err(|error| (error.line(), why(&error)))
}

/// What is wrong, in our words: the library's may quote the text.
fn why(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "it ends in the middle",
        serde_json::error::Category::Syntax => "the syntax is broken there, or something follows the end",
        serde_json::error::Category::Data | serde_json::error::Category::Io => "a value cannot be read",
    }
}

/// Where the walk is.
enum Place {
    Data(NodeId),
    /// Inside the metadata, below this flat name.
    Sops(String),
}

struct Walk<'a> {
    draft: &'a mut Draft,
    place: Place,
}

impl Walk<'_> {
    fn leaf(self, value: Option<&str>) {
        match &self.place {
            Place::Data(node) => self.draft.value(*node, value),
            Place::Sops(name) => self.draft.metadata.put(name, value.unwrap_or_default()),
        }
    }

    /// The place of a map's entry.
    fn entry(&mut self, key: &str) -> Place {
        match &self.place {
            Place::Data(NodeId::ROOT) if key == "sops" => {
                self.draft.metadata.begin();
                Place::Sops(String::new())
            }
            Place::Data(node) => Place::Data(self.draft.node(*node, Segment::Key(key.into()))),
            Place::Sops(name) => Place::Sops(below(name, "__map_", key)),
        }
    }

    /// The place of a list's item.
    fn item(&mut self, number: u32) -> Place {
        match &self.place {
            Place::Data(node) => Place::Data(self.draft.node(*node, Segment::Item(number))),
            Place::Sops(name) => Place::Sops(below(name, "__list_", &number.to_string())),
        }
    }
}

/// A flat name one level down; it stops growing when it cannot be metadata any more.
pub(super) fn below(name: &str, joint: &str, step: &str) -> String {
    match name {
        "" => step.to_owned(),
        _ if name.len() > 512 => name.to_owned(),
        _ => format!("{name}{joint}{step}"),
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// An item gets its place only once it is known to be there.
struct Item<'a, 'b> {
    list: &'a mut Walk<'b>,
    number: u32,
}

impl<'de> DeserializeSeed<'de> for Item<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let place = self.list.item(self.number);
        Walk { draft: self.list.draft, place }.deserialize(deserializer)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let place = self.entry(&key);
            map.next_value_seed(Walk { draft: self.draft, place })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let mut number = 0;
        while list.next_element_seed(Item { list: &mut self, number })?.is_some() {
            number += 1;
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.leaf(Some(text));
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.leaf(Some(if value { "true" } else { "false" }));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.leaf(Some(&value.to_string()));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.leaf(Some(&value.to_string()));
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.leaf(Some(&value.to_string()));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.leaf(None);
        Ok(())
    }
}
