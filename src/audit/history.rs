//! What commits have taken in.
#![forbid(unsafe_code)]

use std::collections::HashSet;

use super::bared;
use super::change::{Change, Commit, Kind};
use super::copied::copied;
use super::demand::Rules;
use super::door::{Door, Tree};
use super::finding::{Finding, Wrong};
use super::judge::Judgement;
use super::reading::{self, Contents};
use super::staged::{finding, look, wanted};
use super::written::Wanted;
use crate::git::GitError;

/// What it comes to.
#[derive(Debug, Default)]
pub struct Audited {
    /// The commits that were looked at, parents first; none where a tree was.
    pub history: Vec<Commit>,
    /// How many commits were looked at.
    pub commits: usize,
    /// How many versions of SOPS files.
    pub versions: usize,
    /// What is wrong by the content alone.
    pub findings: Vec<Finding>,
    /// The versions of which somebody must know who wrote them, in the order of the history.
    pub wanted: Vec<Wanted>,
}

/// Looks at every version that these commits brought. `words` are those of `rev-list`.
///
/// # Errors
/// git cannot be started, or fails: a word names no commit.
pub fn commits(door: &Door, words: &[String]) -> Result<Audited, GitError> {
    let history = door.commits(words)?;
    let (audited, _) = audited(door, &history)?;
    Ok(Audited { history, ..audited })
}

/// The same, and for copies of what SOPS files beside them hold: that takes a look at whole trees.
///
/// # Errors
/// As [`commits`].
pub fn commits_and_copies(door: &Door, words: &[String]) -> Result<Audited, GitError> {
    let history = door.commits(words)?;
    let (mut audited, contents) = audited(door, &history)?;
    add_copies(door, &history, contents, &mut audited.findings)?;
    Ok(Audited { history, ..audited })
}

fn add_copies(door: &Door, history: &[Commit], read: Contents, findings: &mut Vec<Finding>) -> Result<(), GitError> {
    let copies = copied(door, history, read)?;
    let told: HashSet<_> = findings.iter().map(|it| (it.path.clone(), it.commit.clone())).collect();
    findings.extend(copies.into_iter().filter(|one| !told.contains(&(one.path.clone(), one.commit.clone()))));
    Ok(())
}

/// Looks at every file of one commit, whoever brought it.
///
/// # Errors
/// git cannot be started, or fails.
pub fn tree(door: &Door, commit: &str) -> Result<Audited, GitError> {
    let change = |(path, blob)| Change { path, kind: Kind::File, blob, before: Vec::new() };
    let changes = door.files(commit)?.into_iter().map(change).collect();
    let all = [Commit { id: commit.to_owned(), at: 0, written: 0, parents: Vec::new(), changes }];
    let (mut audited, contents) = audited(door, &all)?;
    add_copies(door, &all, contents, &mut audited.findings)?;
    // Which commit brought them is not known.
    audited.findings.iter_mut().for_each(|finding| finding.commit = None);
    audited.wanted.iter_mut().for_each(|wanted| wanted.commit = None);
    Ok(audited)
}

/// Without what a commit before these had already: whoever brings that back (a revert of what was pushed, a copy) has written
/// nothing. git is asked only when something is wrong.
///
/// # Errors
/// git cannot be started, or fails.
pub fn without_reverts(door: &Door, history: &[Commit], findings: Vec<Finding>) -> Result<Vec<Finding>, GitError> {
    let is_of_writing = |one: &Finding| matches!(one.wrong, Wrong::Unlocked | Wrong::Stale { .. });
    let suspects = || findings.iter().filter(|one| is_of_writing(one));
    let blobs: Vec<&str> = suspects().filter_map(|one| one.blob.as_deref()).collect();
    let tips: Vec<&str> = suspects().filter_map(|one| one.commit.as_deref()).collect();
    if blobs.is_empty() || tips.is_empty() {
        return Ok(findings);
    }
    let within: HashSet<&str> = history.iter().map(|commit| &*commit.id).collect();
    let before = door.stood_before(&blobs, &tips, &within)?;
    let is_back = |one: &Finding| is_of_writing(one) && one.blob.as_ref().is_some_and(|blob| before.contains(blob));
    Ok(findings.into_iter().filter(|one| !is_back(one)).collect())
}

fn audited(door: &Door, commits: &[Commit]) -> Result<(Audited, Contents), GitError> {
    let trees: Vec<_> = commits.iter().map(|commit| (Tree::Of(&commit.id), &*commit.changes)).collect();
    let rules = reading::rules(door, &trees)?;
    let all = || commits.iter().zip(&rules);
    let changes: Vec<(&Change, &Rules)> =
        all().flat_map(|(commit, rules)| commit.changes.iter().map(move |change| (change, rules))).collect();
    let contents = reading::contents(door, &changes)?;
    let mut audited = Audited { commits: commits.len(), ..Audited::default() };
    // Contents that the history had before: renamed, copied or brought back.
    let mut known: HashSet<&str> = HashSet::new();
    for (commit, rules) in all() {
        known.extend(commit.changes.iter().flat_map(|change| change.before.iter().map(String::as_str)));
        for change in &commit.changes {
            let judged = look(change, &contents, rules);
            audited.versions += usize::from(judged != Judgement::Other);
            let was_known = known.contains(&*change.blob);
            match judged {
                Judgement::Other => {}
                Judgement::Sound | Judgement::Odd(_) if was_known => {}
                Judgement::Sound => {
                    audited.wanted.push(wanted(change, &contents, Some((&commit.id, commit.at))));
                }
                Judgement::Odd(fault) => {
                    let wanted = wanted(change, &contents, Some((&commit.id, commit.at)));
                    audited.wanted.push(Wanted { odd: Some(fault), ..wanted });
                }
                Judgement::Wrong(wrong) if was_known && !wrong.is_of_the_path() && wrong != Wrong::Unseen => {}
                Judgement::Wrong(wrong) => audited.findings.push(finding(change, wrong, Some(&commit.id))),
            }
        }
        let mut bared = bared::bared(door, &commit.changes, rules, &[])?;
        bared.retain(|(at, _)| !known.contains(&*commit.changes[*at].blob));
        audited.findings.extend(bared::findings(&commit.changes, bared, Some(&commit.id), &audited.findings));
        known.extend(commit.changes.iter().map(|change| &*change.blob));
    }
    Ok((audited, contents))
}
