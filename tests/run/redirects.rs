//! Files that the shell opens before we exist, and the words after sops' own where those puzzle.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Stdio;

use super::stage::{DOTENV, FILE, RESOURCE, Stage, ends, says, silent, text, until};

const NEW: &str = "secrets/new.env.sops";

/// `sh -c "locked … > F"`: descriptor 1 is F.
fn shell(stage: &Stage, session: u32, line: &str) -> std::process::Command {
    let mut command = stage.locked(session);
    let program = std::mem::replace(&mut command, stage.world.command("sh"));
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let types = DOTENV.join(" ");
    let line = line.replace("locked", env!("CARGO_BIN_EXE_locked")).replace("TYPES", &types);
    command.args(["-c", &line]);
    command
}

#[test]
fn what_the_shell_sends_into_a_file_is_leased_by_looking_at_descriptor_1() {
    let stage = Stage::new();
    fs::write(stage.world.work().join("plain.env"), "A=one\n").expect("plain");
    silent(&mut shell(&stage, 1, &format!("locked sops encrypt TYPES plain.env > {NEW}")));
    assert_eq!(stage.world.decrypted(&stage.world.work().join(NEW), "dotenv"), "A=one\n");
    assert_eq!(stage.history()[0]["resource"], "sops:new");
    assert_eq!(stage.receipts(), ["proven"]);
    let held = stage.hold(2, &["-r", "sops:new"]);
    let said = says(&mut shell(&stage, 1, &format!("locked -n sops encrypt TYPES plain.env >> {NEW}")), 75);
    assert!(said.starts_with("BLOCKED: sops:new is held by "), "{said}");
    held.let_go();
}

#[test]
fn a_failed_encrypt_into_a_new_file_loses_nothing_and_quarantines_nothing() {
    let stage = Stage::new();
    let output = ends(&mut shell(&stage, 1, &format!("locked sops encrypt no-such-file > {NEW}")), 100);
    assert!(!text(&output.stderr).contains("QUARANTINED"), "{}", text(&output.stderr));
    assert_ne!(stage.state().as_deref(), Some("quarantined"));
    silent(stage.locked(2).args(["-n", "-r", "sops:new", "true"]));
}

/// `>>` empties nothing: a command that failed left the file as it was, and one that wrote has made two of one.
#[test]
fn appending_is_looked_at_against_what_was_there() {
    let stage = Stage::new();
    let before = stage.content();
    ends(&mut shell(&stage, 1, &format!("locked sops encrypt no-such-file >> {FILE}")), 100);
    assert_eq!(stage.content(), before);
    assert_eq!(stage.state().as_deref(), Some("kept"), "takeable");
    fs::write(stage.world.work().join("plain.env"), "A=one\n").expect("plain");
    ends(&mut shell(&stage, 2, &format!("locked sops encrypt TYPES plain.env >> {FILE}")), 72);
    silent(stage.locked(2).args(["restore", FILE]));
    assert_eq!(stage.content(), before);
}

#[test]
fn a_failed_encrypt_into_a_known_file_is_the_shells_loss_and_is_brought_back() {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "A", "1"));
    let proven = stage.content();
    let said = says(&mut shell(&stage, 1, &format!("locked sops encrypt no-such-file > {FILE}")), 72);
    assert!(said.contains("the file is empty"), "{said}");
    silent(stage.locked(1).args(["restore", FILE]));
    assert_eq!(stage.content(), proven);
}

#[test]
fn a_redirection_onto_the_input_gets_a_hint_and_is_brought_back() {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "A", "1"));
    let proven = stage.content();
    let mut command = shell(&stage, 1, &format!("locked sops encrypt TYPES {FILE} > {FILE}"));
    let output = command.output().expect("runs");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(72), "{said}");
    assert!(said.contains("the shell emptied") && said.contains("--in-place or --output"), "{said}");
    silent(stage.locked(1).args(["restore", FILE]));
    assert_eq!(stage.content(), proven);
}

/// Another one writes F between the shell's truncation and our grant.
#[test]
fn a_redirected_file_that_somebody_wrote_meanwhile_is_not_mixed() {
    let stage = Stage::new();
    fs::write(stage.world.work().join("plain.env"), "A=one\n").expect("plain");
    let known = stage.content();
    silent(&mut stage.set(1, &[], "A", "1"));
    for (content, status) in [(&b"written by a stranger\n"[..], 74), (&known[..], 0)] {
        let held = stage.hold(2, &["-r", RESOURCE]);
        let line = format!("locked --wait 10m sops encrypt TYPES plain.env > {FILE}");
        let child = shell(&stage, 3, &line).stderr(Stdio::piped()).spawn().expect("starts");
        until("it waits", || (stage.status().first()?["waiters"] == 1).then_some(()));
        fs::write(stage.file(), content).expect("written meanwhile");
        held.let_go();
        let output = child.wait_with_output().expect("waited");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        if status == 74 {
            assert!(said.starts_with(&format!("REFUSED: {FILE} was written by somebody else ")), "{said}");
            assert!(said.contains(&format!("with --output {FILE} instead of a redirection")), "{said}");
            assert_eq!(stage.content(), content, "it is as the stranger left it");
            assert_eq!(stage.state(), None);
        } else {
            assert_eq!(stage.keys(), ["A=one"], "a known version is emptied again, as the shell meant it");
        }
    }
}

#[test]
fn sops_words_about_a_name_that_hides_its_format_are_followed_by_ours() {
    let stage = Stage::new();
    let output = stage.locked(1).args(["sops", "rotate", "-i", FILE]).output().expect("runs");
    let said = text(&output.stderr);
    assert!(!output.status.success());
    let ours = said.lines().last().expect("a line");
    assert!(ours.starts_with("locked: sops chooses the format by the end of the name"), "{said}");
    assert!(ours.contains("--input-type dotenv --output-type dotenv"), "{said}");
    assert!(said.lines().count() > 1, "sops' own words come first: {said}");
    let quiet = stage.locked(1).args(["-q", "sops", "rotate", "-i", FILE]).output().expect("runs");
    assert!(!text(&quiet.stderr).contains("locked:"), "{}", text(&quiet.stderr));
}

#[test]
fn windows_line_ends_get_a_hint() {
    let stage = Stage::new();
    let unix = String::from_utf8(stage.content()).expect("UTF-8");
    let path = stage.world.work().join("secrets/windows.env");
    fs::write(&path, unix.replace('\n', "\r\n")).expect("file");
    let output = stage.locked(1).args(["sops", "rotate", "-i", "secrets/windows.env"]).output().expect("runs");
    assert!(!output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("Windows line ends") && said.contains(".gitattributes"), "{said}");
}

/// Two worktrees of two branches have one chain of copies, and the shell has emptied the file before anybody could look.
#[test]
fn a_redirection_is_looked_at_against_this_checkout_and_not_against_another() {
    let stage = Stage::new();
    let (work, other) = (stage.world.work(), stage.world.root().join("other"));
    stage.world.git(&work, &["worktree", "add", "-q", "-b", "feature", other.to_str().expect("UTF-8")]);
    let head = stage.content();
    // Here the file comes to hold other keys altogether.
    fs::remove_file(stage.file()).expect("removed");
    stage.commit("removed");
    fs::write(work.join("plain.env"), "OTHER=1\n").expect("plain");
    silent(&mut shell(&stage, 1, &format!("locked sops encrypt TYPES plain.env > {FILE}")));
    fs::write(other.join("plain.env"), "FIRST=1\nSECOND=2\n").expect("plain");
    let line = format!("locked sops encrypt TYPES plain.env > {FILE}");
    silent(shell(&stage, 2, &line).current_dir(&other));
    // And what is lost there is not replaced by what is here.
    stage.world.git(&other, &["checkout", "-q", "--", FILE]);
    fs::remove_dir_all(stage.world.state().join("copies")).expect("as if it had never been written from there");
    fs::remove_file(work.join(FILE)).expect("removed");
    let said = says(&mut shell(&stage, 1, &line), 0);
    assert!(said.contains("a newer version was discarded") && said.lines().count() == 1, "{said}");
    // The session's own version there was an older one than this, which stands in a working file of the default branch.
    let said = says(shell(&stage, 2, &format!("locked sops encrypt no-such-file > {FILE}")).current_dir(&other), 74);
    assert!(said.contains(&format!("`locked restore {FILE}` brings it back")), "{said}");
    silent(stage.locked(2).args(["restore", FILE]).current_dir(&other));
    assert!(fs::read(other.join(FILE)).expect("file") == head, "HEAD of this worktree");
}

/// What a shell has opened as standard input says what it will run, also where the file has no name any more (a here-document
/// of some shells). From a pipe nothing is taken: one line says so, and the program gets all of it.
#[test]
fn a_script_on_descriptor_0_is_heard_before_it_runs() {
    let stage = Stage::new();
    let script = "false && docker compose -p shop up -d\necho \"${LOCKED_RESOURCES-none}\"\n";
    let file = stage.world.work().join("deploy.sh");
    fs::write(&file, script).expect("script");
    let open = || Stdio::from(fs::File::open(&file).expect("script"));
    assert_eq!(silent(stage.locked(1).args(["sh"]).stdin(open())), "container:shop\n");
    let kept = open();
    let again = open();
    fs::remove_file(&file).expect("gone");
    assert_eq!(silent(stage.locked(1).args(["sh"]).stdin(kept)), "container:shop\n");
    let held = stage.hold(2, &["-r", "container:shop"]);
    let said = says(stage.locked(1).args(["-n", "sh"]).stdin(again), 75);
    assert!(said.starts_with("BLOCKED: container:shop is held by "), "{said}");
    held.let_go();
    let output = ends(&mut shell(&stage, 1, "printf 'echo \"${LOCKED_RESOURCES-none}\"' | locked sh"), 0);
    assert_eq!(text(&output.stdout), "none\n");
    assert!(text(&output.stderr).contains("a part of the script could not be read"), "{}", text(&output.stderr));
}
