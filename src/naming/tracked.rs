//! Files as git tracks them: named by their path in the repository alone, whatever lies in the working tree.
#![forbid(unsafe_code)]

use std::path::Path;

use super::{joined, spelling, stem};
use crate::git::path_from;
use crate::terms::{Resource, ResourceName, Scope, percent_encode};

/// A tracked file and its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// The resource under which leases on it are taken: that of [`super::Target`].
    pub resource: Resource,
    /// Names the file for its chain of receipts: as in [`super::Target`].
    pub key: String,
}

/// The names of the file at `inside`, a path below the root of its repository as git writes it (`/`-separated bytes).
/// Where there is a working tree, `root` is its root: the file system says which spellings of a name are one.
#[must_use]
pub fn tracked(scope: &Scope, root: Option<&Path>, inside: &[u8]) -> Tracked {
    let spelled = root.map_or_else(|| inside.to_vec(), |root| spelling::below(root, &root.join(path_from(inside))));
    let cut = spelled.iter().rposition(|&byte| byte == b'/');
    let (directory, base) = cut.map_or((&spelled[..0], &*spelled), |cut| (&spelled[..cut], &spelled[cut + 1..]));
    let stem = stem::of(base);
    let name = if stem.generic { joined(&spelled, directory, &stem.rest) } else { stem.rest };
    let resource = Resource { name: ResourceName::of("sops", &name), scope: scope.clone() };
    Tracked { resource, key: percent_encode(&spelled) }
}

/// Whether the name of a file says that sops wrote it: one of its endings is `.sops`. The other markers (`.enc`, `.age`…)
/// are used by other programs as well. `.sops.yaml`, the configuration, says nothing.
#[must_use]
pub fn says_sops(inside: &[u8]) -> bool {
    let base = inside.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    base != b".sops.yaml" && base.split(|&byte| byte == b'.').skip(1).any(|part| part.eq_ignore_ascii_case(b"sops"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_says_sops() {
        for (name, says) in [
            (&b"secrets/x.env.sops"[..], true),
            (b"x.SOPS.yaml", true),
            (b".env.sops", true),
            (b"a/.sops.env", true),
            (b".sops.yaml", false),
            (b"a/.sops.yaml", false),
            (b"sops.yaml", false),
            (b"x.sops/readme", false),
            (b"x.enc.yaml", false),
        ] {
            assert_eq!(says_sops(name), says, "{}", String::from_utf8_lossy(name));
        }
    }
}
