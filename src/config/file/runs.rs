//! What a file has run once it is trusted: whoever vouches for it must know.
#![forbid(unsafe_code)]

use super::{Entry, File, Head};
use crate::config::Key;
use crate::config::value::Value;
use crate::terms::{may_hold_a_secret, percent_encode, shell_quote};

impl File {
    /// What the file has run once it is trusted, each with its line; of commands no word that may be a secret.
    #[must_use]
    pub fn runs(&self) -> Vec<(usize, String)> {
        let ways = |entry: &Entry| match (&entry.key, &entry.value) {
            (Key::SshAsk, Value::Flag(true)) => Some("ssh -G, for the names of hosts (ssh.ask)"),
            (Key::GhFollow, Value::Flag(true)) => Some("gh, to follow what was set off (gh.follow)"),
            (Key::Store, Value::Store(store)) if store.url_sops.is_some() => Some("sops, for the store's address"),
            (Key::Store, Value::Store(store)) if store.via.is_some() => Some("ssh, the way to the store (store.via)"),
            _ => None,
        };
        let by_keys = self.entries.iter().filter_map(|entry| Some((entry.line, ways(entry)?.to_owned())));
        let mut all: Vec<(usize, String)> = by_keys.chain(self.tables.iter().flat_map(Head::runs)).collect();
        all.sort();
        all
    }
}

impl Head {
    fn runs(&self) -> impl Iterator<Item = (usize, String)> {
        let name = self.called.first().filter(|name| !may_hold_a_secret(name.as_bytes()));
        let name = name.map_or_else(|| "…".to_owned(), |name| percent_encode(name.as_bytes()));
        let word = |word: &String| match may_hold_a_secret(word.as_bytes()) {
            true => "…".to_owned(),
            false => shell_quote(word.as_bytes()),
        };
        let words: Vec<String> = self.canary.iter().map(word).collect();
        let canary = (!words.is_empty()).then(|| format!("{}, the canary of the rule {name}", words.join(" ")));
        let follow = self.follows.then(|| format!("gh, to follow what the rule {name} sets off"));
        let line = self.line;
        canary.into_iter().chain(follow).map(move |what| (line, what))
    }
}
