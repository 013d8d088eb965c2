//! What the verbs answer with `--json`, against the table of the README: fields are only ever added, and never by accident.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Signal;
use serde_json::Value;

use super::held_on::in_line;
use super::kept::Agent;
use crate::cli::documented::{documented, fields};
use crate::rotation::stage::{ROTATION, Stage};
use crate::run::stage::{ends, json};
use crate::world::board::uuid;
use crate::world::processes::signal;

#[test]
fn every_answer_has_the_fields_that_are_documented() {
    for stage in Stage::both("answers") {
        let mut agent = Agent::of(&stage, 1);
        let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut note = |verb: &str, answer: &Value| {
            told.entry(verb.to_owned()).or_default().extend(fields(answer));
        };
        let as_one = |words: &[&str]| -> Value { json(stage.locked(1).args(words).arg("--json")) };
        note("session", &as_one(&["session"]));
        json::<Value>(stage.locked(2).args(["session", "begin", "--name", "OTHER", "--json"]));
        note("session begin", &as_one(&["session", "begin", "--name", "ME"]));
        note("acquire", &agent.locked("acquire server:a server:b --keep-alive"));
        note("renew", &as_one(&["renew", "server:a"]));
        note("check", &as_one(&["check", "server:a"]));
        note("session list", &as_one(&["session", "list"]));
        let waits = in_line(&stage, 3, &["server:a"]);
        note("status", &as_one(&["status"]));
        note("status --waiting", &as_one(&["status", "--waiting"]));
        signal(waits.pid(), Signal::TERM);
        waits.ended();
        note("status --ping", &json(stage.locked(2).args(["status", "--ping", "server:a", "--json"])));
        note("release", &as_one(&["release", "server:b"]));
        note("history", &as_one(&["history"]));
        let theft = ["steal", "server:a", "--reason", "it hangs", "--approved-by", "Maria", "--json"];
        note("steal", &json(stage.locked(2).args(theft)));
        as_one(&["acquire", ROTATION]);
        let refused = ends(stage.locked(1).args(["release", ROTATION, "--json"]), 64);
        note("release", &serde_json::from_slice(&refused.stdout).expect("JSON"));
        as_one(&["release", ROTATION, "--as", "human-action"]);
        note("status --duties", &as_one(&["status", "--duties"]));
        note("release --duty", &as_one(&["release", ROTATION, "--duty"]));
        note("session end", &as_one(&["session", "end"]));
        assert_eq!(documented("Answers for programs"), told, "the README's table, and what is answered");
    }
}

/// No view has the whole of a session, which is what opens it.
#[test]
fn no_answer_about_others_has_a_whole_session() {
    let stage = Stage::new();
    ends(stage.locked(1).args(["session", "begin", "--name", "ME"]), 0);
    ends(stage.locked(1).args(["acquire", "server:a"]), 0);
    ends(stage.locked(1).args(["-r", "server:b", "true"]), 0);
    for words in [&["status"][..], &["history"], &["session", "list", "--all"], &["status", "--ping", "server:a"]] {
        let answer: Value = json(stage.locked(2).args(words).arg("--json"));
        assert!(!answer.to_string().contains(&uuid(1)), "{words:?}: {answer}");
    }
}
