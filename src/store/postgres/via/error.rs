//! Why the way through ssh does not stand: what happened, and the next step.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::store::door::shown;

/// The way through ssh failed. `said` is ssh's own line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViaError {
    /// The client did not start.
    #[error("ssh ({client}) cannot be started: {why}")]
    NoClient {
        /// Its path.
        client: String,
        /// What the system says.
        why: String,
    },
    /// The connection string leads to a socket of this machine.
    #[error("the store's address is a Unix socket of this machine, and `via` leads to another one")]
    Socket,
    /// ssh does not know the machine between.
    #[error("ssh does not know the host key of {bastion}: {said}")]
    UnknownKey {
        /// Through which machine.
        bastion: String,
        /// What ssh says.
        said: String,
    },
    /// It shows another key than before.
    #[error("{bastion} shows another host key than ssh knows of it: {said}")]
    ChangedKey {
        /// Through which machine.
        bastion: String,
        /// What ssh says.
        said: String,
    },
    /// It takes none of our keys.
    #[error("{bastion} does not let us in: {said}")]
    Login {
        /// Through which machine.
        bastion: String,
        /// What ssh says.
        said: String,
    },
    /// It may not forward.
    #[error("{bastion} forbids forwarding to {server}: {said}")]
    Forbidden {
        /// Through which machine.
        bastion: String,
        /// To which server.
        server: String,
        /// What ssh says.
        said: String,
    },
    /// The machine between stands, and finds no server.
    #[error("{server} cannot be reached from {bastion}: {said}")]
    Beyond {
        /// Through which machine.
        bastion: String,
        /// Which server.
        server: String,
        /// What ssh says.
        said: String,
    },
    /// The machine between is not there.
    #[error("{bastion} cannot be reached by ssh: {said}")]
    Unreachable {
        /// Through which machine.
        bastion: String,
        /// What ssh says.
        said: String,
    },
    /// No end in time.
    #[error("no way through {bastion} stood within {after:.1?}")]
    Silent {
        /// Through which machine.
        bastion: String,
        /// The limit.
        after: Duration,
    },
    /// Something else that ssh said.
    #[error("ssh to {bastion} ended: {said}")]
    Other {
        /// Through which machine.
        bastion: String,
        /// What ssh says.
        said: String,
    },
}

impl ViaError {
    /// What ssh's words mean (`ssh.c`, `sshconnect.c`, `clientloop.c` and `channels.c` of OpenSSH 9).
    pub(super) fn of(words: &str, bastion: &str, server: &str) -> Self {
        let has = |text: &str| words.contains(text);
        let (bastion, server) = (bastion.to_owned(), server.to_owned());
        let line = |with: &[&str]| {
            let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
            let telling = lines.clone().find(|line| with.iter().any(|text| line.contains(text)));
            shown(telling.or_else(|| lines.clone().next_back()).unwrap_or_default())
        };
        if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            return Self::ChangedKey { bastion, said: line(&["Host key verification failed", "key for"]) };
        }
        if has("Host key verification failed") || has("host key is known for") {
            return Self::UnknownKey { bastion, said: line(&["host key is known", "Host key verification failed"]) };
        }
        if has("Permission denied (") || has("Too many authentication failures") {
            return Self::Login { bastion, said: line(&["Permission denied (", "Too many authentication failures"]) };
        }
        if has("administratively prohibited") {
            return Self::Forbidden { bastion, server, said: line(&["administratively prohibited"]) };
        }
        if has("open failed:") || has("stdio forwarding failed") {
            return Self::Beyond { bastion, server, said: line(&["open failed:"]) };
        }
        let gone = ["Could not resolve hostname", "ssh: connect to host", "Connection timed out", "kex_exchange"];
        if gone.iter().any(|text| has(text)) {
            return Self::Unreachable { bastion, said: line(&gone) };
        }
        Self::Other { bastion, said: line(&[]) }
    }

    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NoClient { .. } => "install the OpenSSH client".to_owned(),
            Self::Socket => "name the server's host as the machine between knows it (host=127.0.0.1)".to_owned(),
            Self::UnknownKey { bastion, .. } => {
                format!("log in once by hand (`ssh {bastion}`), and compare the key with what its administrator says")
            }
            Self::ChangedKey { bastion, .. } => {
                format!("ask the administrator of {bastion} whether its key was changed; do not go on if it was not")
            }
            Self::Login { .. } => {
                "load your key (`ssh-add`), or name it in ~/.ssh/config: nothing can be asked here".to_owned()
            }
            Self::Forbidden { .. } => "let its sshd forward there (AllowTcpForwarding, PermitOpen)".to_owned(),
            Self::Beyond { .. } => "check host and port as the machine between sees them".to_owned(),
            Self::Unreachable { .. } | Self::Silent { .. } => {
                "check the name in `via`, and whether ssh reaches it by hand".to_owned()
            }
            Self::Other { bastion, .. } => format!("try by hand: `ssh {bastion}`"),
        }
    }

    /// Nobody answered at all; who answered and refused is another matter.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Silent { .. } | Self::Beyond { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_ssh_has_its_name() {
        let table = [
            (
                "No ED25519 host key is known for b and you have requested strict checking.\r\nHost key verification failed.\r\n",
                "unknown-key",
            ),
            ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n", "changed-key"),
            ("ops@b: Permission denied (publickey).\r\n", "login"),
            (
                "channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed\n",
                "forbidden",
            ),
            ("channel 0: open failed: connect failed: Connection refused\nstdio forwarding failed\n", "beyond"),
            ("ssh: Could not resolve hostname b: Name or service not known\r\n", "unreachable"),
            ("ssh: connect to host b port 22: Connection refused\r\n", "unreachable"),
            ("Bad configuration option: nonsense\n", "other"),
        ];
        for (words, kind) in table {
            let found = match ViaError::of(words, "b", "db:5432") {
                ViaError::UnknownKey { .. } => "unknown-key",
                ViaError::ChangedKey { .. } => "changed-key",
                ViaError::Login { .. } => "login",
                ViaError::Forbidden { .. } => "forbidden",
                ViaError::Beyond { .. } => "beyond",
                ViaError::Unreachable { .. } => "unreachable",
                _ => "other",
            };
            assert_eq!(found, kind, "{words}");
        }
    }

    #[test]
    fn ssh_s_words_cannot_draw_on_a_terminal() {
        let error = ViaError::of("\u{1b}[2Jgone\r\n", "b", "db");
        assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
    }
}
