//! One file has one name, however it is written.

use super::stage::{Stage, good, history};

fn explained(stage: &Stage, path: &str) -> serde_json::Value {
    let text = good(&stage.ran(&["explain", "--json", "--", "sops", "rotate", "-i", path]));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
}

#[test]
fn every_spelling_of_a_file_gives_the_same_resource_in_the_same_scope() {
    let stage = Stage::new().with("sops");
    let whole = stage.secret("secrets/monitoring.env.sops").display().to_string();
    let slashes = whole.replace('\\', "/");
    let of_git_bash = format!("/{}{}", whole[..1].to_lowercase(), &slashes[2..]);
    let other_drive_letter = format!("{}{}", whole[..1].to_lowercase(), &whole[1..]);
    let spellings = [
        whole.clone(),
        slashes,
        of_git_bash,
        other_drive_letter,
        whole[2..].to_owned(),
        whole.replace("secrets", "SECRETS"),
        whole.replace("monitoring", "Monitoring"),
        r"secrets\monitoring.env.sops".to_owned(),
        "secrets/monitoring.env.sops".to_owned(),
        r".\secrets/..\secrets\monitoring.env.sops".to_owned(),
        r"secrets\monitoring.env.sops.".to_owned(),
        r"secrets\monitoring.env.sops ".to_owned(),
        r"secrets\monitoring.env.sops::$DATA".to_owned(),
        format!(r"\\?\{whole}"),
        // A share of another machine, as far as anybody can see: tests/windows/run makes it.
        format!(r"\\locked\c{}", &whole[2..]),
    ];
    for spelling in spellings {
        let explained = explained(&stage, &spelling);
        assert_eq!(explained["resources"], serde_json::json!(["sops:monitoring"]), "{spelling}: {explained}");
        assert_eq!(explained["scope"], "github.com/acme/infra", "{spelling}: {explained}");
    }
}

#[test]
fn a_file_that_is_not_there_yet_has_the_name_that_it_will_get() {
    let stage = Stage::new().with("sops");
    stage.secret("secrets/monitoring.env.sops");
    for spelling in
        [r"secrets\new.env.sops", r"secrets\new.env.sops.", r"secrets\new.env.sops ", r"secrets\NEW.env.sops"]
    {
        let explained = explained(&stage, spelling);
        assert_eq!(explained["resources"], serde_json::json!(["sops:new"]), "{spelling}: {explained}");
    }
}

#[test]
fn a_checkout_with_windows_line_ends_is_the_same_version() {
    let stage = Stage::new().with("sops");
    let file = stage.secret("secrets/app.yaml");
    let text = "a: ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\nsops:\n    version: 3.11.0\n";
    std::fs::write(&file, text.replace('\n', "\r\n")).expect("written");
    let explained = explained(&stage, "secrets/app.yaml");
    assert_eq!(explained["resources"], serde_json::json!(["sops:app"]), "{explained}");
}

/// As `core.autocrlf` has it: what was written last, with other line ends.
#[test]
fn a_receipt_outlives_a_checkout_with_windows_line_ends() {
    let stage = Stage::new().with("sops");
    let file = stage.secret("secrets/app.yaml");
    let older = "\
a: ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]
sops:
    age:
        - recipient: age1yt3tfqlfrwdwx0z0ynwplcr6qxcxfaqycuprpmy89nr83ltx74tqdpszlw
          enc: |
            -----BEGIN AGE ENCRYPTED FILE-----
            AA==
            -----END AGE ENCRYPTED FILE-----
    lastmodified: \"2026-01-01T00:00:00Z\"
    mac: ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]
    version: 3.11.0
";
    std::fs::write(&file, older).expect("written");
    let set = |key: &str| {
        let key = format!("[\"{key}\"]");
        stage.ran(&["--no-wait", "sops", "set", "secrets/app.yaml", &key, "\"v\""])
    };
    good(&set("b"));
    assert!(history(&stage)[0]["receipt"].is_string(), "{}", history(&stage));
    let written = std::fs::read_to_string(&file).expect("text");
    std::fs::write(&file, written.replace('\n', "\r\n")).expect("checked out");
    good(&set("c"));
    // One that is older than what was written last is refused, so that was looked at.
    std::fs::write(&file, older.replace('\n', "\r\n")).expect("an older one");
    let refused = set("d");
    assert_eq!(refused.status.code(), Some(74), "{}", String::from_utf8_lossy(&refused.stderr));
}
