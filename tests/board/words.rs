//! `locked status --ping`: a word for the holder.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::run::stage::{ends, json, says, silent, text};
use crate::world::World;

/// What a command said on standard error.
fn heard(world: &World, session: u32, words: &[&str]) -> String {
    text(&ends(world.locked_as(session).args(words), 0).stderr)
}

#[test]
fn a_word_reaches_the_holder_at_its_next_command_and_once() {
    for world in World::both("a_word") {
        silent(world.locked_as(1).args(["acquire", "server:a"]));
        let ping = ["status", "--ping", "server:a", "--message", "I need it for the certificates"];
        let said = silent(world.locked_as(2).args(ping));
        assert!(said.starts_with("left a word for 01010101 (") && said.ends_with(") about server:a\n"), "{said}");
        for words in
            [&["-r", "server:b", "true"][..], &["renew", "server:a"], &["check", "server:a"], &["session", "list"]]
        {
            let first = heard(&world, 1, words);
            assert!(
                first.starts_with("locked: 02020202 (") && first.contains(") about server:a at "),
                "{words:?}: {first}"
            );
            assert!(
                first.ends_with(": I need it for the certificates\n") && first.lines().count() == 1,
                "{words:?}: {first}"
            );
            assert_eq!(heard(&world, 1, words), "", "{words:?}: once");
            silent(world.locked_as(2).args(ping));
        }
        assert!(heard(&world, 1, &["acquire", "server:c"]).contains("I need it"), "a grant of `acquire` brings it too");
        silent(world.locked_as(2).args(ping));
        for _again in 0..2 {
            assert_eq!(heard(&world, 1, &["-q", "-r", "server:b", "true"]), "", "quiet is quiet");
            let mut quiet = world.locked_as(1);
            assert_eq!(text(&ends(quiet.env("LOCKED_QUIET", "1").args(["renew", "server:a"]), 0).stderr), "");
        }
        let late = heard(&world, 1, &["-r", "server:b", "true"]);
        assert!(late.starts_with("locked: 02020202 (") && late.contains(") about server:a at "), "not lost: {late}");
        assert!(late.contains(": (left 20") && late.ends_with(") I need it for the certificates\n"), "{late}");
        assert_eq!((late.lines().count(), late.matches("(left").count()), (1, 1), "{late}");
        // Whatever takes a lease brings it: nobody else will say it again.
        silent(world.locked_as(2).args(ping));
        world.encrypted("a.sops.yaml", "a: 1\n", "yaml");
        assert!(heard(&world, 1, &["adopt", "a.sops.yaml"]).ends_with(": I need it for the certificates\n"));
        silent(world.locked_as(2).args(ping));
        let work = world.work();
        for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "x"]] {
            world.git(&work, args);
        }
        assert!(heard(&world, 1, &["hooks", "install"]).ends_with(": I need it for the certificates\n"));
        silent(world.locked_as(2).args(["status", "--ping", "server:a"]));
        assert!(heard(&world, 1, &["release", "server:a"]).ends_with("please release it as soon as you can\n"));
    }
}

#[test]
fn a_word_needs_a_holder_and_is_one_line() {
    let world = World::new();
    assert_eq!(silent(world.locked_as(2).args(["status", "--ping", "server:a"])), "nobody holds server:a\n");
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    assert_eq!(silent(world.locked_as(1).args(["status", "--ping", "server:a"])), "server:a is held by this session\n");
    let told: Vec<Value> =
        json(world.locked_as(2).args(["status", "--json", "--ping", "server:a", "--ping", "server:b"]));
    assert_eq!((&told[0]["told"], &told[1]["told"]), (&"01010101".into(), &Value::Null));
    for text in ["", "two\nlines", "\u{1b}[2J", &"x".repeat(201)] {
        says(world.locked_as(2).args(["status", "--ping", "server:a", "--message", text]), 64);
    }
    says(world.locked_as(2).args(["status", "--message", "hello"]), 64);
}

#[test]
fn a_long_word_that_was_put_back_is_heard_whole() {
    for world in World::both("a_long_word") {
        silent(world.locked_as(1).args(["acquire", "server:a"]));
        let word = format!("{} please", "x".repeat(193));
        silent(world.locked_as(2).args(["status", "--ping", "server:a", "--message", &word]));
        for _again in 0..2 {
            assert_eq!(heard(&world, 1, &["-q", "renew", "server:a"]), "");
        }
        let late = heard(&world, 1, &["renew", "server:a"]);
        assert!(late.ends_with(&format!(") {word}\n")), "{late}");
    }
}
