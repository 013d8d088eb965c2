//! Whether what a setting says fits together: what says something of a store of another kind is refused, never passed over.
#![forbid(unsafe_code)]

use crate::config::{Address, OnUnreachable, StoreSetting};

use super::StoreError;
use super::open::is_of_a_server;

/// Refuses a setting that contradicts itself.
pub(super) fn check(setting: &StoreSetting) -> Result<(), StoreError> {
    let on_server = matches!(&setting.address, Address::Text(text) if is_of_a_server(text));
    let of_a_server = [
        (setting.advisory, "asks for session locks (advisory)", "advisory"),
        (setting.schema.is_some(), "names a schema", "schema"),
        (setting.via.is_some(), "names a way through ssh (via)", "via"),
        (setting.relay.is_some(), "asks for a relay", "relay"),
    ];
    if let Some((_, what, key)) = of_a_server.into_iter().find(|(said, ..)| *said && !on_server) {
        return Err(misnamed(
            format!("{} {what}, and names no PostgreSQL server", setting.said_by),
            &format!("name one (postgres://…), or leave {key} out"),
        ));
    }
    if setting.advisory && setting.relay.is_some() {
        let why = format!(
            "{} asks for session locks (advisory) and for a relay, and a session is its command's own",
            setting.said_by
        );
        return Err(misnamed(why, "leave relay out, or advisory"));
    }
    if setting.on_unreachable == OnUnreachable::Local && !setting.advisory {
        let what = "lets a lock of this machine stand in (on_unreachable), which only session locks (advisory) do";
        return Err(misnamed(
            format!("{} {what}", setting.said_by),
            "set advisory = true, or leave on_unreachable out",
        ));
    }
    Ok(())
}

pub(super) fn misnamed(why: String, remedy: &str) -> StoreError {
    StoreError::Misnamed { why, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_something_of_another_kind_of_store_is_refused() {
        let server = || Address::Text("postgres://db/x".to_owned());
        let said = |setting: StoreSetting| check(&setting).map_err(|error| error.to_string());
        let new = StoreSetting::default;
        let (schema, via) = (Some("s".to_owned()), Some("ssh://h".to_owned()));
        let local = OnUnreachable::Local;
        for address in [Address::Embedded, Address::Text("sqlite:/x".to_owned()), Address::Text("mysql://x".to_owned())]
        {
            let here = || StoreSetting { address: address.clone(), ..new() };
            assert_eq!(said(here()), Ok(()));
            for setting in [
                StoreSetting { advisory: true, ..here() },
                StoreSetting { schema: schema.clone(), ..here() },
                StoreSetting { via: via.clone(), ..here() },
                StoreSetting { relay: Some(std::time::Duration::from_secs(60)), ..here() },
            ] {
                assert!(said(setting.clone()).is_err_and(|why| why.contains("no PostgreSQL server")), "{setting:?}");
            }
            assert!(said(StoreSetting { on_unreachable: local, ..here() }).is_err());
        }
        let there = || StoreSetting { address: server(), ..new() };
        let good = [
            there(),
            StoreSetting { schema, via, ..there() },
            StoreSetting { advisory: true, on_unreachable: local, ..there() },
        ];
        for setting in good {
            assert_eq!(said(setting.clone()), Ok(()), "{setting:?}");
        }
        let alone = said(StoreSetting { on_unreachable: local, ..there() });
        assert!(alone.as_ref().is_err_and(|why| why.contains("only session locks")), "{alone:?}");
    }
}
