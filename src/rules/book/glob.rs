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

    /// A name that fits it, of those that nobody else would come upon where it has stars: `.env.x0` for `.env.*`. None
    /// where it has other signs.
    #[must_use]
    pub fn example(&self) -> Option<String> {
        let is_sign = |sign: char| matches!(sign, '?' | '[' | ']' | '{' | '}' | '\\' | '!');
        let starred = || self.0.replace("**/", "").replace("**", "*").replace('*', "x0");
        (!self.0.contains(is_sign)).then(starred)
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
        let rooted = self.0.starts_with('/') || self.0.starts_with("**/") || begins_at_a_drive(&self.0);
        let Some(path) = (if rooted { Some(absolute) } else { inside.map(Path::as_os_str) }) else { return false };
        let path = &*spelled(path);
        let directory = self.0.strip_suffix("/**").filter(|directory| !directory.is_empty());
        is_spelled(&self.0, path) || directory.is_some_and(|directory| is_spelled(directory, path))
    }

    /// Whether a path fits; `.env` fits `/opt/app/.env`.
    #[must_use]
    pub fn fits_path(&self, path: &OsStr) -> bool {
        let path = &*spelled(path);
        if self.0.contains('/') {
            return is_spelled(&self.0, path);
        }
        // No file has a longer name.
        let end = &path[path.len().saturating_sub(LONGEST_NAME)..];
        let last = end.iter().rposition(|&byte| byte == b'/').map(|slash| &end[slash + 1..]);
        last.or((end.len() == path.len()).then_some(path)).is_some_and(|last| is_spelled(&self.0, last))
    }
}

/// The path as globs have it: with slashes between its parts, and on Windows, where one file has many spellings, in small
/// letters.
fn spelled(path: &OsStr) -> Cow<'_, [u8]> {
    let bytes = path.as_encoded_bytes();
    if !cfg!(windows) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }).collect())
}

/// Whether a glob fits a path that was [`spelled`]. On Windows `/etc/**` is about every drive, as `/etc` there is typed for one.
fn is_spelled(glob: &str, path: &[u8]) -> bool {
    if !cfg!(windows) {
        return fast_glob::glob_match(glob.as_bytes(), path);
    }
    let glob = glob.to_ascii_lowercase();
    let below_the_drive = || match path {
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() && glob.starts_with('/') => Some(rest),
        _ => None,
    };
    let fits = |path: &[u8]| fast_glob::glob_match(glob.as_bytes(), path);
    fits(path) || below_the_drive().is_some_and(fits)
}

fn begins_at_a_drive(glob: &str) -> bool {
    cfg!(windows) && matches!(glob.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
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

    #[cfg(windows)]
    #[test]
    fn one_file_of_many_spellings_fits() {
        let table = [
            (".env", r"C:\opt\app\.ENV", true),
            ("**/MEMORY.md", r"C:\x\memory.md", true),
            ("/etc/cron.d/**", r"C:\etc\cron.d\backup", true),
            ("/etc/cron.d/**", r"d:\ETC\cron.d\backup", true),
            ("C:/etc/*", r"c:\etc\crontab", true),
            ("C:/etc/*", r"D:\etc\crontab", false),
            ("/etc/*", r"C:\x\etc\crontab", false),
            ("/etc/*", r"\\host\etc\crontab", false),
        ];
        for (glob, path, fits) in table {
            let glob = Glob::from(glob.to_owned());
            assert_eq!(glob.fits_path(OsStr::new(path)), fits, "{glob:?} {path}");
            assert_eq!(glob.fits_file(Path::new(path), None), fits, "{glob:?} {path}");
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
