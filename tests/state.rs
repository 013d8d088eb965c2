//! Tests of `state`: which directory, whose, and what is refused; live files as proof.

use std::ffi::OsString;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use locked::clock::{Moment, SystemClock};
use locked::state::{Gone, LiveFile, StateDir, discard, probe};
use locked::store::{Live, StoreError};
use locked::terms::GrantId;

use crate::world::apart::{as_root, first_that_runs, this_test};
use crate::world::ends::{ends, left_out, so, text};

/// When live files here say that they were made.
const MADE_AT: Moment = Moment(std::time::Duration::from_secs(1));

/// A directory for one test, removed with it.
fn root() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("locked-state-").tempdir().expect("directory")
}

/// Opens with these variables alone.
fn open(variables: &[(&str, &Path)]) -> Result<StateDir, StoreError> {
    let variables: Vec<(String, OsString)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), value.as_os_str().to_owned())).collect();
    StateDir::open(&move |name| variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()))
}

fn open_at(path: &Path) -> StateDir {
    open(&[("LOCKED_STATE_DIR", path)]).expect("usable")
}

/// Why a place is refused; a remedy always names the variable.
fn refusal(path: &Path) -> String {
    let error = open(&[("LOCKED_STATE_DIR", path)]).expect_err("refused");
    assert!(matches!(error, StoreError::Place { .. }) && error.remedy().contains("LOCKED_STATE_DIR"), "{error:?}");
    error.to_string()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
}

#[test]
fn a_missing_directory_is_made_for_its_owner_alone() {
    let root = root();
    let path = root.path().join("a/b/locked");
    let state = open_at(&path);
    assert_eq!(state.path(), path);
    assert_eq!(mode(&path), 0o700);
    assert_eq!(std::fs::read_dir(&path).expect("list").count(), 0, "what is in it is made when it is needed");
    assert_eq!(mode(&state.copies().expect("made")), 0o700);
    let below = open(&[("XDG_STATE_HOME", &root.path().join("xdg"))]).expect("made");
    assert_eq!(below.path(), root.path().join("xdg/locked"));
}

#[test]
fn links_files_and_what_others_may_write_are_refused() {
    let root = root();
    let sound = root.path().join("sound");
    open_at(&sound);
    let link = root.path().join("link");
    symlink(&sound, &link).expect("link");
    assert!(refusal(&link).contains("it is a link"));
    open_at(&link.join("../sound"));
    let file = root.path().join("file");
    std::fs::write(&file, "").expect("file");
    assert!(refusal(&file).contains("cannot be opened"));
    for bits in [0o720, 0o702, 0o777] {
        set_mode(&sound, bits);
        assert!(refusal(&sound).contains("others may write"), "{bits:o}");
    }
    set_mode(&sound, 0o755);
    open_at(&sound);
}

#[test]
fn a_link_in_the_place_of_a_subdirectory_is_refused() {
    let root = root();
    let state = open_at(&root.path().join("state"));
    let elsewhere = root.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("directory");
    symlink(&elsewhere, state.path().join("copies")).expect("link");
    assert!(state.copies().is_err());
}

/// Not a test by itself: the process that the tests below start as an account that has no name. It says where its state
/// is to be, or why not.
#[test]
fn opening_process() {
    if std::env::var_os("LOCKED_TEST_OPEN").is_none() {
        return;
    }
    match StateDir::open(&|name| std::env::var_os(name)) {
        Ok(state) => println!("\nopened {}", state.path().display()),
        Err(StoreError::Place { path, why, .. }) => println!("\nrefused {} {why}", path.display()),
        Err(other) => panic!("{other:?}"),
    }
}

/// What [`opening_process`] says as user 54321, whom no account list knows. Everything outside belongs to somebody else
/// then: a user namespace shows accounts that it does not have as the overflow user. None where we may not have one.
fn opened_by_a_stranger(test: &str, variables: &[(&str, &Path)]) -> Option<String> {
    let words = ["unshare", "--user", "--map-user=54321"];
    if first_that_runs(&[&words]).is_none() {
        left_out(test, "this user may not make a user namespace");
        return None;
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(std::env::current_exe().expect("this test"));
    command.args(["--exact", "state::opening_process", "--nocapture"]);
    command.env_clear().envs(variables.iter().copied()).env("LOCKED_TEST_OPEN", "1");
    let said = text(&ends(&mut command, 0).stdout);
    let line = said.lines().find(|line| line.starts_with("opened ") || line.starts_with("refused "));
    Some(line.unwrap_or_else(|| panic!("{said}")).to_owned())
}

#[test]
fn a_directory_of_another_account_is_refused_where_possible() {
    let test = this_test!();
    // What is root's would be ours where we are root ourselves; so that is given away there.
    let root = root();
    set_mode(root.path(), 0o755);
    let given_away = std::os::unix::fs::chown(root.path(), Some(4242), Some(4242)).is_ok();
    let path = if given_away { root.path() } else { Path::new("/usr") };
    let Some(said) = opened_by_a_stranger(test, &[("LOCKED_STATE_DIR", path)]) else { return };
    let overflow = std::fs::read_to_string("/proc/sys/kernel/overflowuid").expect("the overflow user");
    assert!(said.contains(&format!("belongs to user {}", overflow.trim())) && said.contains("user 54321"), "{said}");
}

#[test]
fn another_user_s_directory_is_refused_where_possible() {
    if !as_root(this_test!()) {
        return;
    }
    let root = root();
    let path = root.path().join("state");
    std::fs::create_dir(&path).expect("directory");
    std::os::unix::fs::chown(&path, Some(4242), Some(4242)).expect("given away");
    let sudo =
        |uid: &str| open(&[("LOCKED_STATE_DIR", &path), ("SUDO_UID", Path::new(uid)), ("SUDO_GID", Path::new(uid))]);
    let error = sudo("4343").expect_err("neither the invoking user's nor root's");
    assert!(error.to_string().contains("belongs to user 4242") && error.to_string().contains("user 4343"), "{error}");
    sudo("4242").expect("the invoking user's own");
}

#[test]
fn what_root_makes_for_another_user_belongs_to_that_user_where_possible() {
    if !as_root(this_test!()) {
        return;
    }
    let root = root();
    set_mode(root.path(), 0o777);
    let path = root.path().join("home/state");
    let id = Path::new("4242");
    let state = open(&[("LOCKED_STATE_DIR", &path), ("SUDO_UID", id), ("SUDO_GID", id)]).expect("made");
    let live = LiveFile::create(&state, GrantId::random(), MADE_AT).expect("live file");
    state.copies().expect("copies");
    let mut store = locked::store::SqliteStore::new(&state, std::sync::Arc::new(SystemClock::new()));
    store.store_id(std::time::Duration::from_secs(60)).expect("store");
    let mut seen = Vec::new();
    let mut rest = vec![root.path().join("home")];
    while let Some(path) = rest.pop() {
        let metadata = std::fs::symlink_metadata(&path).expect("there");
        assert_eq!((metadata.uid(), metadata.gid()), (4242, 4242), "{}", path.display());
        if metadata.is_dir() {
            rest.extend(std::fs::read_dir(&path).expect("list").map(|entry| entry.expect("entry").path()));
        }
        seen.push(path);
    }
    assert_eq!(seen.len(), 6, "home, state, live, its file, copies, locked.db: {seen:?}");
    // And root goes nowhere that the user could not go: a link to a place of root's own leads to a refusal.
    let secret = root.path().join("secret");
    std::fs::write(&secret, "root's").expect("secret");
    std::fs::remove_file(path.join("locked.db")).expect("removed");
    symlink(&secret, path.join("locked.db")).expect("link");
    for bits in [0o600, 0o640] {
        // The second is open to root's group, which this process still has.
        set_mode(&secret, bits);
        let mut store = locked::store::SqliteStore::new(&state, std::sync::Arc::new(SystemClock::new()));
        store.store_id(std::time::Duration::from_secs(1)).expect_err("not for this user");
    }
    let copies = std::fs::read_dir(&path).expect("list").map(|it| it.expect("entry").file_name());
    assert!(!copies.into_iter().any(|name| name.to_string_lossy().contains("corrupt")), "no copy of root's secret");
    live.remove();
    std::fs::write(root.path().join("after"), "").expect("this thread is root again");
    assert_eq!(std::fs::metadata(root.path().join("after")).expect("there").uid(), 0);
}

#[test]
fn the_account_s_home_counts_and_the_variable_home_does_not_where_possible() {
    let test = this_test!();
    let root = root();
    set_mode(root.path(), 0o777);
    // That account has no home: the refusal comes before anything is made.
    let Some(said) = opened_by_a_stranger(test, &[("HOME", root.path())]) else { return };
    assert!(said.starts_with("refused ~/.local/state/locked "), "{said}");
    assert_eq!(std::fs::read_dir(root.path()).expect("list").count(), 0, "nothing below HOME");
}

#[test]
fn the_invoking_user_s_home_counts_for_root_where_possible() {
    if !as_root(this_test!()) {
        return;
    }
    let root = root();
    // No account has this number either.
    let id = Path::new("4294967040");
    let error = open(&[("HOME", root.path()), ("SUDO_UID", id), ("SUDO_GID", id)]).expect_err("no such account");
    let StoreError::Place { path, .. } = error else { panic!("{error:?}") };
    assert_eq!(path, Path::new("~/.local/state/locked"));
    assert_eq!(std::fs::read_dir(root.path()).expect("list").count(), 0, "nothing below HOME");
}

#[test]
fn the_name_of_the_host_is_that_of_the_very_directory() {
    let root = root();
    let clock = SystemClock::new();
    let (one, other) = (open_at(&root.path().join("one")), open_at(&root.path().join("other")));
    assert_eq!(one.host_id(&clock), open_at(one.path()).host_id(&SystemClock::new()));
    assert_ne!(one.host_id(&clock), other.host_id(&clock));
    assert!(one.host_id(&clock).bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[test]
fn a_live_file_is_private_high_numbered_and_not_inherited() {
    let root = root();
    let state = open_at(&root.path().join("state"));
    let grant = GrantId::random();
    let live = LiveFile::create(&state, grant, MADE_AT).expect("live file");
    let path = state.live(grant);
    assert_eq!((mode(&path), mode(path.parent().expect("parent"))), (0o600, 0o700));
    assert!(live.file().as_raw_fd() >= 10);
    let metadata = std::fs::metadata(&path).expect("there");
    assert_eq!(live.live(), Live { device: metadata.dev(), inode: metadata.ino() });
    let listing = Command::new("ls").args(["-l", "/proc/self/fd"]).output().expect("ls");
    assert!(!String::from_utf8_lossy(&listing.stdout).contains(&grant.to_string()), "closed at exec");
    assert!(LiveFile::create(&state, grant, MADE_AT).is_err(), "never the same twice");
    live.remove();
    assert!(!path.exists());
}

/// Not at once: another test of this process may be starting a program, which has what we have open until its exec.
fn is_proven_gone(state: &StateDir, grant: GrantId, live: Live) {
    so("its lock is free", || match probe(state, grant, live) {
        Gone::Proven => true,
        Gone::Alive => false,
        Gone::Unknown => panic!("the file is there, and the very one"),
    });
}

#[test]
fn a_holder_is_proven_gone_by_its_lock_and_by_nothing_else() {
    let root = root();
    let state = open_at(&root.path().join("state"));
    let grant = GrantId::random();
    let live = LiveFile::create(&state, grant, MADE_AT).expect("live file");
    let named = live.live();
    assert_eq!(probe(&state, grant, named), Gone::Alive);
    drop(live);
    let other = Live { inode: named.inode + 1, ..named };
    assert_eq!(probe(&state, grant, other), Gone::Unknown, "another file says nothing");
    is_proven_gone(&state, grant, named);
    is_proven_gone(&state, grant, named); // and again, until the store knows
    discard(&state, grant);
    assert_eq!(probe(&state, grant, named), Gone::Unknown, "absence proves nothing");
    assert_eq!(probe(&state, GrantId::random(), named), Gone::Unknown);
}

#[test]
fn a_process_that_shares_the_lock_keeps_the_holder_alive() {
    let root = root();
    let state = open_at(&root.path().join("state"));
    let grant = GrantId::random();
    let live = LiveFile::create(&state, grant, MADE_AT).expect("live file");
    let named = live.live();
    // The child has the open file description as its output, as a forked keeper has it.
    let shared = live.file().try_clone().expect("shared");
    let mut keeper = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::from(shared)).spawn().expect("starts");
    drop(live);
    assert_eq!(probe(&state, grant, named), Gone::Alive);
    drop(keeper.stdin.take());
    keeper.wait().expect("ends");
    is_proven_gone(&state, grant, named);
}

#[test]
fn a_killed_holder_is_proven_gone() {
    let root = root();
    let state = open_at(&root.path().join("state"));
    let grant = GrantId::random();
    let live = LiveFile::create(&state, grant, MADE_AT).expect("live file");
    let named = live.live();
    let shared = live.file().try_clone().expect("shared");
    let mut keeper = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::from(shared)).spawn().expect("starts");
    drop(live);
    keeper.kill().expect("killed");
    keeper.wait().expect("ends");
    is_proven_gone(&state, grant, named);
}

#[test]
fn a_link_in_the_place_of_a_live_file_proves_nothing() {
    let root = root();
    let state = open_at(&root.path().join("state"));
    let (grant, other) = (GrantId::random(), GrantId::random());
    let live = LiveFile::create(&state, grant, MADE_AT).expect("live file");
    let named = live.live();
    drop(live);
    symlink(state.live(grant), state.live(other)).expect("link");
    assert_eq!(probe(&state, other, named), Gone::Unknown);
    assert!(LiveFile::create(&state, other, MADE_AT).is_err());
}
