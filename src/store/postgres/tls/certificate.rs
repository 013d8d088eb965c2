//! What a certificate says of itself, where the TLS library does not look: its names, and the key of an old one.
#![forbid(unsafe_code)]

use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use x509_cert::Certificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// `id-at-commonName` (RFC 5280, appendix A.1).
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
/// `id-ce-subjectAltName` (RFC 5280, 4.2.1.6).
const ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// For whom a certificate was made.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Host names and addresses of the alternative names.
    pub(super) alternative: Vec<String>,
    /// The common names of the subject.
    pub(super) common: Vec<String>,
}

impl Names {
    /// The names of a certificate; none if it cannot be read.
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Self {
        let Ok(certificate) = Certificate::from_der(certificate) else { return Self::default() };
        let body = &certificate.tbs_certificate;
        let extensions = body.extensions.iter().flatten().filter(|extension| extension.extn_id == ALTERNATIVE_NAMES);
        let alternative = extensions
            .filter_map(|extension| SubjectAltName::from_der(extension.extn_value.as_bytes()).ok())
            .flat_map(|names| names.0.iter().filter_map(host).collect::<Vec<_>>())
            .collect();
        let attributes = body.subject.0.iter().flat_map(|relative| relative.0.iter());
        let common = attributes
            .filter(|attribute| attribute.oid == COMMON_NAME)
            .map(|attribute| String::from_utf8_lossy(attribute.value.value()).into_owned())
            .collect();
        Self { alternative, common }
    }

    /// libpq's rule of last resort: without any alternative name the common name counts, where `*.` stands for exactly
    /// one label (libpq `pq_verify_peer_name_matches_certificate_name`).
    pub(super) fn common_name_is(&self, host: &str) -> bool {
        self.alternative.is_empty() && self.common.iter().any(|name| fits(name, host))
    }

    /// For people: what the certificate is for.
    pub(super) fn shown(&self) -> Vec<String> {
        let names = if self.alternative.is_empty() { &self.common } else { &self.alternative };
        names.iter().take(8).map(|name| super::fault::printable(name)).collect()
    }
}

fn host(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => match bytes.as_bytes() {
            four if four.len() == 4 => {
                <[u8; 4]>::try_from(four).ok().map(|four| std::net::IpAddr::from(four).to_string())
            }
            rest => <[u8; 16]>::try_from(rest).ok().map(|sixteen| std::net::IpAddr::from(sixteen).to_string()),
        },
        _ => None,
    }
}

fn fits(pattern: &str, host: &str) -> bool {
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    match (pattern.strip_prefix("*."), host.split_once('.')) {
        (Some(domain), Some((label, rest))) => {
            !label.is_empty() && domain.contains('.') && domain.eq_ignore_ascii_case(rest)
        }
        _ => false,
    }
}

/// The public key of a certificate that the TLS library is too young to read (X.509 version 1).
pub(super) fn public_key(certificate: &CertificateDer<'_>) -> Option<SubjectPublicKeyInfoDer<'static>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(certificate.tbs_certificate.subject_public_key_info.to_der().ok()?.into())
}
