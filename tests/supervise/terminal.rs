//! A terminal with a program on it: what is typed, and what appears.
#![forbid(unsafe_code)]

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};

use super::patience::{ended, happens};
use super::ways::{Way, Ways, python};

/// Opens a terminal, starts the program as the leader of a session on it, and passes on what is typed and shown, until
/// either side ends. The end of its input is the terminal's hang-up. It leaves with the program's status.
const RELAY: &str = r#"
import os, pty, select, signal, sys
child, screen = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while True:
        ready, _, _ = select.select([0, screen], [], [])
        if screen in ready:
            shown = os.read(screen, 65536)
            if not shown: break
            os.write(1, shown)
        if 0 in ready:
            typed = os.read(0, 65536)
            if not typed: break
            os.write(screen, typed)
except OSError:
    pass
os.close(screen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xff)
"#;

/// A terminal.
pub(crate) struct Terminal {
    relay: Child,
    keys: Option<ChildStdin>,
    screen: Arc<Mutex<Vec<u8>>>,
    /// What has been looked at already.
    read: usize,
}

impl Terminal {
    /// A terminal on which `words` run; `me` and `work` in the environment are for what is typed.
    pub(crate) fn new(ways: &Ways, way: Way, words: &[&str]) -> Self {
        let mut relay = ways
            .world
            .command(python())
            .args(["-c", RELAY])
            .args(words)
            .env("ME", way.prefix().join(" "))
            .env("TERM", "xterm")
            // Handlers run at once: a signal just before a read would else be handled after it, that is, never.
            .env("PERL_SIGNALS", "unsafe")
            .env("PS1", "$ ")
            .env("PROMPT", "$ ")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the relay starts");
        let keys = relay.stdin.take();
        let mut shown = relay.stdout.take().expect("stdout");
        let screen = Arc::new(Mutex::new(Vec::new()));
        let copy = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = shown.read(&mut part) {
                copy.lock().expect("no panic").extend_from_slice(&part[..count]);
            }
        });
        Self { relay, keys, screen, read: 0 }
    }

    /// Types.
    pub(crate) fn keys(&mut self, text: &str) {
        let keys = self.keys.as_mut().expect("not hung up");
        keys.write_all(text.as_bytes()).expect("the relay listens");
    }

    /// Types a line.
    pub(crate) fn line(&mut self, text: &str) {
        self.keys(text);
        self.keys("\n");
    }

    /// Waits until this appears behind what was waited for before, and gives what came before it.
    pub(crate) fn see(&mut self, what: &str) -> String {
        self.see_one_of(&[what])
    }

    /// Waits until one of these appears.
    pub(crate) fn see_one_of(&mut self, texts: &[&str]) -> String {
        let mut found = None;
        happens(|| {
            let screen = self.screen.lock().expect("no panic");
            let new = &screen[self.read..];
            let place = |text: &str| new.windows(text.len()).position(|part| part == text.as_bytes());
            let first = texts.iter().filter_map(|text| Some((place(text)?, text.len()))).min();
            found = first.map(|(at, len)| (at + len, String::from_utf8_lossy(&new[..at]).into_owned()));
            found.is_some()
        });
        let Some((end, before)) = found else {
            panic!(
                "none of {texts:?} appears in:\n{}\n{}",
                self.whole(),
                self.whole()[self.read.min(self.whole().len())..].escape_debug()
            )
        };
        self.read += end;
        before
    }

    /// The same for a job in the background, of which shells tell at their next prompt.
    pub(crate) fn job_stops_sooner_or_later(&mut self) {
        let stopped = happens(|| {
            self.line("jobs; echo jobs-$((40+2))");
            let jobs = self.see("jobs-42");
            jobs.contains("Stopped") || jobs.contains("suspended")
        });
        assert!(stopped, "no job stops in:\n{}", self.whole());
    }

    /// Waits until the shell says that a job has stopped, and answers again.
    pub(crate) fn job_stops(&mut self) {
        self.see_one_of(&["Stopped", "suspended"]);
        self.prompt();
    }

    /// Everything that was shown.
    pub(crate) fn whole(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().expect("no panic")).into_owned()
    }

    /// Waits until the shell answers again: types a sum, so that its echo is not its answer.
    pub(crate) fn prompt(&mut self) {
        self.line("echo at-$((40+2))");
        self.see("at-42");
    }

    /// Takes the terminal away.
    pub(crate) fn hang_up(&mut self) {
        self.keys = None;
    }

    /// Waits for the end of the program on it, and gives its status.
    pub(crate) fn end(mut self) -> i32 {
        let status = ended(&mut self.relay);
        status.code().unwrap_or_else(|| panic!("the relay: {status}"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.keys = None;
        // Of a failed test nothing may stay; otherwise it has ended.
        let _it_may_have_ended = self.relay.kill();
        let _reaped = self.relay.wait();
    }
}
