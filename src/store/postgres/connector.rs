//! How a connection comes about: by an address with everything that users put into one, or by what a test has at hand.
#![forbid(unsafe_code)]

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

use super::address::{Address, Surroundings};
use super::tls::{self, Unconnected};

/// A connection: what asks, and what carries the asking and must be polled meanwhile.
pub type Connected = (Client, Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>);

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
            let (client, driver) = config.connect(self.0.clone()).await.map_err(NotConnected::Plain)?;
            let driver: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> = Box::pin(driver);
            Ok((client, driver))
        })
    }
}

/// A connector by an address: its endpoints in their order, protected as it says.
pub(super) struct At {
    pub(super) address: Address,
    pub(super) around: Box<dyn Surroundings + Send>,
}

impl Connector for At {
    fn connect<'a>(&'a self, _config: &'a Config, limit: Duration) -> Connecting<'a> {
        Box::pin(async move {
            let link = tls::connect(&self.address, self.around.as_ref(), limit).await.map_err(NotConnected::Tried)?;
            let driver: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> = Box::pin(link.connection);
            Ok((link.client, driver))
        })
    }
}
