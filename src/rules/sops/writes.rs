//! From a request to the files it may write.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::asked::asked;
use super::request::{Act, Place, Request};
use crate::rules::argument::{as_typed, cleaned};
use crate::rules::step::LONGEST_PATH;
use crate::rules::{Asked, Change, Command, Decrypted, Leaves, Via, Write};

/// The files that a request may write, each once, in the order of the command line.
pub(super) fn writes(command: &Command<'_>, request: &Request<'_>) -> Vec<Write> {
    let asked = asked(command, request);
    let found = match place(command, request) {
        Place::Itself => in_place(command, request, &asked),
        Place::Output(path) => to_file(command, request, as_typed(command.cwd, &path), Via::Output, asked),
        // Plaintext that the shell sends to a file is a read: the file is the reader's own.
        Place::Stdout if request.act == Act::Decrypt => Vec::new(),
        Place::Stdout => match command.stdout {
            Some(file) => to_file(command, request, file.path.clone(), Via::Stdout, asked),
            None => Vec::new(),
        },
        Place::Nowhere => beside_its_directory(command, request, asked),
    };
    let longest = LONGEST_PATH + command.cwd.as_os_str().len();
    let mut known = HashSet::new();
    // An empty name and `.` are the directory, which sops cannot write, and a path that is too long opens nothing.
    let is_file = |path: &Path| path.as_os_str().len() <= longest && path != command.cwd;
    found.into_iter().filter(|write| is_file(&write.path) && known.insert(write.path.clone())).collect()
}

/// The file whose plaintext goes elsewhere than into the file itself, and where; or to a program that is run with it.
pub(super) fn decrypted(command: &Command<'_>, request: &Request<'_>) -> Vec<Decrypted> {
    let runs = matches!(request.act, Act::ExecEnv | Act::ExecFile);
    let plaintext = match place(command, request) {
        _ if runs => None,
        _ if request.act != Act::Decrypt => return Vec::new(),
        Place::Itself => return Vec::new(),
        Place::Output(path) => Some(as_typed(command.cwd, &path)),
        Place::Stdout => command.stdout.map(|stdout| stdout.path.clone()),
        Place::Nowhere => None,
    };
    let file = request.files.first().map(|file| opened(command.cwd, request.act, file));
    file.map(|file| Decrypted { file, plaintext, runs }).into_iter().collect()
}

/// `--output /dev/stdout` is standard output under another name, and `/dev/null` is no file.
fn place(command: &Command<'_>, request: &Request<'_>) -> Place {
    let Place::Output(path) = &request.place else { return request.place.clone() };
    match cleaned(command.cwd, path).to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => Place::Stdout,
        Some("/dev/null" | "/dev/tty") => Place::Nowhere,
        _ => request.place.clone(),
    }
}

fn in_place(command: &Command<'_>, request: &Request<'_>, asked: &Asked) -> Vec<Write> {
    let change = match request.act {
        Act::Decrypt => Change::DecryptInPlace,
        act => change(act),
    };
    let write = |file: &Cow<'_, OsStr>| Write {
        path: opened(command.cwd, request.act, file),
        change,
        via: Via::InPlace,
        asked: asked.clone(),
        beyond: false,
        leaves: Leaves::Changed,
    };
    request.files.iter().map(write).collect()
}

fn to_file(command: &Command<'_>, request: &Request<'_>, path: PathBuf, via: Via, asked: Asked) -> Vec<Write> {
    let source = request.files.first().map(|file| opened(command.cwd, request.act, file));
    let onto_itself = source.as_ref() == Some(&cleaned(command.cwd, path.as_os_str()));
    let change = match request.act {
        Act::Decrypt if onto_itself => Change::DecryptInPlace,
        act => change(act),
    };
    let asked = Asked { source: source.filter(|_| !onto_itself), ..asked };
    vec![Write { path, change, via, asked, beyond: false, leaves: Leaves::Changed }]
}

fn change(act: Act) -> Change {
    match act {
        Act::Encrypt => Change::Encrypt,
        Act::Rotate => Change::Rotate,
        Act::Edit => Change::Edit,
        Act::Set => Change::Set,
        Act::Unset => Change::Unset,
        Act::UpdateKeys => Change::UpdateKeys,
        Act::GroupsAdd | Act::GroupsDelete => Change::Groups,
        Act::Decrypt | Act::ExecEnv | Act::ExecFile | Act::FileStatus | Act::Publish | Act::KeyService => {
            Change::DecryptTo
        }
    }
}

/// How sops opens its input: cleaned by the letter, but for `groups` and the two that run a program.
fn opened(cwd: &Path, act: Act, file: &OsStr) -> PathBuf {
    match act {
        Act::GroupsAdd | Act::GroupsDelete | Act::ExecEnv | Act::ExecFile => as_typed(cwd, file),
        _ => cleaned(cwd, file),
    }
}

/// `exec-file --no-fifo --filename NAME` joins NAME to a fresh directory below the temporary one and creates it there;
/// with `..` in NAME, elsewhere (sops before 3.13). A named pipe, the other way, never replaces a file.
fn beside_its_directory(command: &Command<'_>, request: &Request<'_>, asked: Asked) -> Vec<Write> {
    let flags = request.flags();
    let Some(name) = flags.text("filename").filter(|_| request.act == Act::ExecFile) else { return Vec::new() };
    if !(flags.is_on("no-fifo") || cfg!(windows)) {
        return Vec::new();
    }
    let temporary = (command.env)("TMPDIR").filter(|path| !path.is_empty()).unwrap_or_else(|| "/tmp".into());
    // Any name will do for the fresh directory: what stays inside of it is nobody's business.
    let own = cleaned(command.cwd, &temporary).join(".sops");
    let mut joined = own.clone().into_os_string();
    joined.push("/");
    joined.push(name);
    let path = cleaned(command.cwd, &joined);
    if path.starts_with(&own) {
        return Vec::new();
    }
    to_file(command, request, path, Via::Output, asked)
}
