//! The scope of what belongs to no repository: this machine.
#![forbid(unsafe_code)]

use crate::platform::machine_ids;
use crate::terms::{Digest, Scope};

/// `machine/HASH`. machine-id(5) asks that the id itself be shown to nobody, so a digest with a purpose stands for it. A
/// machine with no identity to read is `machine/unnamed`: several of them on one store would share names, which only
/// makes them wait.
pub fn scope() -> Scope {
    named_by(machine_ids())
}

fn named_by(identities: impl Iterator<Item = Vec<u8>>) -> Scope {
    // An image that no machine has booted yet says "uninitialized", or nothing.
    let found = identities.map(|id| id.trim_ascii().to_vec()).find(|id| !id.is_empty() && id != b"uninitialized");
    match found {
        Some(id) => {
            let digest = Digest::of(&[b"locked: scope of a machine\n", &*id].concat());
            Scope(format!("machine/{}", &digest.as_str()[..32]))
        }
        None => Scope("machine/unnamed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope_of(identities: &[&str]) -> String {
        named_by(identities.iter().map(|id| id.as_bytes().to_vec())).0
    }

    #[test]
    fn the_first_identity_counts_and_is_not_shown() {
        let scope = scope_of(&["", "uninitialized\n", "0123456789abcdef\n", "host"]);
        assert_eq!(scope, scope_of(&["0123456789abcdef"]));
        assert_ne!(scope, scope_of(&["host"]));
        assert!(!scope.contains("0123456789abcdef"));
    }

    #[test]
    fn a_machine_without_identity_still_has_a_scope() {
        assert_eq!(scope_of(&["\n"]), "machine/unnamed");
    }
}
