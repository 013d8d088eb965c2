//! The README's examples, run: every `sh` block in its order, as a reader would type it, and every `toml` block as settings.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::server::database;
use crate::run::stage::{FILE, Stage};
use crate::world::board::{in_front, uuid, write_program};
use crate::world::cluster;
use crate::world::ends::{ends, so, text};

/// Blocks that build, install or test the project itself. Each begins with one of these, and the gate runs it elsewhere.
const ELSEWHERE: [&str; 3] = ["install/quickstart", "install/install.sh", "install/test"];

/// What an example names and this machine cannot have, and what stands for it.
const STANDS_FOR: [(&str, &str); 2] = [
    ("'postgres://deploy@db.example.org/infra?sslmode=verify-full&sslrootcert=ca.crt'", "\"$DEPLOY_URL\""),
    // It goes on until Ctrl-C, which comes after a moment.
    ("locked status --watch ", "timeout --preserve-status -s INT 1 locked status --watch || test $? = 130 "),
];

/// What must be so before an example is typed: the first words of its block, and what makes it so.
const BEFORE: [(&str, &str); 7] = [
    ("locked status\n", "LOCKED_SESSION=$OTHER locked acquire server:web-1 --operation deploy"),
    ("locked status --json", "LOCKED_SESSION=$OTHER locked release server:web-1"),
    ("LOCKED_STORE=\"$ADMIN_URL\"", "psql -q \"$ADMIN_URL\" -c 'create role deploy login'"),
    (
        "locked restore",
        "PATH=\"$BREAKS:$PATH\" locked sops set $TYPES secrets/monitoring.env.sops '[\"A\"]' '\"b\"' || test $? = 72",
    ),
    ("locked steal", "LOCKED_SESSION=$OTHER locked acquire server:web-1 --operation elsewhere"),
    ("locked --secret", "rm .locked.toml"),
    ("export DATABASE_URL", "printf 'store = { url_env = \"DATABASE_URL\" }\\n' >.locked.toml"),
];

/// A fenced block: its language, its text.
struct Block {
    language: String,
    text: String,
}

fn blocks(readme: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for line in readme.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                found.push(Block { language: language.to_owned(), text: String::new() });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = found.last_mut().expect("a block is open");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => {}
        }
    }
    found
}

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md")
}

/// A repository as the examples know it: their files, their script, a program that only a rule of one's own knows.
struct Reader {
    stage: Stage,
    path: std::ffi::OsString,
}

impl Reader {
    fn new() -> Self {
        let stage = Stage::new();
        stage.world.encrypted("secrets/app.yaml", "API_KEY: old\ndb:\n  password: old\n", "yaml");
        let rotates = "#!/bin/sh\nexec locked sops set secrets/app.yaml '[\"API_KEY\"]' '\"new\"'\n";
        for (name, text) in [("deploy.sh", "#!/bin/sh\nexit 0\n"), ("rotate.sh", rotates)] {
            write_program(&stage.world.work().join(name), text);
        }
        stage.commit("what the examples name");
        let programs = stage.world.root().join("programs");
        fs::create_dir(&programs).expect("programs");
        // Every issue is open.
        let gh = "#!/bin/sh\necho '{\"state\":\"OPEN\"}'\n";
        for (name, text) in [("n8nctl", "#!/bin/sh\n"), ("curl", "#!/bin/sh\n"), ("mongosh", "#!/bin/sh\n"), ("gh", gh)]
        {
            write_program(&programs.join(name), text);
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_locked"), programs.join("locked")).expect("locked");
        std::os::unix::fs::symlink(cluster::program("psql"), programs.join("psql")).expect("psql");
        let path = in_front(&programs);
        Self { stage, path }
    }

    /// A shell in the repository; a failing line is the end of it.
    fn shell(&self, script: &str) -> Command {
        let address = database_of_examples();
        let mut command = self.stage.world.command("bash");
        command.args(["-euo", "pipefail", "-c", script]);
        command
            .env("PATH", &self.path)
            .env("LOCKED_SESSION", uuid(1))
            .env("OTHER", uuid(2))
            .env("ADMIN_URL", &address)
            .env("DEPLOY_URL", address.replace("postgres://postgres@", "postgres://deploy@"))
            .env("BREAKS", self.stage.world.script("sops", &broken(&self.stage)))
            .env("TYPES", "--input-type dotenv --output-type dotenv");
        command
    }

    fn settings(&self, text: &str) {
        let directory = self.stage.world.root().join("home/.config/locked");
        fs::create_dir_all(&directory).expect("directory");
        fs::write(directory.join("config.toml"), text).expect("settings");
    }
}

/// A sops that empties what it should write, and decrypts as ever.
fn broken(stage: &Stage) -> String {
    format!(
        "for word in \"$@\"; do [ \"$word\" = decrypt ] && exec '{}' \"$@\"; done\n: >'{}'",
        crate::world::real_sops().display(),
        stage.world.work().join(FILE).display()
    )
}

fn database_of_examples() -> String {
    static ADDRESS: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    ADDRESS.get_or_init(|| database("of_the_readme")).clone()
}

#[test]
fn every_example_does_what_the_reader_is_told() {
    let reader = Reader::new();
    let mut run = 0;
    let mut said = String::new();
    for block in blocks(&readme()) {
        match block.language.as_str() {
            // What is shown below an example is what it says, but for places, people and times.
            "text" if block.text.starts_with("decision:") || block.text.starts_with("RESOURCE ") => {
                let first_words = |text: &str| -> Vec<String> {
                    text.lines().map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
                };
                assert_eq!(first_words(&said), first_words(&block.text), "{said}");
                let head = |text: &str| text.split_whitespace().take(9).map(str::to_owned).collect::<Vec<_>>();
                let table = block.text.starts_with("RESOURCE ");
                assert!(!table || head(&said) == head(&block.text), "{said}");
            }
            // The rules that the next commands are about; what else is shown as settings has a test of its own.
            "toml" if block.text.contains("[[rule]]") => reader.settings(&block.text),
            "sh" if !ELSEWHERE.iter().any(|start| block.text.starts_with(start)) => {
                let before = BEFORE.iter().filter(|(start, _)| block.text.starts_with(start));
                before.for_each(|(_, script)| drop(ends(&mut reader.shell(script), 0)));
                let typed = STANDS_FOR.iter().fold(block.text.clone(), |text, (shown, here)| text.replace(shown, here));
                said = text(&ends(&mut reader.shell(&typed), 0).stdout);
                run += 1;
            }
            _ => {}
        }
    }
    assert!(run > 12, "{run} examples");
}

/// What is shown as said by `locked` is what it says, but for places, people and times.
#[test]
fn what_is_shown_of_refusals_and_of_the_doctor_is_what_is_said() {
    let shown = |start: &str| -> String {
        let all = blocks(&readme()).into_iter().filter(|block| block.language == "text");
        all.map(|block| block.text).find(|text| text.starts_with(start)).unwrap_or_else(|| panic!("no {start}"))
    };
    let stage = Stage::new();
    // The holder is a sops that waits; before us stands another who wants it.
    let waits = stage.world.root().join("waits");
    let there = stage.world.root().join("there");
    let script = format!(
        "for word in \"$@\"; do [ \"$word\" = decrypt ] && exec '{}' \"$@\"; done\n: >'{}'; while [ ! -e '{}' ]; do sleep 0.02; done",
        crate::world::real_sops().display(),
        there.display(),
        waits.display()
    );
    let slow = stage.world.script("sops", &script);
    let mut holder = stage.set(1, &[], "A", "1").env("PATH", in_front(&slow)).spawn().expect("started");
    so("the holder writes", || there.exists());
    let mut first = stage.set(3, &["--wait", "60s"], "C", "3").spawn().expect("started");
    so("one waits", || stage.status().first().is_some_and(|it| it["waiters"] == 1));
    let said = crate::run::stage::says(&mut stage.set(2, &["-n"], "B", "2"), 75);
    fs::write(&waits, "").expect("told");
    holder.wait().expect("ended");
    first.wait().expect("ended");
    let plain = |text: &str| -> String {
        let is_time = |word: &str| word.len() == 8 && word.bytes().filter(|&byte| byte == b':').count() == 2;
        let words = text.split(' ').map(|word| match word.trim_end_matches([',', ':']) {
            // 01010101 and (label@host)
            _ if word.starts_with('(') && word.contains('@') => "(LABEL),".to_owned(),
            who if who.len() == 8 && who.bytes().all(|byte| byte.is_ascii_hexdigit()) => "WHO".to_owned(),
            time if is_time(time) => "TIME,".to_owned(),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let lines = |text: &str| text.trim_end().lines().map(plain).collect::<Vec<_>>();
    assert_eq!(lines(&said), lines(&shown("BLOCKED: ")));

    let bed = crate::doctor::bed::Bed::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    fs::write(bed.home().join(".profile"), "").expect("a profile");
    let said = text(&ends(&mut bed.doctor(&["path"]), 78).stdout);
    // Names of tools and folders are each machine's own; the words between them are not.
    let words = |text: &str| {
        let own = |word: &&str| !word.contains('/') && !word.contains("path") && !["comes", "come", ","].contains(word);
        text.lines().map(|line| line.split_whitespace().filter(own).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let said = words(&said);
    for line in words(&shown("path: ")) {
        assert!(said.contains(&line), "{line:?} is not among {said:#?}");
    }
}

#[test]
fn every_example_of_settings_can_be_followed() {
    let reader = Reader::new();
    let shown: Vec<Block> = blocks(&readme()).into_iter().filter(|block| block.language == "toml").collect();
    assert!(shown.len() > 5, "{} examples", shown.len());
    for block in shown {
        reader.settings(&block.text);
        let output = ends(&mut reader.shell("locked config show"), 0);
        assert!(!text(&output.stdout).is_empty(), "{}", block.text);
        // A line that was made a comment can be made a setting.
        let commented = block.text.lines().filter_map(|line| line.strip_prefix("# store = "));
        for line in commented {
            reader.settings(&format!("store = {line}\n"));
            ends(&mut reader.shell("locked config show"), 0);
        }
    }
}

#[test]
fn what_is_told_to_begin_elsewhere_is_in_the_readme() {
    let all = blocks(&readme());
    let starts = |start: &str| all.iter().any(|block| block.language == "sh" && block.text.starts_with(start));
    let named = ELSEWHERE.into_iter().chain(BEFORE.iter().map(|(start, _)| *start));
    named.for_each(|start| assert!(starts(start), "no example begins with {start}"));
    for (shown, _) in STANDS_FOR {
        assert!(all.iter().any(|block| block.text.contains(shown)), "no example shows {shown}");
    }
}
