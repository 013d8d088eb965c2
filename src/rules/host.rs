//! Hosts as people name them.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::net::Ipv6Addr;

use super::book::Book;
use super::grammar::{self, Level, Line};
use super::script;
use super::step::{Step, is_known};

/// A destination with user, port and path; nobody writes a longer one.
pub(super) const LONGEST: usize = 4096;

/// The host of a destination (`user@host`, `ssh://user@host:22`, `[::1]:22`, `host:path`), in lower case; none where
/// there is no name. A word with `=` is a value that stands there by mistake, and may be a secret; it names no host.
pub(super) fn of_destination(text: &[u8]) -> Option<Vec<u8>> {
    // Names of hosts end at 253 characters (RFC 1035, 2.3.4); what is longer is none, whatever stands before it.
    if text.len() > LONGEST {
        return None;
    }
    let url = text.windows(3).position(|three| three == b"://").map(|at| &text[at + 3..]);
    let authority = match url {
        Some(rest) => rest.split(|&byte| byte == b'/').next().unwrap_or_default(),
        None => text,
    };
    // A user's name may have an @ of its own; a host has none.
    let host = authority.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    let name = match host.strip_prefix(b"[") {
        Some(rest) => rest.split(|&byte| byte == b']').next().unwrap_or_default(),
        // More than one colon and no bracket: an address of IPv6, which has no port then.
        None if host.iter().filter(|&&byte| byte == b':').count() > 1 && url.is_none() => host,
        None => host.split(|&byte| byte == b':').next().unwrap_or_default(),
    };
    let name = name.strip_suffix(b".").unwrap_or(name).to_ascii_lowercase();
    // An address of IPv6 has many spellings.
    let address = std::str::from_utf8(&name).ok().and_then(|name| name.parse::<Ipv6Addr>().ok());
    let name = address.map_or(name, |address| address.to_string().into_bytes());
    (!name.is_empty() && !name.contains(&b'=')).then_some(name)
}

/// The options of a line by which the ssh client reads another name into a host than it would without: its file of
/// settings and what is set besides (ssh(1), scp(1) and sftp(1) have both alike). On another host they mean nothing here.
pub(super) fn options(line: &Line<'_>, around: &Step<'_>, book: &Book) -> Vec<OsString> {
    match around.name() {
        _ if around.host.is_some() => Vec::new(),
        "ssh" | "scp" | "sftp" => of_client(line),
        // The client stands in an option of its own there, as a line that rsync takes apart (rsync(1), `--rsh`).
        "rsync" => {
            let own = line.value("-e|--rsh").map(OsString::from);
            let rsh = own.or_else(|| around.variable("RSYNC_RSH", &|_| None)).unwrap_or_default();
            let read = script::steps(rsh.as_encoded_bytes(), &[], around, (book, &|_| None));
            let client = read.steps.first().filter(|client| client.name == "ssh");
            client.map(|client| of_client(&ssh(client, book))).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn of_client(line: &Line<'_>) -> Vec<OsString> {
    let of = |name: &'static str| line.values(name).filter(|value| is_known(value)).map(move |value| (name, value));
    let given = of("-F").chain(of("-o"));
    given.flat_map(|(name, value)| [OsString::from(name), value.to_owned()]).collect()
}

/// A line of the client without a host.
fn ssh<'a>(client: &'a Step<'_>, book: &'a Book) -> Line<'a> {
    let mut line = Line::default();
    if let Some(launcher) = book.launchers("ssh").find(|launcher| launcher.host) {
        grammar::read_level(Level { values: &launcher.values, ..Level::default() }, &client.args, 0, &mut line);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_name_however_it_is_written() {
        let table = [
            ("bms-4", "bms-4"),
            ("root@bms-4", "bms-4"),
            ("ssh://root@BMS-4:2222", "bms-4"),
            ("ssh://root@bms-4/", "bms-4"),
            ("bms-4.", "bms-4"),
            ("me@corp@bms-4", "bms-4"),
            ("[::1]", "::1"),
            ("[fe80::1%eth0]:22", "fe80::1%eth0"),
            ("root@fe80::1", "fe80::1"),
            ("ssh://[::1]:22", "::1"),
            ("host:22", "host"),
            ("root@[2001:DB8:0:0::1]:22", "2001:db8::1"),
            ("0:0:0:0:0:0:0:1", "::1"),
        ];
        for (written, host) in table {
            assert_eq!(of_destination(written.as_bytes()).as_deref(), Some(host.as_bytes()), "{written}");
        }
        for none in ["root@", "", "TOKEN=s3cret", "me@TOKEN=s3cret:22", "ssh://TOKEN=s3cret/"] {
            assert_eq!(of_destination(none.as_bytes()), None, "{none}");
        }
    }
}
