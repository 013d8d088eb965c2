//! What a program leaves behind after a normal end is its own affair; what the caller had before is never ours.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::patience::finished;
use super::ways::{ALL, Way, Ways, alive, end_of, wait_for_text};

#[test]
fn processes_left_behind_live_on_and_hold_neither_the_lease_nor_us() {
    let ways = Ways::new();
    for way in ALL {
        // `finished` would fail if the pipes of stdout and stderr were held open by anybody but who was left behind.
        let line = "setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 600 > /dev/null 2>&1 & echo $! > pid2; \
                    until test -s pid; do :; done; exit 3";
        let program = format!("exec > out 2>&1; {line}");
        let output = finished(&mut ways.command(way, &["sh", "-c", &program]));
        assert_eq!(output.status.code(), Some(3), "{way:?}");
        for name in ["pid", "pid2"] {
            let path = ways.world.work().join(name);
            let pid = std::fs::read_to_string(&path).expect("pid").trim().to_owned();
            std::fs::remove_file(path).expect("pid");
            assert!(alive(&pid), "{way:?}: {name} lives on");
            // Nobody holds the lease meanwhile.
            let next = finished(ways.world.locked().args(["-n", "-r", "test:x", "true"]));
            assert!(next.status.success(), "{way:?}: {next:?}");
            end_of(&pid);
        }
    }
}

/// Like ssh with a control master: the daemon keeps the caller's stderr. Who waits for the process goes on at once.
#[test]
fn a_daemon_that_keeps_the_callers_pipe_does_not_hold_us_up() {
    let ways = Ways::new();
    for way in ALL {
        let mut command = ways.command(way, &["sh", "-c", "setsid sleep 600 & echo $! > pid"]);
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("starts");
        assert_eq!(super::patience::ended(&mut child).code(), Some(0), "{way:?}");
        let pid = wait_for_text(&ways.world.work().join("pid"), "\n").trim().to_owned();
        assert!(alive(&pid), "{way:?}");
        end_of(&pid);
        std::fs::remove_file(ways.world.work().join("pid")).expect("pid");
    }
}

#[test]
fn the_keeper_holds_nothing_of_the_callers() {
    let ways = Ways::new();
    let line = r#"exec 7> seven; "${me[@]}" < /dev/null | cat"#;
    let program = "echo $PPID > keeper; until test -e enough; do :; done";
    let mut bash = ways.bash(Way::Leased, &["sh", "-c", program], line);
    let mut child = bash.spawn().expect("starts");
    let keeper = wait_for_text(&ways.world.work().join("keeper"), "\n").trim().to_owned();
    let fds = || -> Vec<(String, PathBuf)> {
        let entries = std::fs::read_dir(format!("/proc/{keeper}/fd")).expect("the keeper lives");
        let entries = entries
            .flatten()
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, std::fs::read_link(entry.path()).ok()?)));
        entries.collect()
    };
    super::patience::eventually("0 to 2 are /dev/null", || {
        let fds = fds();
        ["0", "1", "2"].iter().all(|fd| fds.iter().any(|(n, to)| n == fd && to.as_os_str() == "/dev/null"))
    });
    super::patience::eventually("nothing else but its own", || {
        fds().iter().filter(|(fd, _)| !["0", "1", "2"].contains(&fd.as_str())).all(|(_, to)| {
            let to = to.to_string_lossy();
            to.starts_with("socket:") || to.starts_with("anon_inode:") || to.contains("/state/live/")
        })
    });
    assert!(fds().iter().filter(|(_, to)| to.to_string_lossy().starts_with("socket:")).count() == 1, "{:?}", fds());
    std::fs::write(ways.world.work().join("enough"), "").expect("enough");
    super::patience::ended(&mut child);
}

#[test]
fn children_that_the_caller_had_before_are_not_ours() {
    let ways = Ways::new();
    for way in ALL {
        let output = ways.run(way, &["true"], r#"sleep 600 > /dev/null 2>&1 & echo $! > pid; exec "${me[@]}""#);
        assert_eq!(output.status.code(), Some(0), "{way:?}");
        let pid = std::fs::read_to_string(ways.world.work().join("pid")).expect("pid").trim().to_owned();
        assert!(alive(&pid), "{way:?}: untouched");
        end_of(&pid);
    }
}

#[test]
fn nothing_of_ours_is_left_to_reap() {
    let ways = Ways::new();
    let output = ways.run(Way::Leased, &["sh", "-c", "echo $$ $PPID"], r#""${me[@]}""#);
    for pid in String::from_utf8(output.stdout).expect("UTF-8").split_whitespace() {
        assert!(!std::path::Path::new("/proc").join(pid).exists(), "{pid} is not even a zombie");
    }
}
