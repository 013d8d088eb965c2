//! May a configuration file say more about origin than its own text shows? `insteadOf` and the conditions of
//! `includeIf` are git's to judge; but most people's files have neither, and then git need not be started.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::{config, path_from};

/// Deeper than git itself follows includes.
const DEEPEST: usize = 10;

/// Does this text, or any file that it may include under whatever condition, rewrite URLs or speak of a remote? When in
/// doubt, yes.
pub(super) fn may_touch_remotes(path: &Path, text: &[u8], home: Option<&Path>) -> bool {
    contains(text, b"insteadof") || contains(text, b"[remote") || includes_touch_remotes(path, text, home, 0)
}

/// The same for the repository's own file, whose remotes are read natively.
pub(super) fn may_rewrite(path: &Path, text: &[u8], home: Option<&Path>) -> bool {
    contains(text, b"insteadof") || includes_touch_remotes(path, text, home, 0)
}

fn includes_touch_remotes(path: &Path, text: &[u8], home: Option<&Path>, depth: usize) -> bool {
    if !contains(text, b"[include") {
        return false;
    }
    let Ok(entries) = config::parse(text) else { return true };
    if depth >= DEEPEST {
        return true;
    }
    entries.iter().filter(|entry| matches!(&*entry.section, "include" | "includeif") && entry.key == "path").any(
        |entry| {
            let Some(included) = entry.value.as_deref().and_then(|value| included_path(path, value, home)) else {
                return true;
            };
            match std::fs::read(&included) {
                Ok(text) => {
                    contains(&text, b"insteadof")
                        || contains(&text, b"[remote")
                        || includes_touch_remotes(&included, &text, home, depth + 1)
                }
                Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            }
        },
    )
}

/// Where `include.path` points: `~/` is home, anything else is relative to the file that includes. None for the forms
/// that only git resolves (`~user/`, `%(prefix)/`).
fn included_path(from: &Path, value: &[u8], home: Option<&Path>) -> Option<PathBuf> {
    if let Some(rest) = value.strip_prefix(b"~/") {
        return Some(home?.join(path_from(rest)));
    }
    if value.starts_with(b"~") || value.starts_with(b"%(") {
        return None;
    }
    Some(from.parent()?.join(path_from(value)))
}

/// Is `word` (lower case) somewhere in `text`, whatever the case?
fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}
