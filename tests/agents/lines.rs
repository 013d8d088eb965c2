//! Lines that write SOPS files around sops: by the shell's own hand, with another program, or where only run time knows which.
#![forbid(unsafe_code)]

use std::fs;

use serde_json::json;

use super::bench::{Bench, ends, text};
use crate::world::board::uuid;

fn line(command: &str) -> serde_json::Value {
    json!({"command": command})
}

/// What only run time knows is resolved by `locked` when it runs: it is told to stand in front.
#[test]
fn a_write_whose_file_only_run_time_knows_is_not_let_through() {
    let bench = Bench::new();
    for (command, next) in [
        (
            "cd \"$(git rev-parse --show-toplevel)\" && sops set secrets/x.yaml '[\"A\"]' '\"hunter2\"'",
            "locked sops set",
        ),
        ("F=$(ls secrets/x.yaml); sops set \"$F\" '[\"A\"]' '\"hunter2\"'", "locked sops set"),
        ("setk() { sops set \"$1\" '[\"A\"]' \"$2\"; }; setk secrets/x.yaml hunter2", "locked sops set"),
        ("for f in $(ls secrets); do sops updatekeys -y \"$f\"; done", "locked sops updatekeys"),
        ("sops decrypt -i \"$(ls secrets/x.yaml)\"", "locked sops decrypt"),
        ("timeout 5 sops rotate -i \"$FILE\"", "locked timeout"),
    ] {
        let why = bench.denied(1, "Bash", &line(command));
        assert!(
            why.contains(&format!("next:  begin the command with `{next}")) && why.contains("the rest of it as it was"),
            "{command}: {why}"
        );
        assert!(!why.contains("hunter2") && !why.contains("%1A"), "{command}: {why}");
        let with = command.replace("timeout 5 sops", "locked timeout 5 sops");
        let with = if with == command { command.replace("sops ", "locked sops ") } else { with };
        assert_eq!(bench.passes(1, "Bash", &line(&with)), "", "what was said is denied again");
    }
    for command in
        ["sops decrypt \"$F\"", "cd \"$(mktemp -d)\" && echo x > y.txt", "echo x > \"$F\"", "make \"$TARGET\""]
    {
        assert_eq!(bench.passes(1, "Bash", &line(command)), "");
    }
}

#[test]
fn plaintext_comes_into_no_sops_file_by_any_line() {
    let bench = Bench::new();
    for (command, said) in [
        ("sops decrypt secrets/x.yaml > secrets/m.env.sops", "secrets/m.env.sops is to be a SOPS file"),
        ("locked sops decrypt secrets/x.yaml > m.env.sops", "m.env.sops is to be a SOPS file"),
        ("sops decrypt secrets/x.yaml > secrets/x.yaml", "secrets/x.yaml is encrypted"),
        ("locked cat readme.md > secrets/x.yaml", "secrets/x.yaml is encrypted"),
        ("locked sops decrypt secrets/x.yaml >> secrets/x.yaml", "secrets/x.yaml is encrypted"),
        ("cat > secrets/fresh.yaml <<'E'\nPW: hunter2\nE", "secrets/fresh.yaml is to be a SOPS file"),
        ("printf 'PW: hunter2' | tee n.sops.yaml >/dev/null", "n.sops.yaml is to be a SOPS file"),
        ("printf 'PW: hunter2' | locked tee n.sops.yaml", "n.sops.yaml is to be a SOPS file"),
        ("cp readme.md secrets/new2.yaml", "secrets/new2.yaml is to be a SOPS file"),
        ("cd secrets && cp ../readme.md new2.yaml", "secrets/new2.yaml is to be a SOPS file"),
        ("cd \"$(git rev-parse --show-toplevel)\" && echo hi > secrets/x.yaml", "secrets/x.yaml is encrypted"),
        ("echo hi > \"$D\".sops.yaml", "whose name only run time knows"),
        ("locked sops encrypt readme.md > secrets/y.yaml; echo x > secrets/y.yaml", "secrets/y.yaml"),
    ] {
        let why = bench.denied(1, "Bash", &line(command));
        assert!(why.contains(said), "{command}: {why}");
        assert!(!why.contains("hunter2"), "{why}");
    }
    for command in [
        "locked sops encrypt readme.md > secrets/x.yaml.tmp",
        "locked sops encrypt readme.md > secrets/x.yaml.tmp && locked mv secrets/x.yaml.tmp secrets/x.yaml",
        "cp secrets/x.yaml secrets/copy.yaml",
        "sops decrypt secrets/x.yaml > /tmp/plain.yaml",
        "echo hi > secrets/README.md",
    ] {
        assert_eq!(bench.passes(1, "Bash", &line(command)), "", "{command}");
    }
}

/// The flow that a denial tells may be written as one line.
#[test]
fn a_flow_in_one_line_is_walked_in_its_order() {
    let bench = Bench::new();
    for command in [
        "locked sops decrypt -i secrets/x.yaml && sed -i s/one/two/ secrets/x.yaml && locked sops encrypt -i secrets/x.yaml",
        "locked sops decrypt -i secrets/x.yaml && echo 'C: 1' >> secrets/x.yaml && locked sops encrypt -i secrets/x.yaml",
        "cd secrets && locked sops decrypt -i x.yaml && sed -i s/one/two/ x.yaml && locked sops encrypt -i x.yaml",
        "locked acquire sops:new && echo 'A: 1' > secrets/new.yaml && locked sops encrypt -i secrets/new.yaml && locked release sops:new",
    ] {
        assert_eq!(bench.passes(1, "Bash", &line(command)), "", "{command}");
    }
    for command in [
        "locked sops decrypt -i secrets/x.yaml && locked sops encrypt -i secrets/x.yaml && sed -i s/one/two/ secrets/x.yaml",
        "sed -i s/one/two/ secrets/x.yaml && locked sops decrypt -i secrets/x.yaml",
        "locked sops decrypt -i secrets/mon.env.sops && sed -i s/one/two/ secrets/x.yaml",
        "sops decrypt -i secrets/x.yaml && sed -i s/one/two/ secrets/x.yaml",
        "locked acquire sops:other && echo 'A: 1' > secrets/new.yaml",
    ] {
        bench.denied(1, "Bash", &line(command));
    }
}

/// Between decrypt and encrypt a file is its session's alone, by whatever hand.
#[test]
fn an_open_edit_is_nobody_elses() {
    let bench = Bench::new();
    // One that no name and no rule makes a secret: it is SOPS by its content.
    bench.world.encrypted("infra/plain/y.yaml", "A: one\n", "yaml");
    for file in ["secrets/x.yaml", "plain/y.yaml"] {
        ends(bench.locked_by(1).args(["sops", "decrypt", "-i", file]), 0);
        for command in [
            "printf 'B: 1' > FILE",
            "printf 'B: 1' >> FILE",
            "sed -i s/one/two/ FILE",
            "locked sed -i s/one/two/ FILE",
            "cp readme.md FILE",
            "printf x | tee FILE",
            "rm FILE",
            "bash -c 'echo x > FILE'",
            "apply_patch <<'E'\n*** Begin Patch\n*** Update File: FILE\n@@\n-a\n+b\n*** End Patch\nE",
        ] {
            let command = command.replace("FILE", file);
            assert_eq!(bench.passes(1, "Bash", &line(&command)), "", "{command}");
            let why = bench.denied(2, "Bash", &line(&command));
            assert!(why.contains("is held by") && why.contains("(claude@"), "{command}: {why}");
        }
        assert!(
            bench.denied(2, "Write", &json!({"file_path": bench.path(file), "content": "x"})).contains("is held by")
        );
    }
    // The directory with what is in it; and what no line names is not passed over for its own session either.
    let why = bench.denied(2, "Bash", &line("rm -r plain"));
    assert!(why.contains("next:  begin the command with `locked rm"), "{why}");
    assert_eq!(bench.passes(2, "Bash", &line("locked rm -r plain")), "");
    for file in ["plain/z.yaml", "readme.md"] {
        assert_eq!(bench.passes(2, "Bash", &line(&format!("echo x > {file}"))), "");
        assert_eq!(bench.passes(2, "Write", &json!({"file_path": bench.path(file), "content": "x"})), "");
    }
}

/// Tools that nobody has described: a line is a line, and a path with a content is a write.
#[test]
fn any_tool_that_runs_or_writes_is_asked_about() {
    let bench = Bench::new();
    let write = "sops set secrets/x.yaml '[\"A\"]' '\"1\"'";
    for (tool, input, denied) in [
        ("Monitor", json!({"command": write}), true),
        ("PowerShell", json!({"command": write}), true),
        ("mcp__shell__run", json!({"command": write}), true),
        ("mcp__shell__run", json!({"command": "ls"}), false),
        ("mcp__fs__write_file", json!({"path": "secrets/x.yaml", "content": "a"}), true),
        ("mcp__fs__write_file", json!({"path": "readme.md", "content": "a"}), false),
        ("mcp__fs__edit_file", json!({"path": "secrets/x.yaml", "edits": [{"oldText": "a", "newText": "b"}]}), true),
        ("mcp__fs__move_file", json!({"source": "secrets/x.yaml", "destination": "y"}), true),
        ("mcp__fs__move_file", json!({"source": "readme.md", "destination": "secrets/z.yaml"}), true),
        ("mcp__fs__read_file", json!({"path": "secrets/x.yaml"}), false),
        ("Read", json!({"file_path": "secrets/x.yaml"}), false),
        ("NewWriter", json!({"file_path": "secrets/new.yaml", "content": "a"}), true),
    ] {
        match denied {
            true => drop(bench.denied(1, tool, &input)),
            false => assert_eq!(bench.passes(1, tool, &input), "", "{tool} {input}"),
        }
    }
}

#[test]
fn a_patch_is_a_patch_by_whatever_way_it_comes() {
    let bench = Bench::new();
    let patch = |header: &str| format!("*** Begin Patch\n{header}\n@@\n-a\n+b\n*** End Patch");
    for padded in
        ["*** Update File: secrets/x.yaml", "  *** Update File: secrets/x.yaml", "\t*** Delete File:  secrets/x.yaml "]
    {
        bench.denied(1, "apply_patch", &json!({"command": patch(padded)}));
        bench.denied(1, "Bash", &line(&format!("apply_patch <<'EOT'\n{}\nEOT", patch(padded))));
        bench.denied(1, "Bash", &line(&format!("apply_patch '{}'", patch(padded))));
    }
    let below = line(&format!("cd secrets && apply_patch <<'EOT'\n{}\nEOT", patch("*** Update File: x.yaml")));
    assert!(bench.denied(1, "Bash", &below).contains("secrets/x.yaml is encrypted"));
    let root = line(&format!(
        "cd \"$(git rev-parse --show-toplevel)\" && apply_patch <<'EOT'\n{}\nEOT",
        patch("*** Update File: secrets/x.yaml")
    ));
    bench.denied(1, "Bash", &root);
    let other = line(&format!("apply_patch <<'EOT'\n{}\nEOT", patch("*** Update File: readme.md")));
    assert_eq!(bench.passes(1, "Bash", &other), "");
    let zone = line(&format!("apply_patch <<'EOT'\n{}\nEOT", patch("*** Update File: db/roles.sql")));
    assert!(bench.passes(1, "Bash", &zone).contains("zone:DB_GRANTS"));
}

/// The next step begins as the agent's own line does.
#[test]
fn the_next_step_is_the_line_with_locked_in_front() {
    let bench = Bench::new();
    for (command, next) in [
        ("ssh web-1 'systemctl restart app'", "locked ssh"),
        ("sops --config c set secrets/x.yaml '[\"A\"]' '\"hunter2\"'", "locked sops"),
        ("docker compose -p web up -d", "locked docker compose"),
        ("sudo docker compose up", "locked sudo"),
    ] {
        let why = bench.denied(1, "Bash", &line(command));
        assert!(
            why.contains(&format!("next:  begin the command with `{next}`, the rest of it as it was")),
            "{command}: {why}"
        );
        assert_eq!(bench.passes(1, "Bash", &line(&format!("locked {command}"))), "");
    }
}

/// Eight sessions with lines whose file only run time knows: each is told, does so, and no key is lost.
#[test]
fn nobody_loses_a_key_to_a_variable_or_a_function() {
    let bench = Bench::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("a directory");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("PATH"));
    std::thread::scope(|scope| {
        for number in 1..=8 {
            let (bench, path) = (&bench, &path);
            scope.spawn(move || {
                let write = format!("'[\"K{number}\"]' '\"v\"'");
                let command = match number % 4 {
                    0 => format!("cd \"$(git rev-parse --show-toplevel)\" && sops set secrets/x.yaml {write}"),
                    1 => format!("F=$(ls secrets/x.yaml); sops set \"$F\" {write}"),
                    2 => format!("setk() {{ sops set \"$@\"; }}; setk secrets/x.yaml {write}"),
                    _ => format!("sops set secrets/x.yaml {write}"),
                };
                let why = bench.denied(number, "Bash", &line(&command));
                assert!(why.contains("next:  begin the command with `locked sops set"), "{why}");
                // Nobody writes past it meanwhile.
                for other in
                    ["echo x > secrets/x.yaml", "locked cat readme.md > secrets/x.yaml", "cp readme.md secrets/n.yaml"]
                {
                    bench.denied(number, "Bash", &line(other));
                }
                let command = command.replace("sops set", "locked sops set");
                assert_eq!(bench.passes(number, "Bash", &line(&command)), "");
                let mut shell = bench.command("bash");
                shell.args(["-c", &command]).env("PATH", path).env("LOCKED_WAIT", "10m");
                ends(shell.env("CLAUDE_CODE_SESSION_ID", uuid(number)), 0);
                bench.end(number);
            });
        }
    });
    let plain = bench.world.decrypted(&bench.path("secrets/x.yaml"), "yaml");
    for number in 1..=8 {
        assert!(plain.contains(&format!("K{number}: v")), "K{number} is lost: {plain}");
    }
    let files: Vec<_> = fs::read_dir(bench.path("secrets")).expect("secrets").flatten().collect();
    assert!(files.iter().all(|file| locked::naming::holds_sops(&file.path())), "{files:?}");
    let status = bench.locked().args(["status"]).output().expect("it runs");
    assert!(bench.world.status().is_empty(), "{}", text(&status.stdout));
}
