//! The rules of this run: the built-in ones, and what the settings around the working directory say.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::config::{ConfigError, Key, Located, Places, Settings, Source};
use crate::exit::Exit;
use crate::rules::{
    self, Author, Book, Classification, Command, Fault, Program, Rotation, Rule, Sound, Tables, Zone, classify,
    workflow_rules,
};

use crate::naming::{Local, Namer};
use crate::plan::{self, Plan};
use crate::report;
use crate::terms::{Resource, ResourceName, shell_quote};

use super::{Context, NoSetting, env_of, globbed, hosts, manifests, settings, sourced, workflows};

/// What the command line would change, with the rules that said so. Settings that cannot be followed stop what holds
/// something by the built-in rules or by hand, and nothing else; but what passes because no built-in rule decides is told of them,
/// since theirs might have.
///
/// # Errors
/// They have been told.
pub fn classified(
    context: &Context,
    command: &Command<'_>,
    by_hand: &[ResourceName],
) -> Result<(Classification, Book), Exit> {
    let (book, settings) = match heard(context) {
        Ok(heard) => heard,
        Err(error) => {
            let book = looking(Book::new(), context);
            let mut class = classify(command, &book);
            let holds = !by_hand.is_empty() || holds(context, &class, &book);
            if holds && super::bypass::asked(context).is_none() {
                return Err(NoSetting::Wrong(error).refuse(context));
            }
            if class.rule.is_none() {
                class.notes.push(report::unheard(&error.to_string()));
                // One line is enough.
                class.known = true;
            }
            return Ok((class, book));
        }
    };
    let mut class = classify(command, &book);
    if !class.may_hold() {
        class.notes.extend(beyond(&settings, command.name));
    }
    Ok((class, book))
}

/// Whether anything is held by the built-in rules, once it is known what the files are that would be written (`2>/dev/null`
/// is nobody's). What cannot be told counts as held.
fn holds(context: &Context, class: &Classification, book: &Book) -> bool {
    if !class.may_hold() {
        return false;
    }
    let env = env_of(context);
    let world = super::world(context, book, &env);
    let mut namer = Namer::new(Local::Peek, &env);
    let plan = plan::draw(class.clone(), &[], &context.invocation.cwd, &world, &mut namer);
    !matches!(plan, Ok(Plan::PassThrough { .. }))
}

/// The file that is not trusted and has a table too many which is about this program, if there is one.
fn beyond(settings: &Settings, program: &OsStr) -> Option<String> {
    let is_about = |programs: &Vec<String>| programs.is_empty() || programs.iter().any(|own| program == own.as_str());
    let left_out = settings.ignored().iter().find(|it| it.beyond.as_ref().is_some_and(is_about))?;
    let path = settings::path(left_out)?;
    let place = shell_quote(path.parent().unwrap_or(path).as_os_str().as_encoded_bytes());
    Some(report::beyond(path, &format!("locked config trust {place}")))
}

/// The rotations that the settings around the working directory declare.
///
/// # Errors
/// They cannot be followed; it has been told.
pub fn rotations_here(context: &Context) -> Result<Vec<Rotation>, Exit> {
    let settings = settings::settings_here(context)?;
    rotations(&settings).map_err(|error| NoSetting::Wrong(error).refuse(context))
}

/// The rules that count in the working directory.
///
/// # Errors
/// The settings cannot be followed, which has been told.
pub fn book_here(context: &Context) -> Result<Book, Exit> {
    of_settings(context).map_err(|error| NoSetting::Wrong(error).refuse(context))
}

/// What the settings around the working directory say of names alone, for what people name by hand: what is wrong with a
/// table keeps nobody from giving back what they hold.
///
/// # Errors
/// The settings cannot be followed, which has been told.
pub fn names_here(context: &Context) -> Result<Book, Exit> {
    let settings = settings::settings_here(context)?;
    let book = Book::with(Tables::default(), hosts::named(&settings));
    let book = looking(book, context);
    Ok(if settings.flag(Key::SshAsk) { book.asking_for_hosts(hosts::asked(context)) } else { book })
}

/// Those of these resources of which nobody takes a stale lease without a person's word.
///
/// # Errors
/// The settings cannot be followed, which has been told.
pub fn asking(context: &Context, resources: &[Resource]) -> Result<Vec<Resource>, Exit> {
    if !resources.iter().any(|resource| resource.name.kind() == "zone") {
        return Ok(Vec::new());
    }
    let zones = zones(context).map_err(|error| NoSetting::Wrong(error).refuse(context))?;
    Ok(resources.iter().filter(|resource| plan::asks(&resource.name, &zones)).cloned().collect())
}

/// What is wrong with the settings around the working directory, their tables included.
///
/// # Errors
/// That.
pub fn tables_here(context: &Context) -> Result<(), ConfigError> {
    tables(&settings::settings_or_fault(context)?).map(drop)
}

/// The zones that the settings name for this session.
///
/// # Errors
/// They cannot be followed.
pub fn zones(context: &Context) -> Result<Vec<Zone>, ConfigError> {
    of_settings(context).map(|book| book.zones().to_vec())
}

fn of_settings(context: &Context) -> Result<Book, ConfigError> {
    heard(context).map(|(book, _)| book)
}

/// The rules, with the settings that they come from.
fn heard(context: &Context) -> Result<(Book, Settings), ConfigError> {
    let root = settings::root_here(context);
    if !Places::around(&env_of(context), root.as_deref().as_slice()).may_say_what_is_held() {
        return Ok((looking(Book::new(), context), Settings::default()));
    }
    let settings = settings::layers_here(context)?.settings(&settings::BUILT_IN)?;
    let tables = tables(&settings)?;
    let book = Book::with(tables, hosts::named(&settings)).with_packs(settings.words(Key::Packs));
    let book = looking(book, context);
    let book = if settings.flag(Key::SshAsk) { book.asking_for_hosts(hosts::asked(context)) } else { book };
    let book = book.for_session(|| super::entry::session_names(context, &settings));
    Ok((book, settings))
}

/// With those who look at the files at hand.
fn looking(book: Book, context: &Context) -> Book {
    book.asking_for_workflows(workflows::asked(context))
        .asking_for_sources(sourced::asked())
        .asking_for_names(globbed::asked())
        .asking_for_manifests(manifests::asked())
}

/// The tables of all files in one, the strongest first.
fn tables(settings: &Settings) -> Result<Tables, ConfigError> {
    let authored =
        |rule: &mut Rule, adds_only| rule.author = if adds_only { Author::Untrusted } else { Author::Settings };
    let mut rules = read(settings, Key::Rule, |rule: &Rule| Some(&*rule.name), authored, &|rule| {
        rule.fault().or_else(|| switches_nothing_off(rule, settings))
    })?;
    let named: Vec<String> = rules.iter().map(|rule| rule.name.clone()).collect();
    let said = [Key::GhWorkflows, Key::GhHoldFor, Key::GhFollow].iter().any(|&key| settings.value(key).is_some());
    if said {
        let hold_for = settings.length_or_ready(Key::GhHoldFor);
        let of_gh = workflow_rules(&settings.words(Key::GhWorkflows), hold_for, settings.flag(Key::GhFollow));
        // They stand for the built-in ones, and are replaced as those are.
        rules.extend(of_gh.into_iter().filter(|ready| !named.contains(&ready.name)));
    }
    Ok(Tables {
        program: of(
            settings,
            Key::Program,
            |_| None,
            |program: &mut Program, adds_only| program.adds_only = adds_only,
        )?,
        launcher: of(settings, Key::Launcher, |_| None, |_, _| {})?,
        writer: of(settings, Key::Writer, |_| None, |_, _| {})?,
        sql: of(settings, Key::Sql, |_| None, |_, _| {})?,
        rule: rules,
        zone: of(settings, Key::Zone, |zone: &Zone| Some(&*zone.name), |zone, adds_only| zone.adds_only = adds_only)?,
        safe: of(settings, Key::Safe, |_| None, |_, _| {})?,
        rotation: rotations(settings)?,
    })
}

fn rotations(settings: &Settings) -> Result<Vec<Rotation>, ConfigError> {
    let mark = |rotation: &mut Rotation, adds_only| rotation.adds_only = adds_only;
    of(settings, Key::Rotation, |rotation: &Rotation| Some(&*rotation.secret), mark)
}

/// A rule that only switches another one off, and there is none of this name.
fn switches_nothing_off(rule: &Rule, settings: &Settings) -> Option<Fault> {
    let named = || settings.called(Key::Rule).filter(|name| *name == rule.name).count();
    if rule.enabled || Book::has_built_in(&rule.name) || named() > 1 {
        return None;
    }
    if rules::is_built_in(&rule.name) {
        let what = "the rules for sops are code, and cannot be switched off";
        return Some(Fault { key: "name", what: what.to_owned() });
    }
    let others = settings.called(Key::Rule).filter(|name| *name != rule.name);
    let built_in = Book::built_in_rules().map(|name| -> &str { name });
    let near = crate::config::nearest(&rule.name, built_in.chain(others));
    let next = near.map_or_else(|| "locked config rules".to_owned(), |near| format!("did you mean \"{near}\"?"));
    Some(Fault { key: "name", what: format!("it switches a rule off, and there is none of this name; {next}") })
}

/// The tables of one kind. What has the name of one in a stronger file is replaced by that; in one file several may share
/// a name, and all count.
fn of<T: DeserializeOwned + Sound>(
    settings: &Settings,
    key: Key,
    name: impl Fn(&T) -> Option<&str>,
    mark: impl Fn(&mut T, bool),
) -> Result<Vec<T>, ConfigError> {
    read(settings, key, name, mark, &Sound::fault)
}

/// The same; `mark` notes whether one of them may only add, and `fault` says what is wrong with it.
fn read<T: DeserializeOwned>(
    settings: &Settings,
    key: Key,
    name: impl Fn(&T) -> Option<&str>,
    mark: impl Fn(&mut T, bool),
    fault: &dyn Fn(&T) -> Option<Fault>,
) -> Result<Vec<T>, ConfigError> {
    let tables: Vec<Located<T>> = settings.tables(key, &|table| fault(table).map(|it| (it.key, it.what)))?;
    // Those of one file stay as they are written there.
    let files: Vec<Vec<Located<T>>> = by_file(tables);
    let mut tables: Vec<Located<T>> = files.into_iter().rev().flatten().collect();
    // What may only add stands behind what decides.
    tables.sort_by_key(|table| table.adds_only);
    let mut found: Vec<Located<T>> = Vec::new();
    for table in tables {
        let is_same = |other: &Located<T>| name(&table.value).is_some_and(|own| name(&other.value) == Some(own));
        if !found.iter().any(|other| file(&other.from) != file(&table.from) && is_same(other)) {
            found.push(table);
        }
    }
    let marked = found.into_iter().map(|mut table| {
        mark(&mut table.value, table.adds_only);
        table.value
    });
    Ok(marked.collect())
}

fn by_file<T>(tables: Vec<Located<T>>) -> Vec<Vec<Located<T>>> {
    let mut files: Vec<Vec<Located<T>>> = Vec::new();
    for table in tables {
        match files.last_mut() {
            Some(last) if last.first().is_some_and(|first| file(&first.from) == file(&table.from)) => last.push(table),
            _ => files.push(vec![table]),
        }
    }
    files
}

fn file(source: &Source) -> Option<&Path> {
    match source {
        Source::File { path, .. } => Some(path),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
