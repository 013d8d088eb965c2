//! A foreign program is asked something, and may do what it likes: print without end, read, sleep, leave children behind. It
//! gets nothing to read, no terminal and a limit, and what it has started in its session is killed with it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

#[cfg(unix)]
use super::listen::{end_session, listen};
#[cfg(unix)]
use super::unix::apart;
#[cfg(windows)]
use super::windows::{apart, end_session, listen};

/// No answer is read further (bytes); the rest is thrown away.
pub(super) const MOST: usize = 256 * 1024;

/// What to ask whom.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    /// Its whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
    pub(super) limit: Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It ended, or said enough.
    Said(String),
    /// The time was up.
    Late,
    /// It could not be started: why.
    NotRun(String),
}

impl Probe {
    /// Asks. It is `enough` once the text so far has what is looked for.
    pub(super) fn ask(&self, enough: impl Fn(&[u8]) -> bool) -> Answer {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.cwd).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        apart(&mut command);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Answer::NotRun(error.kind().to_string()),
        };
        let mut said = Vec::new();
        let in_time = listen(&mut child, &mut said, self.limit, enough);
        // Not reaped yet, so the number is still that of our child and its session.
        end_session(&mut child);
        let _reaped = child.wait();
        if in_time { Answer::Said(String::from_utf8_lossy(&said).into_owned()) } else { Answer::Late }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ask(script: &str, limit: Duration) -> Answer {
        let probe = Probe {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: "/".into(),
            limit,
        };
        probe.ask(|said| said.ends_with(b"enough"))
    }

    #[test]
    fn whatever_a_program_does_it_is_heard_or_given_up() {
        let long = Duration::from_secs(60);
        let said = |text: &str| Answer::Said(text.to_owned());
        assert_eq!(ask("echo yes", long), said("yes\n"));
        assert_eq!(ask("read line; echo \"got <$line>\"", long), said("got <>\n"), "nothing to read");
        assert_eq!(ask("exec >&-; exit 3", long), said(""));
        assert_eq!(ask("sleep 600 & echo child", long), said("child\n"), "who holds the pipe is not waited for");
        assert_eq!(ask("printf enough; sleep 600", long), said("enough"));
        assert_eq!(ask("exec sleep 600", Duration::from_millis(50)), Answer::Late);
        assert_eq!(ask("while :; do echo garbage; done", Duration::from_millis(50)), Answer::Late);
        assert!(matches!(ask("tty </dev/tty || printf none", long), Answer::Said(text) if text.ends_with("none")));
        let nothing = Probe { program: "/no/such".into(), args: vec![], env: vec![], cwd: "/".into(), limit: long };
        assert!(matches!(nothing.ask(|_| false), Answer::NotRun(_)));
    }
}
