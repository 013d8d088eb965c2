//! The hosts of a line for several (`pssh -H "a b"`, `pdsh -w web-[1-3]`, a file with one a line).
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use crate::rules::book::{Book, Launcher};
use crate::rules::find::unknown;
use crate::rules::grammar::Line;
use crate::rules::step::{Step, is_known};
use crate::shell::Sourced;

/// More hosts than these are told apart by nobody.
const MOST: usize = 128;

/// The option of pssh that names a file with hosts, as a launcher has it among those that name hosts.
const FILE: &str = "-h|--hosts";

/// The hosts that the options name; one that only run time knows where no option says which.
pub(super) fn named(launcher: &Launcher, line: &Line<'_>, around: &Step<'_>, book: &Book) -> Vec<OsString> {
    let mut hosts = Vec::new();
    for names in launcher.hosts.iter() {
        for value in line.values(names) {
            if names == FILE {
                hosts.extend(in_file(value, around, book));
            } else {
                hosts.extend(listed(value).into_iter().flat_map(|host| match host.strip_prefix('^') {
                    Some(file) => in_file(OsStr::new(file), around, book),
                    None => expanded(&host),
                }));
            }
        }
    }
    if hosts.is_empty() || hosts.len() > MOST {
        hosts.truncate(MOST);
        hosts.push(unknown());
    }
    hosts
}

/// Those in a file of this machine, one a line: `[user@]host[:port] [user]`, or parallel's `8/host`.
pub(super) fn in_file(file: &OsStr, around: &Step<'_>, book: &Book) -> Vec<OsString> {
    let here = around.host.is_none() && !around.inside && is_known(file);
    let Some(Sourced::Text(text)) = here.then(|| book.sourced(&around.path(file))) else { return vec![unknown()] };
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let first = lines.filter_map(|line| line.split_whitespace().next());
    first.flat_map(|host| expanded(host.rsplit('/').next().unwrap_or(host))).collect()
}

/// What commas and blanks part, but for those in brackets.
fn listed(value: &OsStr) -> Vec<String> {
    let (mut hosts, mut host, mut depth) = (Vec::new(), String::new(), 0_i32);
    for letter in value.to_string_lossy().chars() {
        match letter {
            ',' | ' ' | '\t' | '\n' if depth == 0 => hosts.push(std::mem::take(&mut host)),
            letter => {
                depth += i32::from(letter == '[') - i32::from(letter == ']');
                host.push(letter);
            }
        }
    }
    hosts.push(host);
    hosts.retain(|host| !host.is_empty());
    hosts
}

/// `web-[1-3,7]` are four; `[::1]` is one. What is in brackets and no list of numbers only run time knows.
fn expanded(host: &str) -> Vec<OsString> {
    let parts = host.split_once('[').and_then(|(before, rest)| {
        let (inside, behind) = rest.split_once(']')?;
        (!inside.contains(':')).then_some((before, inside, behind))
    });
    let Some((before, inside, behind)) = parts else { return vec![host.into()] };
    let mut hosts = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        match (first.parse::<usize>(), last.parse::<usize>()) {
            (Ok(from), Ok(to)) if to >= from && to - from < MOST && !behind.contains('[') => {
                let width = first.len();
                hosts.extend((from..=to).map(|number| OsString::from(format!("{before}{number:0width$}{behind}"))));
            }
            _ => return vec![unknown()],
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_hosts() {
        let table = [
            ("web-1 web-2", "web-1 web-2"),
            ("web-1,ana@web-2:22", "web-1 ana@web-2:22"),
            ("web-[1-3]", "web-1 web-2 web-3"),
            ("web-[08-10,12].x,db", "web-08.x web-09.x web-10.x web-12.x db"),
            ("[::1]", "[::1]"),
            ("web-[a-c]", "\u{1a}"),
            ("r[1-2]n[1-2]", "\u{1a}"),
        ];
        for (value, expected) in table {
            let hosts = listed(OsStr::new(value)).iter().flat_map(|host| expanded(host)).collect::<Vec<_>>();
            assert_eq!(hosts.join(OsStr::new(" ")), expected, "{value}");
        }
    }
}
