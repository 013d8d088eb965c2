//! What lies in a zone is committed by who has held it.
#![forbid(unsafe_code)]

use super::yard::{Yard, ends, text};
use crate::run::server::database;
use crate::world::board::uuid;

#[test]
fn a_zone_is_committed_by_the_session_that_has_held_it() {
    let yard = Yard::new();
    yard.write(
        ".locked.toml",
        b"[[zone]]\nname = \"DB\"\npaths = [\"**/04_grants.sql\", \"db/*.sql\"]\ncontent = [\"(?i)grant\"]\n",
    );
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "settings"], None);
    yard.write("db/x.sql", b"select 1;\n");
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "its content does not fit"], None);
    yard.write("db/x.sql", b"GRANT all;\n");
    yard.write("a/04_grants.sql", b"grant x;\n");
    yard.git(&["add", "-A"]);
    yard.is(&["commit", "-qm", "x"], Some("locked acquire zone:DB"));
    let of =
        |session: u32, verb: &str| ends(yard.locked().args([verb, "zone:DB"]).env("LOCKED_SESSION", uuid(session)), 0);
    of(2, "acquire");
    yard.is(&["commit", "-qm", "x"], Some("this session has not held zone:DB"));
    of(2, "release");
    yard.is(&["commit", "-qm", "x"], Some("this session has not held zone:DB"));
    of(1, "acquire");
    yard.is(&["commit", "-qm", "while it is held"], None);
    of(1, "release");
    yard.git(&["rm", "-q", "db/x.sql"]);
    yard.is(&["commit", "-qm", "afterwards"], None);
}

/// A commit past every hook; with this date it was made by a clock of that time.
fn committed(yard: &Yard, message: &str, date: Option<&str>) {
    yard.git(&["add", "-A"]);
    let mut git = yard.command("git");
    git.args(["commit", "-q", "--no-verify", "--allow-empty", "-m", message]);
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        date.map(|date| git.env(name, date));
    }
    ends(&mut git, 0);
}

#[test]
fn an_audit_asks_whether_somebody_held_the_zone_when_it_was_committed() {
    let yard = Yard::without_hooks();
    let address = database("of_zones");
    let audit = |range: &str, status: i32| -> serde_json::Value {
        let output = ends(yard.locked().args(["audit", "--json", range]).env("LOCKED_STORE", &address), status);
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let wrong = |answer: &serde_json::Value| -> Vec<String> {
        let findings = answer["findings"].as_array().expect("findings");
        findings.iter().map(|one| format!("{} {}", one["path"], one["wrong"]).replace('"', "")).collect()
    };
    yard.write(".locked.toml", b"[[zone]]\nname = \"DB\"\npaths = [\"db/*.sql\"]\ncontent = [\"(?i)grant\"]\n");
    committed(&yard, "settings", None);
    yard.write("db/x.sql", b"select 1;\n");
    committed(&yard, "its content does not fit", None);
    assert_eq!(wrong(&audit("base..HEAD", 0)), [""; 0]);
    yard.write("db/x.sql", b"GRANT all;\n");
    committed(&yard, "in the zone", None);
    let answer = audit("base..HEAD", 73);
    assert_eq!((wrong(&answer), &answer["receipts"]), (vec!["db/x.sql zone".to_owned()], &true.into()));
    // A push is refused for the same, by who does not hold it.
    yard.git(&["init", "-q", "--bare", "../o.git"]);
    yard.git(&["config", "url.../o.git.pushInsteadOf", "git@host:infra"]);
    yard.git(&["push", "-q", "origin", "base:refs/heads/main"]);
    let push = |refused: Option<&str>| {
        let mut locked = yard.locked();
        locked.args(["hooks", "run", "pre-push", "origin", "x"]).env("LOCKED_STORE", &address);
        locked.env("PRE_COMMIT_TO_REF", "HEAD").env("PRE_COMMIT_REMOTE_NAME", "origin");
        yard.judged("push", &locked.output().expect("it runs"), refused);
    };
    push(Some("locked acquire zone:DB && git commit --amend --no-edit"));
    let of = |verb: &str, session: u32| {
        let mut locked = yard.locked();
        ends(locked.args([verb, "zone:DB"]).env("LOCKED_STORE", &address).env("LOCKED_SESSION", uuid(session)), 0);
    };
    // Made again while another one holds it: who it was, no commit says.
    of("acquire", 2);
    yard.git(&["commit", "-q", "--no-verify", "--amend", "--reset-author", "--no-edit"]);
    assert_eq!(wrong(&audit("base..HEAD", 0)), [""; 0]);
    push(None);
    of("release", 2);
    assert_eq!(wrong(&audit("base..HEAD", 0)), [""; 0], "not long after");
    // Long after it was held, though a rebase of what was written then is none; long before anybody held it, nobody knows.
    let later = |days: u64| format!("@{} +0000", now() + days * 24 * 60 * 60);
    yard.git(&["tag", "held"]);
    yard.git(&["rm", "-q", "db/x.sql"]);
    committed(&yard, "removed", Some(&later(3)));
    assert_eq!(wrong(&audit("held..HEAD", 73)), ["db/x.sql zone"]);
    let mut git = yard.command("git");
    git.args(["commit", "-q", "--no-verify", "--amend", "--no-edit", "--date", &later(0)]);
    ends(git.env("GIT_COMMITTER_DATE", later(3)), 0);
    assert_eq!(wrong(&audit("held..HEAD", 0)), [""; 0]);
    yard.write("db/y.sql", b"grant x;\n");
    committed(&yard, "early", Some("@1000000000 +0000"));
    assert_eq!(wrong(&audit("held..HEAD", 0)), [""; 0]);
    // Without a store that all share it is said that nobody asked.
    let said = text(&ends(yard.locked().args(["audit", "held..HEAD"]), 0).stderr);
    assert!(said.contains("not asked"), "{said}");
}

pub(super) fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs()
}
