//! From what the TOML reader has read to keys with values and lines.
#![forbid(unsafe_code)]

use std::ops::Range;

use toml::Spanned;

use super::{Entry, Head};
use crate::config::document::{Document, Lines};
use crate::config::pattern::Pattern;
use crate::config::value::Value;
use crate::config::written::{self, Checked, Form as _, Host, Written};
use crate::config::{ConfigError, Key, name};

/// What has a form that the TOML reader does not know of.
pub(super) fn check(document: &Document, written: &Written) -> Result<(), ConfigError> {
    let wrong = |at: Range<usize>, expected: &str| {
        document.wrong(at, format!("a value of the wrong form, expected {expected}"))
    };
    for pattern in written.trust.repositories.iter().flat_map(|list| list.get_ref()) {
        Pattern::read(pattern.get_ref()).ok_or_else(|| wrong(pattern.span(), Pattern::EXPECTED))?;
    }
    for alias in written.hosts.iter().flat_map(|hosts| hosts.get_ref().keys()) {
        Host::read(alias.get_ref()).ok_or_else(|| wrong(alias.span(), Host::EXPECTED))?;
    }
    let names = written.session.env.iter().flat_map(|env| env.get_ref());
    let variable = written.store.as_ref().and_then(|store| store.get_ref().url_env.as_ref());
    let unnamed = names.chain(variable).find(|name| !name::is_name(name.get_ref()));
    unnamed.map_or(Ok(()), |name| Err(wrong(name.span(), name::EXPECTED)))
}

/// The tables, key by key.
pub(super) fn heads(lines: &Lines, written: &Written) -> Vec<Head> {
    let kinds = [
        (Key::Rule, &written.rule, "name"),
        (Key::Program, &written.program, "name"),
        (Key::Launcher, &written.launcher, "name"),
        (Key::Writer, &written.writer, "name"),
        (Key::Sql, &written.sql, "name"),
        (Key::Zone, &written.zone, "name"),
        (Key::Safe, &written.safe, "name"),
        (Key::Rotation, &written.rotation, "secret"),
    ];
    let mut heads = Vec::new();
    for (key, tables, called) in kinds {
        heads.extend(tables.iter().enumerate().map(|(index, table)| {
            Head {
                key,
                index,
                line: lines.of(table.span().start),
                called: table.get_ref().get(called).map_or_else(Vec::new, texts_of),
                program: table.get_ref().get("program").map_or_else(Vec::new, texts_of),
                sets: table.get_ref().keys().cloned().collect(),
                canary: table.get_ref().get("canary").filter(|it| it.is_array()).map_or_else(Vec::new, texts_of),
                follows: table.get_ref().get("follow").and_then(toml::Value::as_bool) == Some(true),
                holds: ["resource", "otherwise"]
                    .iter()
                    .filter_map(|name| table.get_ref().get(*name))
                    .flat_map(texts_of)
                    .collect(),
                commands: table.get_ref().get("commands").map_or_else(Vec::new, texts_of),
                spells: spells(table.get_ref()),
            }
        }));
    }
    heads
}

/// Keys by which a `[[rule]]` or a `[[zone]]` looks into words, values and texts.
const SPELLS: [&str; 9] =
    ["args", "commands", "content", "manifests", "match", "remote", "sql", "text", "unless_first"];

/// Whether it looks into them: by such a key, or by a glob for the value of an option or a variable.
fn spells(table: &toml::Table) -> bool {
    let globs = ["option", "unless", "env"].iter().filter_map(|key| table.get(*key)).flat_map(texts_of);
    SPELLS.iter().any(|key| table.contains_key(*key)) || globs.into_iter().any(|text| text.contains('='))
}

/// One text, or a list of them.
fn texts_of(value: &toml::Value) -> Vec<String> {
    let one = value.as_str().map(str::to_owned);
    let list = value.as_array().into_iter().flatten().filter_map(|it| it.as_str()).map(str::to_owned);
    one.into_iter().chain(list).collect()
}

/// The keys that are set, in the order of [`Key::ALL`].
pub(super) fn entries(lines: &Lines, written: Written) -> Vec<Entry> {
    fn entry<T>(lines: &Lines, key: Key, spanned: Option<Spanned<T>>, value: impl FnOnce(T) -> Value) -> Option<Entry> {
        spanned.map(|spanned| {
            let line = lines.of(spanned.span().start);
            Entry { key, value: value(spanned.into_inner()), line }
        })
    }
    let length = |key, spanned| entry(lines, key, spanned, |Checked::<written::Length>(length)| Value::Length(length));
    let flag = |key, spanned| entry(lines, key, spanned, Value::Flag);
    let texts = |list: Vec<Spanned<String>>| Value::Words(list.into_iter().map(Spanned::into_inner).collect());
    let names = |names: std::collections::BTreeMap<Spanned<String>, Checked<Host>>| {
        Value::Names(
            names.into_iter().map(|(alias, Checked(host))| (alias.into_inner().to_ascii_lowercase(), host)).collect(),
        )
    };
    [
        entry(lines, Key::Scope, written.scope, |Checked(scope)| Value::Text(scope)),
        entry(lines, Key::Store, written.store, Value::Store),
        length(Key::Wait, written.wait),
        length(Key::Ttl, written.ttl),
        length(Key::Heartbeat, written.heartbeat),
        length(Key::RenewDeadline, written.renew_deadline),
        length(Key::Grace, written.grace),
        entry(lines, Key::UnknownBase, written.unknown_base, Value::Base),
        length(Key::RemoteHold, written.remote_hold),
        length(Key::StoppedMax, written.stopped_max),
        length(Key::MaxHold, written.max_hold),
        length(Key::KeepFor, written.keep_for),
        flag(Key::Canary, written.canary),
        entry(lines, Key::SessionEnv, written.session.env, texts),
        entry(lines, Key::TrustRepositories, written.trust.repositories, texts),
        entry(lines, Key::Hosts, written.hosts, names),
        flag(Key::SshAsk, written.ssh.ask),
        entry(lines, Key::GhWorkflows, written.gh.workflows, |list| {
            Value::Words(list.into_iter().map(|Checked(word)| word).collect())
        }),
        length(Key::GhHoldFor, written.gh.hold_for),
        flag(Key::GhFollow, written.gh.follow),
        entry(lines, Key::Packs, written.packs, |list| {
            Value::Words(list.into_iter().map(|Checked(word)| word).collect())
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
