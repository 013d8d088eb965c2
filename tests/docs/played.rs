//! The playbooks, played: every line of theirs is run in its order, with the real sops, and does what it says.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use crate::world::World;
use crate::world::board::{in_front, uuid};
use crate::world::ends::{ends, text};

/// The file that they write.
const FILE: &str = "secrets/monitoring.env.sops";

/// Lines that end otherwise than with 0 where they are played: nobody is at a terminal.
const OTHERWISE: [(&str, &str, i32); 1] =
    [("dead-session", "locked steal sops:monitoring --reason 'its host was reinstalled'", 64)];

/// The lines of the blocks `sh` of a playbook. Steps in a list are indented, their blocks too.
fn lines(book: &Path) -> Vec<String> {
    let text = fs::read_to_string(book).expect("a playbook");
    let (mut inside, mut lines) = (false, Vec::new());
    for line in text.lines().map(str::trim) {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => lines.push(line.to_owned()),
            _ => {}
        }
    }
    lines
}

/// A repository with the file, and a script as they name one.
fn repository() -> World {
    let world = World::new();
    let work = world.work();
    world.git(&work, &["-c", "init.defaultBranch=main", "init", "-q"]);
    fs::write(work.join(".sops.yaml"), format!("creation_rules:\n  - age: {}\n", world.recipient())).expect("rules");
    world.encrypted(FILE, "DATABASE_URL=old\nHOST=web-1\n", "dotenv");
    crate::world::board::write_program(&work.join("script"), "#!/bin/sh\ntrue\n");
    world.git(&work, &["add", "-A"]);
    world.git(&work, &["commit", "-q", "-m", "start"]);
    world
}

#[test]
fn every_line_of_the_playbooks_can_be_run_as_it_stands() {
    let bin = Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("a directory");
    for name in ["corrupt-file", "dead-session", "everyone-blocked", "hold-across-steps", "rotate-a-credential"] {
        let world = repository();
        let sound = fs::read(world.work().join(FILE)).expect("file");
        let run = |session: u32, line: &str, status: i32| {
            let mut shell = world.command("sh");
            shell.args(["-c", line]).env("PATH", in_front(bin)).env("LOCKED_SESSION", uuid(session));
            ends(&mut shell, status)
        };
        let book = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("install/playbooks/{name}.md"));
        let lines = lines(&book);
        assert!(lines.len() > 4, "{name}: {lines:?}");
        let write =
            format!("locked sops set --input-type dotenv --output-type dotenv {FILE} '[\"DATABASE_URL\"]' '\"new\"'");
        for line in lines {
            if line.starts_with("locked restore") {
                run(1, &format!("locked -r sops:monitoring sh -c ': > {FILE}'"), 72);
            }
            if line.ends_with("--accept") {
                fs::write(world.work().join(FILE), &sound).expect("mended by hand");
            }
            if line.starts_with("locked status --ping") || line.starts_with("locked steal") {
                run(2, "locked acquire sops:monitoring", 0);
            }
            // Three ways to the end of one rotation.
            if line.starts_with("locked release rotation:") && !line.ends_with("--duty") {
                run(1, "locked acquire rotation:DATABASE_URL sops:monitoring", 0);
            }
            if line.ends_with("--as completed") {
                run(1, &write, 0);
            }
            let other = OTHERWISE.iter().find(|(book, of, _)| *book == name && *of == line);
            let output = run(1, &line, other.map_or(0, |(.., status)| *status));
            assert!(!text(&output.stdout).contains("nobody holds"), "{line}: {}", text(&output.stdout));
        }
    }
}
