//! Foreign shims that come back to us: those of mise, asdf, volta and their kin look on PATH for the program that they
//! stand in front of, find us, and we would find them. So what we start, where it may lead back, is told in one
//! variable how it came about; whoever stays in its process (`exec` keeps the process id) and meets us again has led
//! back, and is stepped over from then on.
//!
//! A child that calls its program again is another process and no loop, however deep; only far below anything sensible
//! is it taken for one. What does not lead back, or has come to its end, is started without the variable.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use crate::platform::{OsStrExt as _, OsStringExt as _};

use super::candidate::{self, Candidate, Facts};
use super::{FileId, NotFound, Program, Walk, find, places, platform};

/// So many processes below each other may call one program before that is taken for a loop of shims or scripts that start each
/// other as children. Far below what a store follows upwards from a command (512 grants), so that none of them ever waits for
/// a lease of its own ancestor.
const DEEP: u32 = 40;

/// So often a program may start itself anew by its name, when there is no other of that name.
const RETURNS: u32 = 8;

/// Whoever comes back after so long is in no loop.
const CALM: u64 = 10;

/// Programs that replaced each other in one process have used so much of a processor: whatever they are, they are
/// followed now.
const BUSY: Duration = Duration::from_millis(100);

/// How this call came about: the value of [`CHAIN`](crate::terms::CHAIN). It begins with the process, so that a wrapper can
/// put its child there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chain {
    pid: u32,
    depth: u32,
    returns: u32,
    at: u64,
    tried: Vec<FileId>,
    name: OsString,
}

/// Finds the program that `word` means, as [`resolve`](super::resolve) does, but past what has led back to us. `inherited`
/// is the value of [`CHAIN`](crate::terms::CHAIN) at entry, `now` the boot clock. Beside the program stands the value that its environment is
/// to have; none: it is to have no such variable.
///
/// # Errors
/// As `resolve`; and 127 with every place that led back when there is no other.
pub fn follow(
    word: &OsStr,
    path: Option<&OsStr>,
    cwd: &Path,
    ourselves: FileId,
    inherited: Option<&OsStr>,
    now: Duration,
) -> Result<(Program, Option<OsString>), NotFound> {
    let name = Path::new(word).file_name().unwrap_or_default();
    let before = inherited.and_then(Chain::read);
    let mut chain = Chain::next(before, name, now.as_secs());
    let walk = Walk { path, cwd, ourselves, avoid: &chain.tried };
    let (program, facts) = match find(word, &walk) {
        // There is no other: it may be a program that starts itself anew.
        Err(_) if !chain.tried.is_empty() && chain.returns < RETURNS => {
            let (_last, others) = chain.tried.split_last().unwrap_or((&ourselves, &[]));
            let found = find(word, &Walk { avoid: others, ..walk })?;
            chain.returns += 1;
            found
        }
        found => found?,
    };
    let Some(facts) = facts.filter(|facts| may_lead_back(&program, facts, &walk)) else { return Ok((program, None)) };
    chain.tried.retain(|id| *id != facts.id);
    chain.tried.push(facts.id);
    Ok((program, Some(chain.text())))
}

/// Whether what is started here may come back to us: only what is not plainly a program of its own, and only where it
/// would find us.
fn may_lead_back(program: &Program, facts: &Facts, walk: &Walk<'_>) -> bool {
    let place = walk.cwd.join(&program.path);
    let plain = facts.plain && has_its_own_name(&place, program) && platform::program_of_parent() != Some(facts.id);
    let finds_us = || {
        facts.speaks_of_us
            || places(&program.name, walk.path)
                .iter()
                .any(|place| matches!(candidate::look(place, walk.cwd, walk.ourselves), Candidate::Ours(_)))
    };
    (!plain && finds_us()) || platform::used() > BUSY
}

/// A link to a file of another name is how one launcher stands in front of many programs.
fn has_its_own_name(place: &Path, program: &Program) -> bool {
    !place.is_symlink() || place.canonicalize().is_ok_and(|real| real.file_name() == Some(&program.name))
}

impl Chain {
    /// What is so before anything is started here.
    fn next(before: Option<Self>, name: &OsStr, now: u64) -> Self {
        let pid = std::process::id();
        let fresh = Self { pid, depth: 0, returns: 0, at: now, tried: Vec::new(), name: name.to_owned() };
        match before {
            None => fresh,
            // Names that take turns are followed as well, once there are too many of them: two scripts that start each other.
            Some(before) if before.name != name => {
                let calm = before.pid == pid && now.saturating_sub(before.at) > CALM;
                match before.depth {
                    _ if calm => fresh,
                    depth if depth < DEEP => Self { depth: depth + 1, ..fresh },
                    depth => Self { pid, depth: depth + 1, at: now, name: name.to_owned(), ..before },
                }
            }
            Some(before) if before.pid == pid => {
                let returns = if now.saturating_sub(before.at) > CALM { 0 } else { before.returns };
                Self { returns, at: now, ..before }
            }
            // A child: what its parent tried is new to it, as long as this can be no loop.
            Some(before) if before.depth < DEEP => Self { depth: before.depth + 1, ..fresh },
            Some(before) => Self { pid, depth: before.depth + 1, at: now, ..before },
        }
    }

    fn text(&self) -> OsString {
        let tried: Vec<String> = self.tried.iter().map(FileId::text).collect();
        let head = format!("{}:{}:{}:{}:{}:", self.pid, self.depth, self.returns, self.at, tried.join(","));
        OsString::from_vec([head.as_bytes(), self.name.as_bytes()].concat())
    }

    /// What makes no sense was never there.
    fn read(text: &OsStr) -> Option<Self> {
        let mut parts = text.as_bytes().splitn(6, |&byte| byte == b':');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let (pid, depth, returns, at) = (number()?, number()?, number()?, number()?);
        let tried = std::str::from_utf8(parts.next()?).ok()?;
        let tried = tried.split(',').filter(|id| !id.is_empty()).map(FileId::read).collect::<Option<_>>()?;
        let (pid, depth, returns) = (pid.try_into().ok()?, depth.try_into().ok()?, returns.try_into().ok()?);
        Some(Self { pid, depth, returns, at, tried, name: OsStr::from_bytes(parts.next()?).to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(pid: u32) -> Chain {
        let tried = ["2049.7", "0.18446744073709551615"].map(|id| FileId::read(id).expect("id")).to_vec();
        let name = OsString::from_vec(b"a:\xff".to_vec());
        Chain { pid, depth: 3, returns: 2, at: 100, tried, name }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        assert_eq!(Chain::read(&chain(7).text()), Some(chain(7)));
        for wrong in ["", "sops", "7:3:2:100", "7:3:2:100:2049:sops", "x:3:2:100:1.1:sops", "99999999999:0:0:0::sops"] {
            assert_eq!(Chain::read(OsStr::new(wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn the_same_process_comes_back_and_another_begins_anew() {
        let us = std::process::id();
        let name = chain(us).name;
        let next = |before: Chain, now| Chain::next(Some(before), &name, now);
        assert_eq!(next(chain(us), 101), Chain { at: 101, ..chain(us) });
        assert_eq!(next(chain(us), 200).returns, 0, "after a while it is no loop");
        let child = next(chain(us + 1), 101);
        assert_eq!((child.depth, child.returns, child.tried.len(), child.pid), (4, 0, 0, us));
        let other = Chain { name: "other".into(), ..chain(us) };
        assert_eq!(
            (next(other.clone(), 101).depth, next(other.clone(), 101).tried.len()),
            (4, 0),
            "names that take turns"
        );
        assert_eq!(next(other.clone(), 200).depth, 0);
        let turns = next(Chain { depth: DEEP, ..other }, 101);
        assert_eq!((turns.depth, turns.tried.len(), &turns.name), (DEEP + 1, 2, &name));
        let deep = next(Chain { depth: DEEP, ..chain(us + 1) }, 101);
        assert_eq!((deep.depth, deep.returns, deep.tried.len(), deep.pid), (DEEP + 1, 2, 2, us));
    }
}
