//! Contenders in processes of their own: the test binary runs itself with a task in its environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use locked::clock::SystemClock;
use locked::state::StateDir;
use locked::store::{Acquisition, SqliteStore, Store, StoreError};

use super::cast::{LIMIT, actor, release, take};

const TASK: &str = "LOCKED_TEST_TASK";
const STATE: &str = "LOCKED_TEST_STATE";

/// What a contender does.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// Acquires one shared resource, waiting for its turn, and releases it.
    Turn,
    /// Acquires a resource of its own and releases it.
    Own,
    /// Acquires and releases without end, saying so each time.
    Cycle,
    /// Acquires resource after resource until the store says no.
    Fill,
}

/// A command that does the task on this state directory and prints one line that begins with `child: `.
pub(crate) fn child(task: Task, state: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    prepare(&mut command, task, state);
    command
}

/// The same through a program that arranges the world first and then runs its arguments.
pub(crate) fn child_through(launcher: &[&str], binary: &Path, task: Task, state: &Path) -> Command {
    let mut command = Command::new(launcher[0]);
    command.args(&launcher[1..]).arg(binary);
    prepare(&mut command, task, state);
    command
}

fn prepare(command: &mut Command, task: Task, state: &Path) {
    let task = match task {
        Task::Turn => "turn",
        Task::Own => "own",
        Task::Cycle => "cycle",
        Task::Fill => "fill",
    };
    command
        .args(["store::child::a_contender_in_a_process_of_its_own", "--exact", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .env(STATE, state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
}

/// The line that the child printed; a child that printed none is the test's failure.
pub(crate) fn said(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once("child: ")).map(|(_, said)| said.to_owned());
    line.unwrap_or_else(|| panic!("no word from the child: {text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// The way to a state directory through the environment.
pub(crate) fn state_at(path: &Path) -> Result<StateDir, StoreError> {
    let path = PathBuf::from(path);
    StateDir::open(&move |name| (name == "LOCKED_STATE_DIR").then(|| OsString::from(&path)))
}

/// The child's side; without a task there is nothing to do.
#[test]
fn a_contender_in_a_process_of_its_own() {
    let (Some(task), Some(state)) = (std::env::var_os(TASK), std::env::var_os(STATE)) else { return };
    let answer = state_at(Path::new(&state)).and_then(|state| {
        let mut store = SqliteStore::new(&state, Arc::new(SystemClock::new()));
        match task.to_str() {
            Some("cycle") => loop {
                if let Err(error) = turn(&mut store, &format!("r{}", std::process::id())) {
                    break Err(error);
                }
                println!("\ncycle");
            },
            Some("fill") => fill(&mut store),
            Some("own") => turn(&mut store, &format!("r{}", std::process::id())),
            _ => turn(&mut store, "shared"),
        }
    });
    match answer {
        Ok(()) => println!("\nchild: ok"),
        Err(error) => println!("\nchild: {error:?} | {error} | {}", error.remedy()),
    }
}

fn turn(store: &mut dyn Store, name: &str) -> Result<(), StoreError> {
    let request = actor("child").waits_for(&[name]);
    while let Acquisition::Busy { ahead, .. } = store.acquire(&request, LIMIT)? {
        // As a waiter polls: the further behind, the less often.
        let place = u32::try_from(ahead.len()).expect("fits") + 1;
        std::thread::sleep(std::time::Duration::from_millis(20).saturating_mul(place.min(50)));
    }
    let held = take(store, &request);
    release(store, &held);
    Ok(())
}

fn fill(store: &mut dyn Store) -> Result<(), StoreError> {
    let actor = actor("child");
    for number in 0..100_000 {
        let mut request = actor.holds(&[&format!("r{number}")]);
        request.owner.operation = "x".repeat(10_000);
        match store.acquire(&request, LIMIT)? {
            Acquisition::Granted(_) => println!("\ngranted: r{number}"),
            Acquisition::Busy { .. } => panic!("nobody else is here"),
        }
    }
    panic!("it never got full");
}
