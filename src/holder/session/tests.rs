//! Who is who, on made-up machines.
#![forbid(unsafe_code)]

use super::super::process::fake::Machine;
use super::*;

const A_UUID: &str = "3f2a91c0-0000-4000-8000-000000000001";

fn agent() -> Machine {
    Machine::chain(&["systemd", "i:bash*", "claude", "bash", "locked"])
}

fn cron_job() -> Machine {
    Machine::chain(&["systemd", "cron", "sh", "bash", "locked"])
}

fn identified(machine: &Machine, env: &[(&str, &str)]) -> Result<Session, NoSession> {
    let variables = Variable::ready();
    identify(&Surroundings {
        option: None,
        env: &|name| env.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()),
        variables: &variables,
        boot_id: "boot",
        host: "ws-1.example.org",
        processes: machine,
    })
}

fn id(machine: &Machine, env: &[(&str, &str)]) -> SessionId {
    identified(machine, env).expect("a session").id
}

#[test]
fn the_first_thing_that_names_a_session_wins() {
    let github = [("GITHUB_RUN_ID", "1"), ("GITHUB_JOB", "j"), ("GITHUB_RUN_ATTEMPT", "1")];
    let env =
        [("LOCKED_SESSION", A_UUID), ("P24_ENV_LOCK_SESSION_ID", "p"), ("CLAUDE_CODE_SESSION_ID", "c"), github[0]];
    let variable = |name: &str| Source::Variable(name.to_owned());
    let source = |env: &[(&str, &str)]| identified(&agent(), env).map(|session| session.source);
    assert_eq!(source(&env), Ok(Source::LockedSession));
    assert_eq!(source(&env[1..]), Ok(variable("P24_ENV_LOCK_SESSION_ID")));
    assert_eq!(source(&env[2..]), Ok(variable("CLAUDE_CODE_SESSION_ID")));
    assert_eq!(source(&github), Ok(variable("GITHUB_RUN_ID")));
    assert_eq!(source(&github[..2]), Ok(Source::Anchor { pid: 20, program: "claude".to_owned() }));
    assert_eq!(source(&[("LOCKED_SESSION", "")]), Ok(Source::Anchor { pid: 20, program: "claude".to_owned() }));
}

#[test]
fn the_identity_alone_is_the_same_and_looks_at_no_process_where_a_name_is_given() {
    struct Unseen;
    impl Processes for Unseen {
        fn ourselves(&self) -> u32 {
            panic!("nobody need look")
        }
        fn process(&self, _: u32) -> Option<Process> {
            panic!("nobody need look")
        }
        fn namespace(&self) -> u64 {
            panic!("nobody need look")
        }
        fn service(&self) -> Option<String> {
            panic!("nobody need look")
        }
    }
    let variables = Variable::ready();
    let alone = |env: &[(&str, &str)], processes: &dyn Processes| {
        let env = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
        identity(&Surroundings { option: None, env: &env, variables: &variables, boot_id: "boot", host: "", processes })
    };
    for env in [[("LOCKED_SESSION", A_UUID)], [("CLAUDE_CODE_SESSION_ID", "c")]] {
        assert_eq!(alone(&env, &Unseen), Ok(id(&agent(), &env)), "{env:?}");
    }
    for machine in [agent(), cron_job()] {
        assert_eq!(alone(&[], &machine), Ok(id(&machine, &[])));
    }
    assert!(alone(&[("LOCKED_SESSION", "hunter2")], &agent()).is_err());
}

#[test]
fn the_option_wins_over_the_variable() {
    let machine = agent();
    let given = Surroundings {
        option: Some(OsStr::new(A_UUID)),
        env: &|_| Some("not looked at".into()),
        variables: &[],
        boot_id: "boot",
        host: "h",
        processes: &machine,
    };
    let session = identify(&given).expect("a session");
    assert_eq!((session.id.whole().as_str(), session.source), (A_UUID, Source::Option));
    assert!(identify(&Surroundings { option: Some(OsStr::new("")), ..given }).is_err(), "an empty option is a mistake");
}

#[test]
fn a_session_that_is_no_uuid_is_refused_without_showing_it() {
    for text in ["hunter2", "00000000-0000-0000-0000-000000000000", "3f2a91c0"] {
        let error = identified(&agent(), &[("LOCKED_SESSION", text)]).expect_err(text);
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(text), "{shown}");
        let line = error.to_string().lines().last().expect("a line").trim().to_owned();
        let value = line.strip_prefix("export LOCKED_SESSION=").expect("a line to export");
        assert!(identified(&agent(), &[("LOCKED_SESSION", value)]).is_ok(), "{line}");
    }
}

#[test]
fn two_tool_calls_of_one_agent_are_one_session() {
    let mut machine = agent();
    let first = id(&machine, &[]);
    machine.add(20, 50, "zsh");
    machine.add(50, 60, "sudo");
    machine.add(60, 70, "locked");
    assert_eq!(id(&machine, &[]), first);
}

#[test]
fn two_agents_are_two_sessions() {
    let mut machine = agent();
    let first = id(&machine, &[]);
    machine.add(10, 50, "claude");
    machine.add(50, 60, "locked");
    machine.processes.get_mut(&50).expect("the second").started = machine.processes[&20].started;
    assert_ne!(id(&machine, &[]), first, "though started in the same tick");
}

#[test]
fn a_later_process_of_the_same_pid_is_another_session() {
    let first = id(&agent(), &[]);
    let later = |change: &dyn Fn(&mut Machine)| {
        let mut machine = agent();
        change(&mut machine);
        id(&machine, &[])
    };
    assert_eq!(later(&|_| {}), first);
    assert_ne!(later(&|machine| machine.processes.get_mut(&20).expect("claude").started += 1), first);
    assert_ne!(later(&|machine| machine.namespace = 7), first);
}

#[test]
fn another_boot_is_another_session() {
    let machine = agent();
    let at = |boot_id| {
        let given =
            Surroundings { option: None, env: &|_| None, variables: &[], boot_id, host: "h", processes: &machine };
        identify(&given).expect("a session").id
    };
    assert_ne!(at("one"), at("two"));
}

#[test]
fn a_session_that_does_not_last_takes_no_explicit_lease() {
    let session = identified(&cron_job(), &[]).expect("a session");
    assert_eq!((session.source.clone(), session.explicit_ok), (Source::Unanchored, false));
    let error = session.for_explicit().expect_err("nobody could release it");
    assert!(error.to_string().contains("export LOCKED_SESSION="), "{error}");
    assert_eq!(identified(&agent(), &[]).expect("a session").for_explicit(), Ok(()));
}

#[test]
fn commands_of_one_cron_job_are_one_session_and_of_two_jobs_two() {
    let mut machine = cron_job();
    let first = id(&machine, &[]);
    machine.add(30, 50, "locked");
    assert_eq!(id(&machine, &[]), first, "the same job");
    machine.add(10, 60, "sh");
    machine.add(60, 70, "locked");
    assert_ne!(id(&machine, &[]), first, "the next job");
}

#[test]
fn without_any_process_every_command_is_a_session_of_its_own() {
    let machine = Machine::default();
    assert_ne!(id(&machine, &[]), id(&machine, &[]));
}

#[test]
fn systemds_id_counts_in_its_service_and_not_below_a_terminal() {
    let env = [("INVOCATION_ID", "0123456789abcdef0123456789abcdef")];
    let source = |machine: &Machine| identified(machine, &env).expect("a session").source;
    let mut job = Machine::chain(&["systemd", "sh", "locked"]);
    assert_eq!(source(&job), Source::Unanchored, "in no service");
    job.service = Some("backup.service".to_owned());
    assert_eq!(source(&job), Source::Variable("INVOCATION_ID".to_owned()));
    let mut window = agent();
    window.service = Some("my-terminal.service".to_owned());
    assert_eq!(source(&window), Source::Anchor { pid: 20, program: "claude".to_owned() });
}

#[test]
fn the_label_says_who_and_where() {
    let label = |machine: &Machine, env: &[(&str, &str)]| identified(machine, env).expect("a session").label;
    let user = ("USER", "ana");
    assert_eq!(label(&agent(), &[user]), "claude@ws-1");
    assert_eq!(label(&agent(), &[user, ("LOCKED_SESSION", A_UUID)]), "claude@ws-1");
    assert_eq!(label(&cron_job(), &[user, ("CODEX_THREAD_ID", "t")]), "codex@ws-1");
    assert_eq!(label(&cron_job(), &[user]), "ana@ws-1");
    assert_eq!(label(&Machine::chain(&["systemd", "i:bash*", "locked"]), &[user]), "ana@ws-1");
    assert_eq!(label(&cron_job(), &[]), "unknown@ws-1");
}

#[test]
fn a_session_is_called_by_its_variable_its_label_and_its_identity() {
    let env = [("CLAUDE_CODE_SESSION_ID", "OC")];
    let look = |name: &str| env.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into());
    let session = identified(&agent(), &env).expect("a session");
    let names = session.names(&look);
    for name in ["OC", "claude", "claude@ws-1", &session.id.whole(), &session.id.short()] {
        assert!(names.iter().any(|own| own == name), "{name} is not in {names:?}");
    }
    let anchored = identified(&agent(), &[]).expect("a session").names(&look);
    assert!(!anchored.contains(&"OC".to_owned()), "the variable of somebody else names nobody: {anchored:?}");
    assert!(!anchored.iter().any(String::is_empty));
}
