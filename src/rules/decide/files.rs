//! The files that a command writes.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Wants;
use super::fits::{behind, given};
use crate::rules::book::Book;
use crate::rules::grammar::Line;
use crate::rules::step::{LONGEST_PATH, Step, is_known};
use crate::rules::wanted::Filling;
use crate::rules::{Asked, Change, Command, Stdout, Tree, Via, Write, sops};
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
    let mut touched: Vec<Cow<'_, OsStr>> = step
        .redirected
        .iter()
        .map(|file| Cow::Borrowed(file.path.as_os_str()))
        .filter(|file| may_be_opened(file, step))
        .collect();
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
        if writer.whole && step.host.is_none() {
            let known = files.iter().filter(|file| is_known(file) && may_be_opened(file, step));
            wants.trees.extend(known.map(|file| Tree { path: step.path(file), beyond: step.escapes }));
        }
        let opened = |files: &[Cow<'_, OsStr>]| -> Vec<Cow<'static, OsStr>> {
            files.iter().filter(|file| may_be_opened(file, step)).map(|file| Cow::Owned(file.to_os_string())).collect()
        };
        let place = line.value("-t|--target-directory").filter(|_| writer.into);
        let by_option = place.is_some();
        let (place, sources) = match (place, files.split_last()) {
            (Some(place), _) => (place, files.as_slice()),
            (None, Some((place, sources))) if writer.into => (place.as_ref(), sources),
            _ => {
                touched.extend(opened(&files));
                continue;
            }
        };
        if !may_be_opened(place, step) {
            continue;
        }
        let into = by_option || sources.len() > 1 || may_be_a_directory(place);
        let sources = sources.iter().filter(|source| into && may_be_opened(source, step));
        touched.extend(sources.map(|source| Cow::Owned(joined(place, source))));
        if !by_option {
            touched.push(Cow::Owned(place.to_owned()));
        }
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

/// Whether a system could open a file of this name. What a shell or a copier over there makes other words of may be one.
fn may_be_opened(name: &OsStr, step: &Step<'_>) -> bool {
    let is_sign = |byte: &u8| matches!(byte, b'\t'..=b' ' | b'"'..=b'*' | b';' | b'<' | b'>' | b'?' | b'['..=b']' | b'`' | b'{'..=b'}');
    // Nothing is said of a longer script either.
    let parts = || step.host.is_some() && name.len() <= shell::LONGEST && name.as_encoded_bytes().iter().any(is_sign);
    name.len() <= LONGEST_PATH || !is_known(name) || parts()
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
