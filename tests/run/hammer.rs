//! 16 writers of one file at once: every key is there in the end, whoever they are. And without `locked` keys are lost,
//! so the look that says so is no look that always says so.
//!
//! `LOCKED_HAMMER=20` runs 20 rounds of each format instead of the usual 2.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use super::stage::{Stage, text};

const WRITERS: u32 = 16;
const USUAL: u32 = 2;

/// A format with a file of it, and what its keys are called.
struct Format {
    kind: &'static str,
    file: &'static str,
    plain: &'static str,
    index: fn(&str) -> String,
}

const FORMATS: [Format; 4] = [
    Format { kind: "dotenv", file: "a/hammer.env.sops", plain: "FIRST=one\n", index: |key| format!("[\"{key}\"]") },
    Format { kind: "yaml", file: "a/hammer.sops.yaml", plain: "first: one\n", index: |key| format!("[\"{key}\"]") },
    Format { kind: "json", file: "a/hammer.json", plain: "{\"first\": \"one\"}", index: |key| format!("[\"{key}\"]") },
    Format {
        kind: "ini",
        file: "a/hammer.ini",
        plain: "[s]\nfirst = one\n",
        index: |key| format!("[\"s\"][\"{key}\"]"),
    },
];

fn rounds() -> u32 {
    std::env::var("LOCKED_HAMMER").map_or(USUAL, |text| text.parse().expect("a number"))
}

/// All writers at once; every one must end well. `session` names each one's session.
fn round(stage: &Stage, format: &Format, round: u32, command: impl Fn(u32) -> Command) {
    let types = ["--input-type", format.kind, "--output-type", format.kind];
    let start = |writer: u32| {
        let key = format!("KEY_{round}_{writer}");
        let mut command = command(writer);
        command.current_dir(stage.world.work()).arg("set").args(types).arg(format.file);
        command.args([(format.index)(&key), format!("\"value-{round}-{writer}\"")]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let children: Vec<_> = (1..=WRITERS).map(start).collect();
    for (writer, child) in (1..).zip(children) {
        let output = child.wait_with_output().expect("waited");
        assert!(output.status.success(), "{} writer {writer}: {}", format.kind, text(&output.stderr));
    }
}

/// The values of this round that the file holds.
fn found(stage: &Stage, format: &Format, round: u32) -> BTreeSet<String> {
    let plain = stage.world.decrypted(&stage.world.work().join(format.file), format.kind);
    (1..=WRITERS).map(|writer| format!("value-{round}-{writer}")).filter(|value| is_value(&plain, value)).collect()
}

/// As a whole: `value-1-1` does not stand in `value-1-11`.
fn is_value(plain: &str, value: &str) -> bool {
    plain.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == value)
}

fn hammered(format: &Format, rounds: u32, session: impl Fn(u32) -> u32) {
    let stage = Stage::new();
    stage.world.encrypted(format.file, format.plain, format.kind);
    for number in 1..=rounds {
        round(&stage, format, number, |writer| {
            let mut command = stage.locked(session(writer));
            // Sixteen runs of sops and as many canaries on a busy machine.
            command.args(["--wait", "10m", "sops"]);
            command
        });
    }
    let kept: usize = (1..=rounds).map(|number| found(&stage, format, number).len()).sum();
    println!("{}: {kept} of {} keys", format.kind, rounds * WRITERS);
    assert_eq!(kept, (rounds * WRITERS) as usize, "{} keys", format.kind);
    assert_eq!(stage.status().len(), 0, "nothing is held when all have gone");
}

#[test]
fn sixteen_writers_lose_no_key_of_dotenv() {
    hammered(&FORMATS[0], rounds(), |writer| writer);
}

#[test]
fn sixteen_writers_lose_no_key_of_yaml() {
    hammered(&FORMATS[1], rounds(), |writer| writer);
}

#[test]
fn sixteen_writers_lose_no_key_of_json() {
    hammered(&FORMATS[2], rounds(), |writer| writer);
}

#[test]
fn sixteen_writers_lose_no_key_of_ini() {
    hammered(&FORMATS[3], rounds(), |writer| writer);
}

#[test]
fn sixteen_writers_of_one_session_exclude_each_other_too() {
    hammered(&FORMATS[0], 1, |_| 7);
}

#[test]
fn without_locked_keys_are_lost() {
    let stage = Stage::new();
    if std::env::var_os("LOCKED_HAMMER").is_some() {
        let kept =
            FORMATS.iter().map(|format| (1..=rounds()).map(|number| bare(&stage, format, number)).sum::<usize>());
        println!(
            "without locked: {} of {} keys",
            kept.sum::<usize>(),
            rounds() as usize * WRITERS as usize * FORMATS.len()
        );
    }
    // One round that loses none is possible; ten of them are not.
    let lost = (1..=10).any(|number| bare(&stage, &FORMATS[0], number) < WRITERS as usize);
    assert!(lost, "sixteen writers without a lock kept every key, ten times: this test cannot tell");
}

/// A round of the sops program alone on a fresh file. How many keys are there in the end?
fn bare(stage: &Stage, format: &Format, number: u32) -> usize {
    let path = stage.world.encrypted(format.file, format.plain, format.kind);
    let types = ["--input-type", format.kind, "--output-type", format.kind];
    let start = |writer: u32| {
        let value = [(format.index)(&format!("KEY_{writer}")), format!("\"value-{number}-{writer}\"")];
        let mut sops = stage.world.sops();
        sops.arg("set").args(types).arg(&path).args(value).stderr(Stdio::null()).spawn().expect("sops starts")
    };
    let children: Vec<_> = (1..=WRITERS).map(start).collect();
    for mut child in children {
        // Some of them even meet a file that another one has just emptied.
        child.wait().expect("waited");
    }
    let decrypts = stage.world.sops().arg("decrypt").args(types).arg(&path).output().expect("sops runs");
    let plain = text(&decrypts.stdout);
    (1..=WRITERS).filter(|writer| is_value(&plain, &format!("value-{number}-{writer}"))).count()
}
