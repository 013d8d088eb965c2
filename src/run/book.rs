//! The rules of this run: the built-in ones, and what the settings around the working directory say.
#![forbid(unsafe_code)]

use serde::de::DeserializeOwned;

use crate::config::{ConfigError, Key, Located, Places, Settings};
use crate::exit::Exit;
use crate::rules::{Book, Classification, Command, Tables, classify, workflow_rules};

use super::{Context, NoSetting, env_of, hosts, settings};

/// What the command line would change, with the rules that said so. Settings that cannot be followed stop what holds
/// something by the built-in rules, and nothing else.
///
/// # Errors
/// They have been told.
pub fn classified(context: &Context, command: &Command<'_>) -> Result<(Classification, Book), Exit> {
    let book = match of_settings(context) {
        Ok(book) => book,
        Err(error) => {
            let book = Book::new();
            let mut class = classify(command, &book);
            let passes = class.writes.is_empty() && class.claims.is_empty();
            // A line of which a built-in rule says that it only reads is in nobody's way; of others the settings might say more.
            if class.rule.is_none() {
                class.notes.push(format!("the settings cannot be followed, and no rule of theirs is heeded: {error}"));
            }
            return if passes { Ok((class, book)) } else { Err(NoSetting::Wrong(error).refuse(context)) };
        }
    };
    Ok((classify(command, &book), book))
}

fn of_settings(context: &Context) -> Result<Book, ConfigError> {
    let root = settings::root_here(context);
    if !Places::around(&env_of(context), root.as_deref().as_slice()).may_say_what_is_held() {
        return Ok(Book::new());
    }
    let settings = settings::layers_here(context)?.settings(&settings::BUILT_IN)?;
    let tables = tables(&settings)?;
    let book = Book::with(tables, hosts::named(&settings)).with_packs(settings.words(Key::Packs));
    let book = if settings.flag(Key::SshAsk) { book.asking_for_hosts(hosts::asked(context)) } else { book };
    Ok(book.for_session(|| super::entry::session_names(context, &settings)))
}

/// The tables of all files in one; the strongest first, since the first that fits decides.
fn tables(settings: &Settings) -> Result<Tables, ConfigError> {
    fn of<T: DeserializeOwned>(settings: &Settings, key: Key) -> Result<Vec<T>, ConfigError> {
        let mut tables: Vec<Located<T>> = settings.tables(key)?;
        tables.reverse();
        // What may only add stands behind what decides.
        tables.sort_by_key(|table| table.adds_only);
        Ok(tables.into_iter().map(|table| table.value).collect())
    }
    let mut rules = of(settings, Key::Rule)?;
    let said = [Key::GhWorkflows, Key::GhHoldFor, Key::GhFollow].iter().any(|&key| settings.value(key).is_some());
    if said {
        let hold_for = settings.length_or_ready(Key::GhHoldFor);
        rules.extend(workflow_rules(&settings.words(Key::GhWorkflows), hold_for, settings.flag(Key::GhFollow)));
    }
    Ok(Tables {
        program: of(settings, Key::Program)?,
        launcher: of(settings, Key::Launcher)?,
        writer: of(settings, Key::Writer)?,
        sql: of(settings, Key::Sql)?,
        rule: rules,
        zone: of(settings, Key::Zone)?,
        safe: of(settings, Key::Safe)?,
        rotation: of(settings, Key::Rotation)?,
    })
}
