//! What was at a place before we put something there, so that taking it out leaves what was found: a file that was not there goes
//! away again, one that was there stays, be it ever so empty. Kept in the state directory of who has installed it.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::state::StateDir;
use crate::terms::Digest;

/// What was there, where the text without ours does not say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    /// What was in the file; none where there was none.
    pub(super) text: Option<String>,
    /// The text without ours; when it is another one at the end, somebody has written it meanwhile.
    pub(super) rest: String,
    /// The directories that were made for it, the outermost first.
    pub(super) made: Vec<PathBuf>,
}

const PLACE: &str = "installed";

fn name(path: &Path) -> String {
    format!("{}.json", &Digest::of(path.as_os_str().as_encoded_bytes()).as_str()[..32])
}

impl Before {
    /// What is there now, at the place of a file that is about to become ours.
    pub(super) fn of(path: &Path, text: Option<&str>, rest: String) -> Self {
        let missing = path.ancestors().skip(1).take_while(|directory| !directory.exists());
        let mut made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        made.reverse();
        Self { text: text.map(str::to_owned), rest, made }
    }

    /// Whether it is to be kept: it says something that the rest does not, and nothing that is a person's own.
    fn is_kept(&self) -> bool {
        self.text.as_ref().is_none_or(|text| *text != self.rest && is_empty(text))
    }

    /// Notes it, or that nothing is to be noted. What cannot be kept is not kept: then the file stays.
    pub(super) fn note(mut self, state: &StateDir, path: &Path) {
        if !self.is_kept() {
            return forget(state, path);
        }
        // Of two at once one has made the directories.
        if let Some(other) = read(state, path).filter(|other| self.made.is_empty() && other.text == self.text) {
            self.made = other.made;
        }
        let Ok(directory) = state.below(PLACE) else { return };
        let _as_owner = state.as_owner();
        let put = || -> std::io::Result<()> {
            let file = tempfile::NamedTempFile::new_in(&directory)?;
            serde_json::to_writer(&file, &self)?;
            file.persist(directory.join(name(path))).map(drop).map_err(|error| error.error)
        };
        let _then_the_file_stays = put();
    }
}

/// What was noted of this file.
pub(super) fn read(state: &StateDir, path: &Path) -> Option<Before> {
    let _as_owner = state.as_owner();
    serde_json::from_slice(&std::fs::read(state.path().join(PLACE).join(name(path))).ok()?).ok()
}

/// Forgets it.
pub(super) fn forget(state: &StateDir, path: &Path) {
    let _as_owner = state.as_owner();
    let _there_may_be_none = std::fs::remove_file(state.path().join(PLACE).join(name(path)));
}

/// Nothing stands in it but brackets and the names of hooks: no value, and no secret.
fn is_empty(text: &str) -> bool {
    let words = ["hooks", "PreToolUse", "PostToolUse", "SessionStart", "SessionEnd"];
    let mut rest = text.to_owned();
    words.iter().for_each(|word| rest = rest.replace(word, ""));
    rest.chars().all(|sign| sign.is_whitespace() || "{}[]\",:\u{feff}".contains(sign))
}
