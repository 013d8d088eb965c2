//! What lies in a zone is committed by who has held it.
#![forbid(unsafe_code)]

use super::yard::{Yard, ends};
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
