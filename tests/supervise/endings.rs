//! A program's end is our end: its status, its signal, and the shell's words for what could not be started.
#![forbid(unsafe_code)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

use super::patience::finished;
use super::ways::{ALL, Way, Ways};

/// The wait status, as `waitpid` gives it, of `program` in the three ways.
fn statuses(ways: &Ways, program: &[&str]) -> [i32; 3] {
    ALL.map(|way| finished(&mut ways.command(way, program)).status.into_raw())
}

#[test]
fn every_exit_status_comes_out_as_it_is() {
    let ways = Ways::new();
    for way in ALL {
        let line = r#"for n in {0..255}; do "${me[@]}" "exit $n"; test $? = $n || echo "$n became $?"; done"#;
        let output = ways.run(way, &["sh", "-c"], line);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{way:?}: {output:?}");
    }
}

/// Signals whose default is to go on or to stop.
const NOT_FATAL: [i32; 8] = [
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGURG,
    libc::SIGWINCH,
    libc::SIGSTOP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

#[test]
fn death_by_a_signal_is_death_by_that_signal() {
    let ways = Ways::new();
    // glibc keeps 32 and 33 to itself.
    for signal in (1..=31).chain(34..=64).filter(|signal| !NOT_FATAL.contains(signal)) {
        let line = format!(r#"$SIG{{FPE}} = "DEFAULT"; kill {signal}, $$; sleep 1"#);
        assert_eq!(statuses(&ways, &["perl", "-e", &line]), [signal; 3], "signal {signal}");
    }
}

#[test]
fn a_core_dump_is_the_programs_alone() {
    let ways = Ways::new();
    let dump = r#"ulimit -c unlimited 2> /dev/null; exec "${me[@]}""#;
    for signal in ["SEGV", "ABRT", "QUIT"] {
        let status = ways.run(Way::Leased, &["sh", "-c", &format!("kill -{signal} $$")], dump).status;
        assert!(status.signal().is_some(), "{signal}: {status}");
        assert!(!status.core_dumped(), "{signal}: the wrapper dumped a second core");
    }
}

#[test]
fn what_cannot_be_started_has_the_status_that_a_shell_gives() {
    let ways = Ways::new();
    let place = |name: &str, text: &[u8], mode: u32| -> PathBuf {
        let path = ways.world.work().join(name);
        std::fs::write(&path, text).expect(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect(name);
        path
    };
    place("plain", b"echo no", 0o644);
    place("no-interpreter", b"#!/no/such/interpreter\n", 0o755);
    place("bad-interpreter", b"#!./plain\n", 0o755);
    std::fs::create_dir(ways.world.work().join("directory")).expect("directory");
    for (program, status) in [
        ("./missing", 127),
        ("missing-on-path", 127),
        ("./plain", 126),
        ("./directory", 126),
        ("./no-interpreter", 127),
        ("./bad-interpreter", 126),
    ] {
        // The shell that knows no more than POSIX says.
        for way in ALL {
            let words = [&["dash", "-c", r#""$@""#, "dash"], way.prefix(), &[program]].concat();
            let output = finished(ways.world.command(words[0]).args(&words[1..]));
            assert_eq!(output.status.code(), Some(status), "{way:?} {program}: {output:?}");
            assert!(output.stdout.is_empty());
            assert!(way.prefix().contains(&"-q") || !output.stderr.is_empty(), "{way:?} {program}: says why");
        }
        let loud = finished(ways.world.locked().arg(program));
        assert_eq!((loud.status.code(), loud.stderr.is_empty()), (Some(status), false), "{program}: says why");
    }
}

#[test]
fn a_program_that_is_being_written_is_busy() {
    let ways = Ways::new();
    for way in ALL {
        let line = r#"cp "$(command -v true)" busy; exec 7>> busy; "${me[@]}"; echo $?"#;
        let output = ways.run(way, &["./busy"], line);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "126\n", "{way:?}: {output:?}");
        std::fs::remove_file(ways.world.work().join("busy")).expect("busy");
    }
}

#[test]
fn a_script_without_an_interpreter_line_runs_as_from_a_shell() {
    let ways = Ways::new();
    let script = ways.world.work().join("script");
    std::fs::write(&script, "echo \"$0 $# $2\"\nexit 9\n").expect("script");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("script");
    for way in ALL {
        for program in ["./script", "script"] {
            let output = ways.run(way, &[program, "a", "b c"], r#"PATH=$PWD:$PATH; "${me[@]}""#);
            let name = if program == "script" { script.display().to_string() } else { program.to_owned() };
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{name} 2 b c\n"), "{way:?}: {output:?}");
            assert_eq!(output.status.code(), Some(9), "{way:?}");
        }
    }
    std::fs::write(&script, "").expect("script");
    assert_eq!(
        ALL.map(|way| ways.run(way, &["./script"], r#""${me[@]}""#).status.code()),
        [Some(0); 3],
        "an empty one"
    );
}

#[test]
fn an_alarm_set_for_the_program_ends_the_program() {
    let ways = Ways::new();
    for way in ALL {
        // The program would end by itself only long after the test has given up.
        let line = r#"exec perl -MTime::HiRes=ualarm -e 'ualarm 300_000; exec @ARGV' "${me[@]}""#;
        let pid = ways.world.work().join("pid");
        let output = ways.run(way, &["sh", "-c", "echo $$ > pid; exec sleep 600"], line);
        assert_eq!(output.status.signal(), Some(libc::SIGALRM), "{way:?}: {output:?}");
        // Under a slow machine the alarm may come before the program is there; then there is nothing to look for.
        if let Ok(text) = std::fs::read_to_string(&pid) {
            std::fs::remove_file(&pid).expect("pid");
            assert!(!std::path::Path::new("/proc").join(text.trim()).exists(), "{way:?}: the program lives on");
        }
    }
}
