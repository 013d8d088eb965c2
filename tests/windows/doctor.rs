//! What `doctor` advises can be done on Windows.

use super::stage::{Stage, good};

#[test]
fn its_advice_is_for_windows() {
    let stage = Stage::new().with("sops").with("exits");
    let folder = stage.at("home/local/locked/shims");
    good(&stage.ran(&["shims", "install", "exits"]));
    assert!(folder.join("exits.exe").exists(), "it is in the user's own data");
    // The real one first: what is typed here takes no lease.
    let path = std::env::join_paths([stage.at("bin"), folder.clone()]).expect("PATH");
    let mut command = stage.locked(&["doctor"]);
    let output = command.env("PATH", path).env("LOCKED_STROE", "x").output().expect("locked runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("$env:Path = '"), "{told}");
    assert!(told.contains("Remove-Item Env:LOCKED_STROE"), "{told}");
    for of_unix in ["export ", "chmod", "~/", "sudo", "/bin/sh", "unset ", "crontab", "/usr/"] {
        assert!(!told.contains(of_unix), "{of_unix}: {told}");
    }
}
