//! Where a server may be: one endpoint per host of the list, in its order.
#![forbid(unsafe_code)]

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use super::error::AddressError;
use super::parameters::Parameters;
use super::secret::Secret;

/// The port when nobody says otherwise.
const PORT: u16 = 5432;
/// Where packagers and PostgreSQL itself put the socket.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// One server that may answer. Its `Debug` is its `Display`.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Endpoint {
    /// Where it is.
    pub place: Place,
    /// Its port; of a socket the number in the file's name.
    pub port: u16,
    /// The password for it, from the string, the environment, the service or the password file.
    pub password: Option<Secret>,
    /// See [`Parameters::doubtful`].
    pub(super) doubtful: bool,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Place {
    /// The directory of a Unix socket.
    Socket(PathBuf),
    /// A host by its name (or an address written as one), and, when `hostaddr` gives it, where that is.
    Host {
        /// The name that a certificate must bear.
        name: String,
        /// Spares the look-up.
        address: Option<IpAddr>,
    },
    /// An address without a name, from `hostaddr` alone.
    Address(IpAddr),
}

impl fmt::Display for Endpoint {
    /// For people. A string that may have been misread shows nothing of itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.doubtful {
            return f.write_str("the server of the connection string");
        }
        let port = self.port;
        match &self.place {
            Place::Socket(directory) => write!(f, "{}/.s.PGSQL.{port}", directory.display()),
            Place::Host { name, .. } if name.contains(':') => write!(f, "[{name}]:{port}"),
            Place::Host { name, .. } => write!(f, "{name}:{port}"),
            Place::Address(IpAddr::V6(address)) => write!(f, "[{address}]:{port}"),
            Place::Address(address) => write!(f, "{address}:{port}"),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Endpoint {
    /// The name by which a password file knows it.
    pub(super) fn password_name(&self) -> String {
        match &self.place {
            Place::Socket(directory) if is_default(directory) => "localhost".to_owned(),
            Place::Socket(directory) => directory.display().to_string(),
            Place::Host { name, .. } => name.clone(),
            Place::Address(address) => address.to_string(),
        }
    }
}

/// The endpoints of `host`, `hostaddr` and `port`, without passwords. As in libpq the lists must fit each other, one
/// port serves all, and an empty host is the default socket.
pub(super) fn list(given: &Parameters) -> Result<Vec<Endpoint>, AddressError> {
    let split =
        |key: &str| given.get(key).filter(|text| !text.is_empty()).map(|text| text.split(',').collect::<Vec<_>>());
    let (names, addresses, ports) = (split("host"), split("hostaddr"), split("port"));
    let hosts = addresses.as_ref().or(names.as_ref()).map_or(1, Vec::len);
    if let Some(names) = names.as_ref().filter(|names| names.len() != hosts) {
        return Err(AddressError::Lists { key: "host", hosts, count: names.len() });
    }
    if let Some(ports) = ports.as_ref().filter(|ports| ports.len() != 1 && ports.len() != hosts) {
        return Err(AddressError::Lists { key: "port", hosts, count: ports.len() });
    }
    let doubtful = given.doubtful();
    let nth = |list: &Option<Vec<&str>>, at: usize| {
        let list = list.as_ref()?;
        list.get(at).or(list.first()).copied().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    (0..hosts)
        .map(|at| {
            let place = place(nth(&names, at), nth(&addresses, at), doubtful)?;
            let port = port(nth(&ports, at), doubtful)?;
            Ok(Endpoint { place, port, password: None, doubtful })
        })
        .collect()
}

fn place(name: Option<String>, address: Option<String>, doubtful: bool) -> Result<Place, AddressError> {
    let wrong = AddressError::Value { key: "hostaddr", expected: "a numeric IPv4 or IPv6 address" };
    let address = address.map(|text| text.parse::<IpAddr>().map_err(|_| wrong)).transpose()?;
    match (name, address) {
        (Some(name), _) if name.contains('@') => match doubtful {
            true => Err(AddressError::RawAt),
            // Linux' sockets without a file.
            false => Err(AddressError::Unsupported { key: "host" }),
        },
        (Some(name), None) if name.starts_with('/') => Ok(Place::Socket(PathBuf::from(name))),
        (Some(name), address) => Ok(Place::Host { name, address }),
        (None, Some(address)) => Ok(Place::Address(address)),
        (None, None) => Ok(Place::Socket(default_directory())),
    }
}

fn port(text: Option<String>, doubtful: bool) -> Result<u16, AddressError> {
    let Some(text) = text else { return Ok(PORT) };
    match text.trim().parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        // `user:pa/ss@host` reads as host, port and database.
        _ if doubtful => Err(AddressError::RawAt),
        _ => Err(AddressError::Value { key: "port", expected: "a number from 1 to 65535" }),
    }
}

fn default_directory() -> PathBuf {
    let found = SOCKET_DIRECTORIES.iter().map(PathBuf::from).find(|directory| directory.is_dir());
    found.unwrap_or_else(|| PathBuf::from(SOCKET_DIRECTORIES[0]))
}

fn is_default(directory: &std::path::Path) -> bool {
    SOCKET_DIRECTORIES.iter().any(|default| directory == std::path::Path::new(default))
}
