//! Settings, whole: files, variables and options before real programs, and repositories that nobody should believe.
#![forbid(unsafe_code)]

mod example;
mod hostile;
mod layered;
mod rules;
mod schema;
mod shimmed;
mod strangers;
mod trust;
mod wrong;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::run::stage::Stage;

/// Writes the repository's settings.
fn repository(stage: &Stage, settings: &str) {
    fs::write(stage.world.work().join(".locked.toml"), settings).expect("settings");
}

/// Writes the user's settings, and says in which directory; a command hears of them by `XDG_CONFIG_HOME`.
fn user(stage: &Stage, settings: &str) -> PathBuf {
    let config = stage.world.root().join("config");
    fs::create_dir_all(config.join("locked")).expect("directory");
    fs::write(config.join("locked/config.toml"), settings).expect("settings");
    config
}

/// `locked config …`.
fn config(stage: &Stage, words: &[&str]) -> Command {
    let mut command = stage.world.locked();
    command.arg("config").args(words);
    command
}

/// `locked OPTIONS -r server:web-1 sh -c SCRIPT`.
fn leased(stage: &Stage, options: &[&str], script: &str) -> Command {
    let mut command = stage.locked(1);
    command.args(options).args(["-r", "server:web-1", "sh", "-c", script]);
    command
}
