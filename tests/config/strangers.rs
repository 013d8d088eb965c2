//! What the file of a repository may add that nobody has vouched for: it takes no word of a line to where others read it,
//! and no read, no zone and no other repository's file away.
#![forbid(unsafe_code)]

use std::fs;

use crate::run::stage::{FILE, RESOURCE, Stage, contains, ends, files_below, json, says, silent, text};

use super::{config, repository, user};

/// What no name, no message and no store may have of a line, of its environment or of its standard input.
const SECRET: &str = "hunter2";

/// A name goes to the store and to everybody's board: a stranger's rule takes it from no word, variable or text, and a
/// stranger's grammar makes no sub-command of a value.
#[test]
fn no_rule_of_a_repository_carries_a_word_of_the_line_into_a_name() {
    let stage = Stage::new();
    let value = format!("\"{SECRET}\"");
    let set: &[&str] = &["sops", "set", FILE, "[\"A\"]", &value];
    let program = "name = \"y\"\nprogram = \"expr\"";
    let says: &[&str] = &["expr", SECRET];
    let table: [(String, &[&str]); 13] = [
        ("name = \"y\"\nprogram = \"sops\"\nsubcommand = \"set\"\nresource = \"x:{3}\"".to_owned(), set),
        ("name = \"y\"\nprogram = \"sops\"\nresource = \"x:{last}\"".to_owned(), set),
        (format!("{program}\nresource = \"x:{{1}}\""), says),
        (format!("{program}\nresource = [\"x:y\", \"x:{{*}}\"]"), says),
        (format!("{program}\nresource = \"x:{{last|file}}\""), says),
        (format!("{program}\nresource = \"x:{{1|stack}}\""), says),
        (format!("{program}\nresource = \"x:{{of=}}\""), &["expr", "of=hunter2"]),
        (format!("{program}\nresource = \"x:{{--token}}\""), &["expr", "--token=hunter2"]),
        (format!("{program}\nresource = \"x:{{project}}\""), &["expr", "-p=hunter2"]),
        (format!("{program}\non = \"anywhere\"\nresource = \"x:{{env:API_TOKEN}}\""), says),
        (format!("{program}\ntext = ['(?<v>hunter.)']\nresource = \"x:{{v}}\""), says),
        (
            format!("{program}\nmatch = ['^(?<workflow>hunter.)']\nresource = \"x:y\"\notherwise = \"x:{{workflow}}\""),
            says,
        ),
        (format!("{program}\nresource = \"x:y\"\n[[program]]\nname = \"expr\"\ngroup = true"), says),
    ];
    for (settings, line) in &table {
        repository(&stage, &format!("[[rule]]\n{settings}\n"));
        let run = |words: &[&str], line: &[&str]| {
            let mut command = stage.locked(1);
            command.args(words).args(line).env("API_TOKEN", SECRET).output().expect("locked runs")
        };
        let explained = run(&["explain", "--json", "--"], line);
        assert!(explained.status.success(), "{settings}");
        for told in [&explained.stdout, &explained.stderr, &run(&["-n", "-v"], line).stderr] {
            assert!(!text(told).contains(SECRET), "{settings}: {}", text(told));
        }
        for file in files_below(&stage.world.state()).iter().filter(|file| file.is_file()) {
            let kept = fs::read(file).expect("a file");
            let is_copy = file.components().any(|part| part.as_os_str() == "copies");
            assert!(is_copy || !contains(&kept, SECRET), "{settings}: {} has it", file.display());
        }
    }
    // Once somebody vouches for it, the rule names what it likes.
    let (settings, line) = &table[2];
    repository(&stage, &format!("[[rule]]\n{settings}\n"));
    let answer =
        |stage: &Stage| -> serde_json::Value { json(stage.locked(1).args(["explain", "--json", "--"]).args(*line)) };
    let before = answer(&stage);
    assert_eq!(before["decision"], "pass", "{before}");
    assert!(before["notes"].to_string().contains("the rule y would name {1}"), "{before}");
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(answer(&stage)["resources"], serde_json::json!(["x:hunter2"]));
}

/// Whether such a rule holds its name shows one bit of what stands in the line: hundreds of them would spell a word.
#[test]
fn no_file_of_a_repository_spells_a_word_by_what_its_rules_fit() {
    let stage = Stage::new();
    let held = |stage: &Stage| {
        let answer: serde_json::Value =
            json(stage.locked(1).args(["explain", "--json", "--", "expr", SECRET, "--token=hunter2"]));
        answer["resources"].as_array().expect("resources").len()
    };
    let rules = |key: &str| -> String {
        let rule =
            |number| format!("[[rule]]\nname = \"y{number}\"\nprogram = \"expr\"\n{key}\nresource = \"x:{number}\"\n");
        (0..40).map(rule).collect()
    };
    let looks = [
        "match = ['^.{3}t']",
        "args = [\"h*\"]",
        "text = ['2$']",
        "option = [\"--token=h*\"]",
        "unless_first = [\"a*\"]",
    ];
    for key in looks {
        repository(&stage, &rules(key));
        assert_eq!(held(&stage), 16, "{key}");
    }
    let zone = |number| format!("[[zone]]\nname = \"Z{number}\"\ncommands = [\"expr h*\"]\n");
    repository(&stage, &(0..40).map(zone).collect::<String>());
    assert_eq!(held(&stage), 16, "zones by command lines");
    repository(&stage, &rules("on = \"anywhere\""));
    assert_eq!(held(&stage), 40, "what looks into nothing shows nothing");
    repository(&stage, &rules(looks[0]));
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(held(&stage), 40, "somebody vouches for them");
}

/// A line that one of those might lock is told so; others are not.
#[test]
fn a_line_that_passes_because_of_too_many_tables_is_told() {
    let stage = Stage::new();
    let said = |words: &[&str]| {
        let output = stage.locked(1).args(words).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let rule = |number| {
        format!(
            "[[rule]]\nname = \"y{number}\"\nprogram = \"expr\"\nmatch = ['^{number}$']\nresource = \"x:{number}\"\n"
        )
    };
    repository(&stage, &(100..116).map(rule).collect::<String>());
    assert_eq!(said(&["expr", "1"]), "", "all of them are heard");
    repository(&stage, &(100..117).map(rule).collect::<String>());
    let line = said(&["expr", "1"]);
    assert!(line.contains("has more tables that look into words than are heard before it is trusted"), "{line}");
    assert!(line.contains("locked config trust ") && line.lines().count() == 1, "{line}");
    assert_eq!(said(&["git", "--version"]), "", "it is about none of these");
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(said(&["expr", "1"]), "");
}

/// What a built-in rule names on this very line is no news to anybody.
#[test]
fn a_rule_of_a_repository_has_fixed_names_and_those_that_are_named_anyway() {
    let stage = Stage::new();
    let on_host: &[&str] = &["ssh", "web-1", "systemctl restart nginx"];
    let down: &[&str] = &["docker", "compose", "-p", "shop", "down"];
    let restart: &[&str] = &["docker", "restart", "web"];
    for (settings, line, held) in [
        (
            "program = \"systemctl\"\non = \"remote\"\nresource = \"mine:{host}\"",
            on_host,
            &["mine:web-1", "server:web-1"][..],
        ),
        ("program = \"systemctl\"\non = \"remote\"\nresource = \"mine:{1}\"", on_host, &["server:web-1"]),
        ("program = \"docker\"\nresource = \"mine:shop\"", down, &["container:shop", "mine:shop"]),
        ("program = \"docker\"\nresource = \"container:{project}\"", down, &["container:shop"]),
        ("program = \"docker\"\nresource = [\"mine:x\", \"mine:{1}\"]", restart, &["container:web", "mine:x"]),
        ("program = \"expr\"\nresource = \"mine:x\"", &["expr", "1"], &["mine:x"]),
    ] {
        repository(&stage, &format!("[[rule]]\nname = \"y\"\n{settings}\n"));
        let answer: serde_json::Value = json(stage.locked(1).args(["explain", "--json", "--"]).args(line));
        assert_eq!(answer["resources"], serde_json::json!(held), "{settings}: {answer}");
    }
}

/// Design §2: reads always pass, whatever a repository's file says of their programs, and with the store down as well.
#[test]
fn no_word_of_a_repository_takes_a_read_of_any_program_away() {
    let stage = Stage::new();
    let reads: [&[&str]; 17] = [
        &["docker", "ps"],
        &["docker", "compose", "ps"],
        &["docker", "logs", "web"],
        &["gh", "pr", "list"],
        &["git", "status"],
        &["git", "-C", ".", "--no-pager", "log"],
        &["git", "diff"],
        &["cat", FILE],
        &["ls", "-la"],
        &["sh", "-c", "cat a | grep b; docker ps 2> /dev/null"],
        &["env", "A=1", "sudo", "cat", FILE],
        &["ssh", "web-1", "cat .env"],
        &["ssh", "web-1", "systemctl status nginx | head; docker ps"],
        &["ssh", "web-1"],
        &["systemctl", "status", "nginx"],
        &["kubectl", "get", "pods"],
        &["node", "--version"],
    ];
    let all = "program = [\"docker\", \"gh\", \"git\", \"cat\", \"ls\", \"sh\", \"env\", \"sudo\", \"grep\", \"ssh\", \"rsync\", \
         \"head\", \"systemctl\", \"kubectl\", \"node\"]";
    for settings in [
        format!("[[rule]]\nname = \"z\"\n{all}\non = \"anywhere\"\nresource = []\nask = true\n"),
        format!("[[rule]]\nname = \"z\"\n{all}\non = \"anywhere\"\nresource = \"x:y\"\nask = true\n"),
        format!("[[rule]]\nname = \"z\"\n{all}\non = \"anywhere\"\nresource = \"x:y\"\nwrites = [\"**\"]\n"),
        "[[rule]]\nname = \"z\"\nremote = [\"*\"]\nresource = \"x:y\"\n".to_owned(),
        "[[zone]]\nname = \"Z\"\ncommands = [\"*\"]\n".to_owned(),
        "[[zone]]\nname = \"Z\"\npaths = [\"**\"]\nreads = true\n".to_owned(),
        format!("[[writer]]\n{all}\nfiles = \"{{*}}\"\n[[zone]]\nname = \"Z\"\npaths = [\"**\"]\n"),
        format!("[[sql]]\n{all}\ntext = \"{{*}}\"\n[[zone]]\nname = \"Z\"\nsql = [\".\"]\n"),
    ] {
        repository(&stage, &settings);
        for line in reads {
            let mut command = stage.locked(1);
            let answer: serde_json::Value = json(command.args(["explain", "--json", "--"]).args(line));
            assert_eq!(answer["decision"], "pass", "{settings}: {line:?}: {answer}");
        }
        for line in [&["git", "status"][..], &["cat", FILE], &["sh", "-c", "ls | head -1 2> /dev/null"]] {
            ends(stage.locked(1).args(line).env("LOCKED_STORE", "postgres://127.0.0.1:9/none"), 0);
        }
    }
}

/// What nobody knows as a read is held, and what a read's shell writes to a file.
#[test]
fn what_is_no_read_is_held_as_a_repository_says() {
    let stage = Stage::new();
    let [rule, writes] = ["program = [\"git\", \"docker\", \"deployctl\"]", "writes = [\"**/*.md\"]"];
    for (settings, line) in [
        (rule, &["git", "push"][..]),
        (rule, &["git", "-C", "x", "push"]),
        (rule, &["docker", "compose", "-p", "x", "down"]),
        (rule, &["deployctl", "status"]),
        (writes, &["sh", "-c", "cat a > b.md"]),
        (writes, &["tee", "b.md"]),
    ] {
        repository(&stage, &format!("[[rule]]\nname = \"z\"\n{settings}\nresource = \"x:y\"\n"));
        let answer: serde_json::Value = json(stage.locked(1).args(["explain", "--json", "--"]).args(line));
        assert!(answer["resources"].to_string().contains("\"x:y\""), "{settings}: {line:?}: {answer}");
    }
}

/// How a program is read says which of its lines a zone is about.
#[test]
fn no_grammar_of_a_repository_takes_a_zone_of_one_s_own_away() {
    let stage = Stage::new();
    let program = "[[program]]\nname = \"deployctl\"\ngroup = true\nvalues = [\"-y|--yes\"]\n";
    for (zone, line) in [
        ("commands = [\"deployctl deploy*\"]", &["deployctl", "-y", "deploy", "prod"][..]),
        ("commands = [\"deploy* prod\"]", &["deployctl", "-y", "deploy", "prod"]),
        ("paths = [\"secret.txt\"]\nreads = true", &["deployctl", "secret.txt"]),
    ] {
        let home = user(&stage, &format!("[[zone]]\nname = \"DEPLOY\"\n{zone}\n"));
        for settings in ["", program] {
            repository(&stage, settings);
            let mut command = stage.locked(1);
            command.env("XDG_CONFIG_HOME", &home).args(["explain", "--json", "--"]).args(line);
            let answer: serde_json::Value = json(&mut command);
            assert_eq!(answer["resources"], serde_json::json!(["zone:DEPLOY"]), "{zone}: {settings}: {answer}");
        }
    }
}

/// A rotation takes along files of its repository; those of others are theirs.
#[test]
fn no_rotation_of_a_repository_reaches_out_of_it() {
    let stage = Stage::new();
    let (work, infra) = (stage.world.work(), stage.world.root().join("infra"));
    fs::create_dir_all(infra.join("secrets")).expect("directory");
    stage.world.git(&infra, &["-c", "init.defaultBranch=main", "init", "-q"]);
    fs::copy(stage.file(), infra.join("secrets/app.env.sops")).expect("a file");
    std::os::unix::fs::symlink(infra.join("secrets/app.env.sops"), work.join("link.env.sops")).expect("a link");
    let outside =
        ["../infra/secrets/app.env.sops", "/etc/passwd", "link.env.sops", "secrets/../../infra/secrets/x.env"];
    let held = |stage: &Stage| -> serde_json::Value {
        let mut command = stage.locked(1);
        let told = text(
            &ends(command.args(["-q", "-n", "-r", "rotation:S", "sh", "-c", "echo \"$LOCKED_RESOURCES\""]), 0).stdout,
        );
        let acquired: serde_json::Value = json(stage.locked(1).args(["acquire", "--json", "rotation:S"]));
        let by_verb = acquired["acquired"].as_array().expect("a list").iter().map(|it| it["resource"].clone());
        let (by_line, by_verb): (Vec<_>, Vec<_>) =
            (told.split_whitespace().map(Into::into).collect(), by_verb.collect());
        let by_line: Vec<serde_json::Value> = by_line;
        assert_eq!(by_line, by_verb);
        ends(stage.locked(1).args(["release", "rotation:S", "--consumers-ok"]), 0);
        by_verb.into()
    };
    for file in outside {
        repository(&stage, &format!("[[rotation]]\nsecret = \"S\"\nfiles = [\"{file}\", \"{FILE}\"]\n"));
        assert_eq!(held(&stage), serde_json::json!(["rotation:S", RESOURCE]), "{file}");
        let said = says(stage.locked(1).args(["-n", "-r", "rotation:S", "true"]), 0);
        assert!(said.contains("lies outside of the repository"), "{file}: {said}");
    }
    // One of one's own, or one that is trusted, names what it likes.
    let settings = format!("[[rotation]]\nsecret = \"S\"\nfiles = [\"{}\"]\n", outside[0]);
    repository(&stage, &settings);
    silent(&mut config(&stage, &["trust"]));
    assert_eq!(held(&stage), serde_json::json!(["rotation:S", "sops:app"]));
}
