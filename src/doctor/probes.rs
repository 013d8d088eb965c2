//! Programs that are asked at the start, each in a thread of its own: while they answer, the checks look at other things.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::thread::JoinHandle;

use crate::run::Context;

use super::patient::is_asked;
use super::probe::Answer;
use super::{Asked, tools};

/// What is waited for, by name.
pub(super) struct Probes(RefCell<BTreeMap<&'static str, JoinHandle<Answer>>>);

/// What a thread does.
pub(super) type Job = Box<dyn FnOnce() -> Answer + Send>;

impl Probes {
    /// Starts those that belong to the checks that are asked for.
    pub(super) fn start(context: &Context, asked: &Asked) -> Self {
        let mut jobs: Vec<(&'static str, Job)> = Vec::new();
        if is_asked(asked, "tools") {
            jobs.extend(tools::jobs(context));
        }
        if is_asked(asked, "path") {
            #[cfg(unix)]
            jobs.extend(super::shells::jobs(context));
        }
        let started = jobs.into_iter().filter_map(|(name, job)| {
            let thread = std::thread::Builder::new().name(format!("doctor-{name}"));
            Some((name, thread.spawn(job).ok()?))
        });
        Self(RefCell::new(started.collect()))
    }

    /// The answer, which comes within the limit of its probe; none when nobody was asked.
    pub(super) fn answer(&self, name: &str) -> Option<Answer> {
        let thread = self.0.borrow_mut().remove(name)?;
        thread.join().ok()
    }
}

/// A variable of the environment, and where a command is started.
pub(super) fn environment(context: &Context) -> (Vec<(OsString, OsString)>, PathBuf) {
    (crate::run::variables(context), context.invocation.cwd.clone())
}
