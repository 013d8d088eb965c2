//! Files that go to the machine and come from it, by the real scp, rsync and sftp.
#![forbid(unsafe_code)]

use std::fs;

use super::host::{Host, RESOURCE};
use crate::world::ends::{ends, says};

/// Lines that put the file `new` there as `.env`, and lines that bring `.env` here as `old`. `CLIENT` is the client's
/// settings, `THERE` the directory on the machine.
const LINES: [(&[&str], &[&str]); 3] = [
    (
        &["scp", "-q", "-F", "CLIENT", "new", "web-1:THERE/.env"],
        &["scp", "-q", "-F", "CLIENT", "web-1:THERE/.env", "old"],
    ),
    (
        &["rsync", "-e", "ssh -F CLIENT", "new", "web-1:THERE/.env"],
        &["rsync", "-e", "ssh -F CLIENT", "web-1:THERE/.env", "old"],
    ),
    (
        &["sh", "-c", "sftp -q -F CLIENT web-1 <<END\nput new THERE/.env\nEND"],
        &["sh", "-c", "sftp -q -F CLIENT web-1 <<END\nget THERE/.env old\nEND"],
    ),
];

#[test]
fn what_goes_there_holds_the_machine_and_what_comes_from_there_does_not() {
    let host = Host::new();
    for (number, (there, back)) in LINES.into_iter().enumerate() {
        let content = format!("A={number}\n");
        fs::write(host.world.work().join("new"), &content).expect("written");
        host.put("OLD=1\n");
        let past = host.world.history().len();
        let tried = |session, words: &[&str]| host.line(session, &[&["-n"], words].concat());

        ends(host.world.locked_as(1).args(["acquire", RESOURCE]), 0);
        let refusal = says(&mut tried(2, there), 75);
        assert!(refusal.starts_with(&format!("BLOCKED: {RESOURCE} is held by ")), "{there:?}: {refusal}");
        assert_eq!(host.text(), "OLD=1\n", "{there:?}: it was refused before anything was sent");
        assert_eq!(says(&mut tried(2, back), 0), "", "{back:?}");
        assert_eq!(fs::read_to_string(host.world.work().join("old")).expect("it came"), "OLD=1\n", "{back:?}");
        ends(host.world.locked_as(1).args(["release", RESOURCE]), 0);

        assert_eq!(says(&mut tried(2, there), 0), "", "{there:?}");
        assert_eq!(host.text(), content, "{there:?}");
        assert_eq!(host.endings().len(), past + 2, "{there:?}");
        assert_eq!(host.endings()[0], "completed", "{there:?}");
    }
}
