//! What changed, as git's raw format tells it. Facts from git's `diff-format.adoc`: `:` once for each parent, the modes of
//! the parents and of the result, the objects likewise, the status, a NUL, the path, a NUL.
#![forbid(unsafe_code)]

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file with content.
    File,
    /// A symbolic link: its content is where it leads.
    Link,
    /// A commit of a submodule: its files are committed in their own repository.
    Module,
    /// Nothing: it was removed.
    Gone,
    /// Two versions that nobody has decided between.
    Unmerged,
}

/// A path whose entry is another one than in any parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Below the root of the repository, as git keeps it: any bytes but NUL.
    pub path: Vec<u8>,
    /// What is there now.
    pub kind: Kind,
    /// The object that is there now; all zeros when there is none.
    pub blob: String,
    /// The files that the parents have there, each in its turn, without those that have none.
    pub before: Vec<String>,
}

/// A commit and what it changed against all of its parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its object.
    pub id: String,
    /// When it was committed, as it says: seconds since 1970.
    pub at: i64,
    /// When it was written first, as it says: seconds since 1970. A rebase leaves that as it was.
    pub written: i64,
    /// What it was made upon: more than one for a merge.
    pub parents: Vec<String>,
    /// A merge may differ from each parent and yet change nothing of its own.
    pub changes: Vec<Change>,
}

/// The entries of a raw listing with NULs (`-z`).
pub(super) fn changes(raw: &[u8]) -> Vec<Change> {
    let mut tokens = raw.split(|&byte| byte == 0);
    std::iter::from_fn(|| next(&mut tokens, |_| {})).collect()
}

/// Commits, each behind a header of [`HEADER`].
pub(super) fn commits(raw: &[u8]) -> Vec<Commit> {
    let mut tokens = raw.split(|&byte| byte == 0);
    let (mut all, mut headers): (Vec<Commit>, Vec<Commit>) = (Vec::new(), Vec::new());
    loop {
        let change = next(&mut tokens, |token| headers.extend(header(token)));
        all.append(&mut headers);
        match (change, all.last_mut()) {
            (Some(change), Some(commit)) => commit.changes.push(change),
            (Some(_), None) => {}
            (None, _) => return all,
        }
    }
}

/// The format whose output [`commits`] reads.
pub(super) const HEADER: &str = "--format=%x01%H %ct %at %P";

fn header(token: &[u8]) -> Option<Commit> {
    let text = std::str::from_utf8(token.strip_prefix(b"\x01")?).ok()?;
    let mut words = text.split_whitespace();
    let id = words.next()?.to_owned();
    let mut moment = || words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let (at, written) = (moment(), moment());
    Some(Commit { id, at, written, parents: words.map(str::to_owned).collect(), changes: Vec::new() })
}

/// The next entry; what stands before it is handed over. A path can look like anything, so it is never read as an entry.
fn next<'a>(tokens: &mut impl Iterator<Item = &'a [u8]>, mut other: impl FnMut(&[u8])) -> Option<Change> {
    loop {
        let token = tokens.next()?;
        let token = token.strip_prefix(b"\n").unwrap_or(token);
        match entry(token) {
            Some(change) => return Some(Change { path: tokens.next()?.to_vec(), ..change }),
            None => other(token),
        }
    }
}

fn entry(token: &[u8]) -> Option<Change> {
    let text = std::str::from_utf8(token).ok()?;
    let facts = text.trim_start_matches(':');
    let parents = text.len() - facts.len();
    let fields: Vec<&str> = facts.split(' ').collect();
    if parents == 0 || fields.len() != 2 * (parents + 1) + 1 {
        return None;
    }
    let (modes, objects) = (&fields[..=parents], &fields[parents + 1..=2 * parents + 1]);
    let was_file = |at: &usize| modes[*at].starts_with("100");
    let unmerged = fields[2 * parents + 2].starts_with('U');
    Some(Change {
        path: Vec::new(),
        kind: if unmerged { Kind::Unmerged } else { kind(modes[parents]) },
        blob: objects[parents].to_owned(),
        before: (0..parents).filter(was_file).map(|at| objects[at].to_owned()).collect(),
    })
}

/// The kind that a mode says.
pub(super) fn kind(mode: &str) -> Kind {
    match mode {
        "120000" => Kind::Link,
        "160000" => Kind::Module,
        mode if mode.starts_with("100") => Kind::File,
        _ => Kind::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: char) -> String {
        letter.to_string().repeat(40)
    }

    #[test]
    fn entries_are_read_whatever_the_path_looks_like() {
        let (a, b, zero) = (id('a'), id('b'), id('0'));
        let raw = format!(
            ":100644 100755 {a} {b} M\0:1 2\n\0:000000 120000 {zero} {a} A\0l\0:100644 000000 {a} {zero} D\0\u{1}gone\0\
             :100644 160000 {a} {b} T\0m\0:000000 000000 {zero} {zero} U\0u\0"
        );
        let read: Vec<_> =
            changes(raw.as_bytes()).into_iter().map(|change| (change.path, change.kind, change.before.len())).collect();
        let expected = [
            (&b":1 2\n"[..], Kind::File, 1),
            (b"l", Kind::Link, 0),
            (b"\x01gone", Kind::Gone, 1),
            (b"m", Kind::Module, 1),
            (b"u", Kind::Unmerged, 0),
        ];
        assert_eq!(read, expected.map(|(path, kind, before)| (path.to_vec(), kind, before)));
    }

    #[test]
    fn commits_keep_their_entries_and_merges_all_their_parents() {
        let (a, b, c) = (id('a'), id('b'), id('c'));
        let raw = format!(
            "\u{1}{a} 7 4 {b} {c}\0\0::100644 100644 100644 {a} {b} {c} MM\0x\0\u{1}{b} 6 6 {c}\0\u{1}{c} 5 2 \0\n:000000 100644 {} {a} A\0y\0",
            id('0')
        );
        let read = commits(raw.as_bytes());
        let shape: Vec<_> = read.iter().map(|it| (it.id.clone(), it.at, it.written, it.changes.len())).collect();
        assert_eq!(shape, [(a.clone(), 7, 4, 1), (b.clone(), 6, 6, 0), (c.clone(), 5, 2, 1)]);
        let parents: Vec<&[String]> = read.iter().map(|it| &*it.parents).collect();
        assert_eq!(parents, [&[b.clone(), c.clone()][..], std::slice::from_ref(&c), &[]]);
        assert_eq!(read[0].changes[0].before, [a, b]);
    }
}
