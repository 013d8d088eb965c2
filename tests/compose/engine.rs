//! An engine for docker's client, played by a thread behind a Unix socket (Docker Engine API: `/_ping`,
//! `/containers/ID/json`, `/containers/ID/restart`).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Far beyond anything; it makes a failure of what would hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An engine. Its thread ends with the test's process.
pub(crate) struct Engine {
    directory: tempfile::TempDir,
    /// Connections that it took and does not answer.
    silent: Receiver<UnixStream>,
}

impl Engine {
    /// Knows these containers: name and labels, in JSON.
    pub(crate) fn with(containers: &'static [(&'static str, &'static str)]) -> Self {
        Self::play(move |stream, _| answer(stream, containers))
    }

    /// Takes every connection and never says a word.
    pub(crate) fn silent() -> Self {
        Self::play(|stream, silent| silent.send(stream).expect("the test waits"))
    }

    fn play(each: impl Fn(UnixStream, &Sender<UnixStream>) + Send + 'static) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let listener = UnixListener::bind(directory.path().join("engine.sock")).expect("socket");
        let (sender, silent) = channel();
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| each(stream, &sender)));
        Self { directory, silent }
    }

    /// For `-H` and `DOCKER_HOST`.
    pub(crate) fn address(&self) -> String {
        format!("unix://{}", self.directory.path().join("engine.sock").display())
    }

    /// A place for the client's configuration.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// A connection that this silent engine took, if any has come.
    pub(crate) fn taken(&self) -> Option<UnixStream> {
        self.silent.try_recv().ok()
    }

    /// Has the client hung up? Only a dead one does before it is answered.
    pub(crate) fn is_left(&self, mut taken: UnixStream) -> bool {
        taken.set_read_timeout(Some(PATIENCE)).expect("timeout");
        // An error other than the end of patience is a connection that broke.
        !matches!(taken.read_to_end(&mut Vec::new()), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    }
}

/// One request, one answer. A client that went away is no concern of ours.
fn answer(stream: UnixStream, containers: &[(&str, &str)]) {
    // The head of the request: to the first empty line.
    let (mut request, mut lines) = (String::new(), BufReader::new(&stream));
    while lines.read_line(&mut request).is_ok_and(|read| read > 2) {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, body) = if path == "/_ping" { ("200 OK", "OK".to_owned()) } else { inspected(path, containers) };
    let _gone = write!(
        &stream,
        "HTTP/1.1 {status}\r\nApi-Version: 1.41\r\nOSType: linux\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    if !request.starts_with("HEAD") {
        let _gone = (&stream).write_all(body.as_bytes());
    }
}

fn inspected(path: &str, containers: &[(&str, &str)]) -> (&'static str, String) {
    if containers.iter().any(|(name, _)| path.ends_with(&format!("/containers/{name}/restart"))) {
        return ("204 No Content", String::new());
    }
    let asked = |name: &&(&str, &str)| path.ends_with(&format!("/containers/{}/json", name.0));
    match containers.iter().find(asked) {
        Some((name, labels)) => {
            ("200 OK", format!(r#"{{"Id": "0123", "Name": "/{name}", "Config": {{"Labels": {labels}}}}}"#))
        }
        None => ("404 Not Found", r#"{"message": "No such container"}"#.to_owned()),
    }
}
