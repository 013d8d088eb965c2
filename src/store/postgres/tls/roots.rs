//! The authorities that we trust, and what they took back.
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};

use super::super::address::{Protection, Surroundings};
use super::error::TlsError;
use super::files;
use super::verifier::Trusted;

/// The trusted authorities, or none if none are given or found.
pub(super) fn load(
    protection: &Protection,
    around: &dyn Surroundings,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Trusted>, TlsError> {
    let (roots, given) = match protection.roots.as_deref() {
        Some("system") => (system()?, Vec::new()),
        path => {
            let found = files::find(around, protection, "sslrootcert", path.map(Path::new), "root.crt")?;
            let Some(path) = found else { return Ok(None) };
            let given = certificates(around, "sslrootcert", &path)?;
            (store(&given, &path)?, given)
        }
    };
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .with_crls(revocations(protection, around)?)
        .build()
        .map_err(|error| TlsError::Other(error.to_string()))?;
    Ok(Some(Trusted { inner, given }))
}

/// Every certificate of a file; at least one.
pub(super) fn certificates(
    around: &dyn Surroundings,
    key: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = files::read(around, key, path)?;
    let wrong = |what| TlsError::Content { key, path: path.to_owned(), what };
    let found: Vec<_> =
        CertificateDer::pem_slice_iter(&bytes).collect::<Result<_, _>>().map_err(|_| wrong("is no PEM file"))?;
    match found.is_empty() {
        true => Err(wrong("has no certificate in it (PEM)")),
        false => Ok(found),
    }
}

fn store(given: &[CertificateDer<'static>], path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in given {
        roots.add(certificate.clone()).map_err(|_| TlsError::Content {
            key: "sslrootcert",
            path: path.to_owned(),
            what: "has a certificate in it that cannot be read",
        })?;
    }
    Ok(roots)
}

/// The system's own, as `SSL_CERT_FILE` and `SSL_CERT_DIR` or the platform say. Reading them costs milliseconds.
fn system() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match roots.is_empty() {
        true => Err(TlsError::NoSystemRoots),
        false => Ok(roots),
    }
}

/// Lists of revocations: `sslcrl`, `sslcrldir`, else `~/.postgresql/root.crl` if it is there.
fn revocations(
    protection: &Protection,
    around: &dyn Surroundings,
) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let mut paths = Vec::new();
    if let Some(directory) = &protection.revoked_directory {
        let unreadable = |error: std::io::Error| files::unreadable("sslcrldir", directory, &error);
        for entry in std::fs::read_dir(around.place(directory)).map_err(unreadable)? {
            paths.push(("sslcrldir", entry.map_err(unreadable)?.path()));
        }
    }
    if protection.revoked.is_some() || paths.is_empty() {
        let found = files::find(around, protection, "sslcrl", protection.revoked.as_deref(), "root.crl")?;
        paths.extend(found.map(|path| ("sslcrl", path)));
    }
    let mut lists = Vec::new();
    for (key, path) in paths {
        let bytes = files::read(around, key, &path)?;
        let wrong = |what| TlsError::Content { key, path: path.clone(), what };
        let before = lists.len();
        for list in CertificateRevocationListDer::pem_slice_iter(&bytes) {
            lists.push(list.map_err(|_| wrong("is no PEM file"))?);
        }
        if lists.len() == before {
            return Err(wrong("has no list of revocations in it (PEM)"));
        }
    }
    Ok(lists)
}
