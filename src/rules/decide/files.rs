//! The files that a command writes.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Wants;
use super::fits::{behind, given};
use crate::rules::archive;
use crate::rules::book::Book;
use crate::rules::find::may_be_shared;
use crate::rules::grammar::Line;
use crate::rules::step::{LONGEST_PATH, Redirected, Step, UNKNOWN, is_known, name_of};
use crate::rules::wanted::Filling;
use crate::rules::{Asked, Change, Command, Leaves, Stdout, Tree, Via, Write, sops};
use crate::shell;

/// sops over there writes files over there: whoever holds the host may.
pub(super) fn of_sops(step: &Step<'_>, command: &Command<'_>, wants: &mut Wants) {
    let env = |name: &str| step.variable(name, command.env);
    let to = step.redirected.iter().rfind(|file| file.is_stdout);
    let to = to.map(|file| Stdout { path: step.path(&file.path), append: file.append });
    let own = Command {
        name: &step.name,
        args: &step.args,
        cwd: &step.cwd,
        env: &env,
        stdout: if step.in_script { to.as_ref() } else { command.stdout },
        stdin: None,
    };
    let class = sops::classify(&own);
    wants.known = true;
    wants.operation = Some(class.operation);
    wants.rule = class.rule;
    wants.reason = Some(class.reason);
    let mut writes = class.writes;
    // What is published goes where others read it.
    let publishes = wants.operation.as_ref().is_some_and(|words| words.starts_with("sops publish"));
    wants.reads = !publishes && writes.iter().all(|write| write.change == Change::DecryptTo);
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
        wants.decrypted = class.decrypted;
        wants.decrypted.retain(|it| is_known(it.file.as_os_str()));
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
pub(super) fn of_files(step: &Step<'_>, line: &Line<'_>, book: &Book, command: &Command<'_>, wants: &mut Wants) {
    let mut opened: Vec<Opened<'_>> = step.redirected.iter().map(Opened::by_the_shell).collect();
    opened.retain(|file| may_be_opened(&file.name, step));
    for writer in book.writers(step.name()) {
        let Some(line) = behind(writer.subcommand.as_ref(), line) else { continue };
        if !given(&writer.option, &line) || line.is_any_on(&writer.unless) {
            continue;
        }
        wants.known = true;
        let filling = Filling { step, line: &line, caught: &[], env: command.env };
        let files = filling.words(&writer.files);
        let under = writer.directory.as_ref().and_then(|names| line.value(names));
        let files: Vec<Cow<'_, OsStr>> = match under {
            Some(under) => files.iter().map(|file| Cow::Owned(Path::new(under).join(file).into_os_string())).collect(),
            None => files,
        };
        let place = line.value("-t|--target-directory").filter(|_| writer.into);
        let by_option = place.is_some();
        let (place, sources) = match (place, files.split_last()) {
            (Some(place), _) => (Some(place), files.as_slice()),
            (None, Some((place, sources))) if writer.into => (Some(place.as_ref()), sources),
            _ => (None, files.as_slice()),
        };
        // Words may be long; what no system opens is not copied.
        let names: Vec<&OsStr> = sources.iter().map(AsRef::as_ref).filter(|name| may_be_opened(name, step)).collect();
        if writer.whole && step.host.is_none() {
            let known = names.iter().filter(|name| is_known(name));
            wants.trees.extend(known.map(|name| Tree {
                path: step.path(name),
                beyond: step.escapes,
                like: None,
                leaves: Leaves::Gone,
            }));
        }
        let Some(place) = place else {
            opened.extend(names.iter().map(|name| Opened::left(name, writer.leaves)));
            continue;
        };
        if writer.leaves == Leaves::Gone {
            opened.extend(names.iter().map(|name| Opened::left(name, Leaves::Gone)));
        }
        if !may_be_opened(place, step) {
            continue;
        }
        if step.host.is_none() && writer.tree.iter().any(|option| line.is_on(option)) && is_known(place) {
            let flat = line.is_on("-T|--no-target-directory");
            wants.trees.extend(names.iter().filter_map(|source| over(source, place, flat, step)));
        }
        let into = by_option || sources.len() > 1 || may_be_a_directory(place);
        let each = names.iter().filter(|source| into && !is_backup(source, place, step));
        opened.extend(each.map(|name| Opened::put(joined(place, name), Some(name))));
        if !by_option {
            // Several are copied into a directory, and none of them over it.
            let source = names.first().filter(|_| sources.len() == 1);
            if source.is_some_and(|source| is_backup(source, place, step)) {
                continue;
            }
            opened.push(Opened::put(place.to_owned(), source.copied()));
        }
    }
    if step.host.is_none() {
        wants.unpacked = archive::unpacked(step);
    }
    opened.retain(|file| !file.name.is_empty());
    if step.host.is_some() {
        // A pattern's last star may stand for nothing: `.env*` is `.env` as well.
        let bare = |file: &Opened<'_>| {
            let text = file.name.to_str()?.strip_suffix('*')?;
            let name = text.replace(char::from(UNKNOWN), "");
            (!name.is_empty() && !name.ends_with('/')).then(|| Opened::left(OsStr::new(&name), file.leaves))
        };
        let more: Vec<Opened<'_>> = opened.iter().filter_map(bare).collect();
        opened.extend(more);
    }
    if let Some(source) = all_of(step) {
        let unsaid = opened.iter_mut().filter(|file| file.leaves == Leaves::Replaced && file.source.is_none());
        unsaid.for_each(|file| file.source = Some(source.clone()));
    }
    wants.touched = opened.iter().map(|file| step.path(&file.name)).collect();
    // Of what run time finds, names that are open may be any.
    wants.unnamed |= step.found && wants.touched.iter().any(|path| may_be_shared(path) && !is_named(path, step));
    if step.host.is_some() {
        // A copy to a host under a name that is open may be a `.env` there (`scp "$f" host:/opt/app/`).
        let is_open = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes() == [UNKNOWN]);
        let is_copy = step.name() == "cp" && name_of(&step.called) != "cp" && step.sent.is_empty();
        wants.unnamed |= is_copy && wants.touched.iter().any(is_open);
        return;
    }
    // Nearly every script writes to some `$FILE`; of those that are called so it is said.
    wants.unnamed |= wants.touched.iter().any(|path| !is_known(path.as_os_str()) && is_called_as_secrets_are(path));
    let known = opened.iter().zip(&wants.touched).filter(|(_, path)| is_known(path.as_os_str()));
    wants.writes = known
        .map(|(file, path)| Write {
            path: path.clone(),
            change: Change::Other,
            via: Via::Output,
            asked: Asked { source: file.source.as_deref().map(|source| step.path(source)), ..Asked::default() },
            beyond: step.escapes,
            leaves: file.leaves,
        })
        .collect();
}

/// A file that is written, as the line names it.
struct Opened<'a> {
    name: Cow<'a, OsStr>,
    leaves: Leaves,
    /// Where its new content comes from, where that is known.
    source: Option<OsString>,
}

impl<'a> Opened<'a> {
    fn by_the_shell(file: &'a Redirected) -> Self {
        let leaves = if file.append { Leaves::Changed } else { Leaves::Replaced };
        Self { name: Cow::Borrowed(&file.path), leaves, source: None }
    }

    fn left(name: &OsStr, leaves: Leaves) -> Self {
        Self { name: Cow::Owned(name.to_owned()), leaves, source: None }
    }

    fn put(name: OsString, source: Option<&OsStr>) -> Self {
        let is_address = |source: &OsStr| source.as_encoded_bytes().windows(3).any(|three| three == b"://");
        let source = source.filter(|source| is_known(source) && !is_address(source)).map(OsStr::to_owned);
        Self { name: Cow::Owned(name), leaves: Leaves::Replaced, source }
    }
}

/// The file that a command hands through as it is, where the line names it.
fn all_of(step: &Step<'_>) -> Option<OsString> {
    let name = step.name();
    let mut operands = step.args.iter().filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let named = match name {
        "cat" => operands.next().map(|word| (word.to_os_string(), operands.next().is_none())),
        "dd" => operands.find_map(|word| Some((word.to_str()?.strip_prefix("if=")?.into(), true))),
        "tee" | "sponge" => None,
        _ => return None,
    };
    let from = step.input_from.split_first().filter(|_| !step.input_hidden && step.input.is_none());
    let (source, is_all) = named.or_else(|| from.map(|(file, others)| (file.into(), others.is_empty())))?;
    (is_all && is_known(&source)).then_some(source)
}

/// Whether a system could open a file of this name. What a shell or a copier over there makes other words of may be one.
fn may_be_opened(name: &OsStr, step: &Step<'_>) -> bool {
    let is_sign = |byte: &u8| matches!(byte, b'\t'..=b' ' | b'"'..=b'*' | b';' | b'<' | b'>' | b'?' | b'['..=b']' | b'`' | b'{'..=b'}');
    // Nothing is said of a longer script either.
    let parts = || step.host.is_some() && name.len() <= shell::LONGEST && name.as_encoded_bytes().iter().any(is_sign);
    name.len() <= LONGEST_PATH || !is_known(name) || parts()
}

/// On another host a rule is about the names that it knows: what has one is no secret of run time.
fn is_named(path: &Path, step: &Step<'_>) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    step.host.is_some() && name.iter().next_back().is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether what is known of its name has the marker of SOPS files, or an ending that most of them have.
fn is_called_as_secrets_are(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let ends = |ending: &&str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
    name.windows(5).any(|five| five == b".sops") || [".yaml", ".yml", ".env", ".enc"].iter().any(ends)
}

/// What a directory is copied over, file by file (`cp -r DIR PLACE`).
fn over(source: &OsStr, place: &OsStr, flat: bool, step: &Step<'_>) -> Option<Tree> {
    let bytes = source.as_encoded_bytes();
    let whole = flat || bytes == b"." || bytes == b".." || bytes.ends_with(b"/.") || bytes.ends_with(b"/..");
    let to = if whole { step.path(place) } else { step.path(place).join(Path::new(source).file_name()?) };
    is_known(to.as_os_str()).then(|| Tree {
        path: to,
        beyond: step.escapes,
        like: is_known(source).then(|| step.path(source)),
        leaves: Leaves::Replaced,
    })
}

/// Whether a copy over there is one beside the file, with a date behind its name: `cp .env .env.$(date +%F)`. No program
/// reads it.
fn is_backup(source: &OsStr, place: &OsStr, step: &Step<'_>) -> bool {
    let behind = place.as_encoded_bytes().strip_prefix(source.as_encoded_bytes());
    let dated = |rest: &[u8]| match rest {
        [b'.' | b'-' | b'_' | b'~', first, ..] => first.is_ascii_digit() || *first == UNKNOWN,
        _ => false,
    };
    step.host.is_some() && step.name() == "cp" && behind.is_some_and(dated)
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
