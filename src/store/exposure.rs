//! Who could read along on the way to the store, as far as the address alone tells. Nothing is connected.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::net::IpAddr;

use crate::config::{Address, StoreSetting};

use super::open::is_of_a_server;
use super::postgres::address::{self, Endpoint, Machine, Place, SslMode};

/// How the way there is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// It does not leave this machine, or goes through ssh.
    Sheltered,
    /// Encrypted, and the server's certificate is verified.
    Verified,
    /// Encrypted, with whoever answers (`sslmode=require` without a root certificate).
    Unverified,
    /// Encrypted if the server likes, and a stranger on the way can see to it that it is not; the mode's name.
    Optional(&'static str),
    /// In the clear (`sslmode=disable`).
    Plain,
    /// The address cannot be read.
    Unknown,
}

/// How the way to this store is protected.
#[must_use]
pub fn exposure(setting: &StoreSetting, env: &dyn Fn(&str) -> Option<OsString>) -> Exposure {
    let text = match &setting.address {
        Address::Embedded => return Exposure::Sheltered,
        Address::InSops { .. } => return Exposure::Unknown,
        Address::Text(text) if !is_of_a_server(text) => return Exposure::Sheltered,
        Address::Text(text) => text,
    };
    let Ok(address) = address::read(text, &Machine::new(env).from(&setting.from)) else { return Exposure::Unknown };
    if setting.via.is_some() || address.endpoints.iter().all(is_here) {
        return Exposure::Sheltered;
    }
    match address.protection.mode {
        SslMode::Disable => Exposure::Plain,
        mode @ (SslMode::Allow | SslMode::Prefer) => Exposure::Optional(mode.name()),
        SslMode::Require if address.protection.roots.is_none() => Exposure::Unverified,
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => Exposure::Verified,
    }
}

fn is_here(endpoint: &Endpoint) -> bool {
    match &endpoint.place {
        Place::Socket(_) => true,
        Place::Host { address: Some(address), .. } | Place::Address(address) => address.is_loopback(),
        Place::Host { name, .. } => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_machine_is_judged_by_its_mode() {
        let of = |text: &str| {
            let address = Address::Text(text.to_owned());
            exposure(&StoreSetting { address, ..StoreSetting::default() }, &|_| None)
        };
        for (text, expected) in [
            ("sqlite:/srv/l.db", Exposure::Sheltered),
            ("postgres://me@localhost/x", Exposure::Sheltered),
            ("postgres://me@[::1]/x?sslmode=disable", Exposure::Sheltered),
            ("postgres://me@db.example.org/x?hostaddr=127.0.0.1", Exposure::Sheltered),
            ("host=/run/postgresql user=me", Exposure::Sheltered),
            ("postgres://me@db.example.org/x", Exposure::Optional("prefer")),
            ("postgres://me@db.example.org/x?sslmode=disable", Exposure::Plain),
            ("postgres://me@10.0.0.7/x?sslmode=allow", Exposure::Optional("allow")),
            ("postgres://me@localhost,db.example.org/x?sslmode=require", Exposure::Unverified),
            ("postgres://me@db.example.org/x?sslmode=verify-full", Exposure::Verified),
            ("postgres://me@db.example.org/x?sslmode=require&sslrootcert=/etc/ca.pem", Exposure::Verified),
            ("postgres://me@db/x?port=no", Exposure::Unknown),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        let address = || Address::Text("postgres://me@db.example.org/x".to_owned());
        let through = StoreSetting { address: address(), via: Some("ssh://b".to_owned()), ..StoreSetting::default() };
        assert_eq!(exposure(&through, &|_| None), Exposure::Sheltered);
        assert_eq!(exposure(&StoreSetting::default(), &|_| None), Exposure::Sheltered);
    }
}
