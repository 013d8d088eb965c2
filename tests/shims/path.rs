//! `locked shims path` and the snippets for shells mean one folder, whatever the environment says.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;
use crate::world::apart::{first_that_runs, this_test};
use crate::world::ends::{ends, left_out, says, text};

use super::LOCKED;

/// A world in which the account's home, as its user database has it, is `account`, and HOME is another.
struct Accounts {
    world: World,
    inside: &'static [&'static str],
}

impl Accounts {
    fn new() -> Option<Self> {
        let inside = first_that_runs(&[&["unshare", "--mount"], &["unshare", "--mount", "--user", "--map-root-user"]])?;
        let world = World::new();
        let line = format!("root:x:0:0::{}:/bin/sh\n", world.root().join("account").display());
        fs::write(world.root().join("passwd"), line).expect("database");
        for folder in ["home", "account", "data"] {
            let base = world.root().join(folder).join(if folder == "data" { "" } else { ".local/share" });
            fs::create_dir_all(base.join("locked/shims")).expect("folder");
        }
        fs::create_dir(world.root().join("named")).expect("folder");
        Some(Self { world, inside })
    }

    /// A command that sees that database.
    fn command(&self, program: &str) -> Command {
        let mut command = self.world.command(self.inside[0]);
        command.args(&self.inside[1..]).args(["sh", "-c", "mount --bind \"$0\" /etc/passwd && exec \"$@\""]);
        command.arg(self.world.root().join("passwd")).arg(program).env_remove("LOCKED_SHIMS_DIR");
        command
    }

    fn at(&self, place: &str) -> PathBuf {
        self.world.root().join(place)
    }
}

#[track_caller]
fn line(command: &mut Command, variables: &[(&str, OsString)]) -> String {
    let output = ends(command.envs(variables.iter().cloned()), 0);
    text(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

/// The snippet by itself, as somebody sources it by hand.
fn sourced(shell: &str) -> Vec<String> {
    let snippets = Path::new(env!("CARGO_MANIFEST_DIR")).join("shims/shell");
    let (options, snippet): (&[&str], &str) = match shell {
        "zsh" => (&["-f"], "zsh.sh"),
        "fish" => (&["--no-config"], "fish.fish"),
        _ => (&[], "bash.sh"),
    };
    let script = format!(". '{}'; printenv PATH", snippets.join(snippet).display());
    options.iter().map(|word| (*word).to_owned()).chain(["-c".to_owned(), script]).collect()
}

#[test]
fn every_shell_puts_the_folder_on_path_that_the_program_names() {
    let Some(accounts) = Accounts::new() else {
        return left_out(this_test!(), "no mount namespace for this user");
    };
    let named = |place: &str| accounts.at(place).into_os_string();
    let cases = [
        (vec![], "account/.local/share/locked/shims"),
        (vec![("XDG_DATA_HOME", named("data"))], "data/locked/shims"),
        (vec![("XDG_DATA_HOME", named("data/"))], "data/locked/shims"),
        (vec![("XDG_DATA_HOME", "data".into())], "account/.local/share/locked/shims"),
        (vec![("XDG_DATA_HOME", named("data")), ("LOCKED_SHIMS_DIR", named("named"))], "named"),
        (vec![("LOCKED_SHIMS_DIR", "".into())], "account/.local/share/locked/shims"),
    ];
    for (variables, folder) in &cases {
        let folder = accounts.at(folder).display().to_string();
        assert_eq!(line(accounts.command(LOCKED).args(["shims", "path"]), variables), folder, "{variables:?}");
        for shell in ["dash", "bash", "zsh", "fish"] {
            let path = line(accounts.command(shell).args(sourced(shell)), variables);
            assert_eq!(path.split(':').next(), Some(&*folder), "{shell} {variables:?}");
        }
    }
    // One that is not there is no reason to take another that the program does not mean.
    for shell in ["dash", "bash", "zsh", "fish"] {
        let path = line(accounts.command(shell).args(sourced(shell)), &[("LOCKED_SHIMS_DIR", named("missing"))]);
        let others = ["home", "account", "missing"].map(|place| accounts.at(place).display().to_string());
        assert!(others.iter().all(|place| !path.contains(place)), "{shell}: {path}");
    }
}

/// A folder whose name is no UTF-8 is a folder.
#[test]
fn the_folder_is_printed_byte_for_byte() {
    let world = World::new();
    let folder = world.root().join(OsStr::from_bytes(b"not \xff UTF-8"));
    fs::create_dir(&folder).expect("directory");
    let output = ends(world.locked().args(["shims", "path"]).env("LOCKED_SHIMS_DIR", &folder), 0);
    let named = output.stdout.strip_suffix(b"\n").expect("a line").to_vec();
    assert_eq!(named, folder.as_os_str().as_bytes());
    for shell in ["dash", "bash", "zsh"] {
        let output = ends(world.command(shell).args(sourced(shell)).env("LOCKED_SHIMS_DIR", &folder), 0);
        assert!(output.stdout.starts_with(&[&*named, b":"].concat()), "{shell}");
    }
}

/// Installed with one environment, called with another: what start files put on PATH is where the shims were made, and what
/// the program names from then on.
#[test]
fn what_was_installed_is_what_later_shells_and_the_program_mean() {
    let Some(accounts) = Accounts::new() else {
        return left_out(this_test!(), "no mount namespace for this user");
    };
    let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("install/install.sh").display().to_string();
    let shells = ["bash", "zsh", "fish"];
    for (variables, folder) in [
        (vec![], "account/.local/share/locked/shims"),
        (vec![("XDG_DATA_HOME", accounts.at("data").into_os_string())], "data/locked/shims"),
    ] {
        let folder = accounts.at(folder).display().to_string();
        let mut command = accounts.command(&install);
        command.args(["--binary", LOCKED, "--shims", "--modify-path"]).envs(variables.clone());
        says(command.args(shells.iter().flat_map(|shell| ["--shell", shell])), 0);
        assert!(Path::new(&folder).join("sops").is_symlink(), "{variables:?}");
        for shell in ["sh", "bash", "zsh", "fish"] {
            let said = ends(accounts.command(shell).args(["-l", "-c", "locked shims path; printenv PATH"]), 0);
            let said = text(&said.stdout);
            let (named, path) = said.split_once('\n').expect("two lines");
            assert_eq!((named, path.split(':').next()), (&*folder, Some(&*folder)), "{shell} {variables:?}");
        }
        let uninstall = accounts.at("home/.local/share/locked/uninstall.sh").display().to_string();
        says(&mut accounts.command(&uninstall), 0);
        assert!(!Path::new(&folder).join("sops").is_symlink(), "{variables:?}");
    }
}
