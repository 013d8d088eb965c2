//! An address in the words of the `tokio-postgres` crate, which reads none of this by itself.
#![forbid(unsafe_code)]

use std::net::IpAddr;

use tokio_postgres::config::{ChannelBinding, SslMode as Tls, SslNegotiation};

use super::choices::Binding;
use super::endpoint::{Endpoint, Place};
use super::typed::Address;

/// The session's name when the string has none.
const APPLICATION: &str = "locked";

impl Address {
    /// The configuration for one endpoint, at one of the addresses that its name stands for. `tls` is the crate's own
    /// mode for this try. Timeouts of the whole try are the caller's: the crate's cover the TCP connect alone.
    #[must_use]
    pub fn config(&self, endpoint: &Endpoint, at: Option<IpAddr>, tls: Tls) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config.user(&self.user).dbname(&self.database).port(endpoint.port).ssl_mode(tls);
        config.application_name(self.application_name.as_deref().unwrap_or(APPLICATION));
        match &endpoint.place {
            Place::Socket(directory) => drop(config.host(directory.to_string_lossy())),
            Place::Host { name, .. } => drop(config.host(name)),
            // The crate wants a name for TLS even where nobody checks it.
            Place::Address(address) => drop(config.host(address.to_string())),
        }
        if let Some(at) = at {
            config.hostaddr(at);
        }
        if let Some(password) = &endpoint.password {
            config.password(password.reveal());
        }
        if let Some(options) = &self.options {
            config.options(options);
        }
        if let Some(time) = self.connect_timeout {
            config.connect_timeout(time);
        }
        config.ssl_negotiation(match self.protection.direct {
            true => SslNegotiation::Direct,
            false => SslNegotiation::Postgres,
        });
        config.channel_binding(match self.protection.binding {
            Binding::Disable => ChannelBinding::Disable,
            Binding::Prefer => ChannelBinding::Prefer,
            Binding::Require => ChannelBinding::Require,
        });
        self.watch(&mut config);
        config
    }

    /// TCP's watch. The crate's own default of two hours stands where the string says nothing.
    fn watch(&self, config: &mut tokio_postgres::Config) {
        let watch = &self.keep_alive;
        config.keepalives(watch.on);
        if let Some(time) = watch.idle {
            config.keepalives_idle(time);
        }
        if let Some(time) = watch.interval {
            config.keepalives_interval(time);
        }
        if let Some(count) = watch.count {
            config.keepalives_retries(count);
        }
        if let Some(time) = watch.user_timeout {
            config.tcp_user_timeout(time);
        }
    }
}
