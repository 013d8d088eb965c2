//! Whose the state directory is: other accounts', root's, the account's own home.
#![forbid(unsafe_code)]

use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::process::Command;

use locked::clock::SystemClock;
use locked::state::{LiveFile, StateDir};
use locked::store::StoreError;
use locked::terms::GrantId;

use crate::world::apart::{as_root, first_that_runs, this_test};
use crate::world::ends::{ends, left_out, text};

use super::{MADE_AT, open, root, set_mode};

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
    command.args(["--exact", "state::accounts::opening_process", "--nocapture"]);
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
