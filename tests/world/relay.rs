//! A wire in the test's hand: between a client and a server's socket, it counts turns and loses what it is told to.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// The wire. It ends with the test.
pub(crate) struct Relay {
    directory: tempfile::TempDir,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// How often the client spoke after the server had.
    turns: AtomicU32,
    /// The server has spoken since the client did.
    answered: AtomicBool,
    /// The next answer is lost, and the connection with it.
    loses_one: AtomicBool,
    /// Nothing comes through, and nobody is told.
    silent: AtomicBool,
    /// How long everything is on its way, each way.
    delay: Duration,
}

impl Relay {
    /// A socket that leads to the server's.
    pub(crate) fn to(socket: &Path, port: u16) -> Self {
        Self::far_from(socket, port, Duration::ZERO)
    }

    /// The same over so long a way, each way.
    pub(crate) fn far_from(socket: &Path, port: u16, delay: Duration) -> Self {
        let directory = tempfile::Builder::new().prefix("locked-wire-").tempdir().expect("directory");
        let name = format!(".s.PGSQL.{port}");
        let (listener, server) =
            (UnixListener::bind(directory.path().join(&name)).expect("a socket"), socket.join(&name));
        let state = Arc::new(State { answered: AtomicBool::new(true), delay, ..State::default() });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = UnixStream::connect(&server).expect("the server");
                carry(
                    client.try_clone().expect("clone"),
                    server.try_clone().expect("clone"),
                    Arc::clone(&shared),
                    true,
                );
                carry(server, client, Arc::clone(&shared), false);
            }
        });
        Self { directory, state }
    }

    /// The directory of its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// Round trips since the last question.
    pub(crate) fn turns(&self) -> u32 {
        self.state.answered.store(true, Ordering::SeqCst);
        self.state.turns.swap(0, Ordering::SeqCst)
    }

    /// Loses the next answer and its connection.
    pub(crate) fn lose_one(&self) {
        self.state.loses_one.store(true, Ordering::SeqCst);
    }

    /// Falls silent, or speaks again over new connections.
    pub(crate) fn silence(&self, silent: bool) {
        self.state.silent.store(silent, Ordering::SeqCst);
    }
}

fn carry(mut from: UnixStream, mut to: UnixStream, state: Arc<State>, asks: bool) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = from.read(&mut buffer).unwrap_or(0);
            if state.silent.load(Ordering::SeqCst) {
                continue_silently(&mut from);
                return;
            }
            if read == 0 || (!asks && state.loses_one.swap(false, Ordering::SeqCst)) {
                break;
            }
            if asks && state.answered.swap(false, Ordering::SeqCst) {
                state.turns.fetch_add(1, Ordering::SeqCst);
            } else if !asks {
                state.answered.store(true, Ordering::SeqCst);
            }
            std::thread::sleep(state.delay);
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        for side in [from, to] {
            drop(side.shutdown(Shutdown::Both));
        }
    });
}

/// Swallows what comes until the other side gives up.
fn continue_silently(from: &mut UnixStream) {
    drop(std::io::copy(from, &mut std::io::sink()));
}
