//! Tests of `holder`: real shells, launchers and interpreters above this test binary, which says who it takes itself
//! for. perl stands for an agent: an interpreter that starts its tools through shells.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use locked::clock::Moment;
use locked::holder::{ProcFs, Search, Session, Surroundings, Variable, identify, processes_of};
use locked::terms::GrantId;

use crate::world::World;
use crate::world::board::install;

/// Not a test by itself: the process that the tests below start, as `$ME`.
#[test]
fn identified_process() {
    if std::env::var_os("LOCKED_TEST_IDENTIFY").is_none() {
        return;
    }
    let Session { id, source, explicit_ok, label } = ourselves();
    println!("\nsession {} {explicit_ok} {label} {source:?}", id.whole());
}

fn ourselves() -> Session {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("boot id");
    identify(&Surroundings {
        option: None,
        env: &|name| std::env::var_os(name),
        variables: &Variable::ready(),
        boot_id: boot_id.trim(),
        host: &ProcFs::host(),
        processes: &ProcFs::new(),
    })
    .expect("a session")
}

/// Runs programs in which `$ME` is a shell command that says who it is.
struct Place {
    world: World,
}

impl Place {
    fn new() -> Self {
        Self { world: World::new() }
    }

    fn command(&self, program: &str) -> Command {
        let this = std::env::current_exe().expect("this test");
        let me = format!("{} --exact holder::identified_process --nocapture", this.display());
        let mut command = self.world.command("timeout");
        command.args(["60", program]).env("ME", me).env("LOCKED_TEST_IDENTIFY", "1").env("USER", "ana");
        command
    }

    /// What every `$ME` of this perl program said.
    fn perl(&self, text: &str) -> Vec<Said> {
        said(self.command("perl").args(["-e", text]))
    }
}

/// What one process said of itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    id: String,
    explicit: bool,
    label: String,
    source: String,
}

fn said(command: &mut Command) -> Vec<Said> {
    let output = command.stderr(Stdio::inherit()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    let said: Vec<_> = text
        .lines()
        .filter_map(|line| {
            // Not at the line's start: another process of the harness may be in the middle of one.
            let mut words = line.split_once("session ")?.1.splitn(4, ' ');
            let mut word = || words.next().expect("four words").to_owned();
            Some(Said { id: word(), explicit: word() == "true", label: word(), source: word() })
        })
        .collect();
    assert!(!said.is_empty(), "nobody spoke: {text}");
    said
}

fn distinct(said: &[Said]) -> usize {
    said.iter().map(|said| &said.id).collect::<BTreeSet<_>>().len()
}

#[test]
fn every_way_in_which_one_agent_starts_a_tool_is_one_session() {
    let place = Place::new();
    std::fs::write(place.world.work().join("Makefile"), "all:\n\t@$(ME); :\n").expect("Makefile");
    let script = place.world.work().join("script.sh");
    std::fs::write(&script, "#!/bin/bash\n$ME; :\n").expect("script");
    let said = place.perl(
        r#"
        system("bash", "-c", '$ME; :');
        system("sh", "-c", '$ME; :');
        system("$ENV{ME}");
        system("sh", "-c", 'env -u NOTHING nice timeout 60 nohup $ME 2>/dev/null');
        system("bash", "-c", 'bash script.sh; (setsid -w sh -c "\$ME; :")');
        system("sh", "-c", 'echo one | xargs -I{} sh -c "\$ME; :"');
        system("sh", "-c", 'find Makefile -exec sh -c "\$ME; :" ";"');
        system("perl -e 'exit 0'");
        "#,
    );
    assert_eq!((said.len(), distinct(&said)), (8, 1), "{said:#?}");
    assert!(said[0].explicit && said[0].source.contains("perl"), "{said:#?}");
    assert!(said[0].label.starts_with("perl@"), "{said:#?}");
}

#[test]
fn make_and_sudo_do_not_change_the_session() {
    let place = Place::new();
    std::fs::write(place.world.work().join("Makefile"), "all:\n\t@$(ME); :\n").expect("Makefile");
    let runs = |program: &str, args: &[&str]| {
        place.command(program).args(args).output().is_ok_and(|output| output.status.success())
    };
    let mut tools = vec!["system('sh', '-c', '$ME; :');"];
    if runs("make", &["--version"]) {
        tools.push("system('make', '-s');");
    }
    if runs("sudo", &["-n", "true"]) {
        tools.push("system('sudo -n env LOCKED_TEST_IDENTIFY=1 $ME');");
    }
    let said = place.perl(&tools.concat());
    assert_eq!((said.len(), distinct(&said)), (tools.len(), 1), "{said:#?}");
}

#[test]
fn two_agents_of_one_script_are_two_sessions() {
    let said = said(
        Place::new()
            .command("bash")
            .args(["-c", r#"for agent in 1 2; do perl -e 'system("bash", "-c", q($ME; :)) for 1, 2'; done"#]),
    );
    assert_eq!(said.len(), 4, "{said:#?}");
    assert_eq!((said[0].id == said[1].id, said[2].id == said[3].id), (true, true), "{said:#?}");
    assert_ne!(said[0].id, said[2].id);
}

/// A tool call's shell put it into the background and has ended: what is left of it could be any agent's, also where
/// something above the agents takes it in (a subreaper), so it is nobody's. python3 stands above the agents.
#[test]
fn what_an_ended_shell_left_is_no_agent_s_and_two_agents_share_none() {
    let above = "import ctypes, os, sys\n\
                 if sys.argv[1] == 'takes-in': ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n\
                 for _ in range(2):\n  os.fork() or os.execvp('perl', ['perl', '-e', sys.argv[2]])\n\
                 try:\n  while True: os.wait()\nexcept ChildProcessError: pass\n";
    // The subshell has the shell's number in `$$`, and the agent has waited for the shell.
    let left = r#""bash", "-c", q((while kill -0 $$ 2>/dev/null; do sleep 0.01; done; $ME; :) & )"#;
    for (above_it, apart) in
        [("takes-in", r#""setsid", "-w", "#), ("leaves-it", r#""setsid", "-w", "#), ("leaves-it", "")]
    {
        let agent = format!(r#"system({apart}{left}); system("bash", "-c", '$ME; :')"#);
        let place = Place::new();
        let said = said(place.command("setsid").args(["-w", "python3", "-c", above, above_it, &agent]));
        let (agents, left): (Vec<_>, Vec<_>) = said.iter().cloned().partition(|it| it.explicit);
        assert_eq!((agents.len(), left.len()), (2, 2), "{above_it} {apart}: {said:#?}");
        assert!(agents.iter().all(|it| it.source.contains("perl")), "{said:#?}");
        assert_eq!(distinct(&said), 4, "{above_it} {apart}: {said:#?}");
    }
}

#[test]
fn sixteen_first_calls_at_once_agree() {
    let said = Place::new().perl(
        r#"
        for (1 .. 16) { my $pid = fork(); if (!$pid) { exec("bash", "-c", '$ME; :') } }
        1 while wait() > 0;
        "#,
    );
    assert_eq!((said.len(), distinct(&said)), (16, 1), "{said:#?}");
}

/// `script` gives what it starts a terminal and a session, as terminals and some agents do.
#[test]
fn a_shell_with_a_person_is_an_anchor_and_one_with_a_command_is_not() {
    let place = Place::new();
    let mut person = place.command("script");
    person.args(["-qec", "exec bash --norc --noprofile", "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut terminal = person.spawn().expect("script runs");
    let mut stdin = terminal.stdin.take().expect("stdin");
    stdin.write_all(b"$ME; :\nsh -c '$ME; :'\nexit\n").expect("typed");
    let mut text = String::new();
    terminal.stdout.take().expect("stdout").read_to_string(&mut text).expect("read");
    drop(stdin);
    terminal.wait().expect("ends");
    let said_there: Vec<_> =
        text.lines().filter_map(|line| line.trim_end().split_once("session ").map(|(_, said)| said)).collect();
    assert_eq!(said_there.len(), 2, "{text}");
    assert_eq!(said_there[0], said_there[1]);
    assert!(said_there[0].contains(" true ana@") && said_there[0].contains(r#"program: "bash""#), "{text}");

    let said = place.perl(
        r#"
        system("bash", "-c", '$ME; :');
        system("script", "-qec", "bash -c '\$ME; :'", "/dev/null");
        "#,
    );
    assert_eq!((said.len(), distinct(&said)), (2, 1), "{said:#?}");
}

#[test]
fn variables_name_a_session_whatever_process_it_is() {
    let place = Place::new();
    let with = |name: &str, value: &str| {
        said(place.command("perl").env(name, value).args(["-e", "system($ENV{ME}); system($ENV{ME})"]))
    };
    let uuid = "3f2a91c0-0000-4000-8000-000000000001";
    assert_eq!(with("LOCKED_SESSION", uuid)[0].id, uuid);
    let (first, second) = (with("CODEX_THREAD_ID", "t-1"), with("CODEX_THREAD_ID", "t-1"));
    assert_eq!(distinct(&[first.clone(), second].concat()), 1);
    assert!(first[0].label.starts_with("codex@"), "{first:#?}");
    assert_ne!(with("CODEX_THREAD_ID", "t-2")[0].id, first[0].id);
}

/// A child that waits for its standard input to end, and ends with it.
fn waiting(environment: &[(&str, String)]) -> Child {
    let mut cat = Command::new("cat");
    cat.env_clear().envs(environment.iter().map(|(name, value)| (*name, value)));
    cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat runs")
}

fn ended(mut child: Child) {
    drop(child.stdin.take());
    child.wait().expect("ends");
}

/// Now, on the boot clock, to the hundredth: no process that starts later is older.
fn now() -> Moment {
    let uptime = std::fs::read_to_string("/proc/uptime").expect("uptime");
    let seconds: f64 = uptime.split(' ').next().expect("seconds").parse().expect("a number");
    Moment(Duration::from_secs_f64(seconds))
}

#[test]
fn what_a_grant_left_running_is_found_by_its_exact_variable() {
    let (grant, other) = (GrantId::random(), GrantId::random());
    let since = now();
    let strangers = [
        waiting(&[("LOCKED_LEASE", format!("{grant}0"))]),
        waiting(&[("NOT_LOCKED_LEASE", grant.to_string())]),
        waiting(&[("X", format!("LOCKED_LEASE={grant}"))]),
        waiting(&[("LOCKED_LEASE", other.to_string())]),
    ];
    let nobody = processes_of(grant, Some(since));
    assert!(nobody == Search::None || (nobody == Search::Blind && !root()), "{nobody:?}");
    let carriers = [
        waiting(&[("LOCKED_LEASE", grant.to_string())]),
        waiting(&[("A", "b".to_owned()), ("LOCKED_LEASE", grant.to_string()), ("Z", "z".to_owned())]),
    ];
    let mut pids: Vec<_> = carriers.iter().map(Child::id).collect();
    pids.sort_unstable();
    assert_eq!(processes_of(grant, Some(since)), Search::Found(pids.clone()));
    assert_eq!(processes_of(grant, None), Search::Found(pids));
    carriers.into_iter().for_each(ended);
    assert!(!matches!(processes_of(grant, Some(since)), Search::Found(_)), "ended is gone");
    strangers.into_iter().for_each(ended);
}

fn root() -> bool {
    owner("/proc/self") == 0
}

fn owner(path: &str) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).map_or(0, |metadata| metadata.uid())
}

/// Not a test by itself: the process that the test below starts.
#[test]
fn searching_process() {
    if std::env::var_os("LOCKED_TEST_SEARCH").is_some() {
        println!("\nsearch {:?}", processes_of(GrantId::random(), None));
    }
}

/// A program that may be run and not read is one that its own account may not look into either (see "dumpable" in
/// proc(5)); root may, and becomes another account before it looks. The binary is passed on as a descriptor: the other
/// account may have no way to its path.
#[test]
fn who_cannot_see_every_process_is_blind() {
    let world = World::new();
    let unreadable = world.root().join("unreadable");
    install("/bin/cat", &unreadable, "0111");
    let unseen = Command::new(&unreadable).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat runs");
    let become_another = if root() { "setpriv --reuid 65534 --regid 65534 --clear-groups" } else { "" };
    let script = format!(
        r#"exec 9< "$TEST"; cd /; {become_another} env /proc/self/fd/9 --exact holder::searching_process --nocapture"#
    );
    let mut bash = world.command("bash");
    bash.args(["-c", &script]).env("LOCKED_TEST_SEARCH", "1");
    let output = bash.env("TEST", std::env::current_exe().expect("this test")).output().expect("bash runs");
    let (said, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.lines().any(|line| line == "search Blind"), "{said}{error}");
    ended(unseen);
}
