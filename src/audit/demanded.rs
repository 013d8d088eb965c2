//! What a file of the working tree must be, before anything is staged: for who is about to write it.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use super::demand::{CONFIG, Rules, directories};
use crate::git::path_from;
use crate::naming::{self, CreationRules};
use crate::platform::OsStrExt as _;

/// No configuration of sops is longer (bytes).
const LARGEST: u64 = 1024 * 1024;

/// Whether the file at this path, which need not exist, must be SOPS: by its name, or by a creation rule that means it. As a
/// commit would be judged, but by the configurations that lie there now. What cannot be looked at demands nothing.
#[must_use]
pub fn demands(path: &Path) -> bool {
    let Ok(place) = naming::place(path) else { return false };
    let root = Path::new("/");
    let (root, inside) = match &place.inside {
        Some(inside) => {
            let above = place.path.ancestors().nth(inside.components().count());
            (above.unwrap_or(root), inside.as_path())
        }
        None => (root, place.path.strip_prefix("/").unwrap_or(&place.path)),
    };
    let inside = inside.as_os_str().as_bytes();
    let sets = directories(inside).filter_map(|directory| {
        let config = root.join(path_from(directory)).join(path_from(CONFIG));
        Some((directory.to_vec(), Rc::new(CreationRules::parse(&read(&config)?, &config).ok()?)))
    });
    Rules { sets: sets.collect() }.demand(inside)
}

fn read(config: &Path) -> Option<Vec<u8>> {
    // A pipe would keep the agent waiting.
    let found = std::fs::metadata(config).ok().filter(|found| found.is_file() && found.len() <= LARGEST)?;
    let mut content = Vec::with_capacity(usize::try_from(found.len()).ok()?);
    std::fs::File::open(config).ok()?.take(LARGEST).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_and_rules_of_the_directories_above_demand() {
        let place = tempfile::tempdir().expect("place");
        let root = place.path().join("r");
        fs::create_dir_all(root.join(".git/objects")).expect("git");
        fs::create_dir_all(root.join(".git/refs")).expect("git");
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("git");
        fs::create_dir_all(root.join("secrets")).expect("directory");
        fs::create_dir_all(root.join("deep")).expect("directory");
        fs::write(root.join(".sops.yaml"), "creation_rules:\n  - path_regex: secrets/.*\n    age: a\n").expect("rules");
        fs::write(root.join("deep/.sops.yaml"), "creation_rules:\n  - path_regex: \\.env$\n    age: a\n")
            .expect("rules");
        std::os::unix::fs::symlink(root.join("secrets"), place.path().join("link")).expect("link");
        for (path, demanded) in [
            ("r/secrets/x.yaml", true),
            ("r/deep/secrets/x.yaml", true),
            ("r/deep/x.env", true),
            ("r/x.env", false),
            ("r/x.env.sops", true),
            ("x.env.sops", true),
            ("link/x.yaml", true),
            ("r/secrets/README.md", false),
            ("r/.sops.yaml", false),
            ("r/src/main.rs", false),
        ] {
            assert_eq!(demands(&place.path().join(path)), demanded, "{path}");
        }
    }
}
