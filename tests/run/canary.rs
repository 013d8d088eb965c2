//! The canary on the way through: each fault ends with 72 and its name, and what is sound is let go without a word.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::stage::{DOTENV, FILE, RESOURCE, Stage, says, silent, text};
use crate::world::World;

/// `locked sops set …` with a stand-in that leaves `$file` bad.
#[track_caller]
fn caught(stage: &Stage, body: &str, name: &str) {
    let said = says(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in(body)), 72);
    assert!(said.starts_with(&format!("QUARANTINED: {RESOURCE}: {FILE}: ")) && said.contains(name), "{name}: {said}");
    assert_eq!(stage.state().as_deref(), Some("quarantined"), "{name}");
    silent(stage.locked(2).args(["restore", FILE]));
    assert_eq!(stage.keys(), ["FIRST=one", "SECOND=two"], "{name}: brought back");
}

#[test]
fn a_file_that_is_cut_or_laid_open_is_caught() {
    let stage = Stage::new();
    let table = [
        (": > \"$file\"".to_owned(), "the file is empty"),
        ("sed -i /^FIRST=/d \"$file\"".to_owned(), "FIRST"),
        ("sed -i /^sops_/d \"$file\"".to_owned(), "the SOPS metadata is gone"),
        ("rm \"$file\"".to_owned(), "the file is gone"),
        ("sed -i 's/^FIRST=.*/FIRST=one/; s/^SECOND=.*/SECOND=two/' \"$file\"".to_owned(), "encrypted"),
        (
            "sed -i '1i <<<<<<< HEAD\\nX=1\\n=======' \"$file\"; echo '>>>>>>> side' >> \"$file\"".to_owned(),
            "conflict markers",
        ),
        ("sed -i 's/$/\\r/' \"$file\"".to_owned(), "CRLF"),
        (
            "\"$real\" decrypt --input-type dotenv --output-type json \"$file\" > \"$file.p\" && \"$real\" encrypt --input-type json --output-type json --output \"$file\" \"$file.p\"; rm \"$file.p\"".to_owned(),
            "was dotenv and is JSON now",
        ),
        ("sed -i 's/^FIRST=ENC.AES256_GCM,data:[^,]*/&x/' \"$file\"".to_owned(), "decrypt"),
        (
            "sed -i 's/^sops_mac=.*/sops_mac=ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]/' \"$file\""
                .to_owned(),
            "decrypt",
        ),
    ];
    for (body, name) in table {
        caught(&stage, &body, name);
    }
}

#[test]
fn a_file_laid_open_as_a_whole_is_caught_and_not_thrown_away() {
    let stage = Stage::new();
    let types = DOTENV.join(" ");
    let body = format!("\"$real\" decrypt {types} \"$file\" > \"$file.p\"; mv \"$file.p\" \"$file\"");
    let said = says(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in(&body)), 72);
    assert!(said.contains("plaintext"), "{said}");
    says(stage.locked(2).args(["restore", FILE]), 72);
    silent(stage.locked(2).args(["restore", FILE, "--from", "before"]));
    assert_eq!(stage.keys(), ["FIRST=one", "SECOND=two"]);
}

#[test]
fn a_recipient_that_is_dropped_or_locks_us_out_is_caught() {
    let stage = Stage::new();
    let other = World::new().recipient().to_owned();
    let ours = stage.world.recipient().to_owned();
    // Encrypted anew for somebody else alone.
    let anew = format!(
        "\"$real\" decrypt {0} \"$file\" > \"$file.p\"; \"$real\" encrypt {0} --age {other} --output \"$file\" \"$file.p\"; rm \"$file.p\"",
        DOTENV.join(" ")
    );
    caught(&stage, &anew, &ours[..12]);
}

#[test]
fn a_file_encrypted_twice_is_caught() {
    let stage = Stage::new();
    // By its name this is binary to sops, so it does not see that it is SOPS already.
    let said = says(stage.locked(1).args(["sops", "encrypt", "-i", FILE]), 72);
    assert!(said.contains("encrypted twice") || said.contains("twice"), "{said}");
    silent(stage.locked(1).args(["restore", FILE]));
    assert_eq!(stage.keys(), ["FIRST=one", "SECOND=two"]);
}

#[test]
fn a_bad_file_is_caught_when_the_program_failed_too() {
    let stage = Stage::new();
    caught(&stage, "sed -i /^FIRST=/d \"$file\"; exit 1", "FIRST");
}

/// `locked sops WORDS`, which must end well, silently, and with the lease given back.
#[track_caller]
fn sound(stage: &Stage, words: &[&str]) {
    let mut command = stage.locked(1);
    command.args(["sops"]).args(words);
    good(stage, &mut command);
}

fn is_ours(line: &str) -> bool {
    ["locked:", "QUARANTINED:", "why:", "next:"].iter().any(|word| line.starts_with(word))
}

#[track_caller]
fn good(stage: &Stage, command: &mut Command) {
    let output = command.output().expect("runs");
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    let ours: Vec<String> = text(&output.stderr).lines().filter(|line| is_ours(line)).map(str::to_owned).collect();
    assert!(ours.is_empty(), "{command:?}: {ours:?}");
    assert_eq!(stage.state(), None, "{command:?}");
}

#[test]
fn whatever_sops_does_well_is_let_go_without_a_word() {
    let stage = Stage::new();
    let typed = |words: &[&str]| {
        let all: Vec<&str> = words[..1].iter().copied().chain(DOTENV).chain(words[1..].iter().copied()).collect();
        sound(&stage, &all);
    };
    typed(&["set", FILE, "[\"A\"]", "\"1\""]);
    typed(&["set", "--idempotent", FILE, "[\"A\"]", "\"1\""]);
    typed(&["unset", FILE, "[\"A\"]"]);
    typed(&["unset", "--idempotent", FILE, "[\"A\"]"]);
    typed(&["rotate", "-i", FILE]);
    sound(&stage, &["updatekeys", "-y", "--input-type", "dotenv", FILE]);
    assert_eq!(stage.keys(), ["FIRST=one", "SECOND=two"]);
}

#[test]
fn an_edit_that_removes_a_key_is_sound_and_one_that_changes_nothing_is_no_failure() {
    let stage = Stage::new();
    let editors = stage.world.script("remove", "exec sed -i /^FIRST=/d \"$1\"");
    let mut edit = stage.locked(1);
    edit.args(["sops", "edit"]).args(DOTENV).arg(FILE).env("EDITOR", editors.join("remove"));
    good(&stage, &mut edit);
    assert_eq!(stage.keys(), ["SECOND=two"]);
    let editors = stage.world.script("nothing", "exit 0");
    let output = edit.env("EDITOR", editors.join("nothing")).output().expect("runs");
    assert_eq!(output.status.code(), Some(200), "sops' own word for unchanged");
    assert!(!text(&output.stderr).contains("locked:"), "{}", text(&output.stderr));
    assert_eq!(stage.state(), None, "nothing is kept");
}

#[test]
fn a_rule_that_gained_a_member_is_no_fault_and_updatekeys_follows_it() {
    let stage = Stage::new();
    let other = World::new().recipient().to_owned();
    let rules = format!("creation_rules:\n  - age: {},{other}\n", stage.world.recipient());
    fs::write(stage.world.work().join(".sops.yaml"), rules).expect("rules");
    good(&stage, &mut stage.set(1, &[], "A", "1"));
    sound(&stage, &["updatekeys", "-y", "--input-type", "dotenv", FILE]);
    assert!(text(&stage.content()).contains(&other));
}

#[test]
fn groups_of_keys_are_added_and_deleted_without_a_word() {
    let stage = Stage::new();
    let path = stage.world.encrypted("secrets/grouped.yaml", "a: one\n", "yaml");
    let path = path.to_str().expect("UTF-8");
    let (ours, other) = (stage.world.recipient().to_owned(), World::new().recipient().to_owned());
    sound(&stage, &["groups", "add", "-f", path, "--age", &ours, "-i"]);
    sound(&stage, &["groups", "delete", "-f", path, "-i", "--shamir-secret-sharing-threshold", "1", "1"]);
    // With a group of somebody else's keys both groups are needed, and we have one.
    let said = says(stage.locked(1).args(["sops", "groups", "add", "-f", path, "--age", &other, "-i"]), 72);
    assert!(said.contains("locked out"), "{said}");
    silent(stage.locked(1).args(["restore", path]));
}

#[test]
fn a_new_file_for_a_team_whose_key_we_have_not_is_told_to_be_unverified() {
    let stage = Stage::new();
    let other = World::new().recipient().to_owned();
    fs::write(stage.world.work().join("team.yaml"), "a: one\n").expect("plain");
    let said = says(
        stage.locked(1).args(["sops", "encrypt", "--age", &other, "--output", "secrets/team.sops.yaml", "team.yaml"]),
        0,
    );
    assert!(said.starts_with("locked: secrets/team.sops.yaml is whole, but was not decrypted: "), "{said}");
    assert_eq!(said.lines().count(), 1);
    assert_eq!(stage.receipts(), ["unverified"]);
}

#[test]
fn comments_anchors_and_several_documents_are_no_fault() {
    let stage = Stage::new();
    let texts = [
        ("comments.yaml", "# head\na: one # tail\nb:\n  # inner\n  - x\n  - y\n"),
        ("anchors.yaml", "base: &base\n  k: v\nother:\n  <<: *base\n  z: 1\n"),
        ("documents.yaml", "a: one\n---\nb: two\n"),
        ("nested.json", "{\"a\": {\"b\": [1, true, null, \"x\"]}}"),
        ("sections.ini", "[one]\nk = v\n[two]\nk = w\n"),
        ("raw.bin", "\u{1}\u{2}raw"),
    ];
    for (name, plain) in texts {
        let path = plain_file(&stage, name, plain);
        let path = path.to_str().expect("UTF-8");
        sound(&stage, &["encrypt", "-i", path]);
        sound(&stage, &["rotate", "-i", path]);
        if name.ends_with(".yaml") && name != "documents.yaml" || name.ends_with(".json") {
            sound(&stage, &["set", path, "[\"new\"]", "\"value\""]);
        }
    }
}

fn plain_file(stage: &Stage, name: &str, plain: &str) -> PathBuf {
    let path = stage.world.work().join("secrets").join(name);
    fs::write(&path, plain).expect("plain");
    path
}

#[test]
fn what_was_laid_open_is_not_copied_into_the_state_directory() {
    let stage = Stage::new();
    let body = "sed -i 's/^FIRST=.*/FIRST=laid-open/; s/^SECOND=.*/SECOND=laid-open/' \"$file\"";
    says(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in(body)), 72);
    silent(stage.locked(2).args(["restore", FILE]));
    for path in super::stage::files_below(&stage.world.state()).iter().filter(|path| path.is_file()) {
        assert!(!super::stage::contains(&fs::read(path).expect("file"), "laid-open"), "{}", path.display());
    }
}
