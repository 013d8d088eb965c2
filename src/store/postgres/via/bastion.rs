//! The machine between, as `ssh://[user@]host[:port]` names it, and the command that leads through it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A machine to go through. `host` may be a name of the user's ssh configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bastion {
    user: Option<String>,
    host: String,
    port: Option<u16>,
    client: PathBuf,
}

/// Why a text names no machine to go through. The text is not repeated: it may have a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BastionError {
    /// Another form.
    #[error("`via` is ssh://[USER@]HOST[:PORT]")]
    Form,
    /// ssh has no place for a password.
    #[error("`via` may have no password: ssh takes keys from its agent or its configuration")]
    Password,
}

impl fmt::Display for Bastion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Bastion {
    /// Reads `ssh://[user@]host[:port]`. `client` is the real ssh, as a path: found on PATH past our own shims.
    ///
    /// # Errors
    /// See [`BastionError`].
    pub fn read(text: &str, client: &Path) -> Result<Self, BastionError> {
        let rest = text.strip_prefix("ssh://").ok_or(BastionError::Form)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => return Err(BastionError::Password),
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        let (host, port) = split(place).ok_or(BastionError::Form)?;
        let port = port.map(str::parse::<u16>).transpose().map_err(|_| BastionError::Form)?;
        if port == Some(0) || !is_word(host) || user.is_some_and(|user| !is_word(user)) {
            return Err(BastionError::Form);
        }
        let user = user.map(str::to_owned);
        Ok(Self { user, host: host.to_owned(), port, client: client.to_owned() })
    }

    /// The ssh client.
    pub(super) fn client(&self) -> &Path {
        &self.client
    }

    /// Its arguments, to carry its standard input and output to `place` (`host:port` there).
    pub(super) fn arguments(&self, place: &str, limit: Duration) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let mut say = |word: &str| words.push(word.into());
        // Order: the first value that ssh meets holds, so these win over the user's configuration.
        for option in ["BatchMode=yes", "ControlMaster=no", "PermitLocalCommand=no", "LogLevel=INFO"] {
            say("-o");
            say(option);
        }
        // A machine between that has gone is noticed within a minute.
        for option in ["ServerAliveInterval=15", "ServerAliveCountMax=3"] {
            say("-o");
            say(option);
        }
        say("-o");
        // Ends before our own limit does, so that ssh says which part of the way is silent.
        say(&format!("ConnectTimeout={}", (limit.as_secs() * 2 / 3).max(1)));
        say("-ax");
        say("-W");
        say(place);
        if let Some(user) = &self.user {
            say("-l");
            say(user);
        }
        if let Some(port) = self.port {
            say("-p");
            say(&port.to_string());
        }
        say("--");
        say(&self.host);
        words
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`.
fn split(place: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match place.split_once(':') {
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, Some(port))),
        None => Some((place, None)),
    }
}

/// What ssh takes neither for an option nor for a piece of a command line.
fn is_word(text: &str) -> bool {
    let fit = |c: char| c.is_alphanumeric() || "._-:%+".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_machine_is_read_and_everything_else_refused() {
        let read = |text: &str| Bastion::read(text, Path::new("/usr/bin/ssh"));
        let good = [
            ("ssh://bastion", "bastion"),
            ("ssh://ops@bastion.example.org:2222/", "bastion.example.org:2222"),
            ("ssh://[::1]:22", "::1:22"),
        ];
        for (text, shown) in good {
            assert_eq!(read(text).map(|it| it.to_string()).as_deref(), Ok(shown), "{text}");
        }
        let bad = [
            "bastion",
            "ssh://",
            "ssh://-oProxyCommand=x",
            "ssh://a b",
            "ssh://h:0",
            "ssh://h:x",
            "ssh://h/p",
            "ssh://-u@h",
        ];
        for text in bad {
            assert_eq!(read(text), Err(BastionError::Form), "{text}");
        }
        assert_eq!(read("ssh://ops:secret@bastion"), Err(BastionError::Password));
    }

    #[test]
    fn the_host_is_never_an_option_and_nothing_is_asked() {
        let bastion = Bastion::read("ssh://ops@bastion:2222", Path::new("/usr/bin/ssh")).expect("read");
        let words = bastion.arguments("db:5432", Duration::from_secs(9));
        let text = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("-o BatchMode=yes "), "{text}");
        assert!(text.ends_with("-o ConnectTimeout=6 -ax -W db:5432 -l ops -p 2222 -- bastion"), "{text}");
    }
}
