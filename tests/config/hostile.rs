//! Repositories that somebody checked out and should not believe.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use crate::run::stage::{DOTENV, FILE, RESOURCE, Stage, ends, json, says, silent, text};

use super::{config, leased, repository, user};

/// A read goes on, a write and a hold by hand are stopped with 78.
#[track_caller]
fn only_reads_go_on(stage: &Stage, what: &str) {
    let before = stage.content();
    let read = silent(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).arg(FILE));
    assert!(read.contains("FIRST=one"), "{what}");
    silent(stage.locked(1).args(["--", "true"]).arg("-q").env("LOCKED_QUIET", "1"));
    // So does one whose complaints go nowhere, and one that writes what nobody shares.
    for line in ["sops --version >/dev/null 2>&1", "cat .gitignore 2>/dev/null || :", "true > list.txt"] {
        silent(stage.locked(1).args(["--", "sh", "-c", line]).env("LOCKED_QUIET", "1"));
    }
    for command in [
        &mut stage.set(1, &[], "A", "1"),
        stage.locked(1).args(["acquire", RESOURCE]),
        &mut leased(stage, &[], "echo ran > ran"),
        &mut config(stage, &["show"]),
    ] {
        let said = says(command, 78);
        assert!(said.starts_with("REFUSED: "), "{what}: {said}");
        assert!(said.lines().count() <= 5 && said.len() < 2000, "{what}: {said}");
        assert!(!said.contains("hunter2") && !said.contains('\u{1b}') && !said.contains('\0'), "{what}: {said}");
    }
    assert_eq!(stage.content(), before, "{what}");
    assert!(!stage.world.work().join("ran").exists(), "{what}");
}

#[test]
fn what_is_no_plain_file_of_settings_stops_writers_and_no_reader() {
    let stage = Stage::new();
    let path = stage.world.work().join(".locked.toml");
    let elsewhere = stage.world.root().join("hunter2.toml");
    fs::write(&elsewhere, "wait = \"31s\"\n").expect("file");
    let link = |to: &std::path::Path| std::os::unix::fs::symlink(to, &path).expect("link");
    let way: [(&str, &dyn Fn()); 8] = [
        ("a link", &|| link(&elsewhere)),
        ("a link to nothing", &|| link(std::path::Path::new("nowhere"))),
        ("a link to itself", &|| link(&path)),
        ("a link to a device", &|| link(std::path::Path::new("/dev/zero"))),
        ("a FIFO", &|| assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success())),
        ("a directory", &|| fs::create_dir(&path).expect("directory")),
        ("a huge file", &|| fs::File::create(&path).expect("file").set_len(1 << 40).expect("long")),
        ("a large file", &|| fs::write(&path, vec![b'#'; 2 * 1024 * 1024]).expect("file")),
    ];
    for (what, make) in way {
        make();
        only_reads_go_on(&stage, what);
        if path.is_dir() && !path.is_symlink() { fs::remove_dir(&path) } else { fs::remove_file(&path) }.expect("gone");
    }
}

/// Somebody waits to write into a FIFO: that would go on at the moment when anybody opens it.
#[test]
fn nobody_opens_what_is_no_file_of_settings() {
    let stage = Stage::new();
    let home = user(&stage, "");
    for path in [stage.world.work().join(".locked.toml"), home.join("locked/config.toml")] {
        drop(fs::remove_file(&path));
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        let opened = stage.world.root().join("opened");
        let mut writer = stage.world.command("sh");
        writer.args(["-c", ": > \"$0\"; : > \"$1\""]).args([&path, &opened]);
        let mut writer = writer.spawn().expect("a writer");
        for words in [&["sops", "decrypt"][..], &["explain", "--", "sops", "decrypt"], &["-N", "sops", "decrypt"]] {
            let mut command = stage.locked(1);
            silent(command.args(words).args(DOTENV).arg(FILE).env("XDG_CONFIG_HOME", &home));
        }
        silent(stage.locked(1).args(["-q", "true"]).env("XDG_CONFIG_HOME", &home));
        assert!(writer.try_wait().expect("a look").is_none() && !opened.exists(), "{} was opened", path.display());
        says(stage.set(1, &[], "A", "1").env("XDG_CONFIG_HOME", &home), 78);
        assert!(
            writer.try_wait().expect("a look").is_none() && !opened.exists(),
            "what is no file is opened by nobody"
        );
        writer.kill().expect("ended");
        writer.wait().expect("reaped");
        fs::remove_file(&path).expect("gone");
    }
}

#[test]
fn what_is_no_toml_or_too_much_of_it_stops_writers_and_no_reader() {
    let stage = Stage::new();
    for (what, content) in [
        ("NUL", b"wait = \"1s\0hunter2\"".to_vec()),
        ("no UTF-8", b"wait = \"\xff\xfehunter2\"".to_vec()),
        ("escapes", b"\"\x1b[2Jhunter2\" = 1".to_vec()),
        ("an escaped escape", b"\"\\u001b[2Jhunter2\" = 1".to_vec()),
        ("nested arrays", format!("wait = {}", "[".repeat(500_000)).into_bytes()),
        ("nested tables", format!("wait = {}", "{a=".repeat(300_000)).into_bytes()),
        ("a deep key", format!("{}b = 1", "a.".repeat(500_000)).into_bytes()),
        ("many headers", (0..60_000).map(|at| format!("[a{at}]\n")).collect::<String>().into_bytes()),
        ("a long key", "k".repeat(1_000_000).into_bytes()),
        ("an unknown key", b"password = \"hunter2\"".to_vec()),
        ("a wrong type", b"ttl = [\"hunter2\"]".to_vec()),
    ] {
        fs::write(stage.world.work().join(".locked.toml"), content).expect("settings");
        only_reads_go_on(&stage, what);
    }
}

#[test]
fn what_leads_to_another_lock_stops_writers_and_no_reader() {
    let stage = Stage::new();
    for settings in [
        "store = { url = \"postgres://u:hunter2@evil.example.org/x\" }",
        "store = { url = \"sqlite:/tmp/hunter2.db\" }",
        "store = { url_sops = { file = \"hunter2.yaml\", key = \"k\" } }",
        "store = { url_env = \"HOME\", via = \"ssh://hunter2@evil.example.org\" }",
        "store = { url_env = \"HOME\", advisory = true }",
        "scope = \"github.com/acme/hunter2\"",
        "store = { url_env = \"hunter2\\u001b[2J\" }",
    ] {
        repository(&stage, settings);
        only_reads_go_on(&stage, settings);
        says(stage.set(1, &[], "A", "1").env("LOCKED_STORE", "embedded"), 78);
    }
    let broken = user(&stage, "ttl = \n");
    repository(&stage, "");
    silent(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).arg(FILE).env("XDG_CONFIG_HOME", &broken));
    let said = says(stage.set(1, &[], "A", "1").env("XDG_CONFIG_HOME", &broken), 78);
    assert!(said.contains("config.toml\", line 1, column "), "{said}");
}

/// Everything that an untrusted file could wish for at once: what a write needs is as without it.
#[test]
fn what_would_weaken_the_lock_does_not_count_and_is_said_in_one_line() {
    let stage = Stage::new();
    let settings = "wait = \"0s\"\nttl = \"1s\"\nheartbeat = \"1ms\"\nrenew_deadline = \"2ms\"\ngrace = \"24h\"\n\
         unknown_base = \"allow\"\nremote_hold = \"1ms\"\nstopped_max = \"1ms\"\nmax_hold = \"1ms\"\nkeep_for = \"1ms\"\n\
         canary = false\n[session]\nenv = [\"HOME\"]\n[hosts]\nprod = \"elsewhere\"\n[ssh]\nask = true\n[gh]\nfollow = true\n\
         [[rule]]\nname = \"sops.set\"\nprogram = \"sops\"\npass = true\n\
         [[rule]]\nname = \"mine\"\nprogram = \"sops\"\nsubcommand = \"set\"\nresource = \"test:mine\"\ncanary = [\"touch\", \"ran\"]\n\
         [[program]]\nname = \"sops\"\n[[safe]]\npaths = [\"/**\"]\n";
    repository(&stage, settings);
    silent(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).arg(FILE));
    let said = text(&ends(&mut stage.set(1, &[], "A", "1"), 0).stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    for key in ["wait", "ttl", "canary", "session.env", "[[safe]]", "canary of a [[rule]]", "[[program]]"] {
        assert!(said.contains(key), "{key}: {said}");
    }
    // It is locked, waited for, looked at and kept as ever.
    let held = stage.hold(2, &["-r", RESOURCE]);
    says(&mut stage.set(1, &["-n"], "A", "2"), 75);
    held.let_go();
    ends(stage.set(1, &[], "A", "3").env("PATH", stage.stand_in(": > \"$file\"")), 72);
    assert!(!stage.world.work().join("ran").exists());
}

/// Two sessions stay two, although the file names a variable that both have.
#[test]
fn an_untrusted_file_does_not_make_one_session_of_all() {
    let stage = Stage::new();
    repository(&stage, "[session]\nenv = [\"HOME\"]\n");
    let run = |agent: &str, words: &[&str]| {
        let mut command = stage.world.locked();
        command.env_remove("LOCKED_SESSION").env("CLAUDE_CODE_SESSION_ID", agent).args(words);
        command
    };
    ends(&mut run("one", &["acquire", "server:web-1"]), 0);
    ends(&mut run("two", &["-n", "-r", "server:web-1", "true"]), 75);
    ends(&mut run("one", &["release", "server:web-1"]), 0);
    silent(&mut config(&stage, &["trust"]));
    ends(&mut run("one", &["acquire", "server:web-1"]), 0);
    ends(&mut run("two", &["-n", "-r", "server:web-1", "true"]), 0);
}

/// Whether a rule of the settings would have held something nobody knows then: it is said, and nobody is kept from working.
#[test]
fn a_program_that_only_the_settings_may_know_is_told_that_they_cannot_be_followed() {
    let stage = Stage::new();
    repository(&stage, "[[rule]]\nname = \"x\"\nprogram = \"true\"\nresource = \"test:x\"\nhunter2 = 1\n");
    let said = says(stage.locked(1).args(["--", "true"]), 0);
    assert!(said.contains("the settings are not followed, so what they would lock runs without a lease: "), "{said}");
    silent(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).arg(FILE));
}

/// Design §2: reads of sops always pass, also when the store is down, whatever a file says that came with a repository.
#[test]
fn no_word_of_a_repository_takes_a_read_of_sops_away() {
    let stage = Stage::new();
    let plain = stage.world.root().join("plain.env");
    let (file, plain) = (stage.file().display().to_string(), plain.display().to_string());
    let decrypt = ["sops", "decrypt", DOTENV[0], DOTENV[1], DOTENV[2], DOTENV[3]];
    let script = format!("{} {file} | cat", decrypt.join(" "));
    let lines = [
        [&decrypt[..], &[&file]].concat(),
        [&["env", "A=1"], &decrypt[..], &[&file]].concat(),
        vec!["sh", "-c", &script],
        [&decrypt[..], &["--output", &plain, &file]].concat(),
    ];
    for settings in [
        "[[rule]]\nname = \"all\"\nresource = \"x:y\"\n",
        "[[rule]]\nname = \"all\"\nwrites = [\"**\"]\nresource = \"x:y\"\n",
        "[[rule]]\nname = \"ask\"\nprogram = \"sops\"\nresource = []\nask = true\n",
        "[[rule]]\nname = \"some\"\nprogram = [\"sops\", \"sh\", \"env\"]\nresource = \"x:y\"\n",
        "[[zone]]\nname = \"Z\"\ncommands = [\"*sops*\"]\n",
        "[[zone]]\nname = \"Z\"\npaths = [\"**\"]\nreads = true\n",
        "[[zone]]\nname = \"Z\"\nsql = [\".\"]\n[[sql]]\nprogram = \"sops\"\ntext = \"{*}\"\n",
        "[[writer]]\nprogram = \"sops\"\nfiles = \"{*}\"\n[[rotation]]\nsecret = \"A\"\nfiles = [\"a\"]\n",
        "packs = [\"rotation\"]\n",
    ] {
        repository(&stage, settings);
        for line in &lines {
            let mut command = stage.locked(1);
            silent(command.args(line).env("LOCKED_STORE", "postgres://127.0.0.1:9/none"));
        }
    }
    // A write is held as the file says it.
    repository(&stage, "[[rule]]\nname = \"some\"\nprogram = \"sops\"\nresource = \"x:y\"\n");
    let answer: serde_json::Value =
        json(stage.locked(1).args(["explain", "--json", "--", "sops", "set", FILE, "[\"A\"]", "\"1\""]));
    assert_eq!(answer["resources"], serde_json::json!([RESOURCE, "x:y"]), "{answer}");
}

/// One's own zone of reads is the one thing that holds them; one's own rules do not.
#[test]
fn only_a_zone_of_reads_of_one_s_own_holds_a_read_of_sops() {
    let stage = Stage::new();
    for (settings, decision) in [
        ("[[rule]]\nname = \"x\"\nprogram = \"sops\"\nresource = \"x:y\"\n", "pass"),
        ("[[rule]]\nname = \"x\"\nresource = \"x:y\"\n", "pass"),
        ("[[zone]]\nname = \"Z\"\ncommands = [\"sops *\"]\n", "pass"),
        ("[[zone]]\nname = \"Z\"\npaths = [\"**\"]\n", "pass"),
        ("[[zone]]\nname = \"Z\"\npaths = [\"**\"]\nreads = true\n", "lock"),
    ] {
        let home = user(&stage, settings);
        let mut command = stage.locked(1);
        command.env("XDG_CONFIG_HOME", &home).args(["explain", "--json", "--", "sops", "decrypt", FILE]);
        let answer: serde_json::Value = json(&mut command);
        assert_eq!(answer["decision"], decision, "{settings}: {answer}");
    }
}

/// Whoever checks a repository out pays for its file at every command: it has a bound.
#[test]
fn a_repository_s_file_of_many_tables_stops_writers_and_no_reader() {
    let stage = Stage::new();
    let many: String = (0..300)
        .map(|at| format!("[[rule]]\nname = \"hunter2-{at}\"\nprogram = \"p{at}\"\nresource = \"x:y\"\n"))
        .collect();
    repository(&stage, &many);
    only_reads_go_on(&stage, "many tables");
    let said = says(&mut config(&stage, &["show"]), 78);
    assert!(said.contains(".locked.toml\", line 1025, column 1: ") && said.contains("at most 256 tables"), "{said}");
}
