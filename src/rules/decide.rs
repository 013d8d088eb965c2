//! What one command of a line wants: the files that it writes, and the resources that rules name for it.
#![forbid(unsafe_code)]

mod claim;
mod files;
mod fits;
mod untold;
mod untrusted;
mod workflow;

use std::path::PathBuf;

pub(super) use self::fits::behind;

use self::claim::claim;
use self::files::{of_files, of_sops};
use self::fits::may_match;
use self::untold::is_untold;
use self::untrusted::{Cleared, Untrusted};
use self::workflow::Spellings;
use super::book::{Author, Book, Rule};
use super::grammar;
use super::manifest;
use super::policy::Policy;
use super::step::Step;
use super::wanted::{Claim, Filling};
use super::{Command, Decrypted, Tree, Unpacked, Write, sops};

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
    /// What it takes whole.
    pub(super) trees: Vec<Tree>,
    /// Archives that it unpacks here.
    pub(super) unpacked: Vec<Unpacked>,
    /// What it decrypts.
    pub(super) decrypted: Vec<Decrypted>,
    /// A rule decided, and the name is one that only run time knows.
    pub(super) unnamed: bool,
    /// A rule decided, and a word that could be a name may be the value of an option that nobody knows.
    pub(super) doubtful: bool,
    /// It is sops, and writes no ciphertext: that passes whatever settings say.
    pub(super) reads: bool,
    /// It only reads, or does what nobody else need know of, as far as that is known: no file that came with a repository
    /// takes it away. Looked at only where there is such a file.
    pub(super) left_alone: bool,
    /// What could not be told, one sentence each.
    pub(super) notes: Vec<String>,
}

/// Whether a rule has no say on this command: reads of sops always pass. What a read writes on the side (plaintext, to a
/// file) its owner's own rules for files may be about. Of rules that only add see [`Untrusted`].
fn is_passed_over(rule: &Rule, reads: bool) -> bool {
    rule.author == Author::Settings && reads && rule.writes.is_empty()
}

/// Sub-commands that change nothing, of the programs for which there are rules: behind words that only run time knows
/// (`docker compose $FILES ps`) they say what the line does.
const READS: [&str; 24] = [
    "ps", "logs", "images", "inspect", "config", "ls", "top", "port", "version", "info", "events", "stats", "build",
    "pull", "push", "status", "show", "cat", "list", "view", "diff", "get", "describe", "wait",
];

fn is_read(path: &str) -> bool {
    let last = path.rsplit(' ').next().unwrap_or_default();
    READS.contains(&last) || last.starts_with("is-") || last.starts_with("list-")
}

/// Decides about one command.
pub(super) fn decide(step: &Step<'_>, book: &Book, command: &Command<'_>) -> Wants {
    let mut wants = Wants::default();
    let program = book.program(step.name());
    let line = grammar::read(program, &step.args);
    wants.known = program.is_some();
    // What a stranger's grammar takes for a sub-command may be a value.
    if program.is_none_or(|program| !program.adds_only) {
        wants.path = line.path.clone();
    }
    if sops::is_sops(&step.name) {
        of_sops(step, command, &mut wants);
    } else if !step.inside {
        of_files(step, &line, book, command, &mut wants);
    }
    let workflow = Spellings::of(step, &line, book, command);
    let mut untrusted = Untrusted::of(step, &line, book, &wants);
    let rules = || book.rules(step.name(), step.host.is_some() && !step.inside);
    // What only adds is heard last: what the others name and let pass says what it may be about.
    let (vouched, others) = (|| rules().filter(|it| !it.adds_only()), || rules().filter(|it| it.adds_only()));
    for rule in vouched().chain(others()) {
        if is_passed_over(rule, wants.reads) || untrusted.has_no_say(rule, &wants) {
            continue;
        }
        wants.known |= rule.program.is_some();
        let Some(line) = behind(rule.subcommand.as_ref(), &line) else { continue };
        let Some(mut caught) = workflow.fits(rule, step, &line, &wants.touched, (book, command)) else {
            wants.unnamed |= may_match(rule, step, &line, (book, command));
            if is_untold(rule, step, &line, (book, command)) {
                let name = step.shown();
                wants.notes.push(format!("what {name} is told cannot be looked at here, and nothing is held for that"));
            }
            continue;
        };
        if !rule.manifests.is_empty() {
            let told = Filling { step, line: &line, caught: &[], env: command.env };
            let secrets = manifest::secrets(rule.manifests.iter(), &told, book);
            if secrets.unseen {
                wants.notes.push(format!(
                    "what {} is told cannot be looked at here, and a secret in it is not held",
                    step.shown()
                ));
            }
            if !secrets.are_there() {
                continue;
            }
            caught.extend(secrets.names.into_iter().map(|name| ("secret".to_owned(), name.into())));
        }
        if rule.subcommand.is_some() {
            // These words are the rule's own.
            wants.path.clone_from(&line.path);
        }
        let filling = Filling { step, line: &line, caught: &caught, env: command.env };
        match rule.adds_only().then(|| untrusted.cleared(rule)) {
            None => {
                untrusted.heard(rule);
                claim(rule, &filling, &mut wants);
            }
            Some(Cleared { rule, note }) => {
                wants.notes.extend(note);
                rule.into_iter().for_each(|rule| claim(&rule, &filling, &mut wants));
            }
        }
    }
    wants.left_alone = untrusted.leaves_alone(&wants);
    wants.notes.extend(workflow.unknown(&line, !wants.claims.is_empty()));
    // Words that only run time knows stand before the sub-command, or instead of it.
    let has_rules = || book.rules(step.name(), step.host.is_some() && !step.inside).any(|rule| rule.program.is_some());
    let guessed = line.is_guessed || step.is_guessed;
    wants.doubtful |= guessed && (!wants.claims.is_empty() || (line.is_cut && has_rules()));
    // The one word may have been the sub-command itself (`systemctl $ACTION nginx`).
    let is_other = || line.is_cut || !(is_read(&line.path) || program.is_some_and(|it| it.knows(&line.path)));
    wants.unnamed |= line.is_unsure && (!wants.claims.is_empty() || (is_other() && has_rules()));
    wants
}
