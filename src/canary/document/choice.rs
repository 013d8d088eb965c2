//! Which values a file's own metadata says are encrypted, as sops reads it (getsops/sops `sops.go`, `shouldBeEncrypted`). A
//! value in the open elsewhere was put there past sops, which will not decrypt such a file.
//!
//! Who writes comments chooses by them (`encrypted_comment_regex`); where that is so nothing is said of values whose comments
//! may be such: no sound file is ever blamed.
#![forbid(unsafe_code)]

use std::cell::RefCell;

use regex::Regex;

use super::{Document, Format, Metadata};
use crate::terms::go_regex;

/// What sops goes by where the metadata names no rule.
const READY: &str = "_unencrypted";

/// One rule: names of keys, and what it says of all that lies below such a key.
enum Rule {
    /// All but these are encrypted.
    AllBut(Pick),
    /// These are, and nothing else.
    Only(Pick),
}

enum Pick {
    Ending(String),
    Pattern(Regex),
}

impl Pick {
    fn takes(&self, name: &str) -> bool {
        match self {
            Self::Ending(ending) => name.ends_with(ending),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

/// The values in the open that the file's own rules say are encrypted, by their paths. `content` is what the document was read
/// from: comments stand there.
pub(in crate::canary) fn laid_open(document: &Document, content: &[u8]) -> Vec<String> {
    let rules = document.metadata.as_ref().filter(|_| document.plaintext > 0).and_then(|metadata| {
        let by_comments = chosen_by_comments(metadata, document.format, content);
        if by_comments { None } else { rules(metadata) }
    });
    let Some(rules) = rules else { return Vec::new() };
    let below: Vec<Vec<bool>> = rules
        .iter()
        .map(|rule| {
            let (Rule::AllBut(pick) | Rule::Only(pick)) = rule;
            document.keys.below(|name| pick.takes(name))
        })
        .collect();
    // The later rule has the last word, as in sops.
    let is_encrypted = |at: usize| {
        rules.iter().zip(&below).fold(true, |encrypted, (rule, below)| match rule {
            Rule::AllBut(_) => encrypted && !below[at],
            Rule::Only(_) => below[at],
        })
    };
    document.keys.plain_at().filter(|at| is_encrypted(*at)).map(|at| document.keys.path(at)).collect()
}

/// None where one of them cannot be followed.
fn rules(metadata: &Metadata) -> Option<Vec<Rule>> {
    let of = |name: &str| metadata.rules.iter().find(|(rule, _)| rule == name).map(|(_, value)| &**value);
    let ending = |value: &str| Some(Pick::Ending(value.to_owned()));
    let pattern = |value: &str| compiled(value).map(Pick::Pattern);
    let mut rules = Vec::new();
    let none = metadata.rules.is_empty();
    if let Some(value) = of("unencrypted_suffix").or(none.then_some(READY)) {
        rules.push(Rule::AllBut(ending(value)?));
    }
    if let Some(value) = of("encrypted_suffix") {
        rules.push(Rule::Only(ending(value)?));
    }
    if let Some(value) = of("unencrypted_regex") {
        rules.push(Rule::AllBut(pattern(value)?));
    }
    if let Some(value) = of("encrypted_regex") {
        rules.push(Rule::Only(pattern(value)?));
    }
    Some(rules)
}

/// Whether comments may be what leaves values in the open.
fn chosen_by_comments(metadata: &Metadata, format: Format, content: &[u8]) -> bool {
    let mut all = metadata.rules.iter().filter(|(name, _)| name.ends_with("comment_regex"));
    all.any(|(name, value)| match compiled(value) {
        // A matching comment is never encrypted itself: without one in the open all values are.
        Some(pattern) if name.starts_with("un") => format != Format::Json && has_comment(content, &pattern),
        _ => true,
    })
}

/// Whether anything that may be a comment matches. Each format keeps more or less of what stands before the text.
fn has_comment(content: &[u8], pattern: &Regex) -> bool {
    let text = String::from_utf8_lossy(content);
    text.lines().any(|line| {
        line.match_indices(['#', ';']).any(|(at, _)| {
            let (with, after) = (&line[at..], &line[at + 1..]);
            [with, after, after.trim()].into_iter().any(|comment| pattern.is_match(comment))
        })
    })
}

thread_local! {
    /// The files of a repository have one pattern; compiling it takes longer than reading a file.
    static LAST: RefCell<Option<(String, Option<Regex>)>> = const { RefCell::new(None) };
}

fn compiled(pattern: &str) -> Option<Regex> {
    LAST.with_borrow_mut(|last| match last {
        Some((known, regex)) if known == pattern => regex.clone(),
        _ => {
            let regex = go_regex::compile(pattern).ok();
            *last = Some((pattern.to_owned(), regex.clone()));
            regex
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::document::read;

    const META: &str =
        "sops_age__list_0__map_recipient=age1x\nsops_lastmodified=2026\nsops_mac=ENC[]\nsops_version=3.11.0\n";

    fn open(values: &str, rule: &str) -> Vec<String> {
        let value = "ENC[AES256_GCM,data:x,type:str]";
        let content = format!("{}\n{META}{rule}\n", values.replace('E', value).replace(' ', "\n"));
        laid_open(&read(content.as_bytes()).expect("dotenv"), content.as_bytes())
    }

    #[test]
    fn the_rules_of_the_file_say_what_may_lie_in_the_open() {
        for (values, rule, expected) in [
            ("a=E b=1", "", &["b"][..]),
            ("a=E b= b_unencrypted=1", "", &[]),
            ("a=E b_unencrypted=1", "sops_unencrypted_suffix=_clear", &["b_unencrypted"]),
            ("a=E b=1 data=1", "sops_encrypted_regex=^(data)$", &["data"]),
            ("a=1 data=E", "sops_encrypted_regex=^(data)$", &[]),
            ("a=1 b=1 c=E", "sops_unencrypted_regex=^a", &["b"]),
            ("a=1 b_s=1 c_s=E", "sops_encrypted_suffix=_s", &["b_s"]),
            // What this engine cannot read says nothing.
            ("a=1 c=E", "sops_unencrypted_regex=(a)\\1", &[]),
            ("a=1 c=E", "sops_encrypted_comment_regex=enc", &[]),
            ("a=1 c=E", "sops_unencrypted_comment_regex=^noenc", &["a"]),
            ("#noenc a=1 c=E", "sops_unencrypted_comment_regex=^noenc", &[]),
            ("a=1 a=E", "", &["a"]),
            ("a=E a=1", "", &["a"]),
        ] {
            assert_eq!(open(values, rule), expected, "{values} {rule}");
        }
    }

    #[test]
    fn what_lies_below_a_named_key_goes_by_it_and_lists_have_no_names() {
        let meta =
            "sops:\n  age: [{recipient: age1x, enc: x}]\n  mac: ENC[]\n  lastmodified: \"1\"\n  version: 3.11.0\n";
        let content = format!("a_unencrypted: {{b: [1, {{c: 2}}]}}\nd: [ENC[AES256_GCM], {{e: 3}}]\n---\nf: x\n{meta}")
            .replace("ENC[AES256_GCM]", "\"ENC[AES256_GCM,data:x,type:str]\"");
        let content = content.replacen("---", &format!("{meta}---"), 1);
        let document = read(content.as_bytes()).expect("YAML");
        assert_eq!(laid_open(&document, content.as_bytes()), ["d[1].e", "document 2: f"]);
    }
}
