//! Shims are programs: made, found, stepped over, renewed and taken away.

use super::stage::{Stage, good};

#[test]
fn a_shim_is_a_program_that_stands_in_front_of_the_real_one() {
    let stage = Stage::new().with("exits");
    let folder = stage.at("shims").display().to_string();
    let shims = |verb: &str| stage.ran(&["shims", verb, "--dir", &folder, "exits"]);
    good(&shims("install"));
    good(&shims("install"));
    let path = std::env::join_paths([stage.at("shims"), stage.at("bin")]).expect("PATH");
    for called in ["shims/exits.exe", "shims/exits.EXE"] {
        let output = stage.command(stage.at(called)).arg("7").env("PATH", &path).output().expect("it runs");
        assert_eq!(output.status.code(), Some(7), "{called}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // A copy of another build is stepped over as well.
    std::fs::create_dir(stage.at("older")).expect("directory");
    std::fs::copy(env!("CARGO_BIN_EXE_locked"), stage.at("older/exits.exe")).expect("copied");
    let path = std::env::join_paths(["older", "shims", "bin"].map(|name| stage.at(name))).expect("PATH");
    let output = stage.locked(&["exits", "7"]).env("PATH", &path).output().expect("it runs");
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    good(&stage.ran(&["shims", "remove", "--dir", &folder, "exits"]));
    assert!(!stage.at("shims/exits.exe").exists());
}
