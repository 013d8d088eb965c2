//! A file that is named by hand as a resource: `sops:secrets/app.yaml` is `sops:app`, as for who writes that file.
#![forbid(unsafe_code)]

use std::path::{Component, Path, PathBuf};

use super::{Namer, NamingError, is_likely_a_value, joined, physical, stem};
use crate::git::Repository;
use crate::terms::{Resource, ResourceName, percent_decode};

impl Namer<'_> {
    /// The resource that somebody in this directory means by `sops:NAME`. A name that no file has otherwise stays as it
    /// is; one that is a path is that of the file: from the directory, else from the root of its repository.
    ///
    /// # Errors
    /// See [`NamingError`].
    pub fn by_hand(&mut self, name: &ResourceName, directory: &Path) -> Result<Resource, NamingError> {
        let scope = self.scope_of_directory(directory)?;
        let as_typed = Resource { name: name.clone(), scope };
        let typed = percent_decode(name.as_str().strip_prefix("sops:").unwrap_or_default());
        let Ok(typed) = String::from_utf8(typed) else { return Ok(as_typed) };
        let path = Path::new(&typed);
        let root = Repository::around(&physical::resolve(directory)?)?.map(|repository| repository.worktree_root);
        if is_a_name(&typed, root.is_none()) || is_of_links(&typed) || is_likely_a_value(path) || typed.ends_with('/') {
            return Ok(as_typed);
        }
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let here = directory.join(path);
        let at_root = root.filter(|_| is_below).map(|root| root.join(path));
        let exists = |path: &&PathBuf| path.is_file();
        let found = [Some(&here), at_root.as_ref()].into_iter().flatten().find(exists);
        let file = found.or(at_root.as_ref()).unwrap_or(&here);
        match self.name(file) {
            Err(NamingError::NoFile(_) | NamingError::Value) => Ok(as_typed),
            named => Ok(named?.resource),
        }
    }
}

/// Whether it is what a file is called already: then it is no path, though a file may lie there.
fn is_a_name(typed: &str, outside: bool) -> bool {
    let bytes = typed.as_bytes();
    let is_plain = typed.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let cut = typed.rfind('/');
    let (directory, base) = cut.map_or((&bytes[..0], bytes), |cut| (&bytes[..cut], &bytes[cut + 1..]));
    let stem = stem::of(base);
    let name = if outside || stem.generic { joined(bytes, directory, &stem.rest) } else { stem.rest };
    is_plain && name == bytes
}

/// `link/INODE`, which the hard links of a file have in common.
fn is_of_links(typed: &str) -> bool {
    typed
        .strip_prefix("link/")
        .is_some_and(|inode| !inode.is_empty() && inode.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_name_is_no_path() {
        let table = [
            ("app", false, true),
            ("n8n-bms4", false, true),
            ("a.b", false, true),
            ("charts/web/values", false, true),
            (".env", false, true),
            ("apps/web/.env", false, true),
            ("app.yaml", false, false),
            ("secrets/app", false, false),
            ("secrets/app.yaml", false, false),
            ("charts/web/values.sops.yaml", false, false),
            ("./app", false, false),
            ("../app", false, false),
            ("/srv/app", false, false),
            ("srv/app", true, true),
            ("srv/app.yaml", true, false),
        ];
        for (typed, outside, is) in table {
            assert_eq!(is_a_name(typed, outside), is, "{typed}");
        }
        assert!(is_of_links("link/42") && !is_of_links("link/") && !is_of_links("link/a.yaml"));
    }
}
