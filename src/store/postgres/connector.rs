//! How a connection comes about: plainly, over TLS, or by whatever else can carry it.
#![forbid(unsafe_code)]

use std::future::Future;
use std::pin::Pin;

use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

/// A connection: what asks, and what carries the asking and must be polled meanwhile.
pub type Connected = (Client, Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>);

/// A connection that is coming about.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Connected, Error>> + Send + 'a>>;

/// Connects. The caller bounds the time.
pub trait Connector: Send {
    /// A fresh connection as the configuration says.
    fn connect<'a>(&'a self, config: &'a Config) -> Connecting<'a>;
}

/// A connector by what makes connections secure ([`tokio_postgres::NoTls`]: nothing does).
#[derive(Debug)]
pub struct With<T>(pub T);

impl<T> Connector for With<T>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect<'a>(&'a self, config: &'a Config) -> Connecting<'a> {
        Box::pin(async move {
            let (client, driver) = config.connect(self.0.clone()).await?;
            let driver: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> = Box::pin(driver);
            Ok((client, driver))
        })
    }
}
