//! From configuration to a store: the one place that names concrete stores.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::time::Duration;

use crate::clock::{Clock, NO_BOOT};
use crate::config::{Address, StoreSetting};
use crate::state::StateDir;
#[cfg(unix)]
use crate::terms::parse_duration;

use super::advisory::{AdvisoryStore, Outside, Reach};
#[cfg(unix)]
use super::fits::misnamed;
use super::postgres::PostgresStore;
use super::postgres::address::{self, Look, Machine, Surroundings};
use super::postgres::via::Bastion;
#[cfg(unix)]
use super::postgres::{Order, Relay};
use super::sqlite::{FILE_NAME, SqliteStore};
use super::{Store, StoreError, fits, schema};

/// Opens the store that is set: the embedded one, `sqlite:FILE`, or a PostgreSQL server by its connection string. What
/// this build does not know is refused, never replaced by the embedded store. Nothing is connected before the first call.
///
/// # Errors
/// [`StoreError::Unknown`] for a store that this build does not know; [`StoreError::Misnamed`] for an address that cannot
/// be read, and for a setting that contradicts itself; [`StoreError::Place`] when the directory of a named file must not be used, or the machine does not tell its boots
/// apart.
pub fn open(
    setting: &StoreSetting,
    env: &dyn Fn(&str) -> Option<OsString>,
    state: &StateDir,
    clock: Arc<dyn Clock + Send + Sync>,
    outside: Outside,
) -> Result<Box<dyn Store + Send>, StoreError> {
    fits::check(setting)?;
    let text = match &setting.address {
        Address::Embedded => return Ok(Box::new(SqliteStore::new(state, on_one_boot(state, clock)?))),
        Address::Text(text) => text,
        Address::InSops { .. } => {
            return Err(StoreError::Unknown {
                why: "the address of the store was not read from its SOPS file".to_owned(),
                said_by: setting.said_by.clone(),
            });
        }
    };
    match named_file(text) {
        Some(file) => in_named_file(file, env, on_one_boot(state, clock)?),
        None if is_of_a_server(text) => on_a_server(text, env, setting, (state, clock, outside)),
        None => Err(unknown(text, setting)),
    }
}

/// The file of an address that names one.
#[must_use]
pub fn named_file(address: &str) -> Option<&Path> {
    address.strip_prefix("sqlite:").filter(|file| !file.is_empty()).map(Path::new)
}

/// The embedded store's time is this boot's.
fn on_one_boot(
    state: &StateDir,
    clock: Arc<dyn Clock + Send + Sync>,
) -> Result<Arc<dyn Clock + Send + Sync>, StoreError> {
    one_boot(state.path(), clock.as_ref()).map(|()| clock)
}

/// Whether an embedded store at this place could tell the time: it counts from the boot, which must have a name.
///
/// # Errors
/// [`StoreError::Place`] when it has none.
pub fn one_boot(place: &Path, clock: &dyn Clock) -> Result<(), StoreError> {
    if clock.boot_id() != NO_BOOT {
        return Ok(());
    }
    Err(StoreError::Place {
        path: place.to_owned(),
        why: "the system does not say which boot this is (no /proc), so nobody could tell a lease from an expired one"
            .to_owned(),
        remedy: "mount -t proc proc /proc".to_owned(),
    })
}

/// A URI of PostgreSQL, or the `key=value` form that libpq knows as well.
pub(super) fn is_of_a_server(text: &str) -> bool {
    let scheme = text.split(':').next().unwrap_or_default();
    let pairs = text.split_once('=').is_some_and(|(key, _)| !key.contains([':', '/', '@']));
    scheme.eq_ignore_ascii_case("postgres") || scheme.eq_ignore_ascii_case("postgresql") || pairs
}

fn on_a_server(
    text: &str,
    env: &dyn Fn(&str) -> Option<OsString>,
    setting: &StoreSetting,
    (state, clock, outside): (&StateDir, Arc<dyn Clock + Send + Sync>, Outside),
) -> Result<Box<dyn Store + Send>, StoreError> {
    let address = read(text, env, setting)?;
    let bastion = setting.via.as_deref().map(|via| bastion(via, setting)).transpose()?;
    let schema = schema::of(setting, &address)?;
    if setting.advisory {
        let reach = Reach { address, around: Arc::new(Kept::of(env, &setting.from)), via: bastion };
        return Ok(Box::new(AdvisoryStore::new(reach, setting.on_unreachable, state, clock, outside)));
    }
    let (kept, schema) = (Kept::of(env, &setting.from), schema.unwrap_or_default());
    #[cfg(unix)]
    let relay = stays(env, setting)?.and_then(|stays| {
        let (address, bastion, schema) = (address.clone(), bastion.clone(), schema.clone());
        let (served, from, directory) = (kept.served.clone(), kept.from.clone(), state.path().to_owned());
        Relay::of(Order { bastion, served, from, ..Order::new(address, schema, directory, stays) })
    });
    let store = PostgresStore::at(address, Box::new(kept), bastion, schema);
    #[cfg(unix)]
    let store = store.through(relay);
    Ok(Box::new(store))
}

/// For how long a relay stays after the last command, where there is to be one: `LOCKED_RELAY` wins over the settings.
#[cfg(unix)]
fn stays(env: &dyn Fn(&str) -> Option<OsString>, setting: &StoreSetting) -> Result<Option<Duration>, StoreError> {
    let Some(said) = env("LOCKED_RELAY").filter(|said| !said.is_empty()) else { return Ok(setting.relay) };
    let stays = said.to_str().and_then(|said| parse_duration(said).ok());
    let wrong = || misnamed("LOCKED_RELAY is no duration".to_owned(), "for example LOCKED_RELAY=1m, or 0s for none");
    stays.ok_or_else(wrong).map(|stays| Some(stays).filter(|stays| !stays.is_zero()))
}

/// What a relay is told.
///
/// # Errors
/// It is no order.
#[cfg(unix)]
pub fn relay_order(told: impl io::Read) -> io::Result<Order> {
    Ok(serde_json::from_reader(told)?)
}

/// Keeps connections warm for the commands of this user, until none comes any more.
///
/// # Errors
/// Its socket cannot be made.
#[cfg(unix)]
pub fn relay(order: Order) -> io::Result<()> {
    let kept = Kept { served: order.served.clone(), from: order.from.clone() };
    super::postgres::serve_relay(order, move || Box::new(kept.clone()))
}

/// The address, with everything that may complete it.
pub(super) fn read(
    text: &str,
    env: &dyn Fn(&str) -> Option<OsString>,
    setting: &StoreSetting,
) -> Result<address::Address, StoreError> {
    address::read(text, &Machine::new(env).from(&setting.from)).map_err(|error| StoreError::Misnamed {
        why: match setting.guarded {
            true => format!("what {} holds is no address of a store that can be used", setting.said_by),
            false => format!("the address in {} cannot be used: {error}", setting.said_by),
        },
        remedy: if setting.guarded { format!("check {}", setting.said_by) } else { error.remedy() },
    })
}

/// The machine between.
fn bastion(via: &str, setting: &StoreSetting) -> Result<Bastion, StoreError> {
    let misnamed = |why: String, remedy: &str| StoreError::Misnamed { why, remedy: remedy.to_owned() };
    let Some(ssh) = &setting.ssh else {
        return Err(misnamed(
            "the store is to be reached through ssh, and there is none on PATH".to_owned(),
            "install ssh",
        ));
    };
    Bastion::read(via, ssh)
        .map_err(|error| misnamed(error.to_string(), "for example: via = \"ssh://bastion.example.org\""))
}

/// The machine as a connection needs it later: files, and whose home it is.
#[derive(Clone)]
struct Kept {
    served: Vec<(String, OsString)>,
    /// From where relative paths lead.
    from: PathBuf,
}

impl Kept {
    fn of(env: &dyn Fn(&str) -> Option<OsString>, from: &Path) -> Self {
        let served =
            ["SUDO_UID", "SUDO_GID"].into_iter().filter_map(|name| Some((name.to_owned(), env(name)?))).collect();
        Self { served, from: from.to_owned() }
    }

    fn machine<T>(&self, ask: impl FnOnce(&Machine<'_>) -> T) -> T {
        let variable = |name: &str| self.served.iter().find(|(kept, _)| kept == name).map(|(_, value)| value.clone());
        ask(&Machine::new(&variable).from(&self.from))
    }
}

impl Surroundings for Kept {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.machine(|machine| machine.variable(name))
    }

    fn home(&self) -> Option<PathBuf> {
        self.machine(|machine| machine.home())
    }

    fn account(&self) -> Option<String> {
        self.machine(|machine| machine.account())
    }

    fn look(&self, path: &Path) -> io::Result<Look> {
        self.machine(|machine| machine.look(path))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.machine(|machine| machine.read(path))
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.from.join(path)
    }
}

fn in_named_file(
    file: &Path,
    env: &dyn Fn(&str) -> Option<OsString>,
    clock: Arc<dyn Clock + Send + Sync>,
) -> Result<Box<dyn Store + Send>, StoreError> {
    let directory = StateDir::beside(file, env)?;
    let name = file.file_name().unwrap_or(OsStr::new(FILE_NAME));
    Ok(Box::new(SqliteStore::in_file(directory.path().join(name), &directory, clock)))
}

/// A store's address can carry a password: only its scheme is named.
fn unknown(text: &str, setting: &StoreSetting) -> StoreError {
    let said_by = &setting.said_by;
    if setting.guarded {
        let why = format!("what {said_by} holds is no address of a store");
        return StoreError::Unknown { why, said_by: said_by.clone() };
    }
    let scheme: String =
        text.chars().take_while(|it| it.is_ascii_alphanumeric() || "+-".contains(*it)).take(20).collect();
    let shown = if text.contains(':') { format!("{scheme}:…") } else { "a value without a scheme".to_owned() };
    let why = format!(
        "{said_by} names {shown}, and this build knows the embedded store (embedded, sqlite:FILE) and PostgreSQL \
         (postgres://…)"
    );
    StoreError::Unknown { why, said_by: said_by.clone() }
}
