//! Sixteen agents on one repository: each asks before it uses a tool, and does what a denial says. No key is lost, no
//! plaintext is left, and at the end nobody holds anything.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::bench::{Bench, denial, ends, text};
use crate::world::board::uuid;
use crate::world::ends::until;

const AGENTS: u32 = 16;

/// One of them.
struct Agent<'a> {
    bench: &'a Bench,
    number: u32,
}

impl Agent<'_> {
    /// What its hook says; none: go on.
    fn asks(&self, tool: &str, input: &Value) -> Option<String> {
        let answer = self.bench.ask(self.number, tool, input)?;
        (!answer["permissionDecision"].is_null()).then(|| denial(&answer))
    }

    /// The next step of a denial.
    fn next(why: &str) -> String {
        why.lines().find_map(|line| line.strip_prefix("next:  ")).expect("a next step").to_owned()
    }

    /// A line of its, in a shell of its, with `locked` on PATH and patience: on a machine with two cores the sixteenth of
    /// sixteen waits for long.
    fn runs(&self, line: &str) -> std::process::Output {
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("a directory");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("PATH"));
        let mut command: Command = self.bench.command("bash");
        command.args(["-c", line.trim_matches('`')]).env("PATH", path).env("LOCKED_WAIT", "10m");
        command.env("CLAUDE_CODE_SESSION_ID", uuid(self.number));
        ends(&mut command, 0)
    }

    /// Uses the shell tool as a model does: the line it has in mind, and what the denial says in its place.
    fn shell(&self, line: &str) {
        let mut line = line.to_owned();
        if let Some(why) = self.asks("Bash", &json!({"command": line})) {
            let next = Self::next(&why);
            let line_of_next = next.split('`').nth(1).expect("a line in backquotes");
            let (front, _) = line_of_next.split_once(" sops").expect("locked in front of sops");
            line = format!("{front} {line}");
            assert_eq!(self.asks("Bash", &json!({"command": line})), None, "what was said is denied again: {line}");
        }
        self.runs(&line);
    }

    /// Edits a file with its own tool, once nothing is said against it; what is BLOCKED is tried again.
    fn edits(&self, file: &str, change: impl Fn(String) -> String) {
        let input = json!({"file_path": self.bench.path(file), "old_string": "", "new_string": change(String::new())});
        until("it is its turn", || match self.asks("Edit", &input) {
            None => Some(()),
            Some(why) => {
                assert!(why.starts_with("BLOCKED: "), "{why}");
                None
            }
        });
        self.bench.write(file, &change(self.bench.read(file)));
    }

    fn works(&self) {
        let number = self.number;
        self.shell(&format!("sops set secrets/x.yaml '[\"SET_{number}\"]' '\"v\"'"));
        match number % 8 {
            0 => self.opens(),
            1 => self.makes(),
            _ => {}
        }
        self.edits("db/roles.sql", |text| format!("{text}grant {number};\n"));
        self.bench.end(number);
    }

    /// Several values: decrypt, edit, encrypt, as the denial says.
    fn opens(&self) {
        let file = "secrets/x.yaml";
        let input = json!({"file_path": self.bench.path(file), "old_string": "A", "new_string": "B"});
        // While another one has it open it is no ciphertext, and blocked.
        let flow = until("it is ciphertext", || {
            let why = self.asks("Edit", &input).expect("it is nobody's to edit");
            let flow = Self::next(&why).split_once("for more: ").map(|(_, flow)| flow.to_owned());
            assert!(flow.is_some() || why.starts_with("BLOCKED: "), "{why}");
            flow
        });
        let steps: Vec<&str> = flow.split(", ").collect();
        let [decrypt, "edit it", encrypt] = steps.as_slice() else { panic!("{flow}") };
        self.runs(decrypt);
        self.edits(file, |text| format!("{text}EDIT_{}: w\n", self.number));
        self.runs(encrypt);
    }

    /// A file that is new.
    fn makes(&self) {
        let file = format!("secrets/new-{}.yaml", self.number);
        let input = json!({"file_path": self.bench.path(&file), "content": "N: 1\n"});
        let why = self.asks("Write", &input).expect("plaintext without a lease");
        let flow = Self::next(&why);
        let steps: Vec<&str> = flow.split(", ").collect();
        let [acquire, "write it", encrypt, release] = steps.as_slice() else { panic!("{flow}") };
        self.runs(acquire);
        assert_eq!(self.asks("Write", &input), None);
        self.bench.write(&file, "N: 1\n");
        self.runs(encrypt);
        self.runs(release);
    }
}

#[test]
fn sixteen_agents_lose_nothing_and_leave_nothing_open() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for number in 1..=AGENTS {
            let agent = Agent { bench: &bench, number };
            scope.spawn(move || agent.works());
        }
    });
    let plain = bench.world.decrypted(&bench.path("secrets/x.yaml"), "yaml");
    let keys: Vec<&str> = plain.lines().filter_map(|line| line.split(':').next()).collect();
    for number in 1..=AGENTS {
        assert!(keys.contains(&&*format!("SET_{number}")), "SET_{number} is lost: {plain}");
        if number % 8 == 0 {
            assert!(keys.contains(&&*format!("EDIT_{number}")), "EDIT_{number} is lost: {plain}");
        }
        let grant = format!("grant {number};");
        assert!(bench.read("db/roles.sql").lines().any(|line| line == grant), "{grant} is lost");
    }
    assert_eq!(keys.len(), 2 + 16 + 2, "{plain}");
    let mut files = 0;
    for file in fs::read_dir(bench.path("secrets")).expect("secrets") {
        let path = file.expect("a file").path();
        assert!(locked::naming::holds_sops(&path), "plaintext is left: {}", path.display());
        files += 1;
    }
    assert_eq!(files, 2 + 2);
    assert!(bench.world.status().is_empty(), "{:?}", bench.world.status());
    let doctor = bench.locked().args(["doctor", "agents", "leases", "--json"]).output().expect("it runs");
    assert!(!text(&doctor.stdout).contains("agents.unread"), "{}", text(&doctor.stdout));
}
