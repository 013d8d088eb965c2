//! Keys, job control, resizing and hang-up on a real terminal, under real shells.
#![forbid(unsafe_code)]

use super::patience::eventually;
use super::terminal::Terminal;
use super::ways::{ALL, Way, Ways, alive, wait_for_text};

/// Says every signal that it gets and every line that it reads; "quit" ends it with 7, "halt X" lets it send X to itself.
const TALKER: &str = r#"
my %count;
for my $name (qw(INT QUIT WINCH)) {
    $SIG{$name} = sub { syswrite STDOUT, "<$name " . ++$count{$name} . ">\n" };
}
syswrite STDOUT, "<ready>\n";
while (1) {
    my $line = "";
    my $got = sysread(STDIN, $line, 100);
    next if not defined $got and $!{EINTR};
    exit 8 unless $got;
    # What is typed while a shell still edits lines may come with the other end of line.
    $line =~ s/[\r\n]+\z//;
    exit 7 if $line eq "quit";
    if ($line =~ /^halt (\w+)/) { kill $1, $$; syswrite STDOUT, "<goes on>\n"; next }
    syswrite STDOUT, "<got $line>\n";
}
"#;

pub(crate) const SHELLS: [&[&str]; 3] =
    [&["bash", "--norc", "--noprofile", "-i"], &["zsh", "-f", "-y", "-i"], &["dash", "-i"]];

/// A terminal with this shell on it, in a directory with the talker.
pub(crate) fn shell(ways: &Ways, way: Way, words: &[&str]) -> Terminal {
    std::fs::write(ways.world.work().join("talker"), TALKER).expect("talker");
    let mut terminal = Terminal::new(ways, way, words);
    terminal.line("stty -echo; unset HISTFILE");
    terminal.prompt();
    terminal
}

/// Every shell, every way.
fn everywhere(test: impl Fn(&mut Terminal, &str)) {
    for words in SHELLS {
        for way in ALL {
            let ways = Ways::new();
            let mut terminal = shell(&ways, way, words);
            test(&mut terminal, &format!("{way:?} under {}", words[0]));
        }
    }
}

pub(crate) fn leave(terminal: &mut Terminal, what: &str) {
    terminal.line("quit");
    // zsh and dash may still have to say something about the job.
    terminal.line("echo status=$?");
    terminal.see("status=7");
    assert!(!terminal.whole().contains("LOST"), "{what}: {}", terminal.whole());
}

#[test]
fn one_key_is_one_signal() {
    everywhere(|terminal, what| {
        terminal.line("$ME perl talker");
        terminal.see("<ready>");
        terminal.keys("\x03");
        terminal.see("<INT 1>");
        terminal.line("between");
        let between = terminal.see("<got between>");
        assert!(!between.contains("INT"), "{what}: {between}");
        terminal.keys("\x03");
        terminal.see("<INT 2>");
        terminal.keys("\x1c");
        terminal.see("<QUIT 1>");
        terminal.line("after");
        let after = terminal.see("<got after>");
        assert!(!after.contains('<'), "{what}: {after}");
        leave(terminal, what);
    });
}

#[test]
fn a_key_ends_a_program_that_does_not_mind() {
    everywhere(|terminal, what| {
        for (key, status) in [("\x03", "status=130"), ("\x1c", "status=131")] {
            terminal.line("$ME perl -e '$| = 1; print q(<), qq(here>\\n); sleep 600'");
            terminal.see("<here>");
            terminal.keys(key);
            terminal.see("$ ");
            terminal.line("echo status=$?");
            let said = terminal.see("status=");
            terminal.see(status.trim_start_matches("status="));
            assert!(!said.contains("locked"), "{what}: {said}");
        }
    });
}

#[test]
fn a_job_is_stopped_by_a_key_and_brought_back() {
    everywhere(|terminal, what| {
        terminal.line("$ME perl talker");
        terminal.see("<ready>");
        for round in 1..=3 {
            terminal.keys("\x1a");
            terminal.job_stops();
            terminal.line("jobs");
            terminal.see_one_of(&["Stopped", "suspended"]);
            terminal.line("fg");
            terminal.line(&format!("round {round}"));
            terminal.see(&format!("<got round {round}>"));
        }
        terminal.keys("\x03");
        terminal.see("<INT 1>");
        leave(terminal, what);
    });
}

#[test]
fn a_program_that_stops_itself_stops_the_job() {
    everywhere(|terminal, what| {
        terminal.line("$ME perl talker");
        terminal.see("<ready>");
        for signal in ["STOP", "TSTP", "STOP"] {
            terminal.line(&format!("halt {signal}"));
            terminal.job_stops();
            terminal.line("fg");
            terminal.see("<goes on>");
            terminal.line("here");
            terminal.see("<got here>");
        }
        leave(terminal, what);
    });
}

#[test]
fn a_program_that_does_not_mind_the_stop_key_runs_on() {
    everywhere(|terminal, what| {
        terminal.line("$ME perl -e '$SIG{TSTP} = q(IGNORE); do \"./talker\"'");
        terminal.see("<ready>");
        terminal.keys("\x1a");
        terminal.line("still here");
        terminal.see("<got still here>");
        leave(terminal, what);
    });
}

#[test]
fn a_job_in_the_background_stops_when_it_reads_and_comes_back() {
    everywhere(|terminal, what| {
        terminal.line("$ME perl talker &");
        terminal.see("<ready>");
        // Only a process of the foreground may read. A shell tells of it when it is asked next, if not before.
        terminal.job_stops_sooner_or_later();
        terminal.line("fg");
        terminal.line("hello");
        terminal.see("<got hello>");
        leave(terminal, what);
    });
}

#[test]
fn a_job_in_the_background_ends_and_the_shell_hears_its_status() {
    everywhere(|terminal, what| {
        terminal.line("$ME sh -c 'exit 9' & wait $!; echo status=$?");
        terminal.see("status=9");
        // A shell may still be ignoring TERM in the process that is to become the program.
        terminal.line("$ME perl -e '$| = 1; print q(<), qq(up>\\n); sleep 600' &");
        terminal.see("<up>");
        terminal.line("kill -TERM $!; wait $!; echo status=$?");
        terminal.see("status=143");
        assert!(!terminal.whole().contains("LOST"), "{what}");
    });
}

#[test]
fn a_stop_sent_to_us_stops_the_program() {
    for way in ALL {
        let ways = Ways::new();
        let mut terminal = shell(&ways, way, SHELLS[0]);
        terminal.line(
            "$ME perl -e '$| = 1; print q(<), qq(up $$>\\n); while (1) { select undef, undef, undef, 0.01 }' & echo",
        );
        terminal.see("<up ");
        let pid = terminal.see(">").trim().to_owned();
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let halted = || state().contains(") T ");
        terminal.line("kill -TSTP $!");
        eventually(&format!("{way:?}: the program stops"), halted);
        terminal.line("kill -CONT $!");
        eventually(&format!("{way:?}: the program goes on"), || !halted());
        terminal.line("kill -KILL $!");
        eventually(&format!("{way:?}: the program ends"), || !alive(&pid));
        ways.settled();
    }
}

#[test]
fn a_change_of_size_is_told_once() {
    for way in ALL {
        let ways = Ways::new();
        let mut terminal = shell(&ways, way, SHELLS[0]);
        terminal.line("tty > tty; echo; $ME perl talker");
        terminal.see("<ready>");
        let tty = wait_for_text(&ways.world.work().join("tty"), "/dev/");
        let resized = std::process::Command::new("stty").args(["-F", tty.trim(), "rows", "41"]).status();
        assert!(resized.expect("stty runs").success());
        terminal.see("<WINCH 1>");
        terminal.line("after");
        let after = terminal.see("<got after>");
        assert!(!after.contains("WINCH"), "{way:?}: {after}");
        leave(&mut terminal, "resized");
    }
}

#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    for words in SHELLS {
        for way in ALL {
            let ways = Ways::new();
            let mut terminal = shell(&ways, way, words);
            terminal.line("$ME perl -e 'open F, q(>pid); print F $$; close F; rename q(pid), q(pid2); sleep 600'");
            let file = ways.world.work().join("pid2");
            eventually("the program starts", || file.exists());
            let pid = std::fs::read_to_string(&file).expect("pid");
            terminal.hang_up();
            eventually(&format!("{way:?} under {}: the program ends", words[0]), || !alive(&pid));
            ways.settled();
        }
    }
}

#[test]
fn a_password_can_be_read_from_the_terminal() {
    for way in ALL {
        let ways = Ways::new();
        let mut terminal = shell(&ways, way, SHELLS[0]);
        terminal.line(
            r#"$ME bash -c 'exec < /dev/null; read -r -s -p "pass""word: " secret < /dev/tty; echo "<${#secret} long>"'"#,
        );
        terminal.see("password: ");
        terminal.line("hunter22");
        terminal.see("<8 long>");
        ways.settled();
    }
}

/// As from `ssh -t host locked …` or `docker run -it`: nobody could continue what the key stops, so it stops nothing.
#[test]
fn without_a_shell_the_stop_key_stops_nothing() {
    for way in ALL {
        let ways = Ways::new();
        std::fs::write(ways.world.work().join("talker"), TALKER).expect("talker");
        let words = [way.prefix(), &["perl", "talker"]].concat();
        let mut terminal = Terminal::new(&ways, way, &words);
        terminal.see("<ready>");
        terminal.keys("\x1a");
        terminal.line("still here");
        terminal.see("<got still here>");
        terminal.keys("\x03");
        terminal.see("<INT 1>");
        terminal.line("quit");
        assert_eq!(terminal.end(), 7, "{way:?}");
    }
}
