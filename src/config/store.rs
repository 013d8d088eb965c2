//! Which store.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::counts::{BuiltIn, Reading, Standing};
use super::file::{InSops, Store};
use super::{ConfigError, Key, Layers, NoGround, Places, Shelf, Value};

/// Where the store is, as far as the settings say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreSetting {
    /// Its address.
    pub address: Address,
    /// Who said so, for messages: `LOCKED_STORE`, a variable, a file.
    pub said_by: String,
    /// Another setting of a store that this one replaces as a whole: who said it, and what it sets beside the address.
    pub replaces: Option<String>,
    /// A file that came with a repository chose the variable: nothing of what it holds is shown, not even its form.
    pub guarded: bool,
    /// The schema of its database, as written; none: the ready one, or what the address says.
    pub schema: Option<String>,
    /// `ssh://…`: the way there.
    pub via: Option<String>,
    /// The real ssh client, which the files do not name: found on PATH by who opens the store.
    pub ssh: Option<PathBuf>,
    /// Session locks of the server instead of the ledger.
    pub advisory: bool,
    /// What the advisory store does when the server cannot be reached.
    pub on_unreachable: OnUnreachable,
    /// A process of the user keeps connections to the server warm, for so long after the last command; none: there is none.
    pub relay: Option<Duration>,
    /// The directory from which the address and the variables of PostgreSQL name files: who opens the store later may work
    /// in another. Empty: the one that the process is in.
    pub from: PathBuf,
}

impl StoreSetting {
    /// Whether both lead to one store by one way, as far as that can be told without asking.
    fn leads_where(&self, other: &Self) -> bool {
        let place = |it: &Self| (it.address.clone(), it.schema.clone(), it.via.clone(), it.advisory);
        place(self) == place(other)
    }

    /// Who said it, and what it sets beside the address, if it sets anything at all.
    fn shown(&self) -> Option<String> {
        let more = [
            (self.schema.is_some(), "schema"),
            (self.via.is_some(), "via"),
            (self.advisory, "advisory"),
            (self.on_unreachable == OnUnreachable::Local, "on_unreachable"),
            (self.relay.is_some(), "relay"),
        ];
        let more: Vec<&str> = more.into_iter().filter_map(|(set, key)| set.then_some(key)).collect();
        let more = if more.is_empty() { String::new() } else { format!(", with {}", more.join(", ")) };
        (!self.said_by.is_empty()).then(|| format!("{}{more}", self.said_by))
    }
}

/// The address of a store.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Address {
    /// Nobody named one: the embedded store.
    #[default]
    Embedded,
    /// As text. It may have a password.
    Text(String),
    /// In a SOPS file, under this key at the top.
    InSops {
        /// The file.
        file: PathBuf,
        /// The key.
        key: String,
    },
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Embedded => "Embedded",
            Self::Text(_) => "Text(…)",
            Self::InSops { .. } => "InSops(…)",
        })
    }
}

/// What the advisory store does when the server cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnreachable {
    /// Nothing runs.
    #[default]
    Deny,
    /// A lock of this machine alone serves, and that is said.
    Local,
}

/// The store that is set where no repository has been vouched for. `LOCKED_STORE` wins over the files, and replaces the whole
/// of what they say: a `via`, `schema` or `advisory` of theirs is of their address, and says nothing of another one.
///
/// # Errors
/// A file cannot be read or followed; a repository's file wants what only a trusted one may.
pub fn store(env: &dyn Fn(&str) -> Option<OsString>, places: &Places) -> Result<StoreSetting, ConfigError> {
    Layers::read(places, env, &Shelf::default(), &NoGround)?.store(env)
}

impl Layers {
    /// The store that is set. `LOCKED_STORE` wins over the files.
    ///
    /// # Errors
    /// A repository's file wants what only a trusted one may; repositories do not agree; a variable is not set.
    pub fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Result<StoreSetting, ConfigError> {
        // Order: first, so that what an untrusted file wants is refused whoever else has the last word on the store. What
        // a file's variable holds matters only where nobody has it.
        self.settings(&BuiltIn { rule: &|_| false, program: &|_| false })?;
        let chosen = env("LOCKED_STORE").filter(|value| !value.is_empty());
        let nothing = |_: &str| Some(OsString::from("unused"));
        let env_of_files: &dyn Fn(&str) -> Option<OsString> = if chosen.is_some() { &nothing } else { env };
        let mut found = None;
        for reading in &self.own {
            found = of_file(reading, env_of_files)?.or(found);
        }
        let mut of_repositories: Option<(&Path, StoreSetting)> = None;
        for (path, reading) in &self.repositories {
            // A repository that says nothing has the store that everybody has: that is a word too.
            let own = reading.as_ref().map(|reading| of_file(reading, env_of_files)).transpose()?.flatten();
            let setting = own.or_else(|| found.clone()).unwrap_or_default();
            match &of_repositories {
                Some((other, before)) if !before.leads_where(&setting) => {
                    return Err(ConfigError::TwoStores((*other).to_owned(), path.clone()));
                }
                _ => of_repositories = Some((path, setting)),
            }
        }
        let outside = found.clone().unwrap_or_default();
        if let Some((path, setting)) = of_repositories.as_ref().filter(|_| self.outside)
            && !setting.leads_where(&outside)
        {
            return Err(ConfigError::TwoStores((*path).to_owned(), PathBuf::from("no repository")));
        }
        let from_files = of_repositories.map(|(_, setting)| setting).or(found);
        match chosen {
            None => Ok(from_files.unwrap_or_default()),
            Some(value) => {
                let text = value.into_string().map_err(|_| ConfigError::NotText("LOCKED_STORE".to_owned()))?;
                let address = if text == "embedded" { Address::Embedded } else { Address::Text(text) };
                let (said_by, replaces) = ("LOCKED_STORE".to_owned(), from_files.and_then(|setting| setting.shown()));
                Ok(StoreSetting { address, said_by, replaces, ..StoreSetting::default() })
            }
        }
    }
}

fn of_file(reading: &Reading, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<StoreSetting>, ConfigError> {
    let Some(Value::Store(store)) = reading.file.value(Key::Store) else { return Ok(None) };
    let store = store.clone();
    let path = &*reading.file.document.path;
    let said_by = path.display().to_string();
    let (address, said_by) = match (store.url, store.url_env, store.url_sops) {
        (Some(url), None, None) => (Address::Text(url), said_by),
        (None, Some(variable), None) => {
            let variable = variable.into_inner();
            (Address::Text(in_variable(path, &variable, env)?), variable)
        }
        (None, None, Some(InSops { file, key })) => {
            let beside = path.parent().unwrap_or(Path::new("/")).join(file);
            (Address::InSops { file: beside, key }, said_by)
        }
        _ => return Err(ConfigError::Choice { path: path.to_owned() }),
    };
    let address = if address == Address::Text("embedded".to_owned()) { Address::Embedded } else { address };
    let on_unreachable = store.on_unreachable.unwrap_or_default();
    let guarded = reading.standing == Standing::Untrusted;
    Ok(Some(StoreSetting {
        address,
        said_by,
        replaces: None,
        guarded,
        schema: store.schema,
        via: store.via,
        ssh: None,
        advisory: store.advisory,
        on_unreachable,
        relay: store.relay.map(|span| span.0).filter(|span| !span.is_zero()),
        from: PathBuf::new(),
    }))
}

/// What an untrusted file may not set: what leads elsewhere, runs a command (a relay is one), or weakens the lock. A schema does all of
/// that, also inside an address that is trusted: it is another store, where nobody else looks, and we would call what
/// functions its owner has put there, with the rights of whoever came with the address.
pub(super) fn foreign(store: &Store) -> Option<&'static str> {
    [
        (store.url.is_some(), "store.url"),
        (store.url_sops.is_some(), "store.url_sops"),
        (store.schema.is_some(), "store.schema"),
        (store.via.is_some(), "store.via"),
        (store.on_unreachable == Some(OnUnreachable::Local), "store.on_unreachable"),
        (store.advisory, "store.advisory"),
        (store.relay.is_some(), "store.relay"),
    ]
    .into_iter()
    .find_map(|(set, key)| set.then_some(key))
}

fn in_variable(path: &Path, variable: &str, env: &dyn Fn(&str) -> Option<OsString>) -> Result<String, ConfigError> {
    let unset = || ConfigError::Unset { path: path.to_owned(), variable: variable.to_owned() };
    let value = env(variable).filter(|value| !value.is_empty()).ok_or_else(unset)?;
    value.into_string().map_err(|_| ConfigError::NotText(variable.to_owned()))
}

#[cfg(test)]
mod tests;
