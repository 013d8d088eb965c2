//! When a branch of a remote was last looked at with success. That some fetch was tried proves nothing: it may have failed, or
//! been of another branch or another remote. Facts: git's `builtin/fetch.c` (FETCH_HEAD) and `builtin/clone.c` (reflogs).
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Environment, GitError, Repository};

const NEED: &str = "to see what was fetched";

/// How the words of a reflog begin whose entry says what a remote has.
const SEEN: [&[u8]; 5] = [b"fetch", b"pull", b"update by push", b"clone", b"remote"];

/// What FETCH_HEAD says of one branch.
struct Fetched {
    at: i64,
    commit: String,
    branch: String,
    /// Nobody asked for this branch by its name: all that there are were fetched.
    in_passing: bool,
}

impl Repository {
    /// When this branch of this remote was last looked at, ms since 1970: it was fetched, pushed or cloned, and what came is in
    /// the ref that follows it, or in HEAD. Of a branch that no ref here follows: when all that there are were fetched.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn looked_at(&self, remote: &str, branch: &str, env: Environment<'_>) -> Result<Option<i64>, GitError> {
        let follower = format!("refs/remotes/{remote}/{branch}");
        let is_followed = self.commit_of(&follower, env).is_some();
        let fetched = self.fetched(remote, env)?;
        let has = |tip: &str, commit: &str| self.is_ancestor(commit, tip, env).unwrap_or(false);
        let came = |it: &&Fetched| it.branch == branch && (has(&follower, &it.commit) || has("HEAD", &it.commit));
        let mut moments: Vec<Option<i64>> = fetched.iter().filter(came).map(|it| Some(it.at)).collect();
        if is_followed {
            moments.push(self.moved_at(&follower));
            moments.push(self.cloned_at());
        } else if self.follows_all(remote, env) {
            moments.extend(fetched.iter().filter(|it| it.in_passing).map(|it| Some(it.at)));
            moments.push(self.cloned_at());
        }
        Ok(moments.into_iter().flatten().max())
    }

    /// Whether a plain fetch of this remote brings whatever branches it has.
    #[must_use]
    pub fn follows_all(&self, remote: &str, env: Environment<'_>) -> bool {
        let told = self.ask(env, "config", ["--get-all", &format!("remote.{remote}.fetch")], NEED).unwrap_or_default();
        String::from_utf8_lossy(&told).lines().any(|it| it.trim_start_matches('+').starts_with("refs/heads/*:"))
    }

    /// Whether this clone has only the newest part of the history: what is not here may have been, and been taken back.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        std::fs::metadata(self.common_dir.join("shallow")).is_ok_and(|found| found.len() > 0)
    }

    /// Whether contents may be missing here that some remote has promised: git serves nothing from such a clone.
    #[must_use]
    pub fn is_partial(&self, env: Environment<'_>) -> bool {
        let promised = ["--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$"];
        self.ask_whether(env, "config", promised, NEED).is_ok_and(|found| found.is_some())
    }

    /// The branches of this remote that its last fetches have seen, in whichever work tree.
    fn fetched(&self, remote: &str, env: Environment<'_>) -> Result<Vec<Fetched>, GitError> {
        let Some(url) = self.url_by_git(remote, env)? else { return Ok(Vec::new()) };
        let url = plain(&String::from_utf8_lossy(&url));
        let linked = std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten();
        let mut places: Vec<PathBuf> = linked.map(|entry| entry.path()).collect();
        places.extend([self.git_dir.clone(), self.common_dir.clone()]);
        places.sort();
        places.dedup();
        Ok(places.iter().flat_map(|place| of_file(&place.join("FETCH_HEAD"), &url)).collect())
    }

    /// When a look at the remote last moved this ref.
    fn moved_at(&self, reference: &str) -> Option<i64> {
        let path = self.common_dir.join("logs").join(reference);
        let text = std::fs::read(&path).ok()?;
        let entries = || text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let seen = |line: &&[u8]| SEEN.iter().any(|word| words(line).is_some_and(|said| said.starts_with(word)));
        let newest = entries().rfind(seen)?;
        let at = second(newest)?.saturating_mul(1000);
        // The entry tells the second, the file the very moment of its last one.
        let written = modified(&path).filter(|written| entries().next_back() == Some(newest) && *written - at < 1000);
        Some(written.unwrap_or(at).max(at))
    }

    /// When this repository was cloned: as early as the clone can have asked.
    #[must_use]
    pub fn cloned_at(&self) -> Option<i64> {
        let text = std::fs::read(self.common_dir.join("logs/HEAD")).ok()?;
        let first = text
            .split(|&byte| byte == b'\n')
            .next()
            .filter(|line| words(line).is_some_and(|said| said.starts_with(b"clone")))?;
        let at = second(first)?.saturating_mul(1000);
        // git writes this before it asks; a copy of the repository has a later one.
        Some(self.made_at().map_or(at, |made| made.min(at.saturating_add(1000))))
    }

    /// When this repository was made, by the first file that git writes into it.
    #[must_use]
    pub fn made_at(&self) -> Option<i64> {
        modified(&self.common_dir.join("description"))
    }
}

/// The branches of this remote in this file.
fn of_file(path: &Path, url: &str) -> Vec<Fetched> {
    let Some((at, text)) = modified(path).zip(std::fs::read(path).ok()) else { return Vec::new() };
    let text = String::from_utf8_lossy(&text).into_owned();
    // `COMMIT TAB [not-for-merge] TAB branch 'NAME' of URL`.
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, '\t');
        let (commit, passing, note) = (fields.next()?, fields.next()?, fields.next()?);
        let (branch, of) = note.strip_prefix("branch '")?.split_once("' of ")?;
        let (commit, branch) = (commit.to_owned(), branch.to_owned());
        (plain(of) == url).then_some(Fetched { at, commit, branch, in_passing: !passing.is_empty() })
    };
    text.lines().filter_map(of_line).collect()
}

/// A URL as FETCH_HEAD has it: without a user, and without what it may end in.
fn plain(url: &str) -> String {
    let (scheme, rest) = url.trim().split_once("://").map_or(("", url.trim()), |(scheme, rest)| (scheme, rest));
    let host = rest.find('/').unwrap_or(rest.len());
    let rest = rest[..host].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    let rest = rest.trim_end_matches('/');
    format!("{scheme}:{}", rest.strip_suffix(".git").unwrap_or(rest))
}

/// What a line of a reflog says after its facts.
fn words(line: &[u8]) -> Option<&[u8]> {
    line.iter().position(|&byte| byte == b'\t').map(|at| &line[at + 1..])
}

/// The second of a line of a reflog: `OLD SP NEW SP NAME <MAIL> SECOND ZONE TAB WORDS`.
fn second(line: &[u8]) -> Option<i64> {
    let facts = line.split(|&byte| byte == b'\t').next()?;
    let after = facts.iter().rposition(|&byte| byte == b'>')?;
    std::str::from_utf8(&facts[after + 1..]).ok()?.split_ascii_whitespace().next()?.parse().ok()
}

/// When what is at this path was last changed, ms since 1970; none where nobody can say.
pub(crate) fn modified(path: &Path) -> Option<i64> {
    let at = std::fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(at.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remote_is_itself_by_whatever_way_its_url_is_written() {
        for (one, other, same) in [
            ("https://ana:secret@h/o/r.git", "https://h/o/r", true),
            ("git@h:o/r.git", "h:o/r", true),
            ("/srv/r.git/", "/srv/r", true),
            ("/srv/@r", "/srv/r", false),
            ("https://h/o/r", "https://h/o/s", false),
            ("https://h/o/r", "ssh://h/o/r", false),
        ] {
            assert_eq!(plain(one) == plain(other), same, "{one} {other}");
        }
    }

    #[test]
    fn a_line_of_a_reflog_tells_its_second_and_its_words() {
        let line = b"0000 1111 A > B <a@b> 1700000001 +0100\tfetch: fast-forward";
        assert_eq!((second(line), words(line)), (Some(1_700_000_001), Some(&b"fetch: fast-forward"[..])));
        assert_eq!((second(b"nothing"), words(b"nothing")), (None, None));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_line_of_git_s_own_files_is_read_or_is_none(line in "([0-9a-f]{4}|[\t <>@:/']|branch '|' of |[^\n]){0,30}") {
            let _read = (second(line.as_bytes()), words(line.as_bytes()), plain(&line));
        }
    }
}
