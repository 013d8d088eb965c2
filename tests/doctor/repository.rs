//! The repository: files, hooks, and what goes around.

use std::fs;
use std::process::Command;

use crate::run::stage::{FILE, ends};

use super::bed::{Bed, mode, wanted, wrong};

#[test]
fn files_that_are_plaintext_empty_broken_or_unknown_are_found() {
    let bed = Bed::with_receipt();
    let plain = "PASSWORD=hunter2\n";
    bed.tracked("secrets/other.env.sops", plain);
    bed.tracked("empty.sops.yaml", "");
    bed.tracked("vault/app.env", plain);
    bed.tracked("vault/README.md", "what lies here\n");
    bed.tracked("old.enc", "Salted__hunter2");
    let cut = bed.stage.world.encrypted("cut.sops.yaml", "A: hunter2\nB: hunter2\n", "yaml");
    let whole = fs::read_to_string(&cut).expect("file");
    bed.tracked("cut.sops.yaml", &whole[..whole.find("sops:").expect("metadata")]);
    let swapped = bed.stage.world.encrypted("swapped.sops.json", "{\"A\": \"hunter2\", \"B\": \"x\"}", "json");
    let whole = fs::read_to_string(&swapped).expect("file");
    bed.tracked("swapped.sops.json", &whole.replacen("\"A\"", "\"C\"", 1));
    fs::write(
        bed.work().join(".sops.yaml"),
        format!("creation_rules:\n  - path_regex: ^vault/\n    age: {0}\n  - age: {0}\n", bed.stage.world.recipient()),
    )
    .expect("rules");
    let found = bed.findings(&["files"], &[]);
    let named = |id: &str| {
        found
            .iter()
            .filter(|it| it["id"] == id)
            .map(|it| it["what"].as_str().expect("text").to_owned())
            .collect::<Vec<_>>()
            .join("; ")
    };
    wanted(&found, ("files.plaintext", "fault", "locked sops encrypt -i "));
    assert!(named("files.plaintext").starts_with("secrets/other.env.sops is tracked and plaintext"), "{found:#?}");
    // New and never filled: there is nothing to come back to.
    wanted(&found, ("files.empty", "fault", "git rm --cached empty.sops.yaml"));
    let by_rule = wanted(&found, ("files.plaintext-by-rule", "warning", "locked sops encrypt -i vault/app.env"));
    assert!(by_rule["why"].as_str().expect("text").contains("path_regex"), "{by_rule}");
    assert!(named("files.plaintext-by-rule").starts_with("vault/app.env is"), "{found:#?}");
    wanted(&found, ("files.broken", "fault", "locked restore "));
    let broken = named("files.broken");
    assert!(broken.contains("cut.sops.yaml") && broken.contains("swapped.sops.json"), "{broken}");
    let told = format!("{found:?}");
    assert!(!told.contains("README") && !told.contains("old.enc"), "{told}");
}

/// What HEAD has can be brought back, also where no copy was kept.
#[test]
fn a_file_that_was_emptied_is_restored() {
    let bed = Bed::new();
    fs::write(bed.stage.file(), "").expect("emptied");
    let found = bed.findings(&["files"], &[]);
    let empty = wanted(&found, ("files.empty", "fault", "locked restore "));
    assert_eq!(empty["remedy"], format!("locked restore {FILE}"));
}

#[test]
fn a_version_that_no_lease_knows_is_found() {
    let bed = Bed::new();
    bed.finds(&[], ("files.no-receipt", "note", "locked adopt secrets/monitoring.env.sops"));
    let bed = Bed::with_receipt();
    assert!(bed.findings(&["files"], &[]).iter().all(|it| it["level"] == "ok"));
    let mut set = bed.stage.world.sops();
    set.arg("set").args(crate::run::stage::DOTENV).args([FILE, "[\"SECOND\"]", "\"hunter2\""]);
    ends(&mut set, 0);
    bed.finds(&[], ("files.changed-outside", "warning", "then `locked adopt secrets/monitoring.env.sops"));
}

#[test]
fn ways_around_are_found_in_git_in_variables_and_in_scripts() {
    let bed = Bed::new();
    bed.tracked("Makefile", "deploy:\n\t@/usr/bin/sops edit x\n\nget:\n\tcurl -o /usr/local/bin/sops https://x\n");
    bed.tracked(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: /usr/local/bin/gh secret set A\n");
    bed.tracked("package.json", "{\"scripts\": {\"x\": \"/usr/bin/docker compose up\"}}\n");
    let git = |words: &[&str]| bed.stage.world.git(&bed.work(), &[&["config"], words].concat());
    git(&["alias.secret", "!/usr/bin/sops edit secrets/x.env.sops # hunter2"]);
    git(&["credential.https://me:hunter2@github.com.helper", "!/usr/bin/gh auth git-credential"]);
    git(&["core.sshCommand", "/usr/bin/ssh -i hunter2"]);
    git(&["alias.later", "!cd x && /usr/local/bin/sops set x"]);
    git(&["alias.quiet", "!env A=1 /opt/homebrew/bin/sops edit x"]);
    git(&["alias.fine", "!cd x && sops set x; echo /usr/bin/sops"]);
    let found = bed.findings(&["around"], &[("GIT_SSH_COMMAND", "/usr/bin/ssh -i key")]);
    let lines = found.iter().filter(|it| it["id"] == "around.script");
    let lines: Vec<&str> = lines.filter_map(|it| it["what"].as_str()).collect();
    assert_eq!(
        lines,
        [
            ".github/workflows/ci.yml, line 4, calls /usr/local/bin/gh, past its shim",
            "Makefile, line 2, calls /usr/bin/sops, past its shim",
            "package.json, line 1, calls /usr/bin/docker, past its shim",
        ]
    );
    wanted(&found, ("around.script", "warning", "or `locked` before it"));
    let of_git: Vec<_> = found.iter().filter(|it| it["id"] == "around.git").collect();
    assert_eq!(of_git.len(), 4, "ssh has no shim: {found:#?}");
    for (alias, path) in [("later", "/usr/local/bin/sops"), ("quiet", "/opt/homebrew/bin/sops")] {
        let what = format!("git's setting alias.{alias} names {path}, past its shim");
        assert!(of_git.iter().any(|it| it["what"] == *what), "{of_git:#?}");
    }
    assert!(
        of_git.iter().any(|it| it["level"] == "warning"
            && it["what"] == "git's setting alias.secret names /usr/bin/sops, past its shim")
    );
    assert!(of_git.iter().any(|it| it["level"] == "note"
        && it["what"] == "git's setting credential.….helper names /usr/bin/gh, past its shim"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("ssh")).expect("shim");
    let found = bed.findings(&["around"], &[("GIT_SSH_COMMAND", "/usr/bin/ssh -i key")]);
    wanted(&found, ("around.variable", "warning", "without its directory in GIT_SSH_COMMAND"));
    assert_eq!(found.iter().filter(|it| it["id"] == "around.git").count(), 5, "{found:#?}");
}

#[test]
fn a_hook_that_git_passes_over_is_found_and_made_to_run() {
    let bed = Bed::new();
    let hook = bed.work().join(".git/hooks/pre-commit");
    mode(&hook, 0o644);
    bed.finds(&[], ("hooks.idle", "fault", "locked hooks install"));
    bed.finds_fixed("hooks.idle");
    bed.finds(&[], ("hooks.works", "ok", ""));
    bed.stage.world.git(&bed.work(), &["config", "core.hooksPath", "elsewhere"]);
    let found = bed.finds(&[], ("hooks.elsewhere", "warning", "locked hooks install"));
    assert!(found["what"].as_str().expect("text").contains("pre-commit"), "{found}");
    fs::create_dir(bed.work().join("elsewhere")).expect("directory");
    fs::rename(&hook, bed.work().join("elsewhere/pre-commit")).expect("moved");
    bed.finds(&[], ("hooks.works", "ok", ""));
    fs::remove_dir_all(bed.work().join("elsewhere")).expect("gone");
    bed.finds(&[], ("hooks.none", "note", "locked hooks install"));
}

/// Wherever git was told to look for hooks, and by whom; and the line beside it makes it look again.
#[test]
fn hooks_where_git_does_not_look_are_no_hooks() {
    let bed = Bed::new();
    for scope in ["--local", "--global"] {
        bed.stage.world.git(&bed.work(), &["config", scope, "core.hooksPath", "/nowhere/hooks"]);
        let found = bed.finds(&[], ("hooks.elsewhere", "warning", "git config core.hooksPath "));
        let remedy = found["remedy"].as_str().expect("text");
        let line = remedy.rsplit('`').nth(1).expect("a line");
        ends(bed.stage.world.command("sh").args(["-c", line]).current_dir(bed.work()), 0);
        bed.finds(&[], ("hooks.works", "ok", ""));
        bed.stage.world.git(&bed.work(), &["config", "--local", "--unset", "core.hooksPath"]);
    }
}

#[test]
fn hooks_that_are_not_as_they_were_installed_are_found() {
    let bed = Bed::with_receipt();
    let hooks = bed.work().join(".git/hooks");
    let install = || drop(ends(bed.stage.world.locked().args(["hooks", "install"]), 0));
    install();
    bed.finds(&[], ("hooks.works", "ok", ""));
    mode(&hooks.join("pre-push"), 0o644);
    bed.finds(&[], ("hooks.idle", "fault", "locked hooks install"));
    bed.finds_fixed("hooks.idle");
    bed.finds(&[], ("hooks.works", "ok", ""));
    fs::remove_file(hooks.join("pre-push")).expect("removed");
    bed.finds(&[], ("hooks.missing", "warning", "locked hooks install"));
    install();
    // The one of before lies beside ours, which somebody has overwritten.
    fs::write(hooks.join("pre-commit"), "#!/bin/sh\n").expect("another");
    bed.finds(&[], ("hooks.replaced", "warning", "keep one of them"));
}

/// Outside of any repository there is nothing to say of one.
#[test]
fn outside_of_a_repository_its_checks_say_nothing() {
    let bed = Bed::new();
    let mut command: Command = bed.doctor(&["checkouts", "hooks", "files", "around", "--json"]);
    let found = super::bed::findings(command.current_dir(bed.home()));
    assert!(wrong(&found).is_empty() && found.len() == 1, "{found:#?}");
}
