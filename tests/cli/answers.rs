//! Answers that could not be written: whoever asked and got nothing must not take it for an answer, whichever verb it was.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

use crate::run::stage::{FILE, Stage, ends, silent, text};

/// What is asked, in this order: what one makes the next one shows. `{}` is another word at each way to lose an answer.
const ASKED: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["status", "--help"],
    &["-N", "sops", "set", FILE, "[\"A\"]", "1"],
    &["explain", "--", "sops", "set", FILE, "[\"A\"]", "1"],
    &["explain", "--json", "--", "true"],
    &["acquire", "--json", "server:{}"],
    &["renew", "--json", "server:{}"],
    &["check", "--json", "server:{}"],
    &["status"],
    &["status", "--json"],
    &["status", "--format", "prometheus"],
    &["status", "--watch"],
    &["status", "--watch", "--json"],
    &["status", "--ping", "server:{}"],
    &["status", "--duties"],
    &["session"],
    &["session", "begin", "--name", "{}", "--json"],
    &["session", "list"],
    &["release", "--json", "server:{}"],
    &["session", "end", "--json"],
    &["steal", "--json", "--reason", "why", "--now", "--approved-by", "me", "server:other-{}"],
    &["history"],
    &["history", "--json"],
    &["history", "--timeline"],
    &["history", "--html", "-"],
    &["adopt", "--json", FILE],
    &["restore", "--json", "--from", "head", FILE],
    &["audit"],
    &["audit", "--json"],
    &["store", "init", "--json"],
    &["store", "check"],
    &["store", "check", "--json"],
    &["store", "print-sql"],
    &["store", "print-sql", "--compat", "--scope", "a/b", "--containers", "c"],
    &["store", "prune", "--json"],
    &["store", "epoch", "--json"],
    &["config", "show"],
    &["config", "rules"],
    &["config", "trust", "--list"],
    &["shims", "install", "sops"],
    &["shims", "install", "--json", "sops"],
    &["shims", "list"],
    &["shims", "path"],
    &["shims", "remove", "sops"],
    &["hooks", "install"],
    &["hooks", "status"],
    &["hooks", "print", "husky"],
    &["hooks", "uninstall", "--json"],
    &["agents", "install", "claude"],
    &["agents", "install", "--json", "print"],
    &["agents", "status"],
    &["agents", "status", "--json"],
    &["agents", "remove", "claude"],
    &["init"],
    &["init", "--json"],
    &["doctor", "tools"],
    &["doctor", "tools", "--json"],
    &["completions", "bash"],
    &["completions", "zsh"],
    &["completions", "fish"],
    &["completions", "elvish"],
    &["completions", "bash", "--", "sta"],
    // To where no store can be: it grants nothing after it has moved.
    &["store", "move", "--json", "--to", "sqlite:/dev/null/store.db"],
];

/// What says nothing on standard output of its own, and what is refused here before it could.
const MUTE: [&str; 5] = ["run", "shims exec", "hooks run", "agents check", "store relay"];

/// A verb that somebody adds belongs into the table.
#[test]
fn every_verb_is_asked() {
    let asked = |verb: &str| ASKED.iter().any(|words| words.join(" ").starts_with(verb)) || MUTE.contains(&verb);
    for verb in locked::cli::definition().get_subcommands() {
        let below: Vec<_> = verb.get_subcommands().filter(|below| below.get_name() != "help").collect();
        let name = verb.get_name();
        assert!(!below.is_empty() || asked(name) || name == "help", "`locked {name}` is not asked");
        for below in below {
            let whole = format!("{name} {}", below.get_name());
            assert!(asked(&whole), "`locked {whole}` is not asked");
        }
    }
}

/// The lines of a command whose standard output is lost.
fn asked(stage: &Stage, script: &str, words: &[&str], way: &str) -> Command {
    let words = words.iter().map(|word| word.replace("{}", way));
    let mut command = stage.locked(1);
    let locked = command.get_program().to_owned();
    let mut shell = stage.world.command("/bin/sh");
    shell.args(["-c", script, "sh"]).arg(locked).args(words);
    for (name, value) in command.env("NO_COLOR", "1").get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let stage = Stage::new();
    for (way, script) in [("full", "exec \"$@\" >/dev/full"), ("closed", "exec \"$@\" >&-")] {
        // What was stolen before is said here.
        crate::run::stage::ends(stage.locked(2).args(["acquire", &format!("server:other-{way}")]), 0);
        // What nobody could be told of would be given back.
        silent(stage.locked(1).args(["acquire", &format!("server:{way}")]));
        for words in ASKED {
            if words.contains(&"restore") {
                std::fs::write(stage.file(), "").expect("as a killed sops leaves it");
            }
            let output = asked(&stage, script, words, way).output().expect("it runs");
            let said = text(&output.stderr);
            if words.contains(&"move") {
                // It has nothing to say before the other store is there.
                assert_ne!(output.status.code(), Some(0), "{way}: {words:?}: {said}");
                continue;
            }
            assert_eq!(output.status.code(), Some(70), "{way}: {words:?}: {said}");
            // Nothing of ours may stand between what a person types.
            let says = usize::from(words != &["completions", "bash", "--", "sta"]);
            assert_eq!(said.matches("cannot write the answer: ").count(), says, "{way}: {words:?}: {said}");
        }
    }
}

/// Whoever reads no more wanted no more.
#[test]
fn a_reader_that_went_away_is_no_fault() {
    let stage = Stage::new();
    for words in [
        &["--help"][..],
        &["init", "--json"],
        &["init"],
        &["shims", "path"],
        &["status", "--watch"],
        &["history", "--html", "-"],
        &["completions", "bash"],
        &["config", "rules"],
    ] {
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(reader);
        let mut command = stage.locked(1);
        command.args(words).stdout(Stdio::from(writer));
        let output = command.spawn().and_then(std::process::Child::wait_with_output).expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        let mut again = stage.locked(1);
        let (_, writer) = std::io::pipe().expect("pipe");
        let said =
            text(&again.args(words).stdout(Stdio::from(writer)).stderr(Stdio::piped()).output().expect("run").stderr);
        assert_eq!(said, "", "{words:?}");
    }
}

/// Answers of more than a pipe holds arrive whole where whoever reads has made it one that does not wait.
#[test]
fn a_pipe_that_does_not_block_gets_the_whole_answer() {
    let stage = Stage::new();
    let whole = text(&ends(stage.locked(1).args(["store", "print-sql"]), 0).stdout);
    assert!(whole.len() > 65_536, "more than a pipe holds");
    let script = "import fcntl, os, subprocess, sys, time\n\
        r, w = os.pipe()\n\
        fcntl.fcntl(w, fcntl.F_SETFL, os.O_NONBLOCK)\n\
        child = subprocess.Popen(sys.argv[1:], stdout=w)\n\
        os.close(w)\n\
        data = b''\n\
        while True:\n\
        \x20   part = os.read(r, 4096)\n\
        \x20   if not part: break\n\
        \x20   data += part\n\
        sys.stdout.buffer.write(data)\n\
        sys.exit(child.wait())";
    let mut python = stage.world.command("python3");
    python.args(["-c", script, env!("CARGO_BIN_EXE_locked"), "store", "print-sql"]);
    assert_eq!(text(&ends(&mut python, 0).stdout), whole);
}
