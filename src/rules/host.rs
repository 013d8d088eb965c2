//! Hosts as people name them.
#![forbid(unsafe_code)]

use std::net::Ipv6Addr;

/// The host of a destination (`user@host`, `ssh://user@host:22`, `[::1]:22`, `host:path`), in lower case; none where
/// there is no name.
pub(super) fn of_destination(text: &[u8]) -> Option<Vec<u8>> {
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
    (!name.is_empty()).then_some(name)
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
        assert_eq!(of_destination(b"root@"), None);
        assert_eq!(of_destination(b""), None);
    }
}
