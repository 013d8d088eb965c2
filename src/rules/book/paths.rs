//! Globs for files, as zones and safe paths name them.
#![forbid(unsafe_code)]

use std::path::Path;

use serde::Deserialize;

use super::Glob;

/// Globs for files: absolute (`/etc/cron.d/**`), at any depth (`**/compose.yaml`), for a name alone (`MEMORY.md`), or
/// from the root of the file's repository (`infra/nginx/**`). `X/**` is about X itself as well: who removes the
/// directory removes what is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Paths(Vec<Glob>);

impl TryFrom<Vec<String>> for Paths {
    type Error = String;

    fn try_from(globs: Vec<String>) -> Result<Self, String> {
        for glob in &globs {
            let first = glob.split('/').next().unwrap_or_default();
            if glob.is_empty() {
                return Err("an empty path fits no file".to_owned());
            }
            if first.starts_with('~') || glob.contains('$') {
                return Err("~ and $ in a path: no shell reads this, so write it out, or begin it with **/".to_owned());
            }
            if glob.split('/').any(|part| part == "." || part == "..") {
                return Err("paths are compared without . and .., so begin one with /, with **/ or in the repository"
                    .to_owned());
            }
        }
        Ok(Self(globs.into_iter().map(Glob::from).collect()))
    }
}

impl Paths {
    /// Each of them.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Glob> {
        self.0.iter()
    }

    /// There is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them is about this file. `absolute` has no `.` and no `..`; `inside` is its path below the root
    /// of its repository.
    #[must_use]
    pub fn has(&self, absolute: &Path, inside: Option<&Path>) -> bool {
        self.0.iter().any(|glob| glob.fits_file(absolute, inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_name_a_file_finds_it() {
        let table: [(&str, &str, Option<&str>, bool); 16] = [
            ("/etc/cron.d/**", "/etc/cron.d/backup", None, true),
            ("/etc/cron.d/**", "/etc/cron.d", None, true),
            ("/etc/cron.d/**", "/etc/cron.daily/x", None, false),
            ("/etc/cron.d/**", "/r/etc/cron.d/x", Some("etc/cron.d/x"), false),
            ("**/compose.yaml", "/r/a/compose.yaml", Some("a/compose.yaml"), true),
            ("**/compose.yaml", "/compose.yaml", None, true),
            ("**/compose.yaml", "/r/a/xcompose.yaml", None, false),
            ("MEMORY.md", "/r/a/MEMORY.md", None, true),
            // On Windows that is the same file.
            ("MEMORY.md", "/r/a/memory.md", None, cfg!(windows)),
            ("infra/nginx/**", "/r/infra/nginx/x", Some("infra/nginx/x"), true),
            ("infra/nginx/**", "/r/infra/nginx", Some("infra/nginx"), true),
            ("infra/nginx/**", "/r/a/infra/nginx/x", Some("a/infra/nginx/x"), false),
            ("infra/nginx/**", "/infra/nginx/x", None, false),
            ("site-*/**/*.css", "/r/site-a/x/y.css", Some("site-a/x/y.css"), true),
            ("**/{traefik.yml,traefik.toml}", "/etc/traefik/traefik.toml", None, true),
            ("**", "/anything", None, true),
        ];
        for (glob, absolute, inside, has) in table {
            let paths = Paths::try_from(vec![glob.to_owned()]).expect(glob);
            assert_eq!(paths.has(Path::new(absolute), inside.map(Path::new)), has, "{glob} {absolute} {inside:?}");
        }
    }

    #[test]
    fn what_could_never_fit_is_refused() {
        for glob in ["", "~/x", "~root/x", "$HOME/x", "./x", "../x", "a/../b", "/a/./b"] {
            assert!(Paths::try_from(vec![glob.to_owned()]).is_err(), "{glob}");
        }
    }
}
