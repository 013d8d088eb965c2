//! An engine's address as a scope. Two spellings of one engine are one scope; where two addresses may lead to one engine
//! and cannot be told apart, they share, since two engines under one scope only wait for each other.
#![forbid(unsafe_code)]

use std::net::IpAddr;

use crate::terms::{Scope, percent_encode};

/// The ports on which an engine listens unless told otherwise (IANA: docker, docker-s). One engine often has both.
const READY_PORTS: [&str; 2] = ["2375", "2376"];

/// Where an address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// This machine: a socket, a pipe, a loopback address.
    Here,
    Scope(Scope),
}

/// The scope of containers behind `ssh HOST 'docker …'`. `host` is the word of ssh's command line: `host`, `user@host` or
/// `ssh://user@host:port`. The user and ssh's port fall away: both only say how one gets in. Aliases of ssh's own
/// configuration are not resolved. None for this machine.
#[must_use]
pub fn scope_of_ssh_host(host: &str) -> Option<Scope> {
    let authority = host.split_once("://").map_or(host, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    canonical_host(split_port(after_user(authority)).0).map(|host| engine_at(&host))
}

/// Where `-H`, `DOCKER_HOST` or a context's host leads (docker/cli `opts/hosts.go`).
pub(super) fn place(address: &str) -> Place {
    // Version 1 of compose lets `-H=tcp://…` keep its `=`.
    let address = address.trim().trim_start_matches('=');
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None if address.is_empty() || address.starts_with(['/', '.']) => return Place::Here,
        None => ("tcp".to_owned(), address),
    };
    if matches!(&*scheme, "unix" | "npipe" | "fd") {
        return Place::Here;
    }
    let authority = after_user(rest.split(['/', '?', '#']).next().unwrap_or_default());
    let (host, port) = split_port(authority);
    let Some(host) = canonical_host(host) else { return Place::Here };
    Place::Scope(match port {
        // Of `ssh://` it is ssh's port, not the engine's.
        Some(port) if scheme != "ssh" && !READY_PORTS.contains(&port) => engine_at(&format!("{host}:{port}")),
        _ => engine_at(&host),
    })
}

fn engine_at(place: &str) -> Scope {
    Scope(format!("engine/{}", percent_encode(place.as_bytes())))
}

/// `user:password@host`: no part of the user may reach a name.
fn after_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Host and port; the port without zeros in front. A bare IPv6 address has none.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').unwrap_or((bracketed, ""));
        return (host, rest.strip_prefix(':').and_then(port));
    }
    match authority.split_once(':') {
        Some((host, after)) if !after.contains(':') => (host, port(after)),
        _ => (authority, None),
    }
}

fn port(text: &str) -> Option<&str> {
    Some(text.trim_start_matches('0')).filter(|text| !text.is_empty())
}

/// A host in its one spelling; none for this machine.
fn canonical_host(host: &str) -> Option<String> {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name.is_empty() || name == "localhost" || name.ends_with(".localhost") {
        return None;
    }
    // A zone (`fe80::1%eth0`) stays as it is written.
    let Ok(address) = name.parse::<IpAddr>() else { return Some(name) };
    let address = address.to_canonical();
    // To connect to the address of all interfaces is to connect to oneself.
    let here = address.is_loopback() || address.is_unspecified();
    (!here).then(|| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_one_engine_is_one_scope() {
        for address in [
            "tcp://bms-4.example.org:2375",
            "tcp://bms-4.example.org:2376",
            "tcp://BMS-4.Example.ORG:02376/",
            "tcp://bms-4.example.org",
            "bms-4.example.org:2375",
            "=tcp://bms-4.example.org:2375",
            " bms-4.example.org ",
            "TCP://bms-4.example.org.:2376",
            "https://bms-4.example.org:2376/",
            "ssh://bms-4.example.org",
            "ssh://root@bms-4.example.org",
            "ssh://root:hunter2@bms-4.example.org:22/",
            "ssh://root@bms-4.example.org:2222/run/user/1000/docker.sock",
        ] {
            assert_eq!(place(address), Place::Scope(Scope("engine/bms-4.example.org".to_owned())), "{address}");
        }
        for host in
            ["bms-4.example.org", "root@BMS-4.example.org", "ssh://root@bms-4.example.org:22", "bms-4.example.org."]
        {
            let scope = scope_of_ssh_host(host).map(|scope| scope.0);
            assert_eq!(scope.as_deref(), Some("engine/bms-4.example.org"), "{host}");
        }
        for host in ["127.0.0.1", "root@localhost", "ssh://[::1]:22"] {
            assert_eq!(
                (scope_of_ssh_host(host), place(&format!("ssh://{host}").replace("ssh://ssh", "ssh"))),
                (None, Place::Here),
                "{host}"
            );
        }
    }

    #[test]
    fn other_engines_are_other_scopes() {
        for (address, expected) in [
            ("tcp://h:12375", "engine/h:12375"),
            ("tcp://10.0.0.7:2375", "engine/10.0.0.7"),
            ("tcp://[2001:DB8:0::1]:2376", "engine/[2001:db8::1]"),
            ("tcp://[2001:db8::1]:99", "engine/[2001:db8::1]:99"),
            ("tcp://[::ffff:10.0.0.7]:2375", "engine/10.0.0.7"),
            ("ssh://h\u{202e}x", "engine/h%E2%80%AEx"),
        ] {
            assert_eq!(place(address), Place::Scope(Scope(expected.to_owned())), "{address}");
        }
    }

    #[test]
    fn sockets_and_loopback_addresses_are_this_machine() {
        for address in [
            "",
            "unix:///var/run/docker.sock",
            "unix://",
            "UNIX:///run/user/1000/docker.sock",
            "/run/podman/podman.sock",
            "npipe:////./pipe/docker_engine",
            "fd://",
            "tcp://",
            "tcp://:2375",
            "tcp://localhost:2375",
            "tcp://LOCALHOST.:2376",
            "tcp://127.0.0.1:12375",
            "tcp://127.9.9.9",
            "tcp://[::1]:2375",
            "tcp://[0:0:0:0:0:0:0:1]:2375",
            "tcp://[::ffff:127.0.0.1]:2375",
            "tcp://0.0.0.0:2375",
            "ssh://root@localhost",
        ] {
            assert_eq!(place(address), Place::Here, "{address}");
        }
    }
}
