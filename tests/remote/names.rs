//! One machine has one name: as the settings have it, or as the client reads its own settings.
#![forbid(unsafe_code)]

use serde_json::Value;

use super::host::{Host, NAME, OTHER_NAME};
use crate::world::board::json;
use crate::world::ends::says;
use crate::world::held::Held;

/// What a line would hold.
fn held(host: &Host, words: &[&str]) -> Value {
    let answer: Value = json(&mut host.line(1, &[&["explain", "--json", "--"], words].concat()));
    assert_eq!(answer["decision"], "lock", "{words:?}: {answer}");
    answer["resources"].clone()
}

const REAL: &str = "127.0.0.1";

/// Lines to the machine by one of its names, which stands for `{}`.
fn lines(name: &str) -> Vec<Vec<String>> {
    let lines: [&[&str]; 7] = [
        &["ssh", "-F", "CLIENT", "{}", "echo A=1 >> THERE/.env"],
        &["ssh", "-FCLIENT", "-t", "me@{}", "-p", "22", "sudo vi THERE/.env"],
        &["ssh", "-F", "CLIENT", "ssh://me@{}:22", "reboot"],
        &["scp", "-F", "CLIENT", "new", "{}:THERE/.env"],
        &["rsync", "-a", "-e", "ssh -p 22 -F CLIENT", "new", "me@{}:THERE/.env"],
        &["sh", "-c", "sftp -F CLIENT {} <<END\nput new THERE/.env\nEND"],
        &["sh", "-c", "cd / && ssh -F CLIENT {} <<END\necho A=1 >> THERE/.env\nEND"],
    ];
    lines.map(|line| line.iter().map(|word| word.replace("{}", name)).collect()).into()
}

fn are_all(host: &Host, name: &str, expected: &str) {
    for line in lines(name) {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        assert_eq!(held(host, &words), Value::from(vec![expected]), "{words:?}");
    }
}

#[test]
fn the_client_is_asked_what_a_name_means_where_the_settings_say_so() {
    let host = Host::with("[ssh]\nask = true\n");
    for name in [NAME, OTHER_NAME, REAL] {
        are_all(&host, name, "server:127.0.0.1");
    }
    // As the line itself would have it.
    let line = ["ssh", "-o", "HostName=Db-1.example.org", "-F", "CLIENT", NAME, "echo A=1 >> .env"];
    assert_eq!(held(&host, &line), Value::from(vec!["server:db-1.example.org"]));
    let jumps = ["ssh", "-F", "CLIENT", NAME, "ssh -o HostName=elsewhere db-1 'echo A=1 >> .env'"];
    assert_eq!(held(&host, &jumps), Value::from(vec!["server:db-1"]), "what is said over there is not asked here");
    // Nobody is asked who is not told to be.
    are_all(&Host::new(), OTHER_NAME, "server:www");
}

#[test]
fn the_settings_name_machines_whoever_else_has_names_for_them() {
    let host = Host::with("[hosts]\nwww = 'web-1'\n'127.0.0.1' = 'web-1'\n");
    for name in [NAME, OTHER_NAME, REAL] {
        are_all(&host, name, "server:web-1");
    }
    let asking = Host::with("[hosts]\n'127.0.0.1' = 'web-1.example.org'\n[ssh]\nask = true\n");
    for name in [NAME, OTHER_NAME, REAL] {
        are_all(&asking, name, "server:web-1.example.org");
    }
}

/// Two names without a word about them are two machines, so this can tell.
#[test]
fn by_another_name_the_same_machine_is_held() {
    for (settings, status) in [("", 0), ("[ssh]\nask = true\n", 75), ("[hosts]\nwww = 'web-1'\n", 75)] {
        let host = Host::with(settings);
        let held = Held::start(&mut host.ssh(1, &[], &format!("echo up; cat >> {}", host.env())));
        let said = says(&mut host.ssh_to(OTHER_NAME, 2, &["-n"], &format!("echo B=1 >> {}", host.env())), status);
        assert_eq!(said.is_empty(), status == 0, "{settings:?}: {said}");
        held.let_go();
    }
}
