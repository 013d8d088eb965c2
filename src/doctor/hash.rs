//! A shell remembers where it found a command. One that is older than the shims may still go to the real program.
#![forbid(unsafe_code)]

use std::path::Path;
use std::time::Duration;

use crate::clock::Clock as _;
use crate::holder::{self, ProcFs};

use super::Finding;
use super::patient::Patient;

/// Start times of processes are counted in ticks of `USER_HZ`: a hundredth of a second wherever Rust runs on Linux.
const TICK: u64 = 10;

/// A file's time may be a tick of the kernel behind, too: what happened together counts as too late for the shell.
const BLUR: Duration = Duration::from_millis(50);

/// What a shell remembers nobody else can see; only that it may remember something old.
pub(super) fn look(patient: &Patient<'_>, folder: &Path) -> Option<Finding> {
    let shell = holder::shell_above(&ProcFs::new())?;
    let now = patient.context.clock.now();
    let age = now.0.checked_sub(Duration::from_millis(shell.started.saturating_mul(TICK)))?;
    let folder_age = std::fs::metadata(folder).ok()?.modified().ok()?.elapsed().ok()?;
    (folder_age < age + BLUR).then(|| {
        let what = format!("this {} was started before the shims were last changed", shell.program);
        let forget = match shell.program.as_str() {
            "zsh" => "rehash",
            "fish" => "nothing: fish remembers none",
            _ => "hash -r",
        };
        Finding::note("path.hash", what)
            .because("it may remember where it found a command before, and go there without a lease")
            .remedy(format!("type there: {forget}"))
    })
}
