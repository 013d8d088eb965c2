//! Our own certificate, for servers that want one.
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::sign::CertifiedKey;

use super::super::address::{Protection, Surroundings};
use super::error::TlsError;
use super::{files, roots};

const KEY: &str = "sslkey";

/// The certificate and its key, if there are any.
pub(super) fn load(
    protection: &Protection,
    around: &dyn Surroundings,
    provider: &CryptoProvider,
) -> Result<Option<Arc<CertifiedKey>>, TlsError> {
    if protection.anonymous {
        return Ok(None);
    }
    let given = protection.certificate.as_deref();
    let Some(path) = files::find(around, protection, "sslcert", given, "postgresql.crt")? else { return Ok(None) };
    let chain = roots::certificates(around, "sslcert", &path)?;
    let key = files::find(around, protection, KEY, protection.key.as_deref(), "postgresql.key")?;
    let key =
        key.ok_or(TlsError::Content { key: "sslcert", path, what: "has no private key beside it: sslkey is missing" })?;
    let wrong = |what| TlsError::Content { key: KEY, path: key.clone(), what };
    let private = provider
        .key_provider
        .load_private_key(private(around, &key)?)
        .map_err(|_| wrong("is of a kind that cannot be used"))?;
    let certified = CertifiedKey::new(chain, private);
    match certified.keys_match() {
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
            Err(wrong("is not the key of the certificate in sslcert"))
        }
        // The library may be unable to compare them (X.509 version 1); the server will tell.
        _ => Ok(Some(Arc::new(certified))),
    }
}

/// The private key's bytes, if nobody else can read them.
fn private(around: &dyn Surroundings, path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let wrong = |what| TlsError::Content { key: KEY, path: path.to_owned(), what };
    let look = around.look(path).map_err(|error| files::unreadable(KEY, path, &error))?;
    // As in libpq: a key of root's may be readable by a group, so that services can share it.
    let forbidden = if look.of_root { 0o037 } else { 0o077 };
    match look {
        look if !look.plain => return Err(wrong("is no plain file")),
        look if look.mode & forbidden != 0 => {
            return Err(TlsError::OpenKey { path: path.to_owned(), mode: look.mode & 0o777 });
        }
        _ => {}
    }
    let bytes = files::read(around, KEY, path)?;
    if bytes.windows(9).any(|window| window == b"ENCRYPTED") {
        return Err(wrong("is encrypted, which locked cannot undo; give it an unencrypted copy with mode 0600"));
    }
    match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(key) => Ok(key),
        Err(_) => PrivateKeyDer::try_from(bytes).map_err(|_| wrong("has no private key in it")),
    }
}
