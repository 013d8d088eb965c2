//! What a repository has that `locked` is about.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::naming::holds_sops;
use crate::terms::shell_quote;

/// Larger files are not looked into: SOPS files are small.
const LARGEST: u64 = 1 << 20;
/// So many files are looked into.
const MOST: usize = 5_000;
/// So many are named to people.
const SHOWN: usize = 3;
/// How names of files end that sops makes of its own accord; behind a marker it may be anything.
const ENDINGS: [&str; 9] = ["yaml", "yml", "json", "env", "ini", "sops", "enc", "encrypted", "age"];

/// The files, relative to the root.
#[derive(Debug, Default)]
pub(super) struct Found {
    sops: Vec<PathBuf>,
    rules: Vec<PathBuf>,
    compose: Vec<PathBuf>,
    workflows: Vec<PathBuf>,
}

impl Found {
    pub(super) fn among(root: &Path, files: &[PathBuf]) -> Self {
        let mut found = Self::default();
        let mut looked = 0;
        for file in files {
            let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
            let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
            if name == ".sops.yaml" {
                found.rules.push(file.clone());
            } else if is_yaml && (name.starts_with("compose") || name.starts_with("docker-compose")) {
                found.compose.push(file.clone());
            } else if is_yaml && file.starts_with(".github/workflows") && name.contains("secret") {
                found.workflows.push(file.clone());
            } else if looked < MOST && may_be_sops(&name) {
                looked += 1;
                let path = root.join(file);
                let small = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= LARGEST);
                if small && holds_sops(&path) {
                    found.sops.push(file.clone());
                }
            }
        }
        found
    }

    /// Key, one, several, which.
    fn each(&self) -> [(&'static str, &'static str, &'static str, &[PathBuf]); 4] {
        [
            ("sops", "SOPS file", "SOPS files", &self.sops),
            ("creation_rules", "file of creation rules", "files of creation rules", &self.rules),
            ("compose", "compose file", "compose files", &self.compose),
            ("workflows", "workflow about secrets", "workflows about secrets", &self.workflows),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let list = |files: &[PathBuf]| files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
        self.each()
            .into_iter()
            .map(|(key, _, _, files)| (key.to_owned(), json!(list(files))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

fn may_be_sops(name: &str) -> bool {
    name.split('.').skip(1).any(|part| ENDINGS.contains(&part))
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self
            .each()
            .into_iter()
            .filter(|(.., files)| !files.is_empty())
            .map(|(_, one, several, files)| {
                let names: Vec<String> = files.iter().take(SHOWN).map(|file| shown(file)).collect();
                let more = if files.len() > SHOWN { ", …" } else { "" };
                let what = if files.len() == 1 { one } else { several };
                format!("{} {what} ({}{more})", files.len(), names.join(", "))
            })
            .collect();
        match told.is_empty() {
            true => f.write_str("nothing that the built-in rules are about"),
            false => f.write_str(&told.join(", ")),
        }
    }
}

/// A file's name is its maker's: as it can be typed, so that nothing in it reaches a terminal that would not show.
pub(super) fn shown(file: &Path) -> String {
    shell_quote(file.as_os_str().as_encoded_bytes())
}
