//! One TLS set-up for one endpoint, in the form that the `tokio-postgres` crate takes.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, NamedGroup, SupportedProtocolVersion};
use tokio_postgres::Socket;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::address::{Endpoint, Place, Protection, SslMode, Surroundings, TlsVersion};
use super::error::TlsError;
use super::verifier::{Demand, Verifier};
use super::{identity, roots};

/// What ALPN calls the protocol, for TLS that begins unasked.
const PROTOCOL: &[u8] = b"postgresql";
/// A name that no certificate is asked for and that is never sent: addresses are not.
const NOBODY: &str = "0.0.0.0";

/// The stream behind a connection.
pub type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Makes TLS for one endpoint. The name that a certificate must bear is the endpoint's, not what the crate says.
#[derive(Clone)]
pub struct Connector {
    inner: MakeRustlsConnect,
    name: String,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    /// Reads what the protection names: authorities, revocations, our own certificate.
    ///
    /// # Errors
    /// A file is missing, or is not what it should be; verification is demanded without anything to verify against.
    pub fn new(protection: &Protection, endpoint: &Endpoint, around: &dyn Surroundings) -> Result<Self, TlsError> {
        let provider = provider();
        let (demand, name) = demand(protection, endpoint, around, &provider)?;
        let identity = identity::load(protection, around, &provider)?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions(protection))
            .map_err(|error| TlsError::Other(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier { demand, provider }));
        let mut config = match identity {
            Some(identity) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity))),
            None => builder.with_no_client_auth(),
        };
        config.enable_sni = protection.server_name;
        if protection.direct {
            config.alpn_protocols = vec![PROTOCOL.to_vec()];
        }
        Ok(Self { inner: MakeRustlsConnect::new(config), name })
    }

    /// For a try without TLS: reads nothing.
    pub(in crate::store::postgres) fn unused() -> Result<Self, TlsError> {
        let provider = provider();
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::Other(error.to_string()))?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        Ok(Self { inner: MakeRustlsConnect::new(config), name: NOBODY.to_owned() })
    }
}

impl<S> MakeTlsConnect<S> for Connector
where
    MakeRustlsConnect: MakeTlsConnect<S, Error = Infallible>,
{
    type Stream = <MakeRustlsConnect as MakeTlsConnect<S>>::Stream;
    type TlsConnect = <MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect;
    type Error = Infallible;

    fn make_tls_connect(&mut self, _: &str) -> Result<Self::TlsConnect, Infallible> {
        MakeTlsConnect::<S>::make_tls_connect(&mut self.inner, &self.name)
    }
}

/// What the certificate must prove, and the name to open TLS with.
fn demand(
    protection: &Protection,
    endpoint: &Endpoint,
    around: &dyn Surroundings,
    provider: &Arc<CryptoProvider>,
) -> Result<(Demand, String), TlsError> {
    let trusted = roots::load(protection, around, provider)?.map(Arc::new);
    let host = match &endpoint.place {
        Place::Host { name, .. } => ServerName::try_from(name.as_str()).is_ok().then(|| name.clone()),
        Place::Socket(_) | Place::Address(_) => None,
    };
    match (protection.mode, trusted) {
        (SslMode::VerifyFull, Some(trusted)) => {
            let host = host.ok_or(TlsError::NoName)?;
            Ok((Demand::ChainAndName(trusted, host.clone()), host))
        }
        (mode @ (SslMode::VerifyFull | SslMode::VerifyCa), None) => Err(TlsError::NoRoots { mode: mode.name() }),
        (_, Some(trusted)) => Ok((Demand::Chain(trusted), host.unwrap_or(NOBODY.to_owned()))),
        (_, None) => Ok((Demand::Nothing, host.unwrap_or(NOBODY.to_owned()))),
    }
}

/// ring, with P-256 as the first key share: PostgreSQL up to 17 knows only that curve, and another guess costs a round
/// trip on every connection (`ssl_ecdh_curve`; from 18 on it knows X25519 too).
fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    provider.kx_groups.sort_by_key(|group| group.name() != NamedGroup::secp256r1);
    Arc::new(provider)
}

fn versions(protection: &Protection) -> Vec<&'static SupportedProtocolVersion> {
    match protection.versions {
        (TlsVersion::V13, _) => vec![&rustls::version::TLS13],
        (_, TlsVersion::V12) => vec![&rustls::version::TLS12],
        _ => vec![&rustls::version::TLS13, &rustls::version::TLS12],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_share_is_the_one_that_servers_know() {
        let names: Vec<_> = provider().kx_groups.iter().map(|group| group.name()).collect();
        assert_eq!(names.first(), Some(&NamedGroup::secp256r1));
        assert!(names.len() > 1, "the others stay: {names:?}");
    }
}
