//! SOPS files as sops writes them, from choices: one content, printed in each of its formats.
//! Source: getsops/sops `stores/stores.go` (the names), `stores/flatten.go` (how dotenv and INI have them).

use locked::canary::Fault;
use locked::canary::document::{Document, Flaw, Format};

use super::input::Input;

const LETTERS: &str = "abcXYZ019_";
const VALUES: &str = "aZ0/+.-_,@";

/// Its values and its metadata, by the names that sops flattens them to.
pub(crate) struct Written {
    values: Vec<(String, String)>,
    metadata: Vec<(String, String)>,
    /// Where to cut, in 256ths.
    pub(crate) cut: usize,
}

impl Written {
    /// What these choices write.
    pub(crate) fn by(input: &mut Input<'_>) -> Self {
        let mut written = Self { values: Vec::new(), metadata: Vec::new(), cut: input.below(256) };
        for number in 0..=input.below(4) {
            let name = format!("k{number}{}", input.text(6, LETTERS));
            let value = match input.below(4) {
                0 => format!("ENC[AES256_GCM,data:{},iv:x,tag:y,type:str]", input.text(8, VALUES)),
                1 => String::new(),
                _ => format!("v{}", input.text(8, VALUES)),
            };
            written.values.push((name, value));
        }
        let groups = if input.one_in(3) { 1 + input.below(3) } else { 0 };
        for group in 0..groups {
            written.recipients(&format!("key_groups__list_{group}__map_"), input);
        }
        if groups == 0 {
            written.recipients("", input);
        }
        if input.one_in(4) {
            written.put("shamir_threshold", (1 + input.below(4)).to_string());
        }
        // One of them is left out in some.
        let lacks = input.pick(&["", "", "", "lastmodified", "mac", "version"]);
        let must = [("lastmodified", "2026-03-01T10:00:00Z"), ("mac", "ENC[AES256_GCM,data:m,iv:i,tag:t,type:str]")];
        for (name, value) in must.into_iter().filter(|(name, _)| *name != lacks) {
            written.put(name, value.to_owned());
        }
        for rule in ["unencrypted_suffix", "encrypted_suffix", "encrypted_regex", "unencrypted_comment_regex"] {
            if input.one_in(6) {
                written.put(rule, format!("_{}", input.text(5, LETTERS)));
            }
        }
        if input.one_in(6) {
            written.put("mac_only_encrypted", "true".to_owned());
        }
        if lacks != "version" {
            written.put("version", format!("3.{}.{}", input.below(14), input.below(5)));
        }
        written
    }

    /// Up to three of each kind.
    fn recipients(&mut self, group: &str, input: &mut Input<'_>) {
        for (kind, fields) in [("age", ["recipient", "enc"]), ("pgp", ["fp", "enc"]), ("kms", ["arn", "enc"])] {
            // A group has somebody in it.
            let least = usize::from(kind == "age" && !group.is_empty());
            for number in 0..input.below(3).max(least) {
                for field in fields {
                    let lines = if field == "enc" && input.one_in(2) { "-----BEGIN\nx" } else { "" };
                    let value = format!("{lines}{}x", input.text(9, VALUES));
                    self.put(&format!("{group}{kind}__list_{number}__map_{field}"), value);
                }
                if kind != "age" {
                    self.put(
                        &format!("{group}{kind}__list_{number}__map_created_at"),
                        "2026-03-01T10:00:00Z".to_owned(),
                    );
                }
            }
        }
    }

    fn put(&mut self, name: &str, value: String) {
        self.metadata.push((name.to_owned(), value));
    }

    fn has(&self, name: &str) -> bool {
        self.metadata.iter().any(|(other, _)| other == name)
    }

    /// The names of its values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// What is wrong with its metadata.
    pub(crate) fn flaw(&self) -> Option<Flaw> {
        let recipients = self.metadata.iter().any(|(name, _)| name.contains("__map_"));
        [
            (recipients, Flaw::NoRecipients),
            (self.has("lastmodified"), Flaw::NoLastModified),
            (self.has("mac"), Flaw::NoMac),
            (self.has("version"), Flaw::NoVersion),
        ]
        .into_iter()
        .find_map(|(there, flaw)| (!there).then_some(flaw))
    }

    /// What the canary finds, but for what it says of values.
    pub(crate) fn fault_of(&self, found: Result<Document, Fault>) -> Option<Fault> {
        found.err().filter(|fault| !matches!(fault, Fault::NothingEncrypted | Fault::LaidOpen(_)))
    }

    /// The file.
    pub(crate) fn text(&self, format: Format) -> String {
        let lines = |between: &str, before: &str| -> String {
            let line =
                |(name, value): &(String, String)| format!("{before}{name}{between}{}\n", value.replace('\n', "\\n"));
            self.metadata.iter().map(line).collect()
        };
        let values = |between: &str| -> String {
            self.values.iter().map(|(name, value)| format!("{name}{between}{value}\n")).collect()
        };
        match format {
            Format::Dotenv => values("=") + &lines("=", "sops_"),
            Format::Ini => format!("[main]\n{}\n[sops]\n{}", values(" = "), lines(" = ", "")),
            Format::Json => self.tree().json(),
            Format::Yaml => self.tree().yaml(0).trim_start_matches('\n').to_owned(),
        }
    }

    fn tree(&self) -> Tree {
        let mut sops = Tree::Map(Vec::new());
        for (name, value) in &self.metadata {
            let leaf = match name.as_str() {
                "shamir_threshold" | "mac_only_encrypted" => Tree::Bare(value.clone()),
                _ => Tree::Text(value.clone()),
            };
            sops.put(name, leaf);
        }
        let text = |(name, value): &(String, String)| (name.clone(), Tree::Text(value.clone()));
        Tree::Map(self.values.iter().map(text).chain([("sops".to_owned(), sops)]).collect())
    }
}

/// Maps, lists and values.
pub(crate) enum Tree {
    /// By their names.
    Map(Vec<(String, Self)>),
    /// One after the other.
    List(Vec<Self>),
    /// Between quotes.
    Text(String),
    /// A number or a truth.
    Bare(String),
}

impl Tree {
    /// What these choices make.
    pub(crate) fn by(input: &mut Input<'_>, depth: usize) -> Self {
        match input.below(if depth > 5 { 2 } else { 4 }) {
            0 => Self::Text(input.text(6, "aZ09 :#'\"\\{}[],&*!|>%@`-~é=\n")),
            1 => Self::Bare(input.pick(&["1", "true", "null", "-7"]).to_owned()),
            2 => Self::List((0..input.below(4)).map(|_| Self::by(input, depth + 1)).collect()),
            _ => {
                let name = |number: usize, input: &mut Input<'_>| format!("k{number}{}", input.text(3, "a .:#[]é"));
                Self::Map((0..input.below(4)).map(|number| (name(number, input), Self::by(input, depth + 1))).collect())
            }
        }
    }

    /// Puts a value under a name that sops has flattened.
    fn put(&mut self, name: &str, leaf: Self) {
        let (Self::Map(_) | Self::List(_)) = self else { return };
        let (step, rest) = match (name.find("__list_"), name.find("__map_")) {
            (Some(at), other) if other.is_none_or(|other| at < other) => (&name[..at], Some((&name[at + 7..], true))),
            (_, Some(at)) => (&name[..at], Some((&name[at + 6..], false))),
            _ => (name, None),
        };
        let below = match rest {
            Some((_, true)) => Self::List(Vec::new()),
            Some((_, false)) => Self::Map(Vec::new()),
            None => {
                if let Self::Map(pairs) = self {
                    pairs.push((step.to_owned(), leaf));
                }
                return;
            }
        };
        let place = match self {
            Self::List(items) => {
                if items.len() <= step.parse::<usize>().expect("the number of an item") {
                    items.push(below);
                }
                items.last_mut()
            }
            Self::Map(pairs) => {
                if !pairs.iter().any(|(name, _)| name == step) {
                    pairs.push((step.to_owned(), below));
                }
                pairs.iter_mut().find(|(name, _)| name == step).map(|(_, place)| place)
            }
            Self::Text(_) | Self::Bare(_) => None,
        };
        if let (Some(place), Some((rest, _))) = (place, rest) {
            place.put(rest, leaf);
        }
    }

    /// In JSON.
    pub(crate) fn json(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Self::Map(pairs) => {
                let pair = |(name, value): &(String, Self)| format!("{}: {}", quoted(name), value.json());
                format!("{{{}}}", joined(pairs.iter().map(pair).collect()))
            }
            Self::List(items) => format!("[{}]", joined(items.iter().map(Self::json).collect())),
            Self::Text(text) => quoted(text),
            Self::Bare(text) => text.clone(),
        }
    }

    /// In YAML, behind a name or a dash so deep.
    pub(crate) fn yaml(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        match self {
            Self::Map(pairs) if !pairs.is_empty() => {
                let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let shown = |name: &str| if plain(name) { name.to_owned() } else { quoted(name) };
                let pair =
                    |(name, value): &(String, Self)| format!("\n{indent}{}:{}", shown(name), value.yaml(depth + 1));
                pairs.iter().map(pair).collect()
            }
            Self::List(items) if !items.is_empty() => {
                items.iter().map(|item| format!("\n{indent}-{}", item.yaml(depth + 1))).collect()
            }
            other => format!(" {}", other.json()),
        }
    }
}

/// Between quotes, as JSON and YAML both have it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
