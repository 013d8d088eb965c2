//! A program that has begun and stays until it is let go.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

use super::ends::{LIMIT, text, until};

/// It runs until its standard input ends, or by what it is. It has printed its first line.
#[derive(Debug)]
pub(crate) struct Held {
    child: Child,
    /// What it says on standard error: a pipe would stay open as long as anything that it leaves behind.
    said: tempfile::NamedTempFile,
    /// The first line that it printed.
    pub(crate) line: String,
}

impl Held {
    /// Starts it and waits for its first line; one that ends without a line says why in the failure.
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Self {
        let said = tempfile::NamedTempFile::new().expect("a file");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said.reopen().expect("twice"));
        let mut child = command.spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = lines.read_line(&mut line).map(|_| line);
            // Nobody listens any more when the test has failed; the rest is read so that nobody is held up.
            drop(sender.send(read));
            let _nobody_asks_for_it = lines.read_to_end(&mut Vec::new());
        });
        let mut held = Self { child, said, line: String::new() };
        let line = receiver.recv_timeout(LIMIT).expect("a line, or an end").expect("a line");
        assert!(line.ends_with('\n'), "{command:?}: {line}{}", held.words());
        line.trim_end().clone_into(&mut held.line);
        held
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn words(&self) -> String {
        fs::read_to_string(self.said.path()).expect("UTF-8")
    }

    /// Waits for its end, which something else brings about.
    pub(crate) fn ended(mut self) -> Output {
        let status = until("the program ends", || self.child.try_wait().expect("waited"));
        Output { status, stdout: vec![], stderr: self.words().into_bytes() }
    }

    /// Lets it go on to its end, whatever that is.
    pub(crate) fn finish(mut self) -> Output {
        drop(self.child.stdin.take());
        self.ended()
    }

    /// Lets it go; it must end well.
    #[track_caller]
    pub(crate) fn let_go(self) {
        let output = self.finish();
        assert!(output.status.success(), "{:?}: {}", output.status, text(&output.stderr));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if std::thread::panicking() {
            let _ended_already = self.child.kill();
            let _ended_already = self.child.wait();
        } else {
            until("the program ends", || self.child.try_wait().expect("waited"));
        }
    }
}

/// Runs it to its end, which must come, whatever it leaves behind: its status, and what it said on standard error.
#[track_caller]
pub(crate) fn bounded(command: &mut Command) -> (Option<i32>, String) {
    let said = tempfile::NamedTempFile::new().expect("a file");
    let stderr = said.reopen().expect("twice");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().expect("it starts");
    let status = until("it ends", || child.try_wait().expect("waited"));
    (status.code(), fs::read_to_string(said.path()).expect("UTF-8"))
}
