//! Tries the endpoints one after the other until one serves.
#![forbid(unsafe_code)]

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::config::SslMode as Tls;
use tokio_postgres::{Client, Connection, Socket};

use super::super::address::{Address, Endpoint, Place, SslMode, Surroundings, Target};
use super::connector::{Connector, Stream};
use super::error::{ConnectError, Unconnected};
use super::fault::{TlsFault, chain, finds_no_room, printable};
use super::target;

/// The shortest share of the time that one try gets while there is more.
const SHORTEST: Duration = Duration::from_secs(2);
/// A server that starts, stops or recovers: `cannot_connect_now`. The next one may serve.
const NOT_NOW: &str = "57P03";

/// A connection that stands. Nothing moves on it until `connection` is polled, by a task or along with each query.
pub struct Link {
    /// The side that asks.
    pub client: Client,
    /// The side that does the work; it ends when the client is dropped or the server hangs up.
    pub connection: Connection<Socket, Stream>,
    /// Which endpoint of the address it was.
    pub endpoint: usize,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// What a failed try means for those that would follow.
pub(in crate::store::postgres) enum Next {
    /// Another way to the same address, if the mode has one; else the next one.
    Go(ConnectError),
    /// As libpq: who is refused a login does not try it at the next host.
    Stop(ConnectError),
}

/// Connects within `limit`. A host name's addresses are tried in their order; each try has the string's
/// `connect_timeout`, or else a fair share of what is left, so that a silent first host does not use up everything.
/// Needs a runtime with sockets and time.
///
/// # Errors
/// No endpoint served; every try is told.
pub async fn connect(address: &Address, around: &dyn Surroundings, limit: Duration) -> Result<Link, Unconnected> {
    let deadline = Instant::now() + limit;
    let mut tries = Tries { address, around, deadline, limit, failed: Vec::new() };
    let mut order: Vec<usize> = (0..address.endpoints.len()).collect();
    if address.shuffled {
        shuffle(&mut order);
    }
    let rounds: &[bool] = if address.target == Target::PreferStandby { &[true, false] } else { &[true] };
    for strict in rounds {
        for (at, endpoint) in order.iter().enumerate() {
            match tries.endpoint(*endpoint, *strict, order.len() - at).await {
                Some(Ok(link)) => return Ok(link),
                Some(Err(())) => return Err(Unconnected(tries.failed)),
                None => {}
            }
        }
    }
    Err(Unconnected(tries.failed))
}

struct Tries<'a> {
    address: &'a Address,
    around: &'a dyn Surroundings,
    deadline: Instant,
    limit: Duration,
    failed: Vec<ConnectError>,
}

impl Tries<'_> {
    /// Tries one endpoint at each of its addresses. None: on to the next one. An error: no further.
    async fn endpoint(&mut self, at: usize, strict: bool, hosts_left: usize) -> Option<Result<Link, ()>> {
        let address = self.address;
        let endpoint = &address.endpoints[at];
        let places = match self.places(endpoint).await {
            Ok(places) => places,
            Err(error) => {
                self.failed.push(error);
                return None;
            }
        };
        for (place, left) in places.iter().zip((hosts_left..hosts_left + places.len()).rev()) {
            if self.deadline <= Instant::now() && !self.failed.is_empty() {
                return Some(Err(()));
            }
            if let Some(end) = self.place(at, *place, strict, left).await {
                return Some(end);
            }
        }
        None
    }

    /// Tries one address in each way that the mode allows.
    async fn place(&mut self, at: usize, place: Option<IpAddr>, strict: bool, left: usize) -> Option<Result<Link, ()>> {
        let endpoint = &self.address.endpoints[at];
        let ways = ways(self.address.protection.mode, endpoint);
        for (nth, tls) in ways.iter().enumerate() {
            let limit = self.share(left);
            let silent = || Next::Go(ConnectError::Silent { server: endpoint.to_string(), after: limit });
            match timeout(limit, self.one(at, place, *tls, strict)).await.unwrap_or_else(|_| Err(silent())) {
                Ok(link) => return Some(Ok(link)),
                Err(Next::Stop(error)) => {
                    self.failed.push(error);
                    if nth + 1 == ways.len() {
                        return Some(Err(()));
                    }
                }
                Err(Next::Go(error)) => {
                    let nobody = matches!(
                        error,
                        ConnectError::Silent { .. } | ConnectError::Unreachable { .. } | ConnectError::Crowded { .. }
                    );
                    self.failed.push(error);
                    // Where nobody answers, another way finds nobody either.
                    if nobody {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Where the endpoint is: its addresses, or one place that needs none.
    async fn places(&self, endpoint: &Endpoint) -> Result<Vec<Option<IpAddr>>, ConnectError> {
        let name = match &endpoint.place {
            Place::Socket(_) => return Ok(vec![None]),
            Place::Address(address) | Place::Host { address: Some(address), .. } => return Ok(vec![Some(*address)]),
            Place::Host { name, address: None } => name,
        };
        let server = endpoint.to_string();
        match timeout(self.share(1), tokio::net::lookup_host((name.as_str(), endpoint.port))).await {
            Err(_) => Err(ConnectError::Silent { server, after: self.limit }),
            Ok(Err(error)) => Err(ConnectError::Name { server, why: error.to_string() }),
            Ok(Ok(found)) => {
                let found: Vec<_> = found.map(|address| Some(address.ip())).collect();
                let nothing = || ConnectError::Name { server, why: "it has no address".to_owned() };
                if found.is_empty() { Err(nothing()) } else { Ok(found) }
            }
        }
    }

    /// The time of one try while `left` could still follow, itself included.
    fn share(&self, left: usize) -> Duration {
        let rest = self.deadline.saturating_duration_since(Instant::now());
        let count = u32::try_from(left.max(1)).unwrap_or(u32::MAX);
        self.address.connect_timeout.unwrap_or_else(|| (rest / count).max(SHORTEST)).min(rest)
    }

    async fn one(&self, at: usize, place: Option<IpAddr>, tls: Tls, strict: bool) -> Result<Link, Next> {
        let endpoint = &self.address.endpoints[at];
        let config = self.address.config(endpoint, place, tls);
        let connector = match tls {
            Tls::Disable => Connector::unused(),
            _ => Connector::new(&self.address.protection, endpoint, self.around),
        }
        .map_err(|error| Next::Stop(error.into()))?;
        let (client, mut connection) =
            config.connect(connector).await.map_err(|error| judge(self.address, endpoint, &error))?;
        match target::unsuited(self.address.target, strict, &client, &mut connection).await {
            Ok(None) => Ok(Link { client, connection, endpoint: at }),
            Ok(Some(is)) => {
                let wanted = self.address.target.name();
                Err(Next::Go(ConnectError::Target { server: endpoint.to_string(), is, wanted }))
            }
            Err(error) => Err(judge(self.address, endpoint, &error)),
        }
    }
}

/// The ways to one address, in libpq's order. In `prefer` the first one goes on without TLS by itself when the server
/// has none; the second is for a handshake or a login that fails with it.
pub(in crate::store::postgres) fn ways(mode: SslMode, endpoint: &Endpoint) -> &'static [Tls] {
    match (&endpoint.place, mode) {
        (Place::Socket(_), _) | (_, SslMode::Disable) => &[Tls::Disable],
        (_, SslMode::Allow) => &[Tls::Disable, Tls::Require],
        (_, SslMode::Prefer) => &[Tls::Prefer, Tls::Disable],
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => &[Tls::Require],
    }
}

/// What the crate's error means.
pub(in crate::store::postgres) fn judge(address: &Address, endpoint: &Endpoint, error: &tokio_postgres::Error) -> Next {
    let server = endpoint.to_string();
    if let Some(said) = error.as_db_error() {
        let code = said.code().code().to_owned();
        // The server repeats the user and the database.
        let message = if address.doubtful { "login refused".to_owned() } else { printable(said.message()) };
        let not_now = code == NOT_NOW;
        let refused = ConnectError::Refused { server, code, message };
        return if not_now { Next::Go(refused) } else { Next::Stop(refused) };
    }
    if finds_no_room(error) {
        return Next::Go(ConnectError::Crowded { server });
    }
    let why = chain(error);
    let kind = error.to_string();
    if kind.contains("TLS handshake") {
        if why.contains("does not support TLS") {
            return Next::Go(ConnectError::NoTls { server, mode: address.protection.mode.name() });
        }
        return Next::Go(ConnectError::Tls { server, fault: TlsFault::of(error), chain: why });
    }
    match (kind.as_str(), TlsFault::of(error)) {
        // In TLS 1.3 the server's word on our certificate comes after the handshake.
        (_, fault @ TlsFault::ClientCertificate) => Next::Go(ConnectError::Tls { server, fault, chain: why }),
        ("invalid configuration", _) if why.contains("password missing") => {
            Next::Stop(ConnectError::NoPassword { server })
        }
        ("invalid configuration" | "authentication error", _) => Next::Stop(ConnectError::Login { server, why }),
        _ => Next::Go(ConnectError::Unreachable { server, why }),
    }
}

/// Any order is as likely as any other, as far as that matters for sharing load.
fn shuffle(order: &mut [usize]) {
    for at in (1..order.len()).rev() {
        let random = getrandom::u32().unwrap_or_default();
        order.swap(at, random as usize % (at + 1));
    }
}
