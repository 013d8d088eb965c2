//! A process that stays when this one has gone. No process is a copy of another here, so it is started: the same file with
//! the same arguments and environment, without a console. It goes the same way through the story as its maker, so that it
//! knows what its maker knows, and at the place where its maker made it says that it is there, and waits for its work.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use windows_sys::Win32::System::Threading::{CREATE_BREAKAWAY_FROM_JOB, CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS};

use crate::exit::{self, Exit};
use crate::platform;

/// Names the process that is to be succeeded. What a successor starts itself has another parent, and is none.
const VARIABLE: &str = "LOCKED_SUCCEEDS";

/// How long it may take until it is there, and for each answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// What it says when it is there.
const THERE: &str = "there";

/// The maker's side. Dropped before it was told anything it lets the successor go, which has done nothing by then.
#[derive(Debug)]
pub struct Successor {
    child: Child,
    heard: Receiver<String>,
}

impl Successor {
    /// Starts it with these arguments (ours), and waits until it is at our place.
    ///
    /// # Errors
    /// It cannot be started, or does not come there.
    pub fn start(arguments: &[OsString]) -> io::Result<Self> {
        // Whoever waits for the end of what we say must not wait for it as well.
        platform::keep_standard_handles();
        let apart = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
        // Order: where our caller's job lets nobody out, it stays in it and ends with it.
        let started = command(arguments)?.creation_flags(apart | CREATE_BREAKAWAY_FROM_JOB).spawn();
        let mut child = started.or_else(|_| command(arguments)?.creation_flags(apart).spawn())?;
        let (says, heard) = mpsc::channel();
        let said = child.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
        std::thread::Builder::new().name("successor".into()).spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                if says.send(line).is_err() {
                    return;
                }
            }
        })?;
        let successor = Self { child, heard };
        match successor.hear() {
            Ok(word) if word == THERE => Ok(successor),
            Ok(_) => Err(io::Error::other("the process that was to stay says something else")),
            Err(why) => Err(io::Error::other(why)),
        }
    }

    /// Gives it its work, one line.
    ///
    /// # Errors
    /// It has died.
    pub fn tell(&mut self, words: &str) -> io::Result<()> {
        let pipe = self.child.stdin.as_mut().ok_or_else(|| io::Error::other("no pipe"))?;
        pipe.write_all(format!("{words}\n").as_bytes())
    }

    /// Its next word.
    ///
    /// # Errors
    /// Why there is none, in one clause.
    pub fn hear(&self) -> Result<String, String> {
        self.heard.recv_timeout(ANSWERS_WITHIN).map_err(|error| match error {
            RecvTimeoutError::Disconnected => "the process that was to stay has died".to_owned(),
            RecvTimeoutError::Timeout => "the process that was to stay does not answer".to_owned(),
        })
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

fn command(arguments: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).env(VARIABLE, std::process::id().to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    Ok(command)
}

/// The successor's side.
#[derive(Debug)]
pub struct Maker(());

/// Who made us to stay in his place; none usually.
#[must_use]
pub fn maker() -> Option<Maker> {
    let named: u32 = std::env::var(VARIABLE).ok()?.parse().ok()?;
    let listed = platform::processes().and_then(|all| all.into_iter().find(|it| it.pid == std::process::id()));
    // Who cannot tell whether he is one must not take himself for the first: he would make successors without an end.
    let Some(ours) = listed else { crate::supervise::leave(Exit::Code(exit::INTERNAL)) };
    (ours.parent == named).then_some(Maker(()))
}

impl Maker {
    /// Says that we are at our place, and waits for our work. None: there is none.
    #[must_use]
    pub fn work(&self) -> Option<String> {
        self.say(THERE);
        let mut line = String::new();
        let length = io::stdin().lock().read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// Says one line.
    pub fn say(&self, word: &str) {
        // Who does not listen any more has gone.
        let _he_has_gone =
            platform::standard_output().and_then(|mut out| out.write_all(format!("{word}\n").as_bytes()));
    }
}

/// Leaves the caller's directory, which nobody could remove else.
pub fn leave_directory() {
    let mut root = std::env::var_os("SystemDrive").unwrap_or_else(|| "C:".into());
    root.push("\\");
    // It is a matter of politeness.
    let _we_stay_there = std::env::set_current_dir(root);
}
