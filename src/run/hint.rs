//! A hint after sops' own words, where those are known to puzzle.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::rules::{self, Command, LineEnds};
use crate::supervise::Outcome;

use super::job::Job;

/// What to add to what the program said itself.
pub(super) fn hint(job: &Job<'_>, outcome: Outcome) -> Option<String> {
    let Outcome::Exited(status) = outcome else { return None };
    let env = |name: &str| job.context.invocation.var(name);
    let stdout = job.context.invocation.stdout();
    // A file that is not there is no puzzle: sops says so.
    if !read_path(job).is_some_and(|path| path.exists()) {
        return None;
    }
    let name = job.order.program.file_name()?;
    let cwd = &job.context.invocation.cwd;
    let command = Command { name, args: &job.order.args, cwd, env: &env, stdout: stdout.as_ref(), stdin: None };
    rules::hint(&command, status, line_ends(job))
}

/// The file that the program read: the source where the target is another one.
fn read_path<'a>(job: &'a Job<'_>) -> Option<&'a PathBuf> {
    job.plan.files.first().map(|file| file.write.asked.source.as_ref().unwrap_or(&file.target.path))
}

fn line_ends(job: &Job<'_>) -> LineEnds {
    let crlf = read_path(job)
        .and_then(|path| crate::platform::regular_text(path).ok())
        .is_some_and(|content| content.windows(2).any(|pair| pair == b"\r\n"));
    if crlf { LineEnds::Crlf } else { LineEnds::Lf }
}
