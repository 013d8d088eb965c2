//! Docker's contexts, as the client keeps them (docker/cli `cli/config`, `cli/context/store`): `config.json` says which is
//! current, `contexts/meta/SHA256/meta.json` where its engine is.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Variable;

/// The one that is always there: `DOCKER_HOST` or the local socket.
pub(super) const READY: &str = "default";

/// The directory of the client's configuration: `--config`, `DOCKER_CONFIG`, `~/.docker`.
pub(super) fn directory(option: Option<&Path>, env: Variable<'_>) -> Option<PathBuf> {
    let filled = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    option
        .map(Path::to_owned)
        .or_else(|| filled("DOCKER_CONFIG"))
        .or_else(|| filled("HOME").map(|home| home.join(".docker")))
}

/// The context that `config.json` makes current; none where the file is not there or says nothing.
///
/// # Errors
/// It cannot be read.
pub(super) fn current(directory: &Path) -> Result<Option<String>, ()> {
    let Some(config) = json(&directory.join("config.json"))? else { return Ok(None) };
    let named = field(&config, "currentContext").and_then(Value::as_str);
    Ok(named.filter(|name| !name.is_empty()).map(str::to_owned))
}

/// The address of a context's engine; none where there is no such context.
///
/// # Errors
/// Its file cannot be read.
pub(super) fn host(directory: &Path, context: &str) -> Result<Option<String>, ()> {
    let id: String = Sha256::digest(context.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let Some(meta) = json(&directory.join("contexts/meta").join(id).join("meta.json"))? else { return Ok(None) };
    let docker = field(&meta, "Endpoints").and_then(|endpoints| endpoints.get("docker"));
    Ok(docker.and_then(|docker| field(docker, "Host")).and_then(Value::as_str).map(str::to_owned))
}

/// Go reads names of fields whatever their letters' size.
fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let object = object.as_object()?;
    object.get(name).or_else(|| object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

fn json(file: &Path) -> Result<Option<Value>, ()> {
    match crate::platform::regular_text(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(drop),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(_) => Err(()),
    }
}
