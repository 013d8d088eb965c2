//! What one command of a line wants: the files that it writes, and the resources that rules name for it.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::book::{Book, Expression, Field, Filter, Part, Place, Rule, Several, Template};
use super::followed::workflow;
use super::grammar::{self, Line};
use super::policy::Policy;
use super::step::{Step, UNKNOWN, is_known};
use super::wanted::{Claim, Filling, Wanted, compose, engine};
use crate::terms::may_hold_a_secret;

use super::{Asked, Change, Command, Stdout, Via, Write, sops};

/// What one command wants.
#[derive(Debug, Default)]
pub(super) struct Wants {
    /// The rule that decided first.
    pub(super) rule: Option<String>,
    /// Some rule knows the program.
    pub(super) known: bool,
    /// The sub-command's words.
    pub(super) path: String,
    /// The files.
    pub(super) writes: Vec<Write>,
    /// The rest.
    pub(super) claims: Vec<Claim>,
    /// On what terms.
    pub(super) policy: Option<Policy>,
    /// Every file that it writes, on whatever machine.
    pub(super) touched: Vec<PathBuf>,
    /// What runs, without arguments that may be values.
    pub(super) operation: Option<String>,
    /// Why.
    pub(super) reason: Option<String>,
    /// A rule wants a name for a secret and finds none: `--secret NAME` is asked for.
    pub(super) asks: bool,
    /// Its effect goes on when it is stopped.
    pub(super) elsewhere: bool,
    /// A rule decided, and the name is one that only run time knows.
    pub(super) unnamed: bool,
}

/// Decides about one command.
pub(super) fn decide(step: &Step, book: &Book, command: &Command<'_>) -> Wants {
    let mut wants = Wants::default();
    let program = book.program(step.name());
    let line = grammar::read(program, &step.args);
    wants.known = program.is_some();
    wants.path = line.path.clone();
    if sops::is_sops(&step.name) {
        of_sops(step, command, &mut wants);
    } else if !step.inside {
        of_files(step, &line, book, command, &mut wants);
    }
    for rule in book.rules(step.name(), step.host.is_some() && !step.inside) {
        wants.known |= rule.program.is_some();
        let Some(line) = behind(rule.subcommand.as_ref(), &line) else { continue };
        let Some(caught) = fits(rule, step, &line, &wants.touched, command) else {
            wants.unnamed |= may_match(rule, step, &line, command);
            continue;
        };
        if rule.subcommand.is_some() {
            // These words are the rule's own.
            wants.path.clone_from(&line.path);
        }
        let filling = Filling { step, line: &line, caught: &caught, env: command.env };
        claim(rule, &filling, &mut wants);
    }
    // Words that only run time knows stand before the sub-command, or instead of it.
    let has_rules = || book.rules(step.name(), step.host.is_some() && !step.inside).any(|rule| rule.program.is_some());
    wants.unnamed |= line.is_unsure && (!wants.claims.is_empty() || (line.is_cut && has_rules()));
    wants
}

/// sops over there writes files over there: whoever holds the host may.
fn of_sops(step: &Step, command: &Command<'_>, wants: &mut Wants) {
    let env = |name: &str| step.variable(name, command.env);
    let to = step.redirected.iter().rfind(|file| file.is_stdout);
    let to = to.map(|file| Stdout { path: step.path(&file.path), append: file.append });
    let own = Command {
        name: &step.name,
        args: &step.args,
        cwd: &step.cwd,
        env: &env,
        stdout: if step.in_script { to.as_ref() } else { command.stdout },
    };
    let class = sops::classify(&own);
    wants.known = true;
    wants.operation = Some(class.operation);
    wants.rule = class.rule;
    wants.reason = Some(class.reason);
    let mut writes = class.writes;
    for write in writes.iter_mut().filter(|write| step.in_script && write.via == Via::Stdout) {
        // The script has not opened it yet.
        write.via = Via::Output;
    }
    for write in &mut writes {
        write.beyond = step.escapes;
    }
    wants.touched = writes.iter().map(|write| write.path.clone()).collect();
    if step.inside {
        wants.touched.clear();
    } else if step.host.is_none() {
        let all = writes.len();
        writes.retain(|write| is_known(write.path.as_os_str()));
        wants.unnamed |= writes.len() < all;
        wants.writes = writes;
        if wants.writes.is_empty() {
            wants.touched.clear();
        }
    }
}

/// Files that other programs write, and that the shell opens. The plan looks which of them are SOPS files.
fn of_files(step: &Step, line: &Line<'_>, book: &Book, command: &Command<'_>, wants: &mut Wants) {
    let mut touched: Vec<OsString> = step.redirected.iter().map(|file| file.path.clone()).collect();
    for writer in book.writers(step.name()) {
        let Some(line) = behind(writer.subcommand.as_ref(), line) else { continue };
        if !given(&writer.option, &line) || line.is_any_on(&writer.unless) {
            continue;
        }
        wants.known = true;
        let filling = Filling { step, line: &line, caught: &[], env: command.env };
        let files = filling.words(&writer.files);
        if let Some(place) = line.value("-t|--target-directory").filter(|_| writer.into) {
            touched.extend(files.iter().map(|file| joined(place, file)));
            continue;
        }
        let Some((place, sources)) = files.split_last().filter(|_| writer.into) else {
            touched.extend(files);
            continue;
        };
        if sources.len() > 1 || may_be_a_directory(place) {
            touched.extend(sources.iter().map(|source| joined(place, source)));
        }
        touched.push(place.clone());
    }
    wants.touched = touched.iter().filter(|path| !path.is_empty()).map(|path| step.path(path)).collect();
    if step.host.is_some() {
        return;
    }
    // Nearly every script writes to some `$FILE`; of those that are called so it is said.
    wants.unnamed |= wants.touched.iter().any(|path| !is_known(path.as_os_str()) && is_called_sops(path));
    let known = wants.touched.iter().filter(|path| is_known(path.as_os_str()));
    wants.writes = known
        .map(|path| Write {
            path: path.clone(),
            change: Change::Other,
            via: Via::Output,
            asked: Asked::default(),
            beyond: step.escapes,
        })
        .collect();
}

/// Whether what is known of its name has the marker of SOPS files.
fn is_called_sops(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().windows(5).any(|five| five == b".sops")
}

/// Whether files may go into it: it is written as a directory, or its name has no ending.
fn may_be_a_directory(place: &OsStr) -> bool {
    let last = place.as_encoded_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    last.is_empty() || last == b"." || last == b".." || !last.contains(&b'.')
}

fn joined(directory: &OsStr, source: &OsStr) -> OsString {
    let name = Path::new(source).file_name().unwrap_or_default();
    PathBuf::from(directory).join(name).into_os_string()
}

/// The line behind one of the sub-commands, where there are some to be behind.
pub(super) fn behind<'l, 'a>(wanted: Option<&Several>, line: &'l Line<'a>) -> Option<Cow<'l, Line<'a>>> {
    wanted.map_or(Some(Cow::Borrowed(line)), |wanted| line.behind(wanted))
}

/// Whether all of these options are given: `-i|--in-place`, `--type=GLOB`.
fn given(options: &Several, line: &Line<'_>) -> bool {
    options.iter().all(|option| match option.split_once('=') {
        Some((names, glob)) => {
            line.values(names).any(|value| fast_glob::glob_match(glob.as_bytes(), value.as_encoded_bytes()))
        }
        None => line.is_on(option),
    })
}

type Groups = Vec<(String, OsString)>;

/// Whether the rule is about this command; then what its expressions caught.
fn fits(rule: &Rule, step: &Step, line: &Line<'_>, touched: &[PathBuf], command: &Command<'_>) -> Option<Groups> {
    let remote = step.host.is_some();
    let there = match rule.on {
        Place::Anywhere => true,
        // A container is neither this machine nor its host.
        _ if step.inside => false,
        Place::Here => !remote || !rule.remote.is_empty(),
        Place::Remote => remote,
    };
    let on_line = || rule.remote.is_empty() || (remote && rule.remote.iter().any(|glob| glob.fits_line(&step.words())));
    let operands = || {
        rule.args.is_empty()
            || line.operands.iter().any(|word| rule.args.iter().any(|glob| glob.fits(word.as_encoded_bytes())))
    };
    let written = || {
        rule.writes.is_empty()
            || touched.iter().any(|path| rule.writes.iter().any(|glob| glob.fits_path(path.as_os_str())))
    };
    let set = || rule.env.iter().all(|wanted| is_set(wanted, step, command));
    let fits = there
        && given(&rule.option, line)
        && !line.is_any_on(&rule.unless)
        && on_line()
        && operands()
        && written()
        && set();
    if !fits {
        return None;
    }
    let operands: Vec<&[u8]> = line.operands.iter().map(|word| word.as_encoded_bytes()).collect();
    let mut groups = caught(&rule.matches, &operands)?;
    let values = line.all_values().map(OsStr::as_encoded_bytes);
    let texts: Vec<&[u8]> = operands.into_iter().chain(values).chain(step.input.as_deref()).collect();
    groups.extend(caught(&rule.text, &texts)?);
    Some(groups)
}

/// Whether a word that only run time knows may be what the rule's expression asks for (`gh workflow run "$W"`).
fn may_match(rule: &Rule, step: &Step, line: &Line<'_>, command: &Command<'_>) -> bool {
    let unknown = |word: &&OsStr| word.as_encoded_bytes() == [UNKNOWN];
    !rule.matches.is_empty()
        && line.operands.first().is_some_and(unknown)
        && fits(&Rule { matches: Vec::new(), ..rule.clone() }, step, line, &[], command).is_some()
}

fn is_set(wanted: &str, step: &Step, command: &Command<'_>) -> bool {
    let (name, glob) = wanted.split_once('=').map_or((wanted, None), |(name, glob)| (name, Some(glob)));
    let value = step.variable(name, command.env);
    value.is_some_and(|value| glob.is_none_or(|glob| fast_glob::glob_match(glob.as_bytes(), value.as_encoded_bytes())))
}

/// What expressions caught in texts; none where there are some and none of them fits.
fn caught(expressions: &[Expression], texts: &[&[u8]]) -> Option<Groups> {
    let mut groups = Vec::new();
    let mut any = expressions.is_empty();
    for expression in expressions {
        for found in texts.iter().flat_map(|text| expression.0.captures_iter(text)) {
            any = true;
            for name in expression.0.capture_names().flatten() {
                if let Some(part) = found.name(name).filter(|part| !part.as_bytes().contains(&UNKNOWN)) {
                    groups.push((name.to_owned(), os(part.as_bytes())));
                }
            }
        }
    }
    any.then_some(groups)
}

/// What an expression caught; text, or it is shown as text.
fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Takes down what a rule wants.
fn claim(rule: &Rule, filling: &Filling<'_>, wants: &mut Wants) {
    let (step, line) = (filling.step, filling.line);
    let name = |template: &Template| filling.names(template);
    let otherwise = || rule.otherwise.as_ref().map(name).and_then(|names| names.into_iter().next());
    let mut found: Vec<Wanted> = Vec::new();
    for template in rule.resource.iter() {
        if template.has(&Field::Project) {
            found.push(Wanted::Project { compose: compose(step, line), otherwise: otherwise() });
        } else if is_stack(template) {
            let containers = filling.words(template).into_iter();
            let (known, others): (Vec<_>, Vec<_>) = containers.partition(|name| is_known(name));
            wants.unnamed |= !others.is_empty() && step.host.is_none();
            let containers = known.into_iter().filter(|name| !may_hold_a_secret(name.as_encoded_bytes()));
            found.extend(containers.map(|container| Wanted::Stack { container }));
        } else {
            found.extend(name(template).into_iter().map(Wanted::Named));
        }
    }
    if found.is_empty() {
        found.extend(otherwise().map(Wanted::Named));
    }
    if found.is_empty() {
        wants.asks |= rule.ask;
        let somewhere = step.host.as_ref().is_some_and(|host| !is_known(OsStr::new(host)));
        wants.unnamed |= !rule.ask && (somewhere || line.operands.iter().any(|word| !is_known(word)));
        return;
    }
    let fits = |path: &&PathBuf| rule.writes.iter().any(|glob| glob.fits_path(path.as_os_str()));
    let written: Vec<PathBuf> = wants.touched.iter().filter(fits).cloned().collect();
    let claims = found.into_iter().map(|name| Claim {
        name,
        engine: engine(step, line),
        cwd: step.cwd.clone(),
        host: step.host.clone(),
        written: written.clone(),
    });
    wants.claims.extend(claims);
    wants.elsewhere |= rule.elsewhere;
    let mut policy = rule.policy();
    if line.is_any_on(&rule.detached) {
        policy.give_back = None;
    }
    if rule.follow {
        policy.follow = workflow(line);
    }
    wants.policy = Some(match wants.policy.take() {
        Some(before) => before.and(policy),
        None => policy,
    });
    if wants.rule.is_none() || wants.writes.is_empty() && wants.claims.len() <= rule.resource.iter().len() {
        wants.rule = Some(rule.name.clone());
        wants.reason = Some(format!("the rule {} names it", rule.name));
    }
}

fn is_stack(template: &Template) -> bool {
    template.parts().iter().any(|part| matches!(part, Part::Gap(_, filters) if filters.contains(&Filter::Stack)))
}
