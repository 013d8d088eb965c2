//! What git stores need not be what lies in the work tree.

use std::path::Path;
use std::process::Command;

use super::stage::{At, FILE, Stage, ends, says};
use crate::world::board::in_front;

/// The attributes of the repository, in every checkout from now on; with a filter, what is there already is stored by it.
fn attributes(stage: &Stage, text: &str, filter: &[&str]) {
    let seed = stage.clone("attributes", filter);
    std::fs::write(seed.join(".gitattributes"), text).expect("attributes");
    stage.git(&seed, &["add", ".gitattributes"]);
    if !filter.is_empty() {
        stage.git(&seed, &["add", "--renormalize", "."]);
    }
    stage.git(&seed, &["commit", "-q", "-m", "attributes"]);
    stage.git(&seed, &["push", "-q"]);
}

/// A commit of everything, with the hooks that are there, in this session.
fn committing(stage: &Stage, session: u32, place: &Path) -> Command {
    let locked = stage.locked(session, place);
    let mut commit = stage.world.command("git");
    for (name, value) in locked.get_envs() {
        value.map(|value| commit.env(name, value));
    }
    let ours = Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("where locked is");
    commit.current_dir(place).args(["commit", "-q", "-a", "-m", "a change"]).env("PATH", in_front(ours));
    commit
}

fn bytes(place: &Path) -> Vec<u8> {
    std::fs::read(place.join(FILE)).expect("file")
}

/// The filter says how it is stored; what comes back is not byte for byte what was written.
#[test]
fn a_file_that_is_filtered_is_the_version_that_git_knows_it_as() {
    let stage = Stage::new(At::Here);
    let filter = ["-c", "filter.tidy.clean=sed '/^$/d'; echo", "-c", "filter.tidy.smudge=cat"];
    attributes(&stage, "*.yaml filter=tidy\n", &filter);
    let (a, b) = (stage.clone("a", &filter), stage.clone("b", &filter));
    stage.sets(1, &a, "A1");
    let written = bytes(&a);
    stage.push(&a);
    stage.git(&b, &["fetch", "-q"]);
    let (_, line) = stage.refused(2, &b);
    assert_eq!(line, "git merge origin/main");
    stage.runs(&b, &line);
    assert_eq!(bytes(&b), [&written[..], b"\n"].concat(), "the filter is at work");
    assert_eq!(stage.sets(2, &b, "B1"), "");
    stage.push(&b);
    // A checkout that has only what the filter left of the older version.
    let c = stage.clone("c", &filter);
    stage.git(&a, &["pull", "-q"]);
    assert_eq!(stage.sets(1, &a, "A2"), "");
    stage.push(&a);
    let (_, line) = stage.refused(3, &c);
    assert_eq!(line, "git pull");
    stage.runs(&c, &line);
    assert_eq!(stage.sets(3, &c, "C1"), "");
    assert_eq!(stage.keys(&c), ["first", "A1", "B1", "A2", "C1"]);
    // The hook knows what is committed by the receipt all the same.
    ends(stage.locked(3, &c).args(["hooks", "install"]), 0);
    ends(&mut committing(&stage, 4, &c), 0);
}

#[test]
fn line_ends_by_attributes_make_no_other_version() {
    let stage = Stage::new(At::Here);
    attributes(&stage, "* text=auto eol=crlf\n", &[]);
    let (a, b) = (stage.clone("a", &[]), stage.clone("b", &[]));
    assert!(bytes(&a).windows(2).any(|pair| pair == b"\r\n"), "git has converted it");
    stage.sets(1, &a, "A1");
    stage.push(&a);
    stage.git(&b, &["fetch", "-q"]);
    let (_, line) = stage.refused(2, &b);
    assert_eq!(line, "git merge origin/main");
    stage.runs(&b, &line);
    assert!(bytes(&b).windows(2).any(|pair| pair == b"\r\n"), "git has converted it");
    assert_eq!(stage.sets(2, &b, "B1"), "");
    assert_eq!(stage.keys(&b), ["first", "A1", "B1"]);
    ends(stage.locked(2, &b).args(["hooks", "install"]), 0);
    ends(&mut committing(&stage, 3, &b), 0);
}

/// sops writes UTF-8, and git takes nothing in that is not as its attributes say: that is loud, and nothing is quarantined.
#[test]
fn a_file_in_another_encoding_is_none_of_ours() {
    let stage = Stage::new(At::Here);
    attributes(&stage, "*.yaml working-tree-encoding=UTF-16LE-BOM\n", &[]);
    let a = stage.clone("a", &[]);
    assert!(bytes(&a).starts_with(&[0xff, 0xfe]), "git has converted it");
    stage.sets(1, &a, "A1");
    assert_eq!(stage.keys(&a), ["first", "A1"]);
    assert_eq!(stage.world.status().len(), 0);
    let add = stage.world.command("git").current_dir(&a).args(["add", FILE]).output().expect("git");
    assert!(!add.status.success());
}

/// What is stored is what the hook sees.
#[test]
fn what_a_filter_stores_as_something_else_is_refused() {
    let stage = Stage::new(At::Here);
    attributes(&stage, "*.yaml filter=pointer\n", &[]);
    let a = stage.clone("a", &["-c", "filter.pointer.clean=echo pointer", "-c", "filter.pointer.smudge=cat"]);
    ends(stage.locked(1, &a).args(["hooks", "install"]), 0);
    stage.sets(1, &a, "A1");
    let said = says(&mut committing(&stage, 1, &a), 1);
    assert!(said.contains("plaintext"), "{said}");
}
