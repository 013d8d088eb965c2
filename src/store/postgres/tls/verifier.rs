//! Whether the server's certificate is good enough for the mode.
#![forbid(unsafe_code)]

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use super::certificate::{Names, public_key};

/// The certificate is for somebody else.
#[derive(Debug, thiserror::Error)]
#[error("certificate not valid for name")]
pub(super) struct WrongName {
    /// The host that was asked for.
    pub(super) host: String,
    /// The names in the certificate.
    pub(super) names: Vec<String>,
}

/// What the certificate must prove.
#[derive(Debug, Clone)]
pub(super) enum Demand {
    /// Nothing: who can change what is sent can read it too.
    Nothing,
    /// It is of a trusted authority.
    Chain(Arc<Trusted>),
    /// It is of a trusted authority, for this host.
    ChainAndName(Arc<Trusted>, String),
}

/// The authorities that we were given.
#[derive(Debug)]
pub(super) struct Trusted {
    /// The library's own verification of chain, times, revocations and name.
    pub(super) inner: Arc<WebPkiServerVerifier>,
    /// The certificates as given; empty for those of the system.
    pub(super) given: Vec<CertificateDer<'static>>,
}

/// Judges the server's certificate.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) demand: Demand,
    pub(super) provider: Arc<CryptoProvider>,
}

impl Verifier {
    /// The chain alone. The library looks at the name last, so a complaint about it means that all else is well.
    fn chain(
        trusted: &Trusted,
        certificate: &CertificateDer<'_>,
        verified: Result<ServerCertVerified, Error>,
    ) -> Result<(), Error> {
        match verified {
            Ok(_) => Ok(()),
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(()),
            // A self-signed certificate made by the recipe in PostgreSQL's manual is its own authority, which the library
            // does not take for a server's. Given to us as it is, it needs no chain; its times were looked at before.
            Err(error) if is(&error, "CaUsedAsEndEntity") && trusted.given.iter().any(|given| given == certificate) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        &self.provider.signature_verification_algorithms
    }

    /// The library reads no certificate of version 1; what signs the handshake is its key alone.
    fn or_by_key(
        &self,
        answer: Result<HandshakeSignatureValid, Error>,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match answer {
            Err(error) if is(&error, "UnsupportedCertVersion") => {
                let key = public_key(certificate).ok_or(error)?;
                verify_tls13_signature_with_raw_key(message, &key, signature, self.algorithms())
            }
            answer => answer,
        }
    }

    fn name(certificate: &CertificateDer<'_>, server: &ServerName<'_>, host: &str) -> Result<(), Error> {
        let parsed = rustls::server::ParsedCertificate::try_from(certificate)?;
        if rustls::client::verify_server_name(&parsed, server).is_ok() {
            return Ok(());
        }
        let names = Names::of(certificate);
        match names.common_name_is(host) {
            true => Ok(()),
            false => {
                let wrong = WrongName { host: host.to_owned(), names: names.shown() };
                Err(CertificateError::Other(OtherError(Arc::new(wrong))).into())
            }
        }
    }
}

/// The library's errors about certificates reach us without a type of their own.
fn is(error: &Error, name: &str) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other)) if other.to_string() == name)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verify = |trusted: &Trusted| {
            let verified = trusted.inner.verify_server_cert(end_entity, intermediates, server, ocsp, now);
            Self::chain(trusted, end_entity, verified)
        };
        match &self.demand {
            Demand::Nothing => {}
            Demand::Chain(trusted) => verify(trusted)?,
            Demand::ChainAndName(trusted, host) => {
                verify(trusted)?;
                Self::name(end_entity, server, host)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let answer = verify_tls12_signature(message, certificate, signature, self.algorithms());
        self.or_by_key(answer, message, certificate, signature)
    }

    /// Also without any demand the server must own the certificate's key: channel binding rests on it.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let answer = verify_tls13_signature(message, certificate, signature, self.algorithms());
        self.or_by_key(answer, message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms().supported_schemes()
    }
}
