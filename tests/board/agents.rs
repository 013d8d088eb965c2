//! One identity per agent, whatever stands between it and its tools; never one for two. perl is the agent, `locked session`
//! the tool.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::run::stage::ends;
use crate::world::World;
use crate::world::apart::{PIDS, USER_PIDS, first_that_runs, this_test};
use crate::world::board::write_program;
use crate::world::ends::{left_out, so};

/// An agent: twenty tool calls, each in a fresh shell, by every way that this machine has. What they are told goes into the
/// file that it is given, which has its name only when all is said.
const AGENT: &str = r#"
my ($file) = @ARGV;
open(my $own, '>', "$file.part") or die; close($own);
$ENV{OUT} = "$file.part";
my @ways = (
  ['bash', '-lc', '$ME >>"$OUT"; :'],
  ['sh', '-c', '$ME >>"$OUT"; :'],
  ['bash', '-c', 'bash script.sh'],
  ['env', 'X=1', 'sh', '-c', '$ME >>"$OUT"; :'],
  ['make', '-s'],
  ['sh', '-c', 'exec nice timeout 60 $ME >>"$OUT"'],
  ['setsid', '-w', 'sh', '-c', '$ME >>"$OUT"; :'],
  # Below a command under a lease, whose keeper leads a session of its own here.
  ['setsid', '-w', 'sh', '-c', '${ME%% *} -r server:$$ sh -c "$ME; :" >>"$OUT"; :'],
  ['sh', '-c', 'echo one | xargs -I{} sh -c "\$ME >>\"\$OUT\"; :"'],
);
push @ways, ['sudo', '-n', '--preserve-env=ME,OUT,LOCKED_STATE_DIR', 'sh', '-c', '$ME >>"$OUT"; :'] if $ENV{SUDO};
system(@{$ways[$_ % @ways]}) == 0 or die "@{$ways[$_ % @ways]}" for 0 .. 19;
rename("$file.part", $file) or die;
"#;

/// A world with the agent in it.
fn place() -> World {
    let world = World::new();
    std::fs::write(world.work().join("agent.pl"), AGENT).expect("agent");
    std::fs::write(world.work().join("Makefile"), "all:\n\t@$(ME) >>\"$$OUT\"; :\n").expect("Makefile");
    write_program(&world.work().join("script.sh"), "#!/bin/bash\n$ME >>\"$OUT\"; :\n");
    world
}

fn command(world: &World, program: &str) -> Command {
    let mut command = world.command(program);
    command.env("ME", format!("{} session --json", env!("CARGO_BIN_EXE_locked")));
    let sudo = Command::new("sudo").args(["-n", "true"]).output().is_ok_and(|output| output.status.success());
    if sudo {
        command.env("SUDO", "1");
    }
    command
}

/// Every identity that the agent's tools were told, once all have been.
#[track_caller]
fn told(file: &Path) -> Vec<String> {
    so(&format!("the agent of {} is done", file.display()), || file.exists());
    let text = std::fs::read_to_string(file).expect("told");
    let sessions = text.lines().filter_map(|line| line.trim().strip_prefix("\"session\": \""));
    sessions.map(|rest| rest.trim_end_matches(['"', ',']).to_owned()).collect()
}

#[test]
fn three_agents_with_twenty_tool_calls_each_are_three_sessions() {
    let world = place();
    let file = |name: &str| world.work().join(name);
    // One below a script, one below what cron is: no terminal, no environment to speak of, its parent gone; and one in tmux.
    let script =
        "perl agent.pl scripted & (setsid sh -c 'perl agent.pl cronlike; :' </dev/null >/dev/null 2>&1 &); wait";
    ends(command(&world, "bash").args(["-c", script]), 0);
    let mut agents = vec![told(&file("scripted")), told(&file("cronlike"))];
    let socket = world.root().join("tmux");
    let tmux = |words: &[&str]| {
        let mut tmux = command(&world, "tmux");
        tmux.arg("-S").arg(&socket).args(["-f", "/dev/null"]).args(words).output()
    };
    match tmux(&["new-session", "-d", "perl agent.pl tmuxed; :"]) {
        Ok(output) if output.status.success() => {
            agents.push(told(&file("tmuxed")));
            let _ended_with_its_session = tmux(&["kill-server"]);
        }
        _ => left_out(this_test!(), "no tmux: an agent in its window"),
    }
    let distinct: Vec<BTreeSet<&String>> = agents.iter().map(|told| told.iter().collect()).collect();
    for (told, distinct) in agents.iter().zip(&distinct) {
        assert_eq!((told.len(), distinct.len()), (20, 1), "one identity: {told:#?}");
    }
    let all: BTreeSet<_> = distinct.iter().flatten().collect();
    assert_eq!(all.len(), agents.len(), "never shared: {all:?}");
}

#[test]
fn sixteen_interpreters_of_one_script_are_sixteen_sessions() {
    let world = place();
    let script = "for n in $(seq 16); do OUT=all perl -e 'system(\"sh\", \"-c\", q($ME >\"$OUT.$$\"; :)) for 1, 2' & done; wait; cat all.* >all";
    ends(command(&world, "bash").args(["-c", script]), 0);
    let told = told(&world.work().join("all"));
    let distinct: BTreeSet<_> = told.iter().collect();
    assert_eq!((told.len(), distinct.len()), (32, 16), "{distinct:?}");
}

/// The same pids, perhaps the same moment of start: only the namespace tells them apart.
#[test]
fn agents_in_two_pid_namespaces_are_two_sessions_where_possible() {
    let Some(apart) = first_that_runs(&[&PIDS, &USER_PIDS]) else {
        return left_out(this_test!(), "this user may not make a pid namespace");
    };
    let world = place();
    let started: Vec<_> = ["one", "two"]
        .map(|name| {
            let mut inside = command(&world, apart[0]);
            // sudo is left out: what it may do in a namespace of a user is another matter.
            inside.args(&apart[1..]).args(["sh", "-c", &format!("perl agent.pl {name}; :")]).env_remove("SUDO");
            inside.spawn().expect("it starts")
        })
        .into();
    let agents = ["one", "two"].map(|name| told(&world.work().join(name)));
    for mut child in started {
        child.wait().expect("it ends");
    }
    let distinct: BTreeSet<_> = agents.iter().flatten().collect();
    assert_eq!((agents[0].len(), agents[1].len(), distinct.len()), (20, 20, 2), "{distinct:?}");
}
