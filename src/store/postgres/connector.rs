//! How a connection comes about: by an address with everything that users put into one, or by what a test has at hand.
#![forbid(unsafe_code)]

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, Socket};

use super::address::{Address, Surroundings};
use super::tls::{self, Unconnected};
use super::via::{self, Bastion};

/// A connection.
pub struct Connected {
    /// What asks.
    pub client: Client,
    /// What carries the asking and must be polled meanwhile.
    pub driver: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
    /// What the server calls out to who listens (`LISTEN`): the payloads.
    pub calls: mpsc::Receiver<String>,
}

/// So many calls are kept for who does not hear them at once; what is more is dropped, since one is enough to look.
const MOST_CALLS: usize = 64;

impl Connected {
    /// The two halves that the library makes.
    pub fn of<S, T>(client: Client, mut connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (caller, calls) = mpsc::channel(MOST_CALLS);
        let driver = async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(call) = message? {
                    let _nobody_listens_any_more = caller.try_send(call.payload().to_owned());
                }
            }
            Ok(())
        };
        Self { client, driver: Box::pin(driver), calls }
    }
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connected")
    }
}

/// A connection that is coming about.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Connected, NotConnected>> + 'a>>;

/// Why there is none.
#[derive(Debug)]
pub enum NotConnected {
    /// The library says so.
    Plain(Error),
    /// Each endpoint of an address has its reason.
    Tried(Unconnected),
}

/// Connects.
pub trait Connector: Send {
    /// A fresh connection within `limit`. `config` is the one of [`super::PostgresStore::new`].
    fn connect<'a>(&'a self, config: &'a Config, limit: Duration) -> Connecting<'a>;
}

/// A connector by what makes connections secure ([`tokio_postgres::NoTls`]: nothing does). The caller bounds the time.
#[derive(Debug)]
pub struct With<T>(pub T);

impl<T> Connector for With<T>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect<'a>(&'a self, config: &'a Config, _limit: Duration) -> Connecting<'a> {
        Box::pin(async move {
            let (client, connection) = config.connect(self.0.clone()).await.map_err(NotConnected::Plain)?;
            Ok(Connected::of(client, connection))
        })
    }
}

/// A connector by an address: its endpoints in their order, protected as it says.
pub(super) struct At {
    pub(super) address: Address,
    pub(super) around: Box<dyn Surroundings + Send>,
    /// The machine between, if the server cannot be reached directly.
    pub(super) bastion: Option<Bastion>,
}

impl Connector for At {
    fn connect<'a>(&'a self, _config: &'a Config, limit: Duration) -> Connecting<'a> {
        Box::pin(async move {
            let around = self.around.as_ref();
            if let Some(bastion) = &self.bastion {
                return via::connect(&self.address, around, bastion, limit).await.map_err(NotConnected::Tried);
            }
            let link = tls::connect(&self.address, around, limit).await.map_err(NotConnected::Tried)?;
            Ok(Connected::of(link.client, link.connection))
        })
    }
}
