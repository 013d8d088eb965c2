//! Rules of one's own: they lock as they say, take the place of built-in ones, and when one is wrong that is told.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::stage::{Stage, ends, in_front, json, says, silent, text};

use super::{config, repository, user};

/// What `explain` says under these settings of the user's: the resources, and the rule.
fn explained(stage: &Stage, home: &Path, env: &[(&str, &str)], line: &[&str]) -> (Vec<String>, String) {
    let mut command = stage.locked(1);
    command.env("XDG_CONFIG_HOME", home).envs(env.iter().copied()).args(["explain", "--json", "--"]).args(line);
    let answer: Value = json(&mut command);
    let resources = answer["resources"].as_array().expect("a list").iter();
    let names = resources.map(|it| it.as_str().expect("a name").to_owned()).collect();
    (names, answer["rule"].as_str().unwrap_or_default().to_owned())
}

const RULES: &str = r#"
[[rule]]
name = "n8n"
program = "n8nctl"
subcommand = ["deploy", "workflow import"]
unless = ["--dry-run"]
resource = "container:{1}"
otherwise = "container:n8n"

[[rule]]
name = "by-option"
program = ["migrate", "migrate2"]
option = ["-y|--yes", "--target=prod*"]
resource = "server:db"

[[rule]]
name = "by-args"
program = "push"
args = ["prod*", "live"]
match = ['^(?<site>[a-z]+)\.example\.org$']
resource = ["server:{site}", "site:{site}"]

[[rule]]
name = "by-env"
program = "terraform"
subcommand = "apply"
env = ["TF_WORKSPACE=prod*"]
resource = "tf:{env:TF_WORKSPACE}"

[[rule]]
name = "by-remote"
remote = ["make deploy*"]
resource = "server:{host}"

[[rule]]
name = "by-writes"
writes = ["**/nginx.conf"]
resource = "server:web"

[[rule]]
name = "by-text"
program = "consul"
text = ['secret/(?<key>\w+)']
resource = "secret:{key}"
"#;

type Words = &'static [&'static str];
/// A line, what is set around it, and what is held.
type Case = (Words, &'static [(&'static str, &'static str)], Words);

#[test]
fn a_rule_of_one_s_own_locks_by_everything_that_a_rule_can_ask() {
    let stage = Stage::new();
    let home = user(&stage, RULES);
    let table: [Case; 25] = [
        (&["n8nctl", "deploy", "bms4"], &[], &["container:bms4"]),
        (&["n8nctl", "-q", "deploy"], &[], &["container:n8n"]),
        (&["n8nctl", "workflow", "import", "bms4"], &[], &["container:bms4"]),
        (&["n8nctl", "workflow", "list"], &[], &[]),
        (&["n8nctl", "deploy", "bms4", "--dry-run"], &[], &[]),
        (&["n8nctl", "status", "deploy"], &[], &[]),
        (&["migrate", "-y", "--target=prod-1"], &[], &["server:db"]),
        (&["migrate2", "--target=production", "--yes"], &[], &["server:db"]),
        (&["migrate", "--target=prod"], &[], &[]),
        (&["migrate", "-y", "--target=test"], &[], &[]),
        (&["push", "prod-2", "shop.example.org"], &[], &["server:shop", "site:shop"]),
        (&["push", "live", "shop.example.org"], &[], &["server:shop", "site:shop"]),
        (&["push", "test", "shop.example.org"], &[], &[]),
        (&["push", "prod-2", "shop.example.com"], &[], &[]),
        (&["terraform", "apply"], &[("TF_WORKSPACE", "prod-eu")], &["tf:prod-eu"]),
        (&["env", "TF_WORKSPACE=prod-us", "terraform", "apply"], &[], &["tf:prod-us"]),
        (&["terraform", "apply"], &[("TF_WORKSPACE", "test")], &[]),
        (&["terraform", "plan"], &[("TF_WORKSPACE", "prod-eu")], &[]),
        (&["ssh", "web-7", "cd /srv && make deploy-all"], &[], &["server:web-7"]),
        (&["make", "deploy-all"], &[], &[]),
        (&["sh", "-c", "cat x > /etc/nginx/nginx.conf"], &[], &["server:web"]),
        (&["cp", "nginx.conf", "/tmp/x.conf"], &[], &[]),
        (&["consul", "put", "--path", "secret/api"], &[], &["secret:api"]),
        (&["sh", "-c", "echo secret/api | consul put"], &[], &["secret:api"]),
        (&["consul", "put", "public/api"], &[], &[]),
    ];
    for (line, env, resources) in table {
        assert_eq!(explained(&stage, &home, env, line).0, resources, "{line:?} {env:?}");
    }
}

#[test]
fn a_rule_with_the_name_of_another_takes_its_place_and_one_that_is_off_leaves_it_empty() {
    let stage = Stage::new();
    let rule = |terms: &str| format!("[[rule]]\nname = \"docker.compose\"\n{terms}\n");
    let down: [&str; 5] = ["docker", "compose", "-p", "shop", "down"];
    let [built_in, mine, off] = [
        String::new(),
        rule("program = \"docker\"\nsubcommand = \"compose down\"\nresource = \"container:all\""),
        rule("enabled = false"),
    ];
    let of = |user_s: &str, repository_s: &str, trusted: &str| {
        repository(&stage, repository_s);
        explained(&stage, &user(&stage, user_s), &[("LOCKED_TRUST", trusted)], &down).0
    };
    for (user_s, repository_s, trusted, resources) in [
        (&built_in, &built_in, "", &["container:shop"][..]),
        (&mine, &built_in, "", &["container:all"]),
        (&off, &built_in, "", &[]),
        (&built_in, &mine, "", &["container:shop"]),
        (&built_in, &mine, "/**", &["container:all"]),
        (&built_in, &off, "", &["container:shop"]),
        (&built_in, &off, "/**", &[]),
        // The repository's word is the later one.
        (&mine, &off, "/**", &[]),
        (&off, &mine, "/**", &["container:all"]),
        (&off, &mine, "", &[]),
    ] {
        assert_eq!(of(user_s, repository_s, trusted), resources, "{user_s}|{repository_s}|{trusted}");
    }
    let one = "[[rule]]\nname = \"x\"\nprogram = \"docker\"\nresource = \"a:1\"\n";
    let both = [one, &one.replace("a:1", "a:2")].concat();
    assert_eq!(of(&both, "", ""), ["a:1", "a:2", "container:shop"], "one file may use a name twice");
    assert_eq!(of(one, &one.replace("a:1", "a:2"), "/**"), ["a:2", "container:shop"], "two files do not");
}

#[test]
fn what_is_printed_is_read_back_to_the_same() {
    let printed = silent(&mut config(&Stage::new(), &["rules"]));
    let read = locked::rules::Tables::read;
    assert_eq!(read(&printed).expect("TOML"), read(&locked::rules::Book::built_in()).expect("TOML"));
    let stage = Stage::new();
    let home = user(&stage, &printed);
    // As somebody's own they say the same.
    for line in [
        &["docker", "compose", "-p", "x", "up"][..],
        &["gh", "workflow", "run", "secrets.yml"],
        &["ssh", "h", "reboot"],
    ] {
        let nowhere = stage.world.root().join("nowhere");
        assert_eq!(explained(&stage, &home, &[], line), explained(&stage, &nowhere, &[], line), "{line:?}");
    }
}

/// Design §12: the program is locked, and the command after it proves it.
#[test]
fn the_canary_of_a_rule_has_the_last_word() {
    let stage = Stage::new();
    let home = user(
        &stage,
        "[[rule]]\nname = \"n8n\"\nprogram = \"n8nctl\"\nsubcommand = [\"deploy\", \"restart\"]\n\
         resource = \"container:n8n-bms4\"\ncanary = [\"test\", \"-e\", \"healthy\"]\n",
    );
    let programs = stage.world.script("n8nctl", "echo \"$1 holds $LOCKED_RESOURCES\"");
    let run = |session, words: &[&str]| -> Command {
        let mut command = stage.locked(session);
        command.env("XDG_CONFIG_HOME", &home).env("PATH", in_front(&programs)).arg("n8nctl").args(words);
        command
    };
    assert_eq!(text(&ends(&mut run(1, &["status"]), 0).stdout), "status holds \n");
    fs::write(stage.world.work().join("healthy"), "").expect("file");
    assert_eq!(silent(&mut run(1, &["deploy"])), "deploy holds container:n8n-bms4\n");
    fs::remove_file(stage.world.work().join("healthy")).expect("gone");
    let said = says(&mut run(1, &["restart"]), 72);
    assert!(said.contains("its proof failed (test failed with status 1)"), "{said}");
    says(run(2, &["deploy"]).env("LOCKED_WAIT", "0s"), 75);
}
