//! Windows: wrapper and keeper are one process. What guards the child is a job object that this process is in from before the
//! child is made and whose last handle it has: however this process ends, the system ends everything that is left in the job.
//! Only when the command has ended by itself the job is told to let go, so that what it left behind on purpose lives on.
//!
//! Ctrl-C and Ctrl-Break reach every process of the console by themselves, the child once and us once; we outlive them. There
//! is no polite stop that reaches one tree alone, so a tree whose lease is lost is ended at once.
#![deny(unsafe_code)]

mod console;
mod job;
mod start;
mod vigil;
mod wrapper;

pub use start::shell_fallback;
pub use vigil::Vigil;
pub use wrapper::{Wrapper, hire};

use std::io;

use super::Order;
use start::Started;

/// The child's errno when an argument cannot be handed to a batch file as it is (`ERROR_BAD_ARGUMENTS`).
pub(super) const UNESCAPABLE: i32 = 160;

/// Stands aside for the program: it runs in our place, and we leave as it left. Comes back only when it could not start.
#[must_use]
pub fn replace(order: &Order) -> io::Error {
    // Whoever kills us means the program. Where the system has no job for us, it is started all the same.
    let job = job::Job::around_us();
    console::outlive();
    let ended = start::start(order, &[]).and_then(|started| match started {
        Started::Runs(mut child) => child.wait(),
        Started::Failed(code) if code == UNESCAPABLE => Err(io::Error::other(not_started(code))),
        Started::Failed(code) => Err(io::Error::from_raw_os_error(code)),
    });
    // Order: what it left behind lives on when we are gone.
    if let Ok(job) = job {
        job.let_go();
    }
    match ended {
        Ok(status) => super::end(status.code().unwrap_or(crate::exit::INTERNAL)),
        Err(error) => error,
    }
}

/// Why the program was not started, in one clause.
#[must_use]
pub fn not_started(code: i32) -> String {
    if code == UNESCAPABLE {
        return "an argument cannot be handed to a batch file (.bat, .cmd) unchanged; name the program behind it, an .exe"
            .to_owned();
    }
    io::Error::from_raw_os_error(code).to_string()
}
