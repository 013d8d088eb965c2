//! Who stands in front of a command of a line, and how the line begins as it should be.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::agents;
use crate::program::{self, is_our_name, is_ours};
use crate::rules::{self, Book, Caller, Command, Part};
use crate::run::{self, Context, env_of};
use crate::state::StateDir;
use crate::terms::{percent_encode, shell_quote};

use crate::cli::find::{Front, find};

/// PATH as the agent's commands have it: where we have put the shims first, they are first.
pub(super) fn path(context: &Context) -> Option<OsString> {
    let path = context.invocation.var("PATH");
    let session = run::settings_or_fault(context)
        .ok()
        .and_then(|settings| run::session(context, context.session, &settings).ok());
    let state = StateDir::existing(&env_of(context)).ok().flatten();
    let exported = state.zip(session).and_then(|(state, session)| agents::exported(&state, session.id));
    match exported.and_then(|exported| exported.shims) {
        Some(shims) => {
            let mut first = shims.into_os_string();
            if let Some(path) = path {
                first.push(":");
                first.push(path);
            }
            Some(first)
        }
        None => path,
    }
}

/// Whether `locked` stands in front of it, by its own name or as a shim: of itself, or of what starts it.
pub(super) fn is_seen(context: &Context, part: &Part, path: Option<&OsStr>) -> bool {
    part.under.iter().chain([&part.caller]).any(|caller| stands_before(context, caller, path))
}

fn stands_before(context: &Context, caller: &Caller, path: Option<&OsStr>) -> bool {
    let (word, cwd) = (caller.word.as_os_str(), &context.invocation.cwd);
    if is_our_name(name_of(word)) {
        return true;
    }
    if caller.elsewhere || word.is_empty() {
        return false;
    }
    if word.as_encoded_bytes().contains(&b'/') {
        return is_ours(&cwd.join(word), context.ourselves);
    }
    let path = caller.path.as_deref().or(path);
    let mut found = program::places(word, path).into_iter().map(|place| cwd.join(place));
    // What stands first on PATH is what a shell starts.
    found.find(|place| place.is_file()).is_some_and(|place| is_ours(&place, context.ourselves))
}

pub(super) fn name_of(word: &OsStr) -> &OsStr {
    Path::new(word).file_name().unwrap_or(word)
}

/// What `locked PROGRAM …` starts; nothing where this is no such command.
pub(super) fn behind_locked(context: &Context, part: &Part, book: &Book) -> Vec<Part> {
    if !is_our_name(name_of(&part.caller.word)) {
        return Vec::new();
    }
    let args = match part.args.first() {
        Some(run) if run == "run" => &part.args[1..],
        _ => &part.args,
    };
    let Front::Program(at) = find(args) else { return Vec::new() };
    let Some((program, args)) = args[at..].split_first() else { return Vec::new() };
    let env = env_of(context);
    let stdout = part.stdout.as_ref();
    let command = Command { name: name_of(program), args, cwd: &part.cwd, env: &env, stdout, stdin: None };
    rules::apart(&command, book)
}

/// How the line begins as it should be: `locked` before what the agent's shell starts, and so much of what is behind it as is no
/// value.
pub(super) fn line(part: &Part) -> String {
    // The first above it is the agent's own shell.
    let Some(outermost) = part.under.get(1) else {
        let operation = part.class.operation.split(' ').skip(1);
        let shown = part.args.iter().zip(operation).map_while(|(arg, word)| {
            (percent_encode(arg.as_encoded_bytes()) == word).then(|| shell_quote(arg.as_encoded_bytes()))
        });
        let words: Vec<String> = ["locked".to_owned(), word(&part.caller)].into_iter().chain(shown).collect();
        return words.join(" ");
    };
    format!("locked {}", word(outermost))
}

/// A program as it is called; what may be a value in its place is not repeated.
fn word(caller: &Caller) -> String {
    let bytes = caller.word.as_encoded_bytes();
    let secret = crate::terms::may_hold_a_secret(bytes) || !rules::is_known(&caller.word);
    if secret { "…".to_owned() } else { shell_quote(bytes) }
}
