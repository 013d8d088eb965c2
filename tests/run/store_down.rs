//! Reads go on whatever became of the state directory; writers are refused with the remedy, and nothing of them runs.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{self, DOTENV, FILE, RESOURCE, Stage, says, silent};

/// Every way in which a state directory can fail, made for a user who may not do everything.
fn broken(stage: &Stage) -> Vec<(&'static str, PathBuf)> {
    let root = stage.world.root();
    let at = |name: &str| root.join(name);
    fs::write(at("file"), "x").expect("file");
    fs::create_dir(at("open-to-all")).expect("directory");
    fs::set_permissions(at("open-to-all"), fs::Permissions::from_mode(0o777)).expect("mode");
    std::os::unix::fs::symlink(stage.world.state(), at("link")).expect("link");
    vec![
        ("a file", at("file")),
        ("below a file", at("file/state")),
        ("writable by others", at("open-to-all")),
        ("a link", at("link")),
        // No user can make anything there, root neither.
        ("where nothing can be made", PathBuf::from("/proc/locked-state")),
    ]
}

fn decrypt(stage: &Stage, state: &Path) -> Command {
    let mut command = stage.locked(1);
    command.args(["sops", "decrypt"]).args(DOTENV).arg(FILE).env("LOCKED_STATE_DIR", state);
    command
}

#[track_caller]
fn refused(stage: &Stage, how: &str, state: &Path) {
    let before = stage.content();
    let mut set = stage.set(1, &[], "A", "1");
    let ran = stage.world.root().join("ran");
    set.env("LOCKED_STATE_DIR", state).env("PATH", stage.stand_in(&format!("touch '{}'", ran.display())));
    let refusal = says(&mut set, 69);
    let lines: Vec<&str> = refusal.lines().collect();
    assert!(lines.len() >= 4 && lines.len() <= 5, "{how}: {refusal}");
    assert!(lines[0].starts_with("REFUSED: "), "{how}: {refusal}");
    assert_eq!(lines[1], "why:   only the store knows who holds what; nothing was run", "{how}");
    assert!(lines[3].starts_with("next:  ") && lines[3].len() > 15, "{how}: {refusal}");
    assert!(!ran.exists() && stage.content() == before, "{how}: something was run");
}

#[test]
fn a_broken_state_directory_stops_writers_and_no_reader() {
    let stage = Stage::new();
    for (how, state) in broken(&stage) {
        assert_eq!(silent(&mut decrypt(&stage, &state)), "FIRST=one\nSECOND=two\n", "{how}");
        refused(&stage, how, &state);
        for verb in
            [&["status"][..], &["history"], &["check", RESOURCE], &["release", RESOURCE], &["acquire", RESOURCE]]
        {
            let said = says(stage.locked(1).args(verb).env("LOCKED_STATE_DIR", &state), 69);
            assert!(said.starts_with("REFUSED: the state directory "), "{how}, {verb:?}: {said}");
        }
    }
    assert_eq!(fs::read_dir(stage.world.state()).expect("state").count(), 0, "nobody went through the link");
}

#[test]
fn a_state_directory_that_is_absent_is_made_by_the_first_who_needs_it() {
    let stage = Stage::new();
    let state = stage.world.root().join("new/state");
    silent(stage.locked(1).args(["sops", "--version"]).env("LOCKED_STATE_DIR", &state));
    assert!(!state.exists(), "who only looks makes nothing");
    silent(&mut decrypt(&stage, &state));
    let made: Vec<_> = fs::read_dir(&state).expect("made").map(|it| it.expect("entry").file_name()).collect();
    assert_eq!(made, ["notes"], "what is read first may be the base of the first write");
    fs::remove_dir_all(&state).expect("removed");
    silent(stage.set(1, &[], "A", "1").env("LOCKED_STATE_DIR", &state));
    assert!(state.is_dir());
    silent(
        stage
            .set(1, &[], "B", "1")
            .env_remove("LOCKED_STATE_DIR")
            .env("XDG_STATE_HOME", stage.world.root().join("xdg")),
    );
    assert!(stage.world.root().join("xdg/locked").is_dir());
}

#[test]
fn a_damaged_store_is_copied_aside_once_and_never_overwritten() {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "A", "1"));
    let state = stage.world.state();
    let database = state.join("locked.db");
    let mut content = fs::read(&database).expect("database");
    // Behind the header: the tables are damaged, the file still calls itself SQLite.
    content[100..2000].fill(0xA5);
    fs::write(&database, &content).expect("damaged");
    for _ in 0..3 {
        refused(&stage, "damaged", &state);
    }
    assert!(silent(&mut decrypt(&stage, &state)).contains("A=1"));
    assert_eq!(fs::read(&database).expect("database"), content, "left as it is");
    let copies = stage::files_below(&state).into_iter().filter(|path| path.to_string_lossy().contains(".corrupt-"));
    let copies: Vec<_> = copies.collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(fs::read(&copies[0]).expect("copy"), content);
    // What the message advises works.
    fs::rename(&database, state.join("moved-away")).expect("moved");
    silent(&mut stage.set(1, &[], "B", "1"));
}

#[test]
fn a_file_that_is_no_database_is_treated_the_same() {
    let stage = Stage::new();
    fs::write(
        stage.world.state().join("locked.db"),
        "not a database, but long enough to be looked at as one. ".repeat(40),
    )
    .expect("file");
    refused(&stage, "no database", &stage.world.state());
}

#[test]
fn a_mistake_in_the_environment_stops_writers_and_no_reader() {
    let stage = Stage::new();
    let state = stage.world.state();
    for (variable, value) in
        [("LOCKED_TTL", "garbage"), ("LOCKED_SESSION", "garbage"), ("LOCKED_WAIT", "-1"), ("LOCKED_TTL", "1ms")]
    {
        let read = silent(decrypt(&stage, &state).env(variable, value));
        assert_eq!(read, "FIRST=one\nSECOND=two\n", "{variable}={value}");
        let ran = stage.world.root().join("ran");
        let mut set = stage.set(1, &[], "A", "1");
        set.env(variable, value).env("PATH", stage.stand_in(&format!("touch '{}'", ran.display())));
        let said = says(&mut set, 64);
        let option = variable.trim_start_matches("LOCKED_").to_lowercase();
        assert!(said.to_lowercase().contains(&option), "{variable}={value}: {said}");
        assert!(!ran.exists(), "{variable}={value}");
    }
    assert_eq!(stage.status().len(), 0);
}

/// `locked sops WORDS` with a state directory that lies on a small file system of its own, mounted with these options and
/// prepared by `script` (`$1` is where). Root may write everywhere else, and a disk cannot be filled for a test. None
/// where the kernel gives no namespace to mount in.
fn on_own_file_system(stage: &Stage, options: &str, script: &str, words: &[&str]) -> Option<Command> {
    let mount = stage.world.root().join("small");
    fs::create_dir_all(&mount).expect("directory");
    let inside = |script: &str| {
        let whole =
            format!("mount -t tmpfs -o size=64k,mode=700{options} none \"$1\" && {{ {script}; shift; \"$@\"; }}");
        let mut command = stage.world.command("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &whole, "sh"]).arg(&mount);
        command
    };
    if !inside("true").arg("true").status().is_ok_and(|status| status.success()) {
        println!("no user namespace here: a file system of one's own cannot be made");
        return None;
    }
    let mut command = inside(script);
    command.arg(env!("CARGO_BIN_EXE_locked")).arg("sops").args(words).args(DOTENV).arg(FILE);
    command.env("LOCKED_STATE_DIR", &mount).env("LOCKED_SESSION", stage::uuid(1));
    Some(command)
}

#[track_caller]
fn stops_writers_alone(options: &str, script: &str, what: &str, next: &str) {
    let stage = Stage::new();
    let Some(mut read) = on_own_file_system(&stage, options, script, &["decrypt"]) else { return };
    assert_eq!(silent(&mut read), "FIRST=one\nSECOND=two\n");
    let before = stage.content();
    let mut write = on_own_file_system(&stage, options, script, &["rotate", "-i"]).expect("possible a moment ago");
    let said = says(&mut write, 69);
    assert!(said.starts_with("REFUSED: ") && said.contains(what) && said.contains(next), "{said}");
    assert_eq!(stage.content(), before, "nothing was run");
}

#[test]
fn a_full_disk_stops_writers_and_no_reader() {
    stops_writers_alone(
        "",
        "dd if=/dev/zero of=\"$1/filler\" bs=1k 2>/dev/null",
        "no space is left",
        "next:  make room on the file system of ",
    );
}

/// Without it nobody can tell this boot from another, and the leases of whoever can would look expired.
#[test]
fn a_machine_without_proc_stops_writers_and_no_reader() {
    stops_writers_alone(
        "",
        "mount -t tmpfs none /proc || exit 99",
        "which boot this is",
        "next:  mount -t proc proc /proc",
    );
}

#[test]
fn a_read_only_file_system_stops_writers_and_no_reader() {
    stops_writers_alone(",ro", "true", "mounted read-only", "next:  set LOCKED_STATE_DIR to ");
}

#[test]
fn a_directory_without_write_permission_stops_writers_and_no_reader() {
    // Root is bound by no permission; then only the read is looked at.
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "A", "1"));
    let state = stage.world.state();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).expect("mode");
    let bound = fs::File::create(state.join("probe")).is_err();
    assert!(silent(&mut decrypt(&stage, &state)).contains("A=1"));
    if bound {
        refused(&stage, "without write permission", &state);
        assert!(silent(stage.locked(1).arg("history")).contains(RESOURCE), "looking needs no writing");
    }
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("mode");
}
