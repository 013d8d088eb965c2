//! Tests of `state`: which directory, and what is refused; live files as proof.

mod accounts;

use std::ffi::OsString;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use locked::clock::{Clock, Moment, SystemClock};
use locked::state::{Gone, LiveFile, StateDir, discard, is_same_machine, probe};
use locked::store::{Live, StoreError};
use locked::terms::GrantId;

use crate::world::ends::so;

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

#[test]
fn the_name_of_the_host_is_that_of_the_very_directory() {
    let root = root();
    let clock = SystemClock::new();
    let (one, other) = (open_at(&root.path().join("one")), open_at(&root.path().join("other")));
    assert_eq!(one.host_id(&clock), open_at(one.path()).host_id(&SystemClock::new()));
    assert_ne!(one.host_id(&clock), other.host_id(&clock));
    assert!(one.host_id(&clock).bytes().all(|byte| byte.is_ascii_hexdigit()));
}

/// A boot of a machine.
#[derive(Debug)]
struct Boot(&'static str);

impl Clock for Boot {
    fn now(&self) -> Moment {
        MADE_AT
    }

    fn wall_ms(&self) -> i64 {
        0
    }

    fn boot_id(&self) -> String {
        self.0.to_owned()
    }
}

#[test]
fn a_machine_is_the_same_after_a_reboot_and_a_copy_of_its_directory_is_another_one() {
    let root = root();
    let (one, other) = (open_at(&root.path().join("one")), open_at(&root.path().join("other")));
    let (before, after) = (one.host_id(&Boot("first")), one.host_id(&Boot("second")));
    assert_ne!(before, after, "what lives is of one boot");
    assert!(is_same_machine(&before, &after));
    assert!(!is_same_machine(&before, &other.host_id(&Boot("first"))));
    // Taken along to another place, as a backup is.
    std::fs::copy(one.path().join("machine"), other.path().join("machine")).expect("copied");
    assert!(!is_same_machine(&before, &other.host_id(&Boot("first"))));
    assert_eq!(mode(&one.path().join("machine")), 0o600);
    // Two machines made from one image: each knows its own boots alone, and those before the image.
    assert!(one.has_seen(&before) && one.has_seen(&after) && !other.has_seen(&before));
    let elsewhere = [&after[..16], "ffffffffffffffff"].concat();
    assert!(is_same_machine(&after, &elsewhere) && !one.has_seen(&elsewhere) && !one.has_seen(""));
    assert_eq!(mode(&one.path().join("boots")), 0o600);
    // Names of another make tell nothing.
    for (one, other) in [("", ""), ("this-boot", "this-boot"), (&before[..16], &after[..16])] {
        assert!(!is_same_machine(one, other), "{one}");
    }
    // Whoever is first draws it, and all others read that.
    let many = open_at(&root.path().join("many"));
    let names: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..16).map(|_| scope.spawn(|| many.host_id(&Boot("first")))).collect();
        all.into_iter().map(|one| one.join().expect("a name")).collect()
    });
    assert_eq!(names.len(), 1, "{names:?}");
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
