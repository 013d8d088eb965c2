//! `via`: the way to a server that only another machine can reach. The user's own ssh client carries the connection
//! (`ssh -W`, the client's standard input and output being the stream), so whatever their configuration says of hosts,
//! keys and jumps holds; TLS goes through it to the server and proves the server's name as on a direct way.
//!
//! It promises: nothing is asked of a terminal; no port is opened on this machine; the client lives as long as the
//! connection and is reaped; the password is seen by neither the client nor the machine between when TLS is used; what
//! ssh says is told in our words with its own behind. Names are looked up on the machine between.
#![forbid(unsafe_code)]

#[cfg_attr(windows, allow(dead_code, reason = "for the tunnel, and there is none yet"))]
mod bastion;
mod error;
#[cfg(unix)]
mod tunnel;
#[cfg(windows)]
mod windows;

#[cfg(windows)]
use windows as tunnel;

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::config::SslMode as Tls;
use tokio_postgres::tls::MakeTlsConnect;

use super::address::{Address, Endpoint, Place, Surroundings, Target};
use super::connector::Connected;
use super::tls::{ConnectError, Connector, Next, TlsError, Unconnected, judge, target, ways};
pub use bastion::{Bastion, BastionError};
pub use error::ViaError;
use tunnel::Tunnel;

/// The shortest share of the time that one try gets while there is more: ssh logs in first.
const SHORTEST: Duration = Duration::from_secs(5);

/// Connects within `limit`, each endpoint in its order. Needs a runtime with sockets and time.
///
/// # Errors
/// No endpoint served; every try is told. When ssh itself does not come through, no further one is tried.
pub async fn connect(
    address: &Address,
    around: &dyn Surroundings,
    bastion: &Bastion,
    limit: Duration,
) -> Result<Connected, Unconnected> {
    let deadline = Instant::now() + limit;
    let mut failed = Vec::new();
    let rounds: &[bool] = if address.target == Target::PreferStandby { &[true, false] } else { &[true] };
    for strict in rounds {
        for (at, endpoint) in address.endpoints.iter().enumerate() {
            let left = address.endpoints.len() - at;
            let ways = ways(address.protection.mode, endpoint);
            for (nth, tls) in ways.iter().enumerate() {
                let limit = share(address, deadline, left);
                let one = One { address, around, bastion, endpoint, limit };
                match one.run(*tls, *strict).await {
                    Ok(connected) => return Ok(connected),
                    Err(Next::Stop(error)) => {
                        let of_the_way = matches!(error, ConnectError::Via(_));
                        failed.push(error);
                        if of_the_way || nth + 1 == ways.len() {
                            return Err(Unconnected(failed));
                        }
                    }
                    Err(Next::Go(error)) => {
                        let nobody = matches!(error, ConnectError::Via(_) | ConnectError::Unreachable { .. });
                        failed.push(error);
                        if deadline <= Instant::now() {
                            return Err(Unconnected(failed));
                        }
                        // Where nobody answers, another way finds nobody either.
                        if nobody {
                            break;
                        }
                    }
                }
            }
        }
    }
    Err(Unconnected(failed))
}

/// The time of one try while `left` could still follow, itself included.
fn share(address: &Address, deadline: Instant, left: usize) -> Duration {
    let rest = deadline.saturating_duration_since(Instant::now());
    let count = u32::try_from(left.max(1)).unwrap_or(u32::MAX);
    address.connect_timeout.unwrap_or_else(|| (rest / count).max(SHORTEST)).min(rest)
}

/// One try.
struct One<'a> {
    address: &'a Address,
    around: &'a dyn Surroundings,
    bastion: &'a Bastion,
    endpoint: &'a Endpoint,
    limit: Duration,
}

impl One<'_> {
    async fn run(&self, tls: Tls, strict: bool) -> Result<Connected, Next> {
        let host = self.host().map_err(|error| Next::Go(error.into()))?;
        let connector = match tls {
            Tls::Disable => Connector::unused(),
            _ => Connector::new(&self.address.protection, self.endpoint, self.around),
        }
        .map_err(|error: TlsError| Next::Stop(error.into()))?;
        let (tunnel, words) =
            Tunnel::open(self.bastion, &host, self.limit).map_err(|error| Next::Stop(error.into()))?;
        match timeout(self.limit, self.over(tunnel, connector, tls, strict)).await {
            Ok(Ok(connected)) => Ok(connected),
            // What ssh says of its end explains the end of the stream; what a server has answered needs no explanation.
            Ok(Err(Next::Go(error @ (ConnectError::Unreachable { .. } | ConnectError::Tls { .. })))) => {
                Err(words.last().await.map_or(Next::Go(error), |said| self.told(&said)))
            }
            Ok(Err(next)) => Err(next),
            Err(_) => match words.now() {
                Some(said) => Err(self.told(&said)),
                // Had the machine between been silent, ssh would have said so before.
                None => Err(Next::Go(ViaError::Silent { bastion: self.bastion.to_string(), after: self.limit }.into())),
            },
        }
    }

    async fn over(&self, tunnel: Tunnel, mut connector: Connector, tls: Tls, strict: bool) -> Result<Connected, Next> {
        let config = self.address.config(self.endpoint, None, tls);
        let Ok(secured) = MakeTlsConnect::<Tunnel>::make_tls_connect(&mut connector, "");
        let connected = config.connect_raw(tunnel, secured).await;
        let (client, mut connection) = connected.map_err(|error| judge(self.address, self.endpoint, &error))?;
        match target::unsuited(self.address.target, strict, &client, &mut connection).await {
            Ok(None) => Ok(Connected::of(client, connection)),
            Ok(Some(is)) => {
                let wanted = self.address.target.name();
                Err(Next::Go(ConnectError::Target { server: self.endpoint.to_string(), is, wanted }))
            }
            Err(error) => Err(judge(self.address, self.endpoint, &error)),
        }
    }

    /// Where the machine between is to connect to.
    fn host(&self) -> Result<String, ViaError> {
        let host = match &self.endpoint.place {
            Place::Socket(_) => return Err(ViaError::Socket),
            Place::Host { address: Some(address), .. } | Place::Address(address) => address.to_string(),
            Place::Host { name, address: None } => name.clone(),
        };
        let port = self.endpoint.port;
        Ok(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
    }

    fn told(&self, said: &str) -> Next {
        let error = ViaError::of(said, &self.bastion.to_string(), &self.endpoint.to_string());
        match error {
            // The way stands; another server may answer.
            ViaError::Beyond { .. } => Next::Go(error.into()),
            _ => Next::Stop(error.into()),
        }
    }
}

/// Connects within `limit`, directly or through a machine between.
///
/// # Errors
/// No endpoint served; every try is told.
pub async fn reach(
    address: &Address,
    around: &dyn Surroundings,
    bastion: Option<&Bastion>,
    limit: Duration,
) -> Result<Connected, Unconnected> {
    match bastion {
        Some(bastion) => connect(address, around, bastion, limit).await,
        None => {
            let link = super::tls::connect(address, around, limit).await?;
            Ok(Connected::of(link.client, link.connection))
        }
    }
}
