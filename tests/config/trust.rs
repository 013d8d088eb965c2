//! Whose word counts: `locked config trust`, `[trust] repositories`, `LOCKED_TRUST`.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::run::stage::{FILE, Stage, ends, json, says, silent};

use super::{config, leased, repository, user};

const SETTINGS: &str = "ttl = \"4m\"\n";

/// The TTL that counts here.
fn ttl(stage: &Stage, set: &[(&str, &str)], directory: &std::path::Path) -> String {
    let mut command = config(stage, &["show", "ttl", "--json"]);
    let answer: Value = json(command.envs(set.iter().copied()).current_dir(directory));
    answer["settings"]["ttl"]["value"].as_str().expect("a time").to_owned()
}

#[test]
fn what_was_trusted_counts_until_it_changes_or_the_trust_is_taken_back() {
    let stage = Stage::new();
    let work = stage.world.work();
    repository(&stage, SETTINGS);
    assert_eq!(ttl(&stage, &[], &work), "30m");
    let said = says(&mut leased(&stage, &[], "true"), 0);
    assert!(said.contains("sets ttl, which does not count before it is trusted (locked config trust "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(says(&mut leased(&stage, &["-q"], "true"), 0), "");
    let said = silent(&mut config(&stage, &["trust"]));
    assert!(said.contains("it sets ttl"), "{said}");
    assert_eq!(ttl(&stage, &[], &work), "4m");
    silent(&mut leased(&stage, &[], "true"));
    repository(&stage, "ttl = \"5m\"\n");
    assert_eq!(ttl(&stage, &[], &work), "30m", "another content");
    repository(&stage, SETTINGS);
    assert_eq!(ttl(&stage, &[], &work), "4m", "the trusted one again");
    silent(&mut config(&stage, &["trust", "--remove"]));
    assert_eq!(ttl(&stage, &[], &work), "30m");
}

#[test]
fn trust_is_for_this_repository_with_all_its_work_trees_and_for_no_copy() {
    let stage = Stage::new();
    repository(&stage, SETTINGS);
    stage.commit("settings");
    let root = fs::canonicalize(stage.world.root()).expect("root");
    let (side, copy, link) = (root.join("side"), root.join("copy"), root.join("link"));
    stage.world.git(&stage.world.work(), &["worktree", "add", "-q", "-b", "side", side.to_str().expect("UTF-8")]);
    stage.world.git(&root, &["clone", "-q", "work", "copy"]);
    std::os::unix::fs::symlink(root.join("work"), &link).expect("link");
    // By a detour: it is the same repository.
    silent(&mut config(&stage, &["trust", link.join("secrets").to_str().expect("UTF-8")]));
    assert_eq!(ttl(&stage, &[], &side), "4m");
    assert_eq!(ttl(&stage, &[], &stage.world.work().join("secrets")), "4m");
    assert_eq!(ttl(&stage, &[], &copy), "30m", "the same text beside other files");
}

/// A checkout that says of itself that it is the trusted repository, in the two ways in which git can be told.
#[test]
fn a_checkout_that_lies_about_its_repository_is_not_trusted() {
    let stage = Stage::new();
    repository(&stage, SETTINGS);
    stage.commit("settings");
    silent(&mut config(&stage, &["trust"]));
    let root = fs::canonicalize(stage.world.root()).expect("root");
    let (file, directory, taken) = (root.join("file"), root.join("directory"), root.join("taken"));
    let side = root.join("side");
    let git = root.join("work/.git");
    stage.world.git(&root.join("work"), &["worktree", "add", "-q", "-b", "side", side.to_str().expect("UTF-8")]);
    for liar in [&file, &directory, &taken] {
        fs::create_dir(liar).expect("directory");
        fs::write(liar.join(".locked.toml"), SETTINGS).expect("settings");
    }
    fs::write(file.join(".git"), format!("gitdir: {}\n", git.display())).expect("written");
    fs::create_dir(directory.join(".git")).expect("directory");
    fs::write(directory.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
    fs::write(directory.join(".git/commondir"), format!("{}\n", git.display())).expect("written");
    // One that takes the place of a work tree which the repository knows, elsewhere.
    fs::write(taken.join(".git"), format!("gitdir: {}\n", git.join("worktrees/side").display())).expect("written");
    for liar in [&file, &directory, &taken] {
        assert_eq!(ttl(&stage, &[], liar), "30m", "{}", liar.display());
    }
    assert_eq!(ttl(&stage, &[], &side), "4m");
    // Trusted for itself, it is; and the repository's own trust is not touched by taking that back.
    silent(config(&stage, &["trust"]).current_dir(&file));
    assert_eq!(ttl(&stage, &[], &file), "4m");
    silent(config(&stage, &["trust", "--remove"]).current_dir(&file));
    assert_eq!(ttl(&stage, &[], &file), "30m");
    assert_eq!(ttl(&stage, &[], &stage.world.work()), "4m");
}

#[test]
fn patterns_of_the_user_and_of_the_variable_trust_without_a_record() {
    let stage = Stage::new();
    repository(&stage, SETTINGS);
    let work = fs::canonicalize(stage.world.work()).expect("work");
    stage.world.git(&work, &["remote", "add", "origin", "git@GitHub.com:acme/infra.git"]);
    let root = work.parent().expect("parent").display().to_string();
    for (patterns, counts) in [
        ("github.com/acme/infra", "4m"),
        ("github.com/acme/*", "4m"),
        ("github.com/other/infra:github.com/acme/infra", "4m"),
        ("github.com/other/*", "30m"),
        ("github.com/acme/infra/x", "30m"),
        (&format!("{root}/**"), "4m"),
        (&format!("{root}/work"), "4m"),
        (&format!("{root}/other/**"), "30m"),
        ("", "30m"),
    ] {
        assert_eq!(ttl(&stage, &[("LOCKED_TRUST", patterns)], &work), counts, "{patterns}");
        let list: Vec<String> = patterns.split(':').filter(|it| !it.is_empty()).map(|it| format!("{it:?}")).collect();
        let home = user(&stage, &format!("[trust]\nrepositories = [{}]\n", list.join(", ")));
        let home = home.to_str().expect("UTF-8");
        assert_eq!(ttl(&stage, &[("XDG_CONFIG_HOME", home)], &work), counts, "{patterns}");
    }
    let said = says(leased(&stage, &[], "true").env("LOCKED_TRUST", "~/src"), 78);
    assert!(said.contains("LOCKED_TRUST"), "{said}");
}

#[test]
fn a_repository_cannot_vouch_for_itself() {
    let stage = Stage::new();
    stage.world.git(&stage.world.work(), &["remote", "add", "origin", "https://github.com/acme/infra"]);
    let settings = "ttl = \"4m\"\ncanary = false\n[trust]\nrepositories = [\"github.com/acme/infra\", \"/**\"]\n";
    repository(&stage, settings);
    assert_eq!(ttl(&stage, &[], &stage.world.work()), "30m");
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(ttl(&stage, &[], &stage.world.work()), "4m");
    let said = says(&mut leased(&stage, &[], "true"), 0);
    assert!(said.contains("sets trust.repositories, which does not count there"), "{said}");
}

#[test]
fn records_are_private_and_what_is_no_record_vouches_for_nothing() {
    let stage = Stage::new();
    repository(&stage, SETTINGS);
    silent(&mut config(&stage, &["trust"]));
    let directory = stage.world.state().join("trusted");
    let files: Vec<_> = fs::read_dir(&directory).expect("records").map(|it| it.expect("entry").path()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(fs::metadata(&files[0]).expect("record").permissions().mode() & 0o777, 0o600);
    let record = fs::read(&files[0]).expect("record");
    for damaged in [&b""[..], b"{}", &record[..record.len() / 2]] {
        fs::write(&files[0], damaged).expect("damaged");
        assert_eq!(ttl(&stage, &[], &stage.world.work()), "30m");
    }
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(ttl(&stage, &[], &stage.world.work()), "4m");
}

#[test]
fn many_who_trust_at_once_lose_nothing() {
    let stage = Stage::new();
    let root = fs::canonicalize(stage.world.root()).expect("root");
    let repositories: Vec<_> = (0..8).map(|at| root.join(format!("r{at}"))).collect();
    for directory in &repositories {
        fs::create_dir(directory).expect("directory");
        stage.world.git(directory, &["init", "-q"]);
        fs::write(directory.join(".locked.toml"), SETTINGS).expect("settings");
    }
    let children: Vec<_> = repositories
        .iter()
        .map(|directory| {
            config(&stage, &["trust"]).current_dir(directory).stdout(std::process::Stdio::null()).spawn().expect("runs")
        })
        .collect();
    for child in children {
        assert!(child.wait_with_output().expect("ends").status.success());
    }
    let list: Value = json(&mut config(&stage, &["trust", "--list", "--json"]));
    let trusted = list["trusted"].as_array().expect("a list");
    assert_eq!(trusted.len(), 8, "{list}");
    assert!(trusted.iter().all(|it| it["current"] == true));
    fs::write(repositories[0].join(".locked.toml"), "ttl = \"1h\"\n").expect("settings");
    let said = silent(&mut config(&stage, &["trust", "--list"]));
    assert_eq!(said.matches("not what stands there now").count(), 1, "{said}");
}

#[test]
fn there_must_be_something_to_trust() {
    let stage = Stage::new();
    says(&mut config(&stage, &["trust"]), 64);
    let root = stage.world.root().to_str().expect("UTF-8").to_owned();
    says(&mut config(&stage, &["trust", &root]), 64);
    repository(&stage, "ttl = 1");
    says(&mut config(&stage, &["trust"]), 78);
    assert!(silent(&mut config(&stage, &["trust", "--list"])).contains("nothing is trusted"));
}

#[test]
fn a_scope_that_is_trusted_names_the_files_of_a_fork() {
    let stage = Stage::new();
    let work = stage.world.work();
    stage.world.git(&work, &["remote", "add", "origin", "https://github.com/me/infra"]);
    let scope = |command: &mut std::process::Command| -> Value {
        let answer: Value = json(command.args(["explain", "--json", "--", "sops", "edit", FILE]));
        answer["scope"].clone()
    };
    repository(&stage, "scope = \"github.com/me/infra\"\n");
    assert_eq!(scope(&mut stage.locked(1)), "github.com/me/infra");
    repository(&stage, "scope = \"github.com/acme/infra\"\n");
    for command in [&mut stage.set(1, &[], "A", "1"), stage.locked(1).args(["acquire", "sops:x"])] {
        let said = says(command, 78);
        assert!(said.contains("is not trusted, and sets scope") && said.contains("locked config trust "), "{said}");
    }
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(scope(&mut stage.locked(1)), "github.com/acme/infra");
    silent(&mut stage.set(1, &[], "A", "1"));
    assert_eq!(stage.history()[0]["scope"], "github.com/acme/infra");
    // A clone of the other repository is in its way, and the fork's own name is not taken.
    let held = stage.hold(1, &["-r", "sops:monitoring"]);
    ends(&mut stage.set(2, &["-n"], "A", "1"), 75);
    held.let_go();
}

/// Who trusts a file is told what it has run as them.
#[test]
fn what_a_trusted_file_has_run_is_told() {
    let stage = Stage::new();
    repository(
        &stage,
        "[gh]\nfollow = true\n[ssh]\nask = true\n\n[[rule]]\nname = \"n8n\"\nprogram = \"n8nctl\"\nresource = \"a:b\"\n\
         canary = [\"curl\", \"-fsS\", \"http://localhost/a b\", \"PASSWORD=hunter2\"]\nfollow = true\n",
    );
    let said = silent(&mut config(&stage, &["trust"]));
    let lines: Vec<&str> = said.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "  line 2: gh, to follow what was set off (gh.follow)",
            "  line 4: ssh -G, for the names of hosts (ssh.ask)",
            "  line 6: curl -fsS 'http://localhost/a b' …, the canary of the rule n8n",
            "  line 6: gh, to follow what the rule n8n sets off",
        ],
        "{said}"
    );
    assert!(said.lines().nth(1).expect("a line").contains("have these run as you"), "{said}");
    let told: Value = json(config(&stage, &["trust"]).arg("--json"));
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(4), "{told}");
    repository(&stage, "ttl = \"4m\"\n");
    assert_eq!(silent(&mut config(&stage, &["trust"])).lines().count(), 1);
}
