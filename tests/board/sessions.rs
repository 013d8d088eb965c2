//! `locked session`: which it is, who else is there, and its end.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::run::stage::{FILE, RESOURCE, Stage, ends, json, says, silent, text, uuid};
use crate::world::World;
use crate::world::held::Held;

#[test]
fn a_session_is_told_whole_to_its_owner_with_where_it_comes_from() {
    let world = World::new();
    let said = silent(world.locked_as(1).arg("session"));
    assert!(said.starts_with(&format!("session:  {}\nshown as: 01010101 (", uuid(1))), "{said}");
    assert!(
        said.contains("\nnamed by: LOCKED_SESSION\nwhy:      it is set, and goes before")
            && said.contains("lasts:    yes")
    );
    let typed = silent(world.locked_as(1).args(["--session", &uuid(2), "session"]));
    assert!(typed.contains(&uuid(2)) && typed.contains("\nnamed by: --session\n"), "{typed}");
    let by_variable: Value = json(world.locked().env("CODEX_THREAD_ID", "t-1").args(["session", "--json"]));
    assert_eq!((&by_variable["named_by"], &by_variable["lasts"]), (&"CODEX_THREAD_ID".into(), &true.into()));
    assert!(by_variable["label"].as_str().expect("a label").starts_with("codex@"), "{by_variable}");
    // Below pid 1, a host or nothing: good for wrapped commands alone, and it says what to do.
    let lost = text(&ends(world.command("setsid").args(["-w", env!("CARGO_BIN_EXE_locked"), "session"]), 0).stdout);
    assert!(lost.contains("\nnamed by: process ") || lost.contains("export LOCKED_SESSION="), "{lost}");
    ends(world.locked().env("LOCKED_SESSION", "hunter2").arg("session"), 64);
    assert!(!world.state().join("locked.db").exists(), "no store is asked");
}

fn begin(world: &World, session: u32, name: &str, task: &str) -> String {
    silent(world.locked_as(session).args(["session", "begin", "--name", name, "--domain", "/srv", "--task", task]))
}

#[test]
fn who_begins_hears_who_else_is_active_and_what_they_hold() {
    for world in World::both("who_begins") {
        assert_eq!(silent(world.locked_as(1).args(["session", "list"])), "no session is active\n");
        let first = begin(&world, 1, "PWA", "the tour");
        assert!(first.starts_with("begun: PWA 01010101 (") && first.ends_with("\nnobody else is active\n"), "{first}");
        silent(world.locked_as(1).args(["acquire", "server:b", "server:a"]));
        silent(world.locked_as(3).args(["acquire", "server:c"]));
        let second = begin(&world, 2, "OC", "contacts");
        assert!(second.contains("\nactive: PWA 01010101 (") && second.contains("): the tour; heard of "), "{second}");
        assert!(second.contains(" ago, holds server:a server:b\n"), "{second}");
        assert!(
            second.contains("\nactive: 03030303 (") && second.contains(" holds server:c\n"),
            "who said nothing: {second}"
        );
        let again = begin(&world, 1, "PWA", "the menu");
        assert!(
            again.contains("\nthis session holds server:a server:b already\n") && again.contains("active: OC "),
            "{again}"
        );
        let namesake = ends(world.locked_as(4).args(["session", "begin", "--name", "OC"]), 0);
        assert!(
            text(&namesake.stderr).starts_with("locked: another session is called OC too: OC 02020202 ("),
            "{namesake:?}"
        );
        let list: Vec<Value> = json(world.locked_as(2).args(["session", "list", "--json"]));
        let of = |holder: &str| list.iter().find(|it| it["holder"] == holder).expect("listed").clone();
        assert_eq!(
            (list.len(), &of("02020202")["ours"], &of("01010101")["task"]),
            (4, &true.into(), &"the menu".into())
        );
        assert_eq!(
            (&of("01010101")["holds"][0]["resource"], &of("03030303")["name"]),
            (&"server:a".into(), &Value::Null)
        );
        let shown = silent(world.locked_as(2).args(["session", "list"]));
        assert!(shown.contains("PWA") && shown.contains(", this one)"), "{shown}");
        for view in [shown, format!("{list:?}"), first, second, silent(world.locked_as(2).arg("status"))] {
            assert!(!(1..=4).any(|session| view.contains(&uuid(session))), "only its owner is told the whole: {view}");
        }
        let board = world.status();
        assert_eq!((&board[0]["session_name"], &board[2]["session_name"]), (&"PWA".into(), &Value::Null), "{board:?}");
        for wrong in [&["--name", ""][..], &["--name", "a\nb"], &["--task", "x"]] {
            ends(world.locked_as(1).args(["session", "begin"]).args(wrong), 64);
        }
    }
}

#[test]
fn the_end_releases_everything_in_reverse_byte_order() {
    for stage in Stage::both("the_end") {
        begin(&stage.world, 1, "PWA", "the tour");
        silent(stage.locked(1).args(["acquire", "server:b", "server:c"]));
        silent(stage.locked(1).args(["acquire", "server:a"]));
        silent(stage.locked(2).args(["acquire", "server:d"]));
        ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("echo X=1 >>\"$file\"; exit 3")), 72);
        ends(stage.locked(1).args(["--keep", "-r", "server:k", "false"]), 1);
        let said = silent(stage.locked(1).args(["session", "end"]));
        let expected = format!(
            "released server:k\nreleased server:c\nreleased server:b\nreleased server:a\n{RESOURCE} stays: its file is bad: \
         locked restore brings it back\nended: this session is off the board\n"
        );
        assert_eq!(said, expected);
        let past = stage.history();
        let ended = |name: &str| past.iter().find(|it| it["resource"] == name).expect("ended").clone();
        assert_eq!(
            (&ended("server:a")["ended_as"], &ended("server:k")["ended_as"]),
            (&"completed".into(), &"failed".into())
        );
        let moments: Vec<_> =
            ["server:k", "server:c", "server:b", "server:a"].map(|it| ended(it)["ended_at"].as_i64()).into();
        assert!(moments.is_sorted(), "{moments:?}");
        let left: Vec<_> = stage.status().iter().map(|it| it["resource"].clone()).collect();
        assert_eq!(left, ["server:d", RESOURCE], "others keep theirs");
        assert_eq!(silent(stage.locked(3).args(["session", "end"])), "this session was not on the board\n");
        let list: Vec<Value> = json(stage.locked(3).args(["session", "list", "--json"]));
        assert!(
            list.iter().any(|it| it["holder"] == "01010101" && !it["ended_at"].is_null()),
            "it holds a bad file: {list:?}"
        );
    }
}

/// An edit that nobody closed would leave plaintext to the next one.
#[test]
fn the_end_does_not_leave_an_open_edit_behind() {
    for stage in Stage::both("the_end_of_an_edit") {
        silent(stage.locked(1).args(["acquire", "server:z"]));
        ends(stage.locked(1).args(["sops", "decrypt", "-i"]).args(crate::run::stage::DOTENV).arg(FILE), 0);
        let said = says(stage.locked(1).args(["session", "end", "-n"]), 72);
        assert!(said.contains("plaintext (an open edit)"), "{said}");
        assert_eq!(stage.status().len(), 2, "nothing was released");
    }
}

#[test]
fn the_end_never_releases_under_a_running_command() {
    for stage in Stage::both("the_end_waits") {
        silent(stage.locked(1).args(["acquire", "server:a", "server:b"]));
        let held = stage.hold(1, &["-r", "server:b"]);
        let said = says(stage.locked(1).args(["session", "end", "-n"]), 75);
        assert!(said.starts_with("REFUSED: this session has a running command: sh holds server:b"), "{said}");
        assert!(said.contains("nothing was released") && said.contains("retry: yes, when it has ended"), "{said}");
        assert_eq!(stage.status().len(), 2);
        // Waited for: the end says so, then the command ends, then everything is released.
        let mut end = stage.locked(1);
        end.args(["session", "end", "--wait", "60s", "--json"]);
        let mut together = stage.world.command("sh");
        together.args(["-c", "echo up; exec \"$0\" \"$@\" 2>&1"]).arg(end.get_program()).args(end.get_args());
        together.env("LOCKED_SESSION", uuid(1));
        let waits = Held::start(&mut together);
        crate::run::stage::until("it is refused nothing yet", || (stage.status().len() == 2).then_some(()));
        held.let_go();
        assert!(waits.finish().status.success());
        assert_eq!(stage.status().len(), 0);
        let past = stage.history();
        assert_eq!((&past[0]["resource"], &past[1]["resource"]), (&"server:a".into(), &"server:b".into()), "{past:?}");
    }
}

/// It would wait for itself.
#[test]
fn the_end_from_below_a_running_command_is_refused_at_once() {
    for stage in Stage::both("the_end_from_below") {
        let script = format!("'{}' session end --wait 1h", env!("CARGO_BIN_EXE_locked"));
        let said = says(stage.locked(1).args(["-r", "server:a", "sh", "-c", &script]), 75);
        assert!(said.contains("retry: no, this was asked from below that command"), "{said}");
    }
}

#[test]
fn a_store_without_a_ledger_has_no_board() {
    let world = World::new();
    for words in [&["session", "list"][..], &["session", "end"], &["session", "begin", "--name", "X"]] {
        let mut command = world.locked_as(1);
        command.env("LOCKED_STORE", "postgres://nobody@127.0.0.1:1/none").args(["--advisory"]).args(words);
        assert_eq!(text(&ends(&mut command, 64).stderr).lines().next(), Some("REFUSED: this store has no board"));
    }
}
