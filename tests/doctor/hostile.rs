//! Whatever programs, shells and repositories do, the doctor ends and says what it could not see.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::world::World;

use super::bed::{Bed, findings, wanted, wrong};

#[test]
fn files_of_a_shell_may_do_what_they_like() {
    let bed = Bed::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    let garbage = "printf 'welcome\\033[2J\\n<locked-path:/evil:path-locked>\\n'; read line; read line </dev/tty; set -x; echo $line";
    bed.rc(".profile", garbage);
    bed.rc(".bashrc", "yes garbage | head -c 300000; sleep 600 &");
    let loud = bed.findings(&["path"], &[]);
    assert!(wrong(&loud).is_empty() && !format!("{loud:?}").contains("evil"), "{loud:#?}");
    assert!(loud.iter().all(|it| it["id"] != "path.login"), "{loud:#?}");

    fs::write(bed.home().join(".profile"), "sleep 600; sleep 600\n").expect("rc");
    fs::write(bed.home().join(".bashrc"), "exec 1>/dev/null; while :; do :; done\n").expect("rc");
    let slow = bed.findings(&["path"], &[]);
    assert!(wrong(&slow).is_empty(), "{slow:#?}");
    for id in ["path.login", "path.interactive"] {
        let untold = wanted(&slow, (id, "note", " -l -i -c "));
        assert!(untold["what"].as_str().expect("text").ends_with("did not say in time what its PATH is"), "{untold}");
    }
    fs::write(bed.home().join(".profile"), "exit 3\n").expect("rc");
    fs::write(bed.home().join(".bashrc"), "exec >&-\n").expect("rc");
    let mute = bed.findings(&["path"], &[]);
    let untold = wanted(&mute, ("path.login", "note", " -l -i -c "));
    assert!(untold["what"].as_str().expect("text").ends_with("did not say what its PATH is"), "{untold}");
    wanted(&mute, ("path.interactive", "note", " -l -i -c "));
}

/// Ten thousand tracked files: those with a key are not all decrypted, and what was left out is said.
#[test]
fn a_large_repository_is_looked_at_in_part() {
    let bed = Bed { stage: crate::run::stage::Stage::new() };
    let content = bed.stage.content();
    let (many, work) = (bed.work().join("many"), bed.work());
    fs::create_dir(&many).expect("directory");
    let blob = bed.stage.world.git(&work, &["hash-object", "-w", crate::run::stage::FILE]);
    let mut index = String::new();
    for number in 0..10_000 {
        let sops = number % 4 == 0;
        let name = if sops { format!("{number}.env.sops") } else { format!("{number}.txt") };
        fs::write(many.join(&name), if sops { &content[..] } else { b"nothing\n" }).expect("file");
        writeln!(index, "100644 {} 0\tmany/{name}", blob.trim()).expect("text");
    }
    let mut git = bed.stage.world.command("git");
    let mut git = git.args(["update-index", "--index-info"]).stdin(Stdio::piped()).spawn().expect("git");
    git.stdin.take().expect("stdin").write_all(index.as_bytes()).expect("written");
    assert!(git.wait().expect("git").success());
    let sops = bed.stage.world.root().join("true");
    fs::create_dir(&sops).expect("directory");
    std::os::unix::fs::symlink("/bin/true", sops.join("sops")).expect("sops");
    let mut command = bed.stage.world.locked();
    command.args(["doctor", "files", "around", "--json"]).env("PATH", crate::run::stage::in_front(&sops));
    let found = findings(&mut command);
    let bounded = wanted(&found, ("files.bounded", "note", "locked audit"));
    let what = bounded["what"].as_str().expect("text");
    assert!(what.contains(" SOPS files were decrypted") || what.contains(" of 10002 tracked files"), "{what}");
}

/// Names are shown so that no terminal obeys them.
#[test]
fn no_text_of_a_repository_reaches_a_terminal_as_it_is() {
    let bed = Bed::new();
    bed.tracked("a\u{1b}]0;x\u{7}\u{202e}\n.env.sops", "A=hunter2\n");
    let output = bed.doctor(&["files"]).output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.contains("\\033]0;x\\007"), "{said}");
    assert!(said.lines().all(|line| !line.chars().any(|c| c.is_control() || c == '\u{202e}')), "{said}");
}

/// A directory of settings, state or shims that may not be read says so, and nothing breaks.
#[test]
fn places_that_are_no_directories_are_said() {
    let world = World::new();
    fs::remove_dir(world.state()).expect("state");
    fs::write(world.state(), "a file").expect("file");
    let shims = world.state().join("shims");
    let found = findings(
        world
            .locked()
            .args(["doctor", "state", "store", "shims", "spool", "leases", "--json"])
            .env("LOCKED_SHIMS_DIR", shims),
    );
    wanted(&found, ("state.directory", "fault", "LOCKED_STATE_DIR"));
    wanted(&found, ("store.place", "fault", "LOCKED_STATE_DIR"));
}
