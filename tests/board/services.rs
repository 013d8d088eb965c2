//! What systemd starts: no terminal, a session of its own, an `INVOCATION_ID`, and a parent that takes in every orphan.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use serde_json::Value;

use crate::run::stage::ends;
use crate::world::World;
use crate::world::apart::this_test;
use crate::world::ends::left_out;
use crate::world::groups::Group;

/// For each service: where its control group is entered (`-`: nowhere), its id, and the file for what its commands are told.
/// A subreaper as pid 1 is one (PR_SET_CHILD_SUBREAPER); perl under systemd's name.
const SYSTEMD: &str = r#"
use POSIX ();
syscall(PRCTL, 36, 1, 0, 0, 0) == 0 or die $!;
while (my ($door, $id, $out) = splice(@ARGV, 0, 3)) {
  next if fork;
  POSIX::setsid();
  if ($door ne '-') { open(my $procs, '>', $door) or die; print $procs $$; close($procs) or die; }
  ($ENV{INVOCATION_ID}, $ENV{OUT}) = ($id, $out);
  exec('sh', '-c', $ENV{SERVICE}) or die;
}
1 while wait() > 0;
"#;

/// Waits until its parent has ended and left it to systemd, and asks then.
const ORPHAN: &str = r#"
while read -r _ _ _ parent _ </proc/$$/stat; [ "$parent" = "$LEFT" ]; do :; done
$ME session --json >"$OUT.2"
"#;

/// Two commands in fresh shells, and an orphan; then what an explicit hold says.
const SERVICE: &str = r#"
sh -c '$ME session --json >"$OUT.0"; :'
bash -c '$ME session --json >"$OUT.1"; :'
sh -c 'LEFT=$$ sh orphan.sh & :'
$ME acquire "server:$OUT" >"$OUT.said" 2>&1; echo $? >"$OUT.acquired"
"#;

fn id(digit: u32) -> String {
    format!("{digit}").repeat(32)
}

/// Starts these services, and waits until all of them have ended.
fn run(world: &World, services: &[(String, &str)]) {
    std::fs::write(world.work().join("orphan.sh"), ORPHAN).expect("orphan");
    let systemd = world.root().join("systemd");
    let perl = ends(world.command("sh").args(["-c", "command -v perl"]), 0).stdout;
    std::os::unix::fs::symlink(String::from_utf8(perl).expect("UTF-8").trim(), &systemd).expect("link");
    let text = SYSTEMD.replace("PRCTL", if cfg!(target_arch = "x86_64") { "157" } else { "167" });
    let mut command = world.command(systemd);
    command.env("ME", env!("CARGO_BIN_EXE_locked")).env("SERVICE", SERVICE).args(["-e", &text]);
    for ((door, out), digit) in services.iter().zip(1..) {
        command.args([door, &id(digit), *out]);
    }
    ends(&mut command, 0);
}

/// What the three commands of a service were told.
fn told(world: &World, out: &str) -> Vec<Value> {
    let read = |number| std::fs::read(world.work().join(format!("{out}.{number}"))).expect("it was told");
    (0..3).map(|number| serde_json::from_slice(&read(number)).expect("JSON")).collect()
}

fn acquired(world: &World, out: &str) -> (String, String) {
    let read = |what: &str| std::fs::read_to_string(world.work().join(format!("{out}.{what}"))).expect("it was told");
    (read("acquired").trim().to_owned(), read("said"))
}

#[test]
fn each_service_is_one_session_by_its_id_whoever_takes_its_orphans_in() {
    let name = |which: &str| format!("locked-test-{}-{which}.service", std::process::id());
    let groups: Option<Vec<Group>> = ["one", "two"].iter().map(|which| Group::of_a_service(&name(which))).collect();
    let Some(groups) = groups else {
        return left_out(this_test!(), "this user may not make a control group of a service");
    };
    let world = World::new();
    let doors: Vec<String> = groups.iter().map(|group| group.door().display().to_string()).collect();
    run(&world, &[(doors[0].clone(), "one"), (doors[1].clone(), "two")]);
    for (out, digit) in [("one", 1), ("two", 2)] {
        let sessions: BTreeSet<String> =
            told(&world, out).iter().map(|it| it["session"].to_string().replace('-', "")).collect();
        assert_eq!(sessions, BTreeSet::from([format!("\"{}\"", id(digit))]), "all of a service, and nobody else");
        assert!(told(&world, out).iter().all(|it| it["named_by"] == "INVOCATION_ID" && it["lasts"] == true));
        let (status, said) = acquired(&world, out);
        assert_eq!(status, "0", "{said}");
    }
}

/// The variable is inherited by all that a desktop or a container starts; outside of a service's own group it names nobody.
#[test]
fn an_inherited_id_names_nobody_and_what_would_last_is_refused() {
    let world = World::new();
    run(&world, &[("-".to_owned(), "one"), ("-".to_owned(), "two")]);
    let all: Vec<Value> = ["one", "two"].iter().flat_map(|out| told(&world, out)).collect();
    assert!(all.iter().all(|it| it["named_by"] != "INVOCATION_ID" && it["lasts"] == false), "{all:#?}");
    let of = |out: &str| told(&world, out)[0]["session"].to_string();
    assert_ne!(of("one"), of("two"), "two services are never one");
    for out in ["one", "two"] {
        let (status, said) = acquired(&world, out);
        assert!(status == "64" && said.contains("next:  export LOCKED_SESSION="), "{status}: {said}");
    }
    assert_eq!(world.status().len(), 0);
}
