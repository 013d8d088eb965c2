//! Which repositories are trusted without looking into their files: `[trust] repositories`, and `LOCKED_TRUST`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use super::ConfigError;

/// The variable with patterns, separated by `:`.
pub(super) const VARIABLE: &str = "LOCKED_TRUST";

/// One of them. An absolute path is compared with the root of the work tree, anything else with `host/path` of origin. `*`
/// and `?` stand for letters of one part, `**` for any number of parts.
///
/// What origin is, a checkout says of itself: `host/path` is for machines where checkouts come by `git clone` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) const EXPECTED: &'static str =
        "host/path of an origin or an absolute path, for example \"github.com/acme/*\" or \"/srv/work/**\"";

    /// Reads it. What could mean two things is none: `~`, `.` and `..`, a scheme.
    pub(super) fn read(text: &str) -> Option<Self> {
        let plain = |text: &str| !text.chars().any(char::is_control) && !text.contains(['~', ':', '\\']);
        let whole = text.strip_prefix('/').unwrap_or(text).split('/').all(|part| !matches!(part, "" | "." | ".."));
        let depth = if text.starts_with('/') { 1 } else { 2 };
        let fits = text.len() <= 1024 && plain(text) && whole && text.split('/').count() >= depth;
        fits.then(|| Self(text.to_owned()))
    }

    /// Is it about paths?
    pub(super) fn is_path(&self) -> bool {
        self.0.starts_with('/')
    }

    /// Does it mean this path or this origin?
    pub(super) fn means(&self, text: &str) -> bool {
        let parts: Vec<&str> = self.0.split('/').collect();
        let given: Vec<&str> = text.split('/').collect();
        parts_match(&parts, &given)
    }

    /// Does it mean this work tree?
    pub(super) fn means_path(&self, root: &Path) -> bool {
        self.is_path() && root.to_str().is_some_and(|root| self.means(root))
    }
}

/// The patterns of the variable.
pub(super) fn of_variable(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Vec<Pattern>, ConfigError> {
    let Some(value) = env(VARIABLE) else { return Ok(Vec::new()) };
    let wrong = || ConfigError::NoPattern { variable: VARIABLE, expected: Pattern::EXPECTED };
    let text = value.into_string().map_err(|_| wrong())?;
    text.split(':').filter(|part| !part.is_empty()).map(|part| Pattern::read(part).ok_or_else(wrong)).collect()
}

/// Part by part; `**` is any number of parts, and at the end at least one. Only the last `**` is ever tried again, so that
/// the work is at most the product of the lengths.
fn parts_match(pattern: &[&str], given: &[&str]) -> bool {
    let (mut at, mut here, mut retry) = (0, 0, None);
    while here < given.len() {
        match pattern.get(at) {
            Some(&"**") => {
                if at + 1 == pattern.len() {
                    return true;
                }
                retry = Some((at + 1, here));
                at += 1;
            }
            Some(part) if part_matches(part, given[here]) => (at, here) = (at + 1, here + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (at, here) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    at == pattern.len()
}

/// Letter by letter, in the same manner.
fn part_matches(pattern: &str, given: &str) -> bool {
    let (pattern, given): (Vec<char>, Vec<char>) = (pattern.chars().collect(), given.chars().collect());
    let (mut at, mut here, mut retry) = (0, 0, None);
    while here < given.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at + 1, here));
                at += 1;
            }
            Some(&letter) if letter == '?' || letter == given[here] => (at, here) = (at + 1, here + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (at, here) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&letter| letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_what_it_says_and_no_more() {
        for (pattern, text, means) in [
            ("github.com/acme/infra", "github.com/acme/infra", true),
            ("github.com/acme/infra", "github.com/acme/infra2", false),
            ("github.com/acme/infra", "evil.com/github.com/acme/infra", false),
            ("github.com/acme/*", "github.com/acme/infra", true),
            ("github.com/acme/*", "github.com/acme/group/infra", false),
            ("github.com/acme/**", "github.com/acme/group/infra", true),
            ("github.com/acme/**", "github.com/acme", false),
            ("github.com/*/infra", "github.com/a/b/infra", false),
            ("**/infra", "github.com/a/b/infra", true),
            ("**/infra", "github.com/a/b/infra/x", false),
            ("/srv/**/infra", "/srv/a/b/infra", true),
            ("/srv/**/infra", "/srv/infra", true),
            ("/srv/work/**", "/srv/work/one/two", true),
            ("/srv/work/**", "/srv/work", false),
            ("/srv/work/**", "/srv/workshop/one", false),
            ("/srv/w?rk-*", "/srv/work-12", true),
            ("/srv/*a*b*", "/srv/xxaxxbxx", true),
            ("/srv/*a*b*", "/srv/xxbxxaxx", false),
        ] {
            assert_eq!(Pattern::read(pattern).expect(pattern).means(text), means, "{pattern} {text}");
        }
        assert!(!Pattern::read("srv/work").expect("an origin").means_path(Path::new("srv/work")));
    }

    #[test]
    fn what_could_mean_two_things_is_no_pattern() {
        for text in
            ["", "/", "~/src", "./x/y", "a/../b", "https://h/x", "git@h:x/y", "infra", "a//b", "a/b/", "a/\u{1b}b"]
        {
            assert_eq!(Pattern::read(text), None, "{text}");
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        let stars = Pattern::read(&format!("/{}/z", ["**"; 200].join("/x/"))).expect("long");
        assert!(!stars.means(&format!("/{}y", "x/".repeat(2000))));
        let letters = Pattern::read(&format!("/{}b", "*a".repeat(400))).expect("long");
        assert!(!letters.means(&format!("/{}", "a".repeat(5000))));
    }

    #[test]
    fn the_variable_has_patterns_between_colons() {
        let of = |text: &'static str| of_variable(&move |name: &str| (name == VARIABLE).then(|| text.into()));
        assert_eq!(of("").expect("none"), []);
        assert_eq!(of("github.com/a/b:/srv/**:").expect("two").len(), 2);
        assert!(matches!(of("github.com/a/b:~/x"), Err(ConfigError::NoPattern { .. })));
    }
}
