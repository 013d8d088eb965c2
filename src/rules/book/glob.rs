//! Globs: `*` within a part of a path, `**` over parts, `?`, `[a-z]`, `{a,b}`.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;

/// No system takes a longer name of a file (Linux: 255).
const LONGEST_NAME: usize = 4096;

/// A glob, matched byte for byte. One without a `/` is about the last part of a path as well.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Glob(String);

impl From<String> for Glob {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// What of a glob has no end: nothing fits such a one.
pub(super) fn unclosed(glob: &str) -> Option<&'static str> {
    let mut signs = glob.bytes();
    let mut braces = 0_usize;
    while let Some(sign) = signs.next() {
        match sign {
            b'\\' if signs.next().is_none() => return Some("\\ with nothing behind it"),
            b'[' => {
                let mut first = true;
                loop {
                    match signs.next() {
                        Some(b'!' | b'^') if first => continue,
                        Some(b'\\') => drop(signs.next()),
                        Some(b']') if !first => break,
                        Some(_) => {}
                        None => return Some("[ without its ]"),
                    }
                    first = false;
                }
            }
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    (braces > 0).then_some("{ without its }")
}

impl Glob {
    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The one text that fits it; none where it has a sign that stands for others.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        let is_sign = |sign: char| matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!');
        Some(&*self.0).filter(|text| !text.contains(is_sign))
    }

    /// Whether the whole of it fits.
    #[must_use]
    pub fn fits(&self, text: &[u8]) -> bool {
        fast_glob::glob_match(self.0.as_bytes(), text)
    }

    /// Whether it fits a line of words: `*` goes over slashes here.
    #[must_use]
    pub fn fits_line(&self, line: &[u8]) -> bool {
        let plain = |text: &[u8]| text.iter().map(|&byte| if byte == b'/' { 0 } else { byte }).collect::<Vec<u8>>();
        fast_glob::glob_match(plain(self.0.as_bytes()), plain(line))
    }

    /// Whether a file fits: by its absolute path, by its last part, or, for a glob that begins in neither way, by its
    /// path below the root of its repository. `X/**` fits X as well.
    #[must_use]
    pub fn fits_file(&self, absolute: &Path, inside: Option<&Path>) -> bool {
        let absolute = absolute.as_os_str();
        if !self.0.contains('/') {
            return self.fits_path(absolute);
        }
        let rooted = self.0.starts_with('/') || self.0.starts_with("**/");
        let Some(path) = (if rooted { Some(absolute) } else { inside.map(Path::as_os_str) }) else { return false };
        let path = &*slashed(path);
        let directory = self.0.strip_suffix("/**").filter(|directory| !directory.is_empty());
        self.fits(path) || directory.is_some_and(|directory| fast_glob::glob_match(directory.as_bytes(), path))
    }

    /// Whether a path fits; `.env` fits `/opt/app/.env`.
    #[must_use]
    pub fn fits_path(&self, path: &OsStr) -> bool {
        let path = &*slashed(path);
        if self.0.contains('/') {
            return self.fits(path);
        }
        // No file has a longer name.
        let end = &path[path.len().saturating_sub(LONGEST_NAME)..];
        let last = end.iter().rposition(|&byte| byte == b'/').map(|slash| &end[slash + 1..]);
        last.or((end.len() == path.len()).then_some(path)).is_some_and(|last| self.fits(last))
    }
}

/// The path with slashes between its parts, as globs have them: on Windows it may have others.
fn slashed(path: &OsStr) -> Cow<'_, [u8]> {
    let bytes = path.as_encoded_bytes();
    if !cfg!(windows) || !bytes.contains(&b'\\') {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_as_people_expect() {
        let table = [
            (".env", "/opt/app/.env", true),
            (".env", ".env", true),
            (".env", "/opt/.env.new", false),
            (".env*", "/opt/.env.new", true),
            ("**/.env", "/opt/app/.env", true),
            ("**/.env", ".env", true),
            ("/etc/cron.d/**", "/etc/cron.d/backup", true),
            ("/etc/cron.d/*", "/etc/cron.d/a/b", false),
            ("**/{traefik.yml,traefik.toml}", "/x/traefik.toml", true),
            ("[a-c]?", "b1", true),
        ];
        for (glob, path, fits) in table {
            assert_eq!(Glob::from(glob.to_owned()).fits_path(OsStr::new(path)), fits, "{glob} {path}");
        }
    }

    #[test]
    fn a_glob_without_its_end_is_known() {
        let table = [
            ("[a", true),
            ("[", true),
            ("[]", true),
            ("[!]", true),
            ("{a,b", true),
            ("{a,{b}", true),
            ("a\\", true),
            ("[a]", false),
            ("[]a]", false),
            ("[!a-c]x", false),
            ("{a,[}]}", false),
            ("a\\[b", false),
            ("a}b", false),
            ("**/{traefik.yml,traefik.toml}", false),
        ];
        for (glob, broken) in table {
            assert_eq!(unclosed(glob).is_some(), broken, "{glob}");
        }
    }

    #[test]
    fn a_line_fits_over_its_slashes() {
        let glob = Glob::from("docker network *".to_owned());
        assert!(glob.fits_line(b"docker network create a/b"));
        assert!(!glob.fits_line(b"docker ps"));
    }
}
