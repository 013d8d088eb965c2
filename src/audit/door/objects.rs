//! Objects: their sizes, their contents, and what commits changed; each question in one batch.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, BufReader, Read as _};

use super::super::change::{Change, Kind};
use super::Door;
use super::spawn::{cannot_read, ended};
use crate::git::GitError;

impl Door {
    /// The objects and sizes (bytes) of these, in their order; none for what is no blob, or not here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn sizes(&self, names: &[Vec<u8>]) -> Result<Vec<Option<(String, u64)>>, GitError> {
        let input: Vec<u8> = names.iter().flat_map(|name| name.iter().chain(b"\n")).copied().collect();
        let (mut child, output) = self.fed(&["cat-file", "--batch-check", "--buffer"], &input)?;
        let mut sizes = Vec::with_capacity(names.len());
        for line in BufReader::new(output).split(b'\n') {
            sizes.push(header(&line.map_err(cannot_read)?));
        }
        ended("cat-file", &self.directory, &mut child)?;
        sizes.resize(names.len(), None);
        Ok(sizes)
    }

    /// Hands over the contents of these blobs, one after the other; none for what is not here.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn contents(
        &self,
        blobs: &[&str],
        mut take: impl FnMut(&str, Option<Vec<u8>>),
    ) -> Result<(), GitError> {
        if blobs.is_empty() {
            return Ok(());
        }
        let (mut child, output) = self.fed(&["cat-file", "--batch", "--buffer"], blobs.join("\n").as_bytes())?;
        let mut output = BufReader::with_capacity(1 << 16, output);
        for blob in blobs {
            let mut line = Vec::new();
            output.read_until(b'\n', &mut line).map_err(cannot_read)?;
            let Some((_, size)) = header(&line) else {
                take(blob, None);
                continue;
            };
            let mut content = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
            output.read_exact(&mut content).map_err(cannot_read)?;
            output.read_exact(&mut [0]).map_err(cannot_read)?;
            take(blob, Some(content));
        }
        drop(output);
        ended("cat-file", &self.directory, &mut child)
    }

    /// Whether what is at a path now, or was there before, is content of this kind.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub fn any_content(&self, change: &Change, fits: impl Fn(&[u8]) -> bool) -> Result<bool, GitError> {
        let now = (change.kind == Kind::File).then_some(&change.blob);
        let blobs: Vec<&str> = now.into_iter().chain(&change.before).map(String::as_str).collect();
        let mut any = false;
        self.contents(&blobs, |_, content| any |= content.is_none_or(|content| fits(&content)))?;
        Ok(any)
    }

    /// `rev-list` into `diff-tree`.
    pub(super) fn walked<'a>(
        &self,
        list: impl Iterator<Item = &'a str>,
        args: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<u8>, GitError> {
        let commits = self.ask("rev-list", list, "to list commits")?;
        let args: Vec<&str> = ["diff-tree", "--stdin"].into_iter().chain(args).collect();
        let (mut child, mut output) = self.fed(&args, &commits)?;
        let mut raw = Vec::new();
        output.read_to_end(&mut raw).map_err(cannot_read)?;
        ended("diff-tree", &self.directory, &mut child)?;
        Ok(raw)
    }
}

/// `OBJECT blob SIZE`.
fn header(line: &[u8]) -> Option<(String, u64)> {
    let mut facts = std::str::from_utf8(line).ok()?.trim_end().split(' ');
    let (object, kind, size) = (facts.next()?, facts.next()?, facts.next()?);
    (kind == "blob" && facts.next().is_none()).then_some((object.to_owned(), size.parse().ok()?))
}
