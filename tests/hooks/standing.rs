//! What `hooks status` finds, and what stands in the way of installing.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::yard::{FILE, Yard, ends, says, text, versions};
use crate::world::board::uuid;

fn states(yard: &Yard) -> Vec<String> {
    let output = ends(yard.locked().args(["hooks", "status", "--json"]), 0);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let hooks = value["hooks"].as_array().expect("hooks");
    hooks.iter().map(|hook| hook["state"].as_str().expect("state").to_owned()).collect()
}

#[test]
fn each_state_has_its_word() {
    let yard = Yard::without_hooks();
    let hook = yard.path(".git/hooks/pre-commit");
    assert_eq!(states(&yard), ["missing"; 3]);
    ends(yard.locked().args(["hooks", "install"]), 0);
    assert_eq!(states(&yard), ["installed"; 3]);
    // Of another version.
    let ours = fs::read_to_string(&hook).expect("hook");
    fs::write(&hook, format!("{ours}# more\n")).expect("hook");
    assert_eq!(states(&yard)[0], "outdated");
    let renewed = text(&ends(yard.locked().args(["hooks", "install"]), 0).stdout);
    assert!(renewed.contains("pre-commit renewed, pre-merge-commit kept"), "{renewed}");
    assert_eq!(fs::read_to_string(&hook).expect("hook"), ours);
    // There, and nobody runs it.
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).expect("mode");
    assert_eq!(states(&yard)[0], "not-run");
    ends(yard.locked().args(["hooks", "install"]), 0);
    assert_eq!(states(&yard)[0], "installed");
    // Somebody put theirs over ours.
    fs::write(&hook, "#!/bin/sh\n").expect("hook");
    assert_eq!(states(&yard)[0], "foreign");
    ends(yard.locked().args(["hooks", "install"]), 0);
    fs::write(&hook, "#!/bin/sh\necho theirs\n").expect("hook");
    assert_eq!(states(&yard)[0], "replaced");
    let said = says(yard.locked().args(["hooks", "install"]), 78);
    assert!(said.contains("pre-commit.locked-prev") && said.lines().count() <= 5, "{said}");
    says(yard.locked().args(["hooks", "uninstall"]), 78);
    // git takes hooks from nowhere.
    fs::remove_file(yard.path(".git/hooks/pre-commit.locked-prev")).expect("removed");
    yard.git(&["config", "core.hooksPath", "/dev/null"]);
    says(yard.locked().args(["hooks", "install"]), 78);
}

#[test]
fn outside_of_a_repository_there_is_nothing_to_install() {
    let yard = Yard::empty();
    let said = says(yard.locked().current_dir(yard.world.root()).args(["hooks", "install"]), 64);
    assert!(said.contains("lies in no repository"), "{said}");
}

#[test]
fn a_bypass_lets_through_what_is_refused_and_says_so() {
    let yard = Yard::new();
    let commit = |reason: &str| {
        let mut git = yard.command("git");
        git.args(["commit", "-qam", "x"]).env("LOCKED_BYPASS", reason).output().expect("git runs")
    };
    yard.write("plain.txt", b"more\n");
    assert!(!text(&commit("no need").stderr).contains("bypassed"), "nothing is to be bypassed");
    yard.write(FILE, b"A=1\n");
    yard.judged("no reason", &commit(" "), Some("the file is plaintext"));
    let output = commit("the key\u{1b}[31m moves today");
    let said = text(&output.stderr);
    assert!(output.status.success() && said.lines().count() == 1, "{said}");
    assert!(
        said.starts_with(
            "locked: pre-commit lets it through, bypassed (the key[31m moves today); the ledger knows; without that, "
        ),
        "{said}"
    );
    let past = &yard.world.history()[0];
    assert_eq!((&past["resource"], &past["operation"]), (&"sops:a".into(), &"git pre-commit".into()), "{past}");
}

#[test]
fn installing_adopts_what_head_has_once() {
    let yard = Yard::without_hooks();
    yard.world.database().execute("delete from receipts", []).expect("deleted");
    yard.write("secrets/b.env", &versions().second);
    yard.write("secrets/c.env", &versions().foreign);
    yard.write("staged.env", &versions().other);
    yard.git(&["add", "secrets"]);
    yard.git(&["commit", "-qm", "x"]);
    yard.git(&["add", "-A"]);
    ends(yard.locked().args(["acquire", "sops:b"]).env("LOCKED_SESSION", uuid(2)), 0);
    let output = ends(yard.locked().args(["hooks", "install"]), 0);
    let (lines, said) = (text(&output.stdout), text(&output.stderr));
    assert!(lines.contains("\n1 SOPS file of HEAD got a receipt\n"), "{lines}");
    assert!(said.contains("is held by somebody") && said.contains("is not as it must be"), "{said}");
    ends(yard.locked().args(["release", "sops:b"]).env("LOCKED_SESSION", uuid(2)), 0);
    let again = text(&ends(yard.locked().args(["hooks", "install"]), 0).stdout);
    assert!(again.contains("\n1 SOPS file of HEAD got a receipt\n"), "{again}");
    let more = text(&ends(yard.locked().args(["hooks", "install"]), 0).stdout);
    assert_eq!(more.lines().count(), 1, "{more}");
    let database = yard.world.database();
    let mut statement = database.prepare("select path, kind from receipts order by path").expect("receipts");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("receipts");
    let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>().expect("receipts");
    assert_eq!(rows, [(FILE.to_owned(), "adopted".to_owned()), ("secrets/b.env".to_owned(), "adopted".to_owned())]);
    // Without the store the hooks are there all the same.
    ends(yard.locked().args(["hooks", "uninstall"]), 0);
    let mut install = yard.locked();
    install.args(["hooks", "install"]).env("LOCKED_STORE", "postgres://u@127.0.0.1:1/x?connect_timeout=2");
    let said = says(&mut install, 0);
    assert!(said.contains("got no receipts") && said.lines().count() == 1, "{said}");
    assert_eq!(states(&yard), ["installed"; 3]);
}
