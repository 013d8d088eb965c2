//! Whether git stores something else than what lies in the work tree. Which attributes a file has only git can tell; that no file
//! speaks of any that converts is told in microseconds, and then git need not be started.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::{Environment, Repository};

/// Attributes by which stored content differs in more than its line ends (gitattributes(5)).
const CONVERTING: [&[u8]; 3] = [b"filter", b"working-tree-encoding", b"ident"];

impl Repository {
    /// A clean filter, another encoding or `$Id$` may be at work for this file. When in doubt, yes.
    pub(super) fn may_convert(&self, file: &Path, env: Environment<'_>) -> bool {
        let Some(inside) = self.inside(file) else { return false };
        let above =
            inside.ancestors().skip(1).map(|directory| self.worktree_root.join(directory).join(".gitattributes"));
        let mut places: Vec<PathBuf> = above.collect();
        places.push(self.common_dir.join("info/attributes"));
        places.push(PathBuf::from("/etc/gitattributes"));
        let home = env("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let config = env("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let config = config.or_else(|| Some(home.as_ref()?.join(".config")));
        places.extend(config.as_ref().map(|config| config.join("git/attributes")));
        let converts = |text: &[u8]| CONVERTING.iter().any(|word| text.windows(word.len()).any(|part| part == *word));
        let in_attributes =
            places.iter().any(|place| crate::platform::regular_text(place).is_ok_and(|text| converts(&text)));
        in_attributes || self.names_attributes(home, config, env)
    }

    /// Some configuration names a file of attributes of its own (`core.attributesFile`).
    fn names_attributes(&self, home: Option<PathBuf>, config: Option<PathBuf>, env: Environment<'_>) -> bool {
        let own = [Some(self.common_dir.join("config")), Some(self.git_dir.join("config.worktree"))];
        let of_user = match env("GIT_CONFIG_GLOBAL") {
            Some(named) => [Some(PathBuf::from(named)), None],
            None => [home.map(|home| home.join(".gitconfig")), config.map(|config| config.join("git/config"))],
        };
        let system = Some(env("GIT_CONFIG_SYSTEM").map_or_else(|| PathBuf::from("/etc/gitconfig"), PathBuf::from));
        let names = |text: &[u8]| text.to_ascii_lowercase().windows(14).any(|part| part == b"attributesfile");
        own.into_iter()
            .chain(of_user)
            .chain([system])
            .flatten()
            .any(|file| crate::platform::regular_text(&file).is_ok_and(|text| names(&text)))
    }
}
