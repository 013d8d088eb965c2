//! What a failed handshake means: the cause in one sentence, and the step that helps.
#![forbid(unsafe_code)]

use std::error::Error;

use rustls::{AlertDescription, CertificateError};

use super::verifier::WrongName;

/// Why a TLS handshake failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// Nobody that we trust has signed it.
    #[error("the server's certificate is of no authority that we were given")]
    UnknownIssuer,
    /// A CA's certificate used as a server's.
    #[error("the server's certificate is itself that of an authority (CA:TRUE)")]
    AuthorityAsServer,
    /// Made for other hosts.
    #[error("the server's certificate is not for {host}, but for {}", listed(.names))]
    WrongName {
        /// The name that was asked for.
        host: String,
        /// The names that it bears.
        names: Vec<String>,
    },
    /// Too old.
    #[error("the server's certificate has expired")]
    Expired,
    /// Too young.
    #[error("the server's certificate is not valid yet")]
    NotYet,
    /// Withdrawn.
    #[error("the server's certificate is revoked")]
    Revoked,
    /// The list of revocations does not say.
    #[error("no list of revocations speaks of the server's certificate or its authority")]
    Unlisted,
    /// X.509 version 1.
    #[error("the server's certificate is X.509 version 1, which cannot be verified")]
    Version1,
    /// A certificate that is bad in another way.
    #[error("the server's certificate cannot be used")]
    BadCertificate,
    /// No version of TLS in common.
    #[error("the server speaks no version of TLS that we may speak")]
    Versions,
    /// The server does not like our certificate, or that there is none.
    #[error("the server does not accept our client certificate, or wants one")]
    ClientCertificate,
    /// TLS that begins unasked met a server that does not know it.
    #[error("the server hung up during the handshake")]
    HungUp,
    /// Something else.
    #[error("the handshake broke off")]
    Other,
}

impl TlsFault {
    /// Reads the cause out of an error's sources.
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        match sources(error).find_map(|source| source.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(cause)) => Self::of_certificate(cause),
            Some(rustls::Error::AlertReceived(alert)) => Self::of_alert(*alert),
            Some(rustls::Error::PeerIncompatible(_)) => Self::Versions,
            Some(_) => Self::Other,
            None if chain(error).contains("eof") => Self::HungUp,
            None => Self::Other,
        }
    }

    fn of_certificate(cause: &CertificateError) -> Self {
        match cause {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYet,
            CertificateError::Revoked => Self::Revoked,
            CertificateError::UnknownRevocationStatus => Self::Unlisted,
            CertificateError::Other(other) => match other.0.downcast_ref::<WrongName>() {
                Some(wrong) => Self::WrongName { host: wrong.host.clone(), names: wrong.names.clone() },
                // The library's own errors have no type that we could name.
                None => match other.to_string().as_str() {
                    "CaUsedAsEndEntity" => Self::AuthorityAsServer,
                    "UnsupportedCertVersion" => Self::Version1,
                    _ => Self::BadCertificate,
                },
            },
            _ => Self::BadCertificate,
        }
    }

    fn of_alert(alert: AlertDescription) -> Self {
        match alert {
            AlertDescription::ProtocolVersion => Self::Versions,
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::UnknownCA => Self::ClientCertificate,
            _ => Self::Other,
        }
    }

    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        let text = match self {
            Self::UnknownIssuer => {
                "name the file of the server's CA in sslrootcert (hosting services offer it for download; sslrootcert=system \
                 for a public authority); if a CA between is missing, add it to the server's certificate file"
            }
            Self::AuthorityAsServer => {
                "name this very certificate in sslrootcert, or give the server one with CA:FALSE, signed by its CA"
            }
            Self::WrongName { .. } => {
                "use one of these names as host (hostaddr may stand beside it), or give the server a certificate for this one"
            }
            Self::Expired => "renew the server's certificate; check this machine's clock",
            Self::NotYet => "check the clocks of this machine and of the server's CA",
            Self::Revoked => "give the server a new certificate",
            Self::Unlisted => "complete the file that sslcrl names (or ~/.postgresql/root.crl)",
            Self::Version1 => {
                "make the certificate anew with extensions (openssl x509 -req -extfile, with subjectAltName)"
            }
            Self::BadCertificate => "see the text in brackets; make the server's certificate anew",
            Self::Versions => {
                "enable TLS 1.2 or 1.3 at the server; check ssl_min_protocol_version and ssl_max_protocol_version"
            }
            Self::ClientCertificate => {
                "name your certificate and key in sslcert and sslkey, signed by a CA of the server's"
            }
            Self::HungUp => "take sslnegotiation=direct out (it needs PostgreSQL 17); else see the server's log",
            Self::Other => "see the text in brackets, and the server's log",
        };
        text.to_owned()
    }
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => "no host at all".to_owned(),
        false => names.join(", "),
    }
}

/// Everything that an error says, from the outermost to the innermost cause, each once.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    for source in sources(error) {
        let text = printable(&source.to_string());
        if !texts.iter().any(|before| before.contains(&text)) {
            texts.push(text);
        }
    }
    texts.join(": ")
}

/// An error and its causes. What an `io::Error` wraps is its cause, which its own `source` steps over.
/// So many want to come to it at this moment that its queue has no room: what `connect` says with EAGAIN of a Unix socket
/// whose listener is behind (connect(2)). It knows nothing of us, and the next try may find room.
pub(in crate::store::postgres) fn finds_no_room(error: &(dyn Error + 'static)) -> bool {
    let full = |error: &std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    sources(error).any(|source| source.downcast_ref().is_some_and(full))
}

fn sources<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// Text from the other side, without what could steer a terminal, and not too long.
pub(super) fn printable(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() { c } else { ' ' });
    clean.take(300).collect()
}
