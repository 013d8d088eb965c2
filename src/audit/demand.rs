//! What a path demands of the file that lies there: SOPS or not, and for whom. By its name, and by the `.sops.yaml` files
//! of the same version of the tree. Pure.
//!
//! sops looks for its configuration from where it is started, which nobody knows afterwards: it may be any from the file's
//! own directory up to the root. So a file must fit one of them, the nearest first.
#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::canary::{self, Document, Fault};
use crate::naming::{self, CreationRules};

/// The configurations of one version of a tree: each directory that has one (empty: the root), and its rules.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    pub(super) sets: Vec<(Vec<u8>, Rc<CreationRules>)>,
}

/// The name of a configuration.
pub(super) const CONFIG: &[u8] = b".sops.yaml";

/// What an example calls itself, as a word of its name.
const EXAMPLES: [&str; 6] = ["example", "examples", "sample", "template", "tmpl", "dist"];

/// Lie beside secrets and are none, whatever a rule for their directory says.
const BESIDE: &[&[u8]] = &[b".md", b".example", b".sample", b".template", b".tmpl", b".dist"];

/// Kinds of files that sops is not asked to write, though its own words may stand in them.
const OTHERS: &[&str] = &[
    "adoc", "bat", "c", "cc", "class", "cpp", "cs", "css", "csv", "diff", "eot", "gif", "go", "gz", "h", "hpp", "htm",
    "html", "ico", "jar", "java", "jpeg", "jpg", "js", "jsx", "kt", "less", "lock", "lua", "md", "mjs", "mov", "mp3",
    "mp4", "o", "otf", "patch", "pdf", "php", "pl", "png", "proto", "ps1", "py", "pyc", "rb", "rs", "rst", "scala",
    "scss", "sh", "so", "sql", "sum", "svg", "swift", "tar", "tf", "ts", "tsx", "ttf", "vue", "wasm", "webp", "woff",
    "woff2", "xml", "xz", "zig", "zip",
];

/// The directories in which the configurations for this path may lie, the nearest first; the last is the root.
pub(super) fn directories(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let cuts = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    cuts.map(|at| &path[..at]).chain([&path[..0]])
}

/// Whether a file calls itself an example for others, which has the names of a secrets file and other values
/// (`db.example.yaml`, `env-sample`).
pub(super) fn is_example(path: &[u8]) -> bool {
    let words = base(path).split(|byte| !byte.is_ascii_alphanumeric());
    words.into_iter().any(|word| EXAMPLES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes())))
}

/// Whether a file of this name is judged by its content as well. One that is not must be named to be SOPS.
pub(super) fn may_be_sops(path: &[u8]) -> bool {
    let base = base(path);
    let ending = base.iter().rposition(|&byte| byte == b'.').map(|dot| &base[dot + 1..]);
    !ending.is_some_and(|ending| OTHERS.iter().any(|other| ending.eq_ignore_ascii_case(other.as_bytes())))
}

impl Rules {
    /// Must the file be SOPS?
    pub(super) fn demand(&self, path: &[u8]) -> bool {
        naming::says_sops(path) || (!is_beside(path) && self.around(path).any(|(rules, below)| rules.means(&below)))
    }

    /// Can those decrypt it whom a rule for this path names?
    pub(super) fn recipients(&self, path: &[u8], document: &Document) -> Result<(), Fault> {
        let mut first = Ok(());
        for (rules, below) in self.around(path) {
            let Ok(Some(rule)) = rules.rule_for(&below) else { continue };
            match canary::fits_rule(document, &rule.age, rule.other_keys) {
                Ok(()) => return Ok(()),
                Err(fault) if first.is_ok() => first = Err(fault),
                Err(_) => {}
            }
        }
        first
    }

    /// The rules that may count for this path, and how each of them sees it.
    fn around<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = (&'a CreationRules, String)> {
        directories(path).filter_map(move |directory| {
            let (_, rules) = self.sets.iter().find(|(of, _)| of == directory)?;
            let below = if directory.is_empty() { path } else { &path[directory.len() + 1..] };
            Some((&**rules, String::from_utf8_lossy(below).into_owned()))
        })
    }
}

fn base(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

fn is_beside(path: &[u8]) -> bool {
    let base = base(path);
    base == CONFIG
        || base.starts_with(b".git")
        || base.to_ascii_uppercase().starts_with(b"README")
        || BESIDE.iter().any(|ending| base.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rules(sets: &[(&str, &str)]) -> Rules {
        let set = |(directory, rule): &(&str, &str)| {
            let text = format!("creation_rules:\n  - path_regex: {rule}\n    age: age1a\n");
            let rules = CreationRules::parse(text.as_bytes(), Path::new(".sops.yaml")).expect("YAML");
            (directory.as_bytes().to_vec(), Rc::new(rules))
        };
        Rules { sets: sets.iter().map(set).collect() }
    }

    #[test]
    fn an_example_says_so_in_a_word_of_its_name() {
        for (path, is) in [
            ("docs/db.example.yaml", true),
            ("env-sample", true),
            ("a/.env.EXAMPLE", true),
            ("values_template.json", true),
            ("example/db.yaml", false),
            ("counterexample.yaml", false),
            ("db.yaml", false),
        ] {
            assert_eq!(is_example(path.as_bytes()), is, "{path}");
        }
    }

    #[test]
    fn names_and_rules_of_any_directory_above_demand() {
        let rules = rules(&[("", "secrets/.*"), ("deep/er", "^here/.*\\.env$")]);
        for (path, demand) in [
            ("secrets/x", true),
            ("deep/secrets/x", true),
            ("deep/er/here/x.env", true),
            ("deep/here/x.env", false),
            ("x.env.sops", true),
            ("x.yaml", false),
            ("secrets/README", false),
            ("secrets/.gitignore", false),
            ("secrets/x.env.example", false),
            ("secrets/.sops.yaml", false),
        ] {
            assert_eq!(rules.demand(path.as_bytes()), demand, "{path}");
        }
        let all: Vec<&[u8]> = directories(b"a/b/c").collect();
        assert_eq!(all, [&b"a/b"[..], b"a", b""]);
    }

    #[test]
    fn code_and_pictures_are_not_looked_into() {
        for (path, may) in [("a/x.yaml", true), ("x", true), (".env", true), ("x.RS", false), ("a.b/x.png", false)] {
            assert_eq!(may_be_sops(path.as_bytes()), may, "{path}");
        }
    }
}
