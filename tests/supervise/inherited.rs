//! What a program inherits is what its caller gave: arguments, environment, descriptors, dispositions, limits.
//! (One thing differs by design under a lease: the child's parent-death signal, by which it dies with its keeper.)
#![forbid(unsafe_code)]

use super::ways::{ALL, Ways};

#[test]
fn arguments_are_bytes() {
    let ways = Ways::new();
    let seen = ways.same(r#""${me[@]}" 'a b' '' $'x\ny' $'\xff\xfe' -- -r --ttl '*' '$HOME'"#);
    for argument in ["a b", "", "x\\x0ay", "\\xff\\xfe", "--", "-r", "--ttl", "*", "$HOME"] {
        assert!(seen.contains(&format!("\narg {argument}\n")), "{argument:?} in {seen}");
    }
}

#[test]
fn arguments_are_as_long_and_as_many_as_the_kernel_allows() {
    let ways = Ways::new();
    // Linux takes 128 KiB with the zero byte at the end.
    let seen = ways.same(r#"long=$(printf %131071s); "${me[@]}" "$long""#);
    assert!(seen.lines().any(|line| line.len() == "arg ".len() + 131_071));
    let seen = ways.same(r#""${me[@]}" {1..2000}"#);
    assert!(seen.contains("\narg 2000\n"));
}

#[test]
fn a_program_sees_the_name_it_was_called_by() {
    let ways = Ways::new();
    let seen = ways.same(r#"ln -sf "$(command -v perl)" 'other name'; me[-3]='./other name'; "${me[@]}""#);
    assert!(seen.starts_with("arg ./other name\n"), "{seen}");
    ways.same(r#"me[-3]=$(command -v perl); "${me[@]}""#);
    ways.same(r#"mkdir -p bin; ln -sf "$(command -v perl)" bin/pearl; PATH=bin:$PATH; me[-3]=pearl; "${me[@]}""#);
}

#[test]
fn the_environment_keeps_bytes_order_duplicates_and_oddities() {
    let ways = Ways::new();
    ways.same(r#"export T_B=1 T_A=2 T_C=$'\xff' T_EMPTY= T_LINES=$'a\nb'; "${me[@]}""#);
    // No shell passes on such a block; the kernel does.
    let seen = ways.same(
        r#"cat > exec.py <<'end'
import ctypes, os, shutil, sys
strings = lambda texts: (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
odd = [b"T=first", b"no equals sign", b"=odd", b"T=second", b"", b"T\xff=\xfe", b"LOCKED_LEASE_X=kept"]
args = [os.fsencode(arg) for arg in sys.argv[1:]]
libc = ctypes.CDLL(None)
libc.execve(os.fsencode(shutil.which(sys.argv[1])), strings(args), strings(odd + [b"%s=%s" % pair for pair in os.environb.items()]))
end
"$PYTHON" exec.py "${me[@]}""#,
    );
    let odd =
        "env T=first\nenv no equals sign\nenv =odd\nenv T=second\nenv \nenv T\\xff=\\xfe\nenv LOCKED_LEASE_X=kept\n";
    assert!(seen.contains(odd), "{seen}");
}

#[test]
fn the_working_directory_is_a_name_in_bytes() {
    let seen = Ways::new().same(r#"mkdir -p $'d\xff/e'; cd $'d\xff/e'; "${me[@]}""#);
    assert!(seen.contains("/d\\xff/e\n"), "{seen}");
    Ways::new().same(r#"mkdir -p gone; cd gone; rmdir ../gone; "${me[@]}""#);
}

#[test]
fn closed_descriptors_stay_closed_in_all_eight_combinations() {
    let ways = Ways::new();
    // Some interpreters open /dev/null over a closed descriptor themselves; this one does not.
    let program =
        ["dash", "-c", "for fd in 0 1 2; do test -e /proc/$$/fd/$fd || set -- \"$@\" $fd; done; echo $* > seen", ""];
    for bits in 0..8 {
        let closings = ["0<&-", "1>&-", "2>&-"];
        let these: Vec<usize> = (0..3).filter(|fd| bits >> fd & 1 == 1).collect();
        let line = these.iter().fold(r#""${me[@]}""#.to_owned(), |line, &fd| format!("{line} {}", closings[fd]));
        for way in ALL {
            let output = ways.run(way, &program, &line);
            assert_eq!(output.status.code(), Some(0), "{way:?} {line}: {output:?}");
            let seen = std::fs::read_to_string(ways.world.work().join("seen")).expect("seen");
            let expected = these.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            assert_eq!(seen.trim_end(), expected, "{way:?} {line}");
        }
    }
}

#[test]
fn open_descriptors_are_those_of_the_caller_with_their_offsets() {
    let ways = Ways::new();
    let seen = ways.same(
        r#"printf '0123456789' > f; exec 3< f 5>> f 9<> f 12< f 40> g; read -r -N 4 -u 3; read -r -N 7 -u 12; "${me[@]}" < f"#,
    );
    for fd in [0, 3, 5, 9, 12, 40] {
        assert!(seen.contains(&format!("\nfd {fd} ")), "{fd} in {seen}");
    }
    ways.same(r#""${me[@]}" <(echo a) <(echo b)"#);
    ways.same(r#"exec 3<&0 4>&1; "${me[@]}" | cat"#);
}

#[test]
fn a_process_substitution_can_be_read() {
    let ways = Ways::new();
    for way in ALL {
        let output = ways.run(way, &["cat"], r#""${me[@]}" <(echo one) <(echo two) - <<< three"#);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\nthree\n", "{way:?}: {output:?}");
    }
}

#[test]
fn make_hands_its_job_server_through() {
    let ways = Ways::new();
    std::fs::write(
        ways.world.work().join("Makefile"),
        "all:\n\t+@$(ME) $(MAKE) -s inner\ninner: a b c\na b c:\n\t@echo $@\n.PHONY: all inner a b c\n",
    )
    .expect("Makefile");
    for way in ALL {
        let output = ways.run(way, &[], r#"make -s -j3 ME="${me[*]}""#);
        let mut lines: Vec<_> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines, ["a", "b", "c"], "{way:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{way:?}: no word about a missing job server");
    }
}

#[test]
fn dispositions_and_masks_are_those_of_the_caller() {
    let ways = Ways::new();
    let ignored = |seen: &str| seen.lines().find(|line| line.starts_with("status SigIgn")).expect("SigIgn").to_owned();
    let plain = ignored(&ways.same(r#"env --default-signal "${me[@]}""#));
    assert!(plain.ends_with("0"), "{plain}");
    let pipe = ignored(&ways.same(r#"trap '' PIPE; "${me[@]}""#));
    assert_ne!(plain, pipe, "SIGPIPE is ignored");
    let all =
        ignored(&ways.same(r#"trap '' HUP INT QUIT TERM USR1 USR2 ALRM WINCH CONT TSTP TTIN TTOU PIPE; "${me[@]}""#));
    assert_ne!(pipe, all);
    ways.same(r#"trap '' RTMIN RTMAX; "${me[@]}""#);
    ways.same(r#"nohup "${me[@]}" < /dev/null > out 2>&1"#);
    let block = |names: &str| {
        format!(r#"perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new({names})); exec @ARGV' "${{me[@]}}""#)
    };
    for names in ["SIGTERM, SIGUSR1", "SIGCHLD, SIGCONT", "SIGINT, SIGTSTP, SIGPIPE"] {
        let seen = ways.same(&block(names));
        assert!(!seen.contains("SigBlk:\t0000000000000000"), "{names} blocked: {seen}");
    }
}

#[test]
fn a_caller_that_ignores_the_end_of_its_children_changes_nothing() {
    let ways = Ways::new();
    let ignore = r#"perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "${me[@]}""#;
    ways.same(ignore);
    for way in ALL {
        let output = ways.run(way, &["sh", "-c", "exit 7"], ignore);
        assert_eq!(output.status.code(), Some(7), "{way:?}: {output:?}");
        let output = ways.run(way, &["sh", "-c", "kill -TERM $$"], &format!("{ignore}; echo $?"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "143\n", "{way:?}: {output:?}");
    }
}

#[test]
fn a_canary_works_under_a_caller_that_ignores_the_end_of_its_children() {
    let ways = Ways::new();
    let file = ways.world.encrypted("x.env.sops", "A=1\n", "dotenv");
    let types = ["--input-type", "dotenv", "--output-type", "dotenv"];
    let command =
        [&[env!("CARGO_BIN_EXE_locked"), "sops", "set"], &types[..], &["x.env.sops", r#"["A"]"#, r#""2""#]].concat();
    let ignore = r#"perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "${me[@]}""#;
    let output = ways.run(super::ways::Way::Itself, &command, ignore);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "it was verified, so there is nothing to say");
    assert_eq!(ways.world.decrypted(&file, "dotenv"), "A=2\n");
}

/// `umask 177` is how careful people write secrets. (Root enters every directory; this is for everybody else.)
#[test]
fn a_umask_that_locks_its_owner_out_of_directories_does_not_lock_us_out() {
    let ways = Ways::new();
    std::fs::remove_dir(ways.world.state()).expect("an empty state directory");
    ways.world.encrypted("x.env.sops", "A=1\n", "dotenv");
    let types = ["--input-type", "dotenv", "--output-type", "dotenv"];
    let command =
        [&[env!("CARGO_BIN_EXE_locked"), "sops", "set"], &types[..], &["x.env.sops", r#"["A"]"#, r#""2""#]].concat();
    let output = ways.run(super::ways::Way::Itself, &command, r#"umask 177; "${me[@]}""#);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    for directory in ["", "live", "copies"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(ways.world.state().join(directory)).expect(directory).permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{directory}");
    }
}

#[test]
fn limits_and_priorities_are_those_of_the_caller() {
    let ways = Ways::new();
    let seen = ways.same(r#"umask 0137; ulimit -n 200 -c 0 -s 4096; "${me[@]}""#);
    assert!(seen.contains("Umask:\t0137"), "{seen}");
    let nice = |seen: &str| seen.split("stat nice ").nth(1)?.lines().next()?.parse::<i32>().ok();
    let plain = nice(&ways.same(r#""${me[@]}""#));
    let nicer = nice(&ways.same(r#"nice -n 3 "${me[@]}""#));
    assert_eq!(nicer, plain.map(|plain| (plain + 3).min(19)), "added to what the tests themselves run with");
    let seen = ways.same(r#"echo 500 > /proc/self/oom_score_adj; "${me[@]}""#);
    assert!(seen.contains("oom_score_adj 500\n"), "{seen}");
    ways.same(r#"setsid -w "${me[@]}""#.replace("setsid -w", "taskset 1").as_str());
}

#[test]
fn supervisors_that_name_a_process_name_the_program() {
    let ways = Ways::new();
    let named = |line: &str| ways.same(&format!(r#"perl -e '{line}; exec @ARGV' "${{me[@]}}""#));
    let seen =
        named("$ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 1; $ENV{WATCHDOG_PID} = $$; $ENV{SYSTEMD_EXEC_PID} = $$");
    for name in ["LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"] {
        assert!(seen.contains(&format!("env {name}=me\n")), "{name}: {seen}");
    }
    let seen = named("$ENV{LISTEN_PID} = getppid; $ENV{WATCHDOG_PID} = 1");
    assert!(!seen.contains("=me\n"), "meant for somebody else: {seen}");
    assert!(seen.contains("env WATCHDOG_PID=1\n"), "{seen}");
}
