//! `sops edit` without a terminal: an editor that never saves valid content is stopped, others are not.

use std::fs;

use super::stage::{FILE, Stage, bounded, json_in};

/// `locked sops edit FILE` with this editor.
fn edit(stage: &Stage, words: &[&str], body: &str) -> (Option<i32>, String) {
    let editor = stage.world.script("editor", body).join("editor");
    bounded(stage.locked(1).env("EDITOR", editor).args(["--report", "r.json", "sops"]).args(words).arg(FILE))
}

#[test]
fn an_editor_that_never_saves_valid_content_is_stopped() {
    for words in [&["edit"][..], &[]] {
        let stage = Stage::with_file();
        let before = fs::read(stage.file()).expect("file");
        let (status, said) = edit(&stage, words, "echo $$ >> starts; printf 'a: [\\n' > \"$1\"");
        assert_eq!(status, Some(201), "{said}");
        assert!(said.contains(&format!("STOPPED: sops edit {FILE}: its editor was started again and again")), "{said}");
        assert!(!said.contains("LOST"), "{said}");
        assert_eq!(fs::read(stage.file()).expect("file"), before);
        assert!(stage.status().is_empty(), "the lease is free");
        let told = json_in(&stage.world.work().join("r.json"));
        assert_eq!((&told["ended"], &told["exit"]["code"]), (&"released".into(), &201.into()));
        let starts = || fs::read_to_string(stage.world.work().join("starts")).expect("it started").lines().count();
        let so_far = starts();
        assert!(so_far > 5, "{so_far}");
    }
}

#[test]
fn an_editor_that_finds_its_way_is_left_alone() {
    let stage = Stage::with_file();
    let body = "n=$(cat tries 2>/dev/null || echo 0); echo $((n + 1)) > tries\n\
                [ \"$n\" -lt 3 ] && { printf 'a: [\\n' > \"$1\"; exit 0; }\n\
                printf 'a: three\\n' > \"$1\"";
    let (status, said) = edit(&stage, &["edit"], body);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(stage.world.decrypted(&stage.file(), "yaml"), "a: three\n");
}

#[test]
fn an_editor_that_starts_many_programs_on_the_file_is_left_alone() {
    let stage = Stage::with_file();
    // Each of them stays until the keeper, which stands above sops, has woken up to look, twice.
    let body = "read -r _ _ _ keeper _ < /proc/$PPID/stat; export keeper\n\
                for n in 1 2 3 4 5 6 7 8 9; do sed -i \"s/^a: .*/a: v$n/\" \"$1\"; sh ./stays \"$1\"; done";
    let stays = "looks() { while read -r name number; do [ $name = voluntary_ctxt_switches: ] && break; done \
                 < /proc/$keeper/status; echo $number; }\n\
                 enough=$(($(looks) + 2)); until [ $(looks) -ge $enough ]; do sleep 0.01; done";
    fs::write(stage.world.work().join("stays"), stays).expect("script");
    let (status, said) = edit(&stage, &["edit"], body);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(stage.world.decrypted(&stage.file(), "yaml"), "a: v9\nb: two\n");
}
