//! Archives that real programs made: what is unpacked on a host by what stands in them, and what is unpacked over SOPS
//! files here.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::World;

/// A place with archives of the directory `app`, which has a `.env` and a SOPS file, and of `plain`, which has none.
fn place() -> World {
    let world = World::new();
    let root = world.work();
    world.git(&root, &["init", "-q"]);
    for (name, text) in [("app/conf/.env", "A=1\n"), ("app/app.js", "x\n"), ("plain/app.js", "x\n")] {
        fs::create_dir_all(root.join(name).parent().expect("a parent")).expect("a directory");
        fs::write(root.join(name), text).expect("a file");
    }
    let sops = "A=ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\nsops_version=3.11.0\n";
    fs::write(root.join("app/web.env.sops"), sops).expect("a file");
    for (archive, options, directory) in
        [("app.tar", &["-cf"][..], "app"), ("app.tgz", &["-czf"], "app"), ("plain.tgz", &["-czf"], "plain")]
    {
        let mut tar = Command::new("tar");
        let made = tar.current_dir(&root).args(options).args([archive, directory]).status().expect("tar runs");
        assert!(made.success(), "{archive}");
    }
    // Who has no zip cannot make one.
    if let Ok(made) = Command::new("zip").current_dir(&root).args(["-qr", "app.zip", "app"]).status() {
        assert!(made.success(), "zip");
    }
    // What nobody here can look into.
    fs::write(root.join("app.txz"), b"\xfd7zXZ\0 and more").expect("a file");
    world
}

fn explained(world: &World, script: &str) -> Value {
    let output = world.locked().args(["explain", "--json", "--", "sh", "-c", script]).output().expect("locked runs");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn what_is_unpacked_on_a_host_holds_it_by_what_stands_in_the_archive() {
    let world = place();
    for (script, locks, because) in [
        ("ssh web-1 'tar xz -C /srv' < app.tgz", true, ".env is in its archive"),
        ("cat app.tar | ssh web-1 tar x -C /srv", true, ".env is in its archive"),
        ("gunzip -c app.tgz | ssh web-1 'cd /srv && tar xf -'", true, ".env is in its archive"),
        ("pv app.tgz | ssh web-1 sudo tar --strip-components=1 -xzf - -C /srv", true, ".env is in its archive"),
        ("ssh web-1 'tar xJ -C /srv' < app.txz", true, "the archive that goes there could not be looked through"),
        ("ssh web-1 'tar xz -C /srv' < plain.tgz", false, ""),
        ("ssh web-1 'tar xz -C /srv --exclude=.env' < app.tgz", false, ""),
        ("ssh web-1 'tar xz -C /srv app/app.js' < app.tgz", false, ""),
        ("ssh web-1 'tar xz -C /srv app/conf' < app.tgz", true, ".env is in its archive"),
        ("ssh web-1 'tar xz --strip-components=3 -C /srv' < app.tgz", false, ""),
        ("ssh web-1 'tar tz' < app.tgz", false, ""),
        ("ssh web-1 'tar xzO' < app.tgz", false, ""),
        ("ssh web-1 'cat > /srv/app.tgz' < app.tgz", false, ""),
    ] {
        let answer = explained(&world, script);
        let expected = if locks { json!(["server:web-1"]) } else { json!([]) };
        assert_eq!(answer["resources"], expected, "{script}: {answer}");
        assert_eq!(answer["notes"], json!([]), "{script}");
        assert!(answer["reason"].as_str().is_some_and(|reason| reason.contains(because)), "{script}: {answer}");
    }
}

#[test]
fn what_is_unpacked_over_sops_files_here_holds_them() {
    let world = place();
    for (script, held) in [
        ("tar xzf app.tgz", json!(["sops:web"])),
        ("mkdir -p x; tar -C app --strip-components 1 -xf app.tar", json!(["sops:web"])),
        ("tar xf - < app.tar", json!(["sops:web"])),
        ("tar xzf app.tgz app/conf", json!([])),
        ("tar xzf app.tgz -C elsewhere", json!([])),
        ("tar xzf plain.tgz", json!([])),
        ("tar tzf app.tgz", json!([])),
        ("tar xf app.tar --exclude='*.sops'", json!([])),
        ("tar xf app.tar --exclude=.env", json!(["sops:web"])),
        ("tar xf app.tar --wildcards '*.sops'", json!(["sops:web"])),
        ("tar xf app.tar '*.sops'", json!([])),
        ("tar --extract --file app.tar app/web.env.sops", json!(["sops:web"])),
        ("tar xf app.tar --one-top-level=out", json!([])),
        ("tar xf app.tar --one-top-level=.", json!(["sops:web"])),
        ("tar xf app.tar --strip-components=1 --one-top-level", json!(["sops:web"])),
        ("tar -xkf app.tar", json!([])),
        ("tar --skip-old -xf app.tar", json!([])),
        ("unzip -o app.zip", json!(["sops:web"])),
        ("unzip -o app", json!(["sops:web"])),
        ("unzip -oq app.zip -d .", json!(["sops:web"])),
        ("unzip -oj app.zip 'app/*.sops' -d app", json!(["sops:web"])),
        ("unzip -o app.zip app/web.env.sops", json!(["sops:web"])),
        ("unzip -o app.zip app/app.js", json!([])),
        ("unzip -oj app.zip", json!([])),
        ("unzip -o app.zip -d elsewhere", json!([])),
        ("unzip -n app.zip", json!([])),
        ("unzip -o app.zip -x 'app/*.sops'", json!([])),
        ("unzip -l app.zip", json!([])),
        ("unzip -p app.zip app/web.env.sops > x", json!([])),
    ] {
        if script.starts_with("unzip") && !world.work().join("app.zip").exists() {
            eprintln!("skipped, there is no zip: {script}");
            continue;
        }
        let answer = explained(&world, script);
        assert_eq!(answer["resources"], held, "{script}");
        assert_eq!(answer["notes"], json!([]), "{script}");
    }
    for script in ["tar xf app.tar --transform 's,^,x/,'", "tar xf app.txz"] {
        let answer = explained(&world, script);
        assert!(answer["notes"].to_string().contains("could not be looked at"), "{script}: {answer}");
    }
}
