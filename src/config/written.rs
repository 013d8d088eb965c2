//! How settings are written: the shape of a file, for the TOML reader.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use toml::Spanned;

use crate::terms::{DurationError, parse_duration};

use super::file::Store;
use super::value::UnknownBase;

/// Everything that a file may set.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Written {
    pub(super) scope: Option<Spanned<Checked<ScopeName>>>,
    pub(super) store: Option<Spanned<Store>>,
    pub(super) wait: Option<Spanned<Checked<Length>>>,
    pub(super) ttl: Option<Spanned<Checked<Length>>>,
    pub(super) heartbeat: Option<Spanned<Checked<Length>>>,
    pub(super) renew_deadline: Option<Spanned<Checked<Length>>>,
    pub(super) grace: Option<Spanned<Checked<Length>>>,
    pub(super) unknown_base: Option<Spanned<UnknownBase>>,
    pub(super) remote_hold: Option<Spanned<Checked<Length>>>,
    pub(super) stopped_max: Option<Spanned<Checked<Length>>>,
    pub(super) max_hold: Option<Spanned<Checked<Length>>>,
    pub(super) keep_for: Option<Spanned<Checked<Length>>>,
    pub(super) canary: Option<Spanned<bool>>,
    pub(super) session: Session,
    pub(super) trust: Trust,
    pub(super) hosts: Option<Spanned<BTreeMap<Spanned<String>, Checked<Host>>>>,
    pub(super) ssh: Ssh,
    pub(super) gh: Gh,
    pub(super) packs: Option<Spanned<Vec<Checked<Pack>>>>,
    pub(super) rule: Vec<Spanned<toml::Table>>,
    pub(super) program: Vec<Spanned<toml::Table>>,
    pub(super) launcher: Vec<Spanned<toml::Table>>,
    pub(super) writer: Vec<Spanned<toml::Table>>,
    pub(super) sql: Vec<Spanned<toml::Table>>,
    pub(super) zone: Vec<Spanned<toml::Table>>,
    pub(super) safe: Vec<Spanned<toml::Table>>,
    pub(super) rotation: Vec<Spanned<toml::Table>>,
}

/// `[session]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Session {
    pub(super) env: Option<Spanned<Vec<Spanned<String>>>>,
}

/// `[trust]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Trust {
    pub(super) repositories: Option<Spanned<Vec<Spanned<String>>>>,
}

/// `[ssh]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Ssh {
    pub(super) ask: Option<Spanned<bool>>,
}

/// `[gh]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Gh {
    pub(super) workflows: Option<Spanned<Vec<Checked<Word>>>>,
    pub(super) hold_for: Option<Spanned<Checked<Length>>>,
    pub(super) follow: Option<Spanned<bool>>,
}

/// A text that must have a form. What is wrong with it is said without repeating it.
pub(super) trait Form {
    /// What it is read as.
    type Read: fmt::Debug;
    /// What it must be, for who wrote something else.
    const EXPECTED: &'static str;
    /// Reads it.
    fn read(text: &str) -> Option<Self::Read>;
    /// What is wrong with a text that has another form.
    fn wrong(_: &str) -> String {
        format!("a value of the wrong form, expected {}", Self::EXPECTED)
    }
}

/// A value that has its form.
#[derive(Debug)]
pub(super) struct Checked<F: Form>(pub(super) F::Read);

impl<'de, F: Form> Deserialize<'de> for Checked<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<F>(PhantomData<F>);
        impl<F: Form> Visitor<'_> for Reader<F> {
            type Value = Checked<F>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(F::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Checked<F>, E> {
                let wrong = || E::custom(F::wrong(text));
                F::read(text).map(Checked).ok_or_else(wrong)
            }
        }
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

/// A duration.
#[derive(Debug)]
pub(super) struct Length;

impl Form for Length {
    type Read = Duration;
    const EXPECTED: &'static str = "a duration, for example \"30s\" (ms, s, m, h)";
    fn read(text: &str) -> Option<Duration> {
        parse_duration(text).ok()
    }
    fn wrong(text: &str) -> String {
        match parse_duration(text) {
            Err(error @ DurationError::TooLong) => error.to_string(),
            _ => format!("a value of the wrong form, expected {}", Self::EXPECTED),
        }
    }
}

/// A pack of built-in rules.
#[derive(Debug)]
pub(super) struct Pack;

impl Form for Pack {
    type Read = String;
    const EXPECTED: &'static str = "the name of a pack: \"rotation\"";
    fn read(text: &str) -> Option<String> {
        (text == "rotation").then(|| text.to_owned())
    }
}

/// A scope.
#[derive(Debug)]
pub(super) struct ScopeName;

impl Form for ScopeName {
    type Read = String;
    const EXPECTED: &'static str = "host/path as origin would give it, for example \"github.com/acme/infra\"";
    /// The host in lower case; no scheme, user, port or `.git`, which would make two scopes of one.
    fn read(text: &str) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-~/%+".contains(&byte);
        let (host, path) = text.split_once('/')?;
        let parts = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        let fits = text.len() <= 255 && text.bytes().all(plain) && !host.is_empty() && parts;
        // `local/…` are the names of repositories without a remote, made by chance and meant for one alone.
        let taken = matches!(host, "local" | "machine");
        (fits && !taken && host == host.to_ascii_lowercase() && !path.ends_with(".git")).then(|| text.to_owned())
    }
}

/// A host.
#[derive(Debug)]
pub(super) struct Host;

impl Form for Host {
    type Read = String;
    const EXPECTED: &'static str = "the name or address of a host, without user and port";
    fn read(text: &str) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
        let fits = !text.is_empty() && text.len() <= 255 && !text.starts_with('-') && text.bytes().all(plain);
        fits.then(|| text.to_ascii_lowercase())
    }
}

/// A word that shows as it is.
#[derive(Debug)]
pub(super) struct Word;

impl Form for Word {
    type Read = String;
    const EXPECTED: &'static str = "a text of at most 255 characters that all show";
    fn read(text: &str) -> Option<String> {
        let shows =
            crate::terms::percent_encode(text.replace([' ', '%'], "_").as_bytes()) == text.replace([' ', '%'], "_");
        (!text.is_empty() && text.len() <= 255 && shows).then(|| text.to_owned())
    }
}
