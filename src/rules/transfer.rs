//! Copies between hosts (`scp`, `rsync`): what they write over there is what `cp` would write there.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::argument::tail;
use super::book::Book;
use super::grammar::Line;
use super::host;
use super::step::Step;
use super::unfold::there;

/// The copy as it would be made where the files go; none when the line is none.
pub(super) fn copied<'a>(line: &Line<'_>, around: Step<'a>, book: &Book) -> Option<Step<'a>> {
    let (&destination, sources) = line.operands.split_last().filter(|(_, sources)| !sources.is_empty())?;
    let (step, place) = match place(destination) {
        Some((name, path)) => {
            let options = host::options(line, &around, book);
            (there(around, &book.host(&options, &name)), path)
        }
        None => (around, destination.to_owned()),
    };
    let sources =
        sources.iter().map(|source| self::place(source).map_or_else(|| (*source).to_owned(), |(_, path)| path));
    let args = [OsString::from("--")].into_iter().chain(sources).chain([place]);
    Some(Step { name: "cp".into(), args: args.collect(), ..step })
}

/// `[USER@]HOST:PATH`, `scheme://HOST/PATH`, `HOST::MODULE/PATH`; none for a local path, which has a slash before any colon.
fn place(operand: &OsStr) -> Option<(String, OsString)> {
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
    if operand.first() == Some(&b':') {
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
