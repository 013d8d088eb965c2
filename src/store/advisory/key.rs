//! What is locked: a number of 64 bits for each resource.
#![forbid(unsafe_code)]

use std::fmt;

use crate::terms::{Resource, Scope};

/// The key of an advisory lock: FNV-1a, 64 bits, over the bytes of the subject, as PostgreSQL's signed `bigint`. Any
/// client that hashes the same subject so (in Go: `hash/fnv.New64a`) meets us on the same key of the same database.
/// Source of the constants: draft-eastlake-fnv, section 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AdvisoryKey(pub i64);

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl AdvisoryKey {
    /// The key of a subject.
    #[must_use]
    pub fn of(subject: &str) -> Self {
        let hash = subject.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        Self(hash.cast_signed())
    }

    /// The key of a resource: that of its [`subject`].
    #[must_use]
    pub fn of_resource(resource: &Resource) -> Self {
        Self::of(&subject(resource))
    }
}

impl fmt::Display for AdvisoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text that stands for a resource: its name (`server:db-1`), and for one that means something only in a scope the
/// scope and a space before it (`github.com/acme/infra sops:monitoring`). Names have no spaces, so no two resources share
/// a subject.
#[must_use]
pub fn subject(resource: &Resource) -> String {
    if resource.scope == Scope::global() {
        return resource.name.to_string();
    }
    format!("{} {}", resource.scope, resource.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::ResourceName;

    #[test]
    fn other_clients_of_the_cluster_meet_on_these_keys() {
        // The first three are of the draft's own table.
        let table: [(&str, u64); 3] =
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)];
        for (subject, hash) in table {
            assert_eq!(AdvisoryKey::of(subject).0.cast_unsigned(), hash, "{subject:?}");
        }
        assert_eq!(AdvisoryKey::of(""), AdvisoryKey(-3_750_763_034_362_895_579));
        let of = |scope: &str, name: &str| {
            let name = ResourceName::parse(name.as_bytes()).expect("a name");
            AdvisoryKey::of_resource(&Resource { name, scope: Scope(scope.to_owned()) })
        };
        assert_eq!(of("global", "server:db-1"), AdvisoryKey::of("server:db-1"));
        assert_eq!(of("global", "server:db-1"), AdvisoryKey(KNOWN_GLOBAL));
        assert_eq!(of("github.com/acme/infra", "sops:monitoring"), AdvisoryKey(KNOWN_SCOPED));
    }

    /// Computed by another implementation (Python, by the draft's definition).
    const KNOWN_GLOBAL: i64 = -728_843_984_184_674_364;
    const KNOWN_SCOPED: i64 = -4_098_871_564_066_294_700;
}
