//! `sops edit` with a person's editor on a real terminal: resized, stopped and brought back, saved.
#![forbid(unsafe_code)]

use super::jobs::{SHELLS, shell};
use super::patience::finished;
use super::terminal::Terminal;
use super::ways::{Way, Ways, wait_for_text};

/// `sops` takes a lease by its rule, so the second way is the one under a lease.
const BOTH: [Way; 2] = [Way::Itself, Way::Passing];

/// What is particular about an editor.
struct Editor {
    /// A script that becomes it.
    script: &'static str,
    /// Keys that stop it, each a way of its own.
    stops: &'static [&'static str],
    /// Keys that add a line `B=2`, save and leave.
    saves: &'static str,
    /// What the file holds then.
    saved: &'static str,
}

const VIM: Editor = Editor {
    script: "exec vim -u NONE -N -n -c \"autocmd VimResized * call writefile([&lines . 'x' . &columns], 'size')\" \"$@\"",
    stops: &["\x1a", ":sus\r", "\x1a"],
    saves: "oB=2\x1b:wq\r",
    saved: "A=1\nB=2\n",
};

/// nano has the key in a menu, and sends the stop to its whole group: it reaches us, sops and the editor at once.
const NANO: Editor = Editor {
    script: "exec nano -Y none \"$@\"",
    stops: &["\x14\x1a", "\x14\x1a"],
    saves: "B=2\r\x0f\r\x18",
    saved: "B=2\nA=1\n",
};

fn leases(ways: &Ways) -> usize {
    let output = finished(ways.world.locked().args(["status", "--json"]));
    let leases: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    leases.as_array().expect("a list").len()
}

/// The terminal's modes, as a command of the shell finds them.
fn modes(ways: &Ways, terminal: &mut Terminal) -> String {
    terminal.line("stty -g > modes");
    terminal.prompt();
    std::fs::read_to_string(ways.world.work().join("modes")).expect("modes")
}

/// A terminal of 24 by 80 with the editor open on the file.
fn open(ways: &Ways, way: Way, editor: &Editor) -> (Terminal, String) {
    let script = format!("#!/bin/sh\n{}\n", editor.script);
    std::fs::write(ways.world.work().join("editor"), script).expect("editor");
    let mut terminal = shell(ways, way, SHELLS[0]);
    terminal.line("chmod +x editor; export EDITOR=$PWD/editor; stty rows 24 cols 80; tty > tty");
    let before = modes(ways, &mut terminal);
    terminal.line("$ME sops edit --input-type dotenv --output-type dotenv x.env.sops");
    terminal.see("A=1");
    (terminal, before)
}

fn resize(ways: &Ways) {
    let tty = wait_for_text(&ways.world.work().join("tty"), "/dev/");
    let status = std::process::Command::new("stty").args(["-F", tty.trim(), "rows", "41", "cols", "100"]).status();
    assert!(status.expect("stty runs").success());
}

/// Opens, resizes, stops and brings back, saves. `resized` waits until the editor knows its new size.
fn edits(editor: &Editor, resized: impl Fn(&Ways, &mut Terminal)) {
    for way in BOTH {
        let ways = Ways::new();
        let file = ways.world.encrypted("x.env.sops", "A=1\n", "dotenv");
        let (mut terminal, before) = open(&ways, way, editor);
        let held = usize::from(way != Way::Itself);
        resize(&ways);
        resized(&ways, &mut terminal);
        for keys in editor.stops {
            terminal.keys(keys);
            terminal.job_stops();
            assert_eq!(leases(&ways), held, "{way:?}: while the editor is stopped");
            terminal.line("fg");
            terminal.see("A=1");
        }
        terminal.keys(editor.saves);
        // The editor gives the screen back, and the shell is there again.
        terminal.see("\x1b[?1049l");
        terminal.see("$ ");
        terminal.prompt();
        assert_eq!(ways.world.decrypted(&file, "dotenv"), editor.saved, "{way:?}: {}", terminal.whole());
        assert_eq!(leases(&ways), 0, "{way:?}: after the edit");
        assert_eq!(modes(&ways, &mut terminal), before, "{way:?}: the terminal is as it was");
    }
}

#[test]
fn vim_edits_is_resized_stopped_and_brought_back() {
    edits(&VIM, |ways, _| {
        wait_for_text(&ways.world.work().join("size"), "41x100\n");
    });
}

#[test]
fn nano_edits_is_resized_stopped_and_brought_back() {
    // stty sets rows and columns one after the other; a key that comes between the two redraws is lost to nano. The title
    // is padded to the new width only in the second.
    let resized = |_: &Ways, terminal: &mut Terminal| drop(terminal.see_one_of(&["\x1b[1;99H"]));
    edits(&NANO, resized);
}

#[test]
fn an_editor_without_a_terminal_does_its_work() {
    for way in BOTH {
        let ways = Ways::new();
        let file = ways.world.encrypted("x.env.sops", "A=1\n", "dotenv");
        let sops = ["sops", "edit", "--input-type", "dotenv", "--output-type", "dotenv", "x.env.sops"];
        let output = ways.run(way, &sops, r#"export EDITOR="sed -i s/A=1/A=2/"; "${me[@]}" < /dev/null"#);
        assert_eq!(output.status.code(), Some(0), "{way:?}: {output:?}");
        assert_eq!(ways.world.decrypted(&file, "dotenv"), "A=2\n", "{way:?}");
    }
}
