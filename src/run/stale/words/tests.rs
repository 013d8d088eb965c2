//! What is said of bases, word by word.
#![forbid(unsafe_code)]

use crate::terms::{Digest, FencingToken, Scope};

use super::*;

fn newer() -> StoredReceipt {
    StoredReceipt {
        scope: Scope("h/r".to_owned()),
        path: "a.yaml".to_owned(),
        base: None,
        new: Digest::of(b"2"),
        blob: None,
        branch: Some("main".to_owned()),
        host: "ws-2".to_owned(),
        host_id: None,
        worktree: Some("/home/ana/in fra".to_owned()),
        token: FencingToken(1),
        holder: "3f2a91c0 (claude@ws-2)".to_owned(),
        kind: "proven".to_owned(),
        at: 0,
    }
}

fn plain_step() -> Step {
    Step { retry: "yes, after the next step".to_owned(), next: "git pull".to_owned(), brings_back: false }
}

#[test]
fn a_refusal_says_who_when_on_which_branch_where_and_what_next() {
    let at = day_and_time(0);
    assert_eq!(
        stale(&newer(), "a.yaml", Base::File, plain_step()).to_string(),
        format!(
            "REFUSED: a.yaml is an older version here; writing upon it would lose a newer one\n\
             why:   the newer one was written by 3f2a91c0 (claude@ws-2) at {at} on main (ws-2:'/home/ana/in fra'); nothing was run\n\
             retry: yes, after the next step\n\
             next:  git pull"
        )
    );
    let said = note(&Note::Diverged(&newer(), "a b".to_owned()), "a.yaml");
    assert!(said.starts_with("locked: a.yaml: a newer version is on another branch ('a b'), and git will ask when both meet; it was written by 3f2a91c0 "), "{said}");
    let word = accepted(&stale(&newer(), "a.yaml", Base::File, plain_step()));
    assert!(word.ends_with("(ws-2:'/home/ana/in fra')"), "{word}");
}
