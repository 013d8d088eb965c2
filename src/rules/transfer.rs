//! Copies between hosts (`scp`, `rsync`): what they write over there is what `cp` would write there. Which files stand in
//! a directory that is copied, the plan looks at.
#![forbid(unsafe_code)]

mod taken;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::argument::tail;
use super::book::Book;
use super::grammar::Line;
use super::host;
use super::sent::{Pattern, Sent};
use super::step::{Step, UNKNOWN, is_known};
use super::unfold::there;

use self::taken::{deleted, deletes, taken};

/// What is taken away where the files come from, and the copy as it would be made where they go; nothing when the line is no
/// copy.
pub(super) fn copied<'a>(line: &Line<'_>, around: &Step<'a>, book: &Book) -> Vec<Step<'a>> {
    let mut steps = taken(line, around, book);
    let copy = copy(line, around, book);
    steps.extend(copy.as_ref().and_then(|copy| started(line, copy)));
    steps.extend(copy);
    steps
}

/// What rsync starts over there in its own place (`--rsync-path="systemctl stop app && rsync"`).
fn started<'a>(line: &Line<'_>, copy: &Step<'a>) -> Option<Step<'a>> {
    let path = line.value("--rsync-path").filter(|_| copy.host.is_some())?;
    let args = [OsString::from("-c"), path.to_owned()].into_iter().collect();
    Some(Step { name: "sh".into(), called: "sh".into(), args, sent: Vec::new(), ..copy.clone() })
}

fn copy<'a>(line: &Line<'_>, around: &Step<'a>, book: &Book) -> Option<Step<'a>> {
    let (&destination, sources) = line.operands.split_last().filter(|(_, sources)| !sources.is_empty())?;
    let (step, place) = match place(destination) {
        Some((name, path)) => {
            let options = host::options(line, around, book);
            let mut sent = sent(line, around, sources, Path::new(&path));
            sent.extend(deleted(line, around, sources, Path::new(&path)));
            (Step { sent, ..there(around.clone(), &book.host(&options, &name)) }, path)
        }
        None => (around.clone(), destination.to_owned()),
    };
    let is_local = step.host.is_none();
    if is_local && deletes(line, around) {
        // All that stands there and not here goes.
        let whole = sources.iter().map(|source| below(Path::new(&place), source, true).into_os_string());
        let args = [OsString::from("-r"), OsString::from("--")].into_iter().chain(whole);
        return Some(Step { name: "rm".into(), called: "rm".into(), args: args.collect(), ..step });
    }
    let sources = sources.iter().map(|source| match self::place(source) {
        // What another host sends, nobody here sees.
        Some((_, path)) if is_local => {
            let mut path = elsewhere(&path);
            if around.name() == "rsync" && source.as_encoded_bytes().ends_with(b"/") {
                path.push(".");
            }
            path
        }
        Some((_, path)) => path,
        // rsync copies what is in `DIR/`, cp what is in `DIR/.`.
        None if is_local && around.name() == "rsync" && source.as_encoded_bytes().ends_with(b"/") => {
            [*source, OsStr::new(".")].into_iter().collect()
        }
        None => (*source).to_owned(),
    });
    let whole = is_local && is_whole(line, around);
    let options = whole.then(|| OsString::from("-r")).into_iter().chain([OsString::from("--")]);
    Some(Step { name: "cp".into(), args: options.chain(sources).chain([place]).collect(), ..step })
}

/// It goes into directories. rsync's `-R` keeps paths.
fn is_whole(line: &Line<'_>, around: &Step<'_>) -> bool {
    let options = if around.name() == "rsync" { ["-r|--recursive", "-a|--archive"] } else { ["-r", "-R"] };
    options.iter().any(|option| line.is_on(option))
}

/// A file that lies on another host, for a copy onto this one.
pub(super) fn elsewhere(path: &OsStr) -> OsString {
    let mut whole = OsString::from(String::from(char::from(UNKNOWN)));
    whole.push("/");
    whole.push(path);
    whole
}

/// What of this machine goes to `to` without being named.
fn sent(line: &Line<'_>, around: &Step<'_>, sources: &[&OsStr], to: &Path) -> Vec<Sent> {
    let is_rsync = around.name() == "rsync";
    let own = || sources.iter().filter(|source| place(source).is_none());
    if own().next().is_none() {
        return Vec::new();
    }
    if let Some(list) = listed(line, around, to).filter(|_| is_rsync) {
        return vec![list];
    }
    if !is_whole(line, around) {
        return Vec::new();
    }
    let without = if is_rsync { without(line) } else { Vec::new() };
    let sent = own().map(|source| {
        let path = around.path(source);
        // Another host's directories.
        if around.host.is_some() {
            return None;
        }
        if !is_known(path.as_os_str()) {
            return Some(Sent::Open { place: below(to, source, is_rsync), without: without.clone() });
        }
        Some(Sent::Directory { place: below(to, source, is_rsync), path, follow: !is_rsync, without: without.clone() })
    });
    sent.flatten().collect()
}

/// The files on a list (rsync's `--files-from`), below this directory.
fn listed(line: &Line<'_>, around: &Step<'_>, below: &Path) -> Option<Sent> {
    let list = line.value("--files-from")?;
    let seen = around.host.is_none() && is_known(list) && list != "-" && place(list).is_none();
    Some(if seen { Sent::List { path: around.path(list), place: below.to_owned() } } else { Sent::Unseen })
}

/// Where the files of a directory come to lie: rsync copies what is in `DIR/`, and `DIR` with its name.
fn below(to: &Path, source: &OsStr, is_rsync: bool) -> PathBuf {
    let whole = is_rsync && source.as_encoded_bytes().ends_with(b"/");
    match Path::new(source).file_name().filter(|_| !whole) {
        Some(name) => to.join(name),
        None => to.to_owned(),
    }
}

/// What rsync leaves out. Where it is told to take something in as well, or by files (`--exclude-from`, `-F`), the first that
/// fits counts there; then nothing is taken to be left out.
fn without(line: &Line<'_>) -> Vec<Pattern> {
    let filters: Vec<&OsStr> = line.values("-f|--filter").collect();
    let excluding = |filter: &&OsStr| ["- ", "-_", "exclude "].iter().find(|sign| begins(filter, sign)).copied();
    let takes_in = ["--include", "--include-from", "--exclude-from", "-F"].iter().any(|option| line.is_given(option));
    // `--exclude=!` forgets what stands before it, `--exclude='+ x'` takes in.
    let says_else =
        |pattern: &OsStr| pattern == "!" || ["+ ", "+_", "- ", "-_"].iter().any(|sign| begins(pattern, sign));
    if takes_in || line.values("--exclude").any(says_else) || !filters.iter().all(|filter| excluding(filter).is_some())
    {
        return Vec::new();
    }
    let by_filter = filters.iter().filter_map(|filter| Some(tail(filter, excluding(filter)?.len()).into_owned()));
    let named = line.values("--exclude").map(OsStr::to_owned).chain(by_filter);
    named.filter_map(|pattern| Pattern::new(&pattern)).collect()
}

fn begins(word: &OsStr, with: &str) -> bool {
    word.as_encoded_bytes().starts_with(with.as_bytes())
}

/// `[USER@]HOST:PATH`, `scheme://HOST/PATH`, `HOST::MODULE/PATH`; none for a local path, which has a slash before any colon.
pub(super) fn place(operand: &OsStr) -> Option<(String, OsString)> {
    let bytes = operand.as_encoded_bytes();
    // What stands before a path is no longer than a destination.
    let start = &bytes[..bytes.len().min(host::LONGEST)];
    let url = start.windows(3).position(|three| three == b"://").filter(|at| bytes[..*at].is_ascii());
    let (name, at) = if let Some(scheme) = url {
        let slash = bytes[scheme + 3..].iter().position(|&byte| byte == b'/');
        let end = slash.map_or(bytes.len(), |slash| scheme + 3 + slash);
        (&bytes[..end], end)
    } else {
        let colon = colon(start)?;
        let colons = if bytes[colon..].starts_with(b"::") { 2 } else { 1 };
        (&bytes[..colon], colon + colons)
    };
    let host = host::of_destination(name)?;
    // Without a path it is the home directory over there.
    let path = if at < bytes.len() { tail(operand, at).into_owned() } else { ".".into() };
    Some((String::from_utf8_lossy(&host).into_owned(), path))
}

/// The colon behind a host, as scp looks for it (`colon` in OpenSSH's misc.c): none behind a slash, and none within brackets.
fn colon(operand: &[u8]) -> Option<usize> {
    let is_drive = cfg!(windows) && matches!(operand, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    if operand.first() == Some(&b':') || is_drive {
        return None;
    }
    let mut bracket = operand.first() == Some(&b'[');
    for (at, pair) in operand.iter().zip(operand.iter().skip(1).map(Some).chain([None])).enumerate() {
        match pair {
            (b'@', Some(b'[')) => bracket = true,
            (b']', Some(b':')) if bracket => return Some(at + 1),
            (b':', _) if !bracket => return Some(at),
            (b'/', _) => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_hosts_are_told_from_local_paths() {
        let table = [
            ("bms-4:/opt/app/.env", Some(("bms-4", "/opt/app/.env"))),
            ("deploy@BMS-4:", Some(("bms-4", "."))),
            ("[::1]:/x", Some(("::1", "/x"))),
            ("scp://u@h:22/etc/x", Some(("h", "/etc/x"))),
            ("rsync://h/module/x", Some(("h", "/module/x"))),
            ("h::module/x", Some(("h", "module/x"))),
            ("root@[2001:db8::1]:/x", Some(("2001:db8::1", "/x"))),
            ("bms-4:/opt/[a]:b/.env", Some(("bms-4", "/opt/[a]:b/.env"))),
            ("./a:b", None),
            ("/a:b", None),
            ("a", None),
            (":x", None),
        ];
        for (operand, expected) in table {
            let found = place(OsStr::new(operand));
            let found = found.as_ref().map(|(host, path)| (host.as_str(), path.to_str().expect("text")));
            assert_eq!(found, expected, "{operand}");
        }
    }
}
