//! Whether what goes to another host without being named is what a rule is about: `rsync -a deploy/ host:/opt/app/` writes
//! `/opt/app/.env` if there is a `deploy/.env`. Where a look ends without an answer, the rule counts.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use super::World;
use super::archive;
use super::below::{Look, Looked, below};
use super::content::{self, Content};
use crate::rules::{Sending, Sent, put_whole};
use crate::terms::percent_encode;

/// Commands of sftp by which the file of their last word is written over there (sftp(1)).
const PUTS: [&[u8]; 9] = [b"put", b"mput", b"reput", b"rename", b"rm", b"ln", b"symlink", b"copy", b"cp"];

/// How a rule stands to what is sent.
pub(super) enum Counts {
    /// It counts; how that was found, one sentence for `explain`.
    Because(String),
    /// It does not.
    Nothing,
    /// Nobody here sees what is sent; one sentence.
    Told(String),
}

/// Whether the rule counts.
pub(super) fn counts(sending: &Sending, world: &World<'_>) -> Counts {
    let because = sending.sent.iter().find_map(|sent| of(sent, sending, world));
    let hidden = || sending.sent.iter().any(|sent| is_hidden(sent, sending));
    let open = || sending.sent.iter().any(|sent| is_open(sent, sending));
    match because {
        Some(because) => Counts::Because(because),
        None if open() => {
            Counts::Told("which files go there only run time knows, and a .env among them is not held".to_owned())
        }
        None if hidden() => {
            Counts::Told("what is unpacked there nobody here sees, and a .env in it is not held".to_owned())
        }
        None => Counts::Nothing,
    }
}

/// A directory that only run time knows, of which something may go where the rule is about.
fn is_open(sent: &Sent, sending: &Sending) -> bool {
    matches!(sent, Sent::Open { place, without } if sending.may_be_below(place, without).is_some())
}

/// An archive that stands elsewhere, and goes where the rule is about something.
fn is_hidden(sent: &Sent, sending: &Sending) -> bool {
    match sent {
        Sent::Archive(it) if it.archive.is_none() => {
            let may_be = |member: &Path| it.lands(member).is_some_and(|path| sending.is_about(path.as_os_str()));
            let named = it.members.iter().any(|member| may_be(member) || member.extension().is_none());
            let all = || it.members.is_empty() && sending.may_be_below(&it.place, &it.without).is_some();
            named || all()
        }
        _ => false,
    }
}

fn of(sent: &Sent, sending: &Sending, world: &World<'_>) -> Option<String> {
    let unseen = |what: &str| Some(format!("{what} could not be looked through"));
    match sent {
        Sent::Directory { path, place, follow, without } => {
            if !path.is_dir() {
                let is_it = path.is_file() && sending.is_about(place.as_os_str());
                return is_it.then(|| format!("{} goes there", shown(path)));
            }
            let skip = |relative: &Path| {
                let is_directory = || path.join(relative).is_dir();
                without.iter().any(|pattern| pattern.leaves_out(relative, &is_directory))
            };
            let look = Look { follow: *follow, skip: &skip, is_late: &world.is_late };
            let mut name = None;
            let mut is_it = |_: &Path, relative: &Path| {
                let is_it = sending.is_about(place.join(relative).as_os_str());
                name = name.take().or_else(|| is_it.then(|| shown(relative)));
                is_it
            };
            match below(path, &look, &mut is_it) {
                Looked::Found => Some(format!("{} goes there", name.unwrap_or_default())),
                Looked::Nothing => None,
                Looked::Unfinished => unseen("a directory that goes there"),
            }
        }
        Sent::List { path, place } => match content::of(path) {
            Content::Text { text, whole } => {
                let mut names = text.split(|byte| b"\n\r\0".contains(byte)).filter(|name| !name.is_empty());
                let listed = |name: &&[u8]| sending.is_about(place.join(&*String::from_utf8_lossy(name)).as_os_str());
                match names.find(listed) {
                    Some(name) => Some(format!("{} is on its list", shown(Path::new(&*String::from_utf8_lossy(name))))),
                    None if whole => None,
                    None => unseen("the list of what goes there"),
                }
            }
            Content::Missing | Content::Unseen => unseen("the list of what goes there"),
        },
        Sent::Commands { path, directory } => match content::of(path) {
            Content::Text { text, whole } => {
                if text.split(|&byte| byte == b'\n').any(|line| puts(line, sending)) {
                    return Some("its commands write there".to_owned());
                }
                let whole_ones = put_whole(&text, directory);
                let found = whole_ones.iter().find_map(|sent| of(sent, sending, world));
                found.or_else(|| if whole { None } else { unseen("its commands") })
            }
            Content::Missing | Content::Unseen => unseen("the file with its commands"),
        },
        Sent::Others { place, kept } => {
            let name = sending.may_be_below(place, kept)?;
            Some(format!("a {name} that stands there may be taken away, unless --exclude keeps it"))
        }
        Sent::Archive(it) => {
            let mut name = None;
            let mut is_it = |member: &Path| {
                let is_it = it.lands(member).is_some_and(|path| sending.is_about(path.as_os_str()));
                name = name.take().or_else(|| is_it.then(|| shown(member)));
                is_it
            };
            match archive::members(it.archive.as_ref()?, &world.is_late, &mut is_it) {
                Looked::Found => Some(format!("{} is in its archive", name.unwrap_or_default())),
                Looked::Nothing => None,
                Looked::Unfinished => unseen("the archive that goes there"),
            }
        }
        Sent::Unseen => unseen("what goes there"),
        Sent::Open { .. } => None,
    }
}

/// Whether a command of sftp writes what the rule is about; a `-` or `@` may stand before it.
fn puts(line: &[u8], sending: &Sending) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let command = first.iter().position(|byte| !b"-@".contains(byte)).map_or(first, |at| &first[at..]);
    let unquoted = |word: &[u8]| word.iter().copied().filter(|byte| !b"\"'\\".contains(byte)).collect::<Vec<u8>>();
    let is_it = |word: &[u8]| sending.is_about(OsStr::new(&*String::from_utf8_lossy(&unquoted(word))));
    PUTS.iter().any(|own| own.eq_ignore_ascii_case(command)) && words.any(is_it)
}

/// The name alone: a path may have a value in it.
fn shown(path: &Path) -> String {
    percent_encode(path.file_name().unwrap_or_default().as_encoded_bytes())
}
