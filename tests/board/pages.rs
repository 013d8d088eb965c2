//! `locked history` over time: in the terminal, and as a page in a real browser.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::run::stage::{ends, says, silent, text};
use crate::world::World;
use crate::world::apart::this_test;
use crate::world::ends::left_out;

/// Names and texts as somebody may choose them who wants to write into the page.
const EVIL: &str = "</svg><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&lt;";

/// A few hours of three sessions, with everything that can end a lease, and somebody hostile.
fn furnished() -> World {
    let world = World::new();
    for (session, name) in [
        (1, "sops:monitoring"),
        (2, "sops:monitoring"),
        (3, "sops:monitoring"),
        (1, "server:web-1"),
        (2, "server:web-1"),
    ] {
        silent(world.locked_as(session).args(["--operation", "sops set", "-r", name, "true"]));
    }
    silent(world.locked_as(4).args(["--operation", EVIL, "-r", &format!("x:{EVIL}"), "true"]));
    silent(world.locked_as(2).args(["acquire", "zone:TRAEFIK", "--operation", "certificates"]));
    let ends = ["completed", "stolen", "failed", "expired", "human-action", "failed"];
    let database = world.database();
    for (number, how) in (1_i64..).zip(ends) {
        database
            .execute(
                "update leases set acquired_at = acquired_at - 14400000 + ?1 * 1500000, ended_at = ended_at - 13000000 + ?1 * 1500000, \
                 ended_as = ?2, label = iif(?1 = 6, ?3, label), note = iif(?1 = 6, ?3, null) where id = ?1",
                (number, how, EVIL),
            )
            .expect("history");
    }
    world
}

#[test]
fn a_timeline_shows_who_held_what_when() {
    let world = World::new();
    assert_eq!(silent(world.locked().args(["history", "--timeline"])), "no leases\n");
    let world = furnished();
    let shown = silent(world.locked().env("COLUMNS", "90").args(["history", "--timeline"]));
    let lane =
        |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {shown}"));
    let monitoring = lane("sops:monitoring");
    let (first, second) = (monitoring.find('A').expect("A"), monitoring.find('B').expect("B"));
    assert!(first < second && monitoring.contains('!') && monitoring.contains('x'), "{shown}");
    assert!(lane("server:web-1").contains('~') || lane("server:web-1").contains('?'), "{shown}");
    assert!(lane("A 01010101 (").ends_with(", 2 leases") && lane("B 02020202 (").ends_with(", 3 leases"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 130 && !line.contains('\u{1b}')), "{shown}");
    let narrow = silent(world.locked().args(["history", "sops:monitoring", "--timeline"]));
    assert!(!narrow.contains("server:web-1"), "{narrow}");
}

#[test]
fn a_page_stands_alone_and_nobody_writes_into_it() {
    let world = furnished();
    silent(world.locked().args(["history", "--html", "page.html"]));
    let page = std::fs::read_to_string(world.work().join("page.html")).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("onerror=\""), "{page}");
    assert!(page.contains("&lt;script&gt;"), "it is shown as it is");
    let session = |number: u32| crate::run::stage::uuid(number);
    assert!(!(1..=4).any(|number| page.contains(&session(number))), "sessions are short here too");
    assert_eq!(
        silent(world.locked().args(["history", "--html", "-"])).matches("<tr>").count(),
        8,
        "a head and seven leases"
    );
    let said = says(world.locked().args(["history", "--html", "no/such/page.html"]), 64);
    assert!(said.contains("cannot be written"), "{said}");
    says(world.locked().args(["history", "--html", "x", "--json"]), 64);
}

/// The browser: what `LOCKED_TEST_CHROMIUM` names, else the first on PATH that runs. Its absence is a failure, never a test that
/// is left out in silence: `install/test` brings it, and `none` says that it is meant.
fn browser() -> Option<OsString> {
    match std::env::var_os("LOCKED_TEST_CHROMIUM").filter(|named| !named.is_empty()) {
        Some(none) if none == "none" => None,
        Some(named) => Some(named),
        None => {
            let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success());
            let found =
                ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"].into_iter().find(runs);
            Some(found.expect("Chromium is on PATH (`install/test` installs it), or LOCKED_TEST_CHROMIUM=none").into())
        }
    }
}

/// What a browser makes of it: no script has run, and everything that the text says is there. `LOCKED_TEST_SCREENSHOT` names a
/// file for a picture.
#[test]
fn a_real_browser_shows_the_page_and_runs_nothing() {
    let Some(browser) = browser() else {
        return left_out(this_test!(), "LOCKED_TEST_CHROMIUM=none: the page was shown to no browser");
    };
    let world = furnished();
    silent(world.locked().args(["history", "--html", "page.html"]));
    let page = format!("file://{}", world.work().join("page.html").display());
    let chromium = |words: &[&str]| {
        let mut command = world.command("timeout");
        command.arg("120").arg(&browser).args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ]);
        command.args(["--hide-scrollbars"]).args(words).arg(&page);
        text(&ends(&mut command, 0).stdout)
    };
    let seen = chromium(&["--dump-dom"]);
    assert!(seen.contains("<title>Who held what, when</title>"), "no script gave it another name: {seen}");
    assert!(!seen.contains("<script") && !seen.contains("<img"), "{seen}");
    for there in ["sops:monitoring", "zone:TRAEFIK", "01010101", "certificates", "fill=\"url(#p1)\"", "&lt;script&gt;"]
    {
        assert!(seen.contains(there), "{there}: {seen}");
    }
    if let Some(picture) = std::env::var_os("LOCKED_TEST_SCREENSHOT") {
        chromium(&["--window-size=1280,1000", &format!("--screenshot={}", picture.display())]);
        assert!(Path::new(&picture).is_file());
    }
}
