//! `locked config show`.
#![forbid(unsafe_code)]

use clap::ArgMatches;
use serde_json::{Value as Json, json};

use crate::cli::RunOptions;
use crate::cli::front::refuse;
use crate::cli::out::print;
use crate::cli::verbs::ShowVerb;
use crate::config::{Ignored, Key, Source, Standing};
use crate::exit::{self, Exit};
use crate::report;
use crate::run::{self, AskedTimes, Context, NoSetting};

use super::row::{Row, Teller};

pub(super) fn show(
    context: &Context,
    options: &RunOptions,
    matches: &ArgMatches,
    verb: &ShowVerb,
) -> Result<Exit, Exit> {
    let wanted = wanted(verb.key.as_deref())?;
    let settings = run::settings_here(context)?;
    let layers = run::layers_here(context).map_err(|error| NoSetting::Wrong(error).refuse(context))?;
    let asked = AskedTimes {
        ttl: options.ttl,
        heartbeat: options.heartbeat,
        renew_deadline: options.renew_deadline,
        grace: options.grace,
    };
    let times = run::times(&asked, &settings).map_err(|error| {
        let (refusal, status) = error.refusal("locked --help");
        refuse(&refusal, status)
    })?;
    let teller = Teller { context, options, matches, settings: &settings, times };
    let rows: Vec<Row> = wanted.iter().map(|&key| teller.row(key)).collect();
    let ignored: Vec<&Ignored> = settings.ignored().iter().filter(|it| wanted.contains(&it.key)).collect();
    let files: Vec<(String, Standing)> =
        layers.of_repositories().map(|(file, standing)| (file.document.path.display().to_string(), standing)).collect();
    // What is wrong with a table stops what locks; it is shown beside the rest, which may be what explains it.
    let fault = run::tables_here(context).err();
    let told = fault.as_ref().map(ToString::to_string);
    let text = if verb.json {
        as_json(&rows, &ignored, &files, told.as_deref())
    } else {
        as_text(&rows, &ignored, &files, told.as_deref())
    };
    let shown = print(&text);
    match fault {
        Some(error) if shown == Exit::OK => Err(NoSetting::Wrong(error).refuse(context)),
        _ => Ok(shown),
    }
}

/// The keys to show.
fn wanted(name: Option<&str>) -> Result<Vec<Key>, Exit> {
    let Some(name) = name else { return Ok(Key::ALL.to_vec()) };
    let of_table: Vec<Key> =
        Key::ALL.into_iter().filter(|key| key.name().split_once('.').is_some_and(|(table, _)| table == name)).collect();
    if !of_table.is_empty() {
        return Ok(of_table);
    }
    Key::named(name).map(|key| vec![key]).map_err(|near| {
        let what = "there is no such key".to_owned();
        let next = near.map_or_else(|| "locked config show".to_owned(), |near| format!("locked config show {near}"));
        refuse(&report::misuse(&what, &next), exit::USAGE)
    })
}

fn as_json(rows: &[Row], ignored: &[&Ignored], files: &[(String, Standing)], fault: Option<&str>) -> String {
    let settings: serde_json::Map<String, Json> = rows
        .iter()
        .map(|row| {
            let (file, line) = match &row.from {
                Some(Source::File { path, line, .. }) => (json!(path.display().to_string()), json!(line)),
                _ => (Json::Null, Json::Null),
            };
            let from = row.from.as_ref().map(ToString::to_string);
            (
                row.key.name().trim_matches(['[', ']']).to_owned(),
                json!({"value": row.value, "from": from, "file": file, "line": line}),
            )
        })
        .collect();
    let ignored: Vec<Json> = ignored
        .iter()
        .map(|it| json!({"key": it.key.name().trim_matches(['[', ']']), "inner": it.inner, "from": it.from.to_string(), "why": it.why, "if_trusted": it.if_trusted}))
        .collect();
    let files: Vec<Json> =
        files.iter().map(|(path, standing)| json!({"file": path, "trusted": *standing == Standing::Trusted})).collect();
    format!("{:#}", json!({"settings": settings, "ignored": ignored, "repositories": files, "fault": fault}))
}

fn as_text(rows: &[Row], ignored: &[&Ignored], files: &[(String, Standing)], fault: Option<&str>) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let name = row.key.name();
        let from = row.from.as_ref().map_or_else(String::new, |from| format!("  # {from}"));
        lines.push(match &row.text {
            Some(text) => format!("{name} = {text}{from}"),
            None if row.value.is_null() => format!("# {name}: not set"),
            None => format!("# {name}: {}{from}", plain(&row.value)),
        });
    }
    for it in ignored {
        let inner = it.inner.map_or_else(String::new, |inner| format!("{inner} of a "));
        lines.push(format!("# {inner}{} in {} does not count: {}", it.key.name(), it.from, it.why));
    }
    for (path, standing) in files {
        let trusted = if *standing == Standing::Trusted { "is trusted" } else { "is not trusted: locked config trust" };
        lines.push(format!("# {path:?} {trusted}"));
    }
    lines.extend(fault.map(|fault| format!("# wrong: {fault}")));
    lines.join("\n")
}

/// `{"url_env": "DB"}` as people read it; a text in quotes, in which nothing reaches a terminal that would not show.
fn plain(value: &Json) -> String {
    let Some(map) = value.as_object() else { return value.to_string() };
    map.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}
