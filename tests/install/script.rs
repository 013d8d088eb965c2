//! `install.sh` and `uninstall.sh`.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use super::place::{added, checkout, executable, home, install, small, tree, uninstall};
use crate::run::stage::{ends, says, silent, text};
use crate::world::World;

const EVERYTHING: [&str; 16] = [
    ".local/bin/locked",
    ".local/share/bash-completion/completions/locked",
    ".local/share/doc/locked/copyright",
    ".local/share/doc/locked/examples/locked.schema.json",
    ".local/share/doc/locked/examples/locked.toml",
    ".local/share/doc/locked/examples/zones.toml",
    ".local/share/fish/vendor_completions.d/locked.fish",
    ".local/share/locked/manifest",
    ".local/share/locked/shell/bash.sh",
    ".local/share/locked/shell/fish.fish",
    ".local/share/locked/shell/powershell.ps1",
    ".local/share/locked/shell/zsh.sh",
    ".local/share/locked/uninstall.sh",
    ".local/share/man/man1/locked.1",
    ".local/share/man/man5/locked.toml.5",
    ".local/share/zsh/site-functions/_locked",
];

#[test]
fn what_was_installed_goes_again_and_nothing_else() {
    let world = World::new();
    let home = home(&world);
    executable(&home.join(".local/bin/other"), "#!/bin/sh\n");
    fs::create_dir_all(home.join(".local/share/locked/shims")).expect("directory");
    fs::write(home.join(".local/share/locked/shims/sops"), "a shim").expect("file");
    let before = tree(&home);
    let said = says(&mut install(&world, &["--binary", env!("CARGO_BIN_EXE_locked")]), 0);
    assert!(said.contains(concat!("locked ", env!("CARGO_PKG_VERSION"), " is in")), "{said}");
    assert!(said.contains("is not on PATH") && said.contains("uninstall.sh"), "{said}");
    assert_eq!(added(&before, &home), EVERYTHING);
    let version = silent(world.command(home.join(".local/bin/locked")).arg("--version"));
    assert_eq!(version, concat!("locked ", env!("CARGO_PKG_VERSION"), "\n"));
    for start in [".bashrc", ".profile", ".zshrc"] {
        assert!(!home.join(start).exists(), "{start} was not asked for");
    }
    let said = says(&mut uninstall(&world), 0);
    assert!(said.contains("locked is gone") && said.contains(&world.state().display().to_string()), "{said}");
    assert_eq!(tree(&home), before);
    let again = says(world.command(checkout("install/uninstall.sh")).arg("--prefix").arg(home.join(".local")), 69);
    assert!(again.contains("nothing was installed"), "{again}");
}

#[test]
fn a_file_that_was_changed_since_stays_and_one_that_is_gone_is_no_fault() {
    let world = World::new();
    let small = small(&world).display().to_string();
    says(&mut install(&world, &["--binary", &small]), 0);
    let example = home(&world).join(".local/share/doc/locked/examples/locked.toml");
    fs::write(&example, "mine").expect("written");
    fs::remove_file(home(&world).join(".local/share/man/man1/locked.1")).expect("removed");
    let said = says(&mut uninstall(&world), 0);
    assert!(said.contains("was changed since, and stays") && said.contains("examples/locked.toml"), "{said}");
    assert_eq!(fs::read_to_string(&example).expect("file"), "mine");
    assert!(!home(&world).join(".local/bin").exists());
}

/// A newer installation in the place of an older one, which runs meanwhile and has a file that the newer lacks.
#[test]
fn it_is_replaced_while_it_runs_and_what_it_no_longer_has_goes() {
    let world = World::new();
    let home = home(&world);
    let before = tree(&home);
    // A program of the system's that runs until its input ends, and answers --version.
    let first = world.root().join("built/cat");
    fs::create_dir_all(first.parent().expect("parent")).expect("directory");
    fs::copy("/bin/cat", &first).expect("copied");
    says(&mut install(&world, &["--binary", &first.display().to_string()]), 0);
    let placed = home.join(".local/bin/locked");
    let mut running = world.command(&placed).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
    // As if the older version had one more, and another that somebody has changed.
    let (old, changed) = (home.join(".local/share/locked/old"), home.join(".local/share/locked/changed"));
    fs::write(&old, "old").expect("written");
    fs::write(&changed, "changed").expect("written");
    let manifest = home.join(".local/share/locked/manifest");
    let digest = text(&ends(world.command("sha256sum").arg(&old), 0).stdout)[..64].to_owned();
    let listed = fs::read_to_string(&manifest).expect("manifest")
        + &format!("file {digest} {}\nfile {digest} {}\n", old.display(), changed.display());
    fs::write(&manifest, listed).expect("written");

    says(&mut install(&world, &["--binary", &small(&world).display().to_string()]), 0);
    assert!(!old.exists() && changed.exists());
    assert_eq!(silent(world.command(&placed).arg("--version")), "locked 0.0.0\n");
    drop(running.stdin.take());
    assert!(running.wait().expect("ends").success(), "the older one went on");
    fs::remove_file(changed).expect("removed");
    says(&mut uninstall(&world), 0);
    assert_eq!(tree(&home), before, "the directories of the first installation, too");
}

#[test]
fn for_everybody_and_below_destdir_the_list_has_the_later_places() {
    let world = World::new();
    let small = small(&world).display().to_string();
    let stage = world.root().join("stage");
    fs::create_dir(&stage).expect("directory");
    // The root of the system, too, is a prefix; and the packager may name the directory in any way.
    let link = world.work().join("link");
    std::os::unix::fs::symlink(&stage, &link).expect("link");
    says(install(&world, &["--binary", &small, "--prefix", "/"]).env("DESTDIR", "link"), 0);
    assert!(stage.join("bin/locked").exists());
    says(world.command(link.join("share/locked/uninstall.sh")).env("DESTDIR", &link), 0);
    assert!(tree(&stage).is_empty());
    fs::remove_dir(&stage).expect("removed");
    says(install(&world, &["--binary", &small, "--system"]).env("DESTDIR", &stage), 0);
    assert_eq!(fs::metadata(stage.join("usr/local/bin/locked")).expect("there").permissions().mode() & 0o777, 0o755);
    let manifest = fs::read_to_string(stage.join("usr/local/share/locked/manifest")).expect("manifest");
    assert!(!manifest.contains("stage") && manifest.contains(" /usr/local/bin/locked\n"), "{manifest}");
    let there = stage.join("usr/local/share/locked/uninstall.sh");
    says(world.command(there).env("DESTDIR", &stage), 0);
    let left: Vec<_> = tree(&stage).into_keys().collect();
    // What was there before the first file of ours: nothing but the directory itself.
    assert!(left.is_empty(), "{left:?}");
    for words in [["--system", "--modify-path"], ["--system", "--shims"]] {
        let said = says(install(&world, &["--binary", &small]).args(words).env("DESTDIR", &stage), 64);
        assert!(said.contains("next:  "), "{said}");
    }
}

#[test]
fn a_prefix_with_quotes_and_spaces_works() {
    let world = World::new();
    let prefix = world.root().join("it's a 'place' of $HOME");
    let words = ["--binary", &small(&world).display().to_string(), "--prefix", &prefix.display().to_string()]
        .map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    says(install(&world, &words).args(["--modify-path", "--shell", "bash", "--shell", "zsh", "--shell", "fish"]), 0);
    for shell in ["sh", "bash", "zsh", "fish"] {
        let path = silent(world.command(shell).args(["-l", "-c", "command -v locked"]));
        assert_eq!(path.trim(), prefix.join("bin/locked").display().to_string(), "{shell}");
    }
    says(&mut world.command(prefix.join("share/locked/uninstall.sh")), 0);
    assert!(!prefix.exists() && tree(&home(&world)).keys().all(|path| !path.ends_with(".profile")));
}

#[test]
fn what_cannot_be_is_refused_with_the_next_step_and_nothing_is_installed() {
    let world = World::new();
    let broken = world.root().join("broken");
    executable(&broken, "#!/nowhere/at-all\n");
    let (small, broken) = (small(&world).display().to_string(), broken.display().to_string());
    let cases: [(&[&str], i32, &str); 11] = [
        (&["--prefix=a\nb"], 64, "control character"),
        (&["--binary", &small, "--prefix", "a:b"], 64, "divided there"),
        (&["--frobnicate"], 64, "there is no option --frobnicate"),
        (&["--prefix"], 64, "--prefix wants a value"),
        (&["--shell", "tcsh"], 64, "does not know tcsh"),
        (&["--binary", "/no/such/file"], 66, "there is no file /no/such/file"),
        (&["--binary", &broken], 69, "does not run on this machine"),
        (&["--archive", "/no/such.tar.gz"], 66, "there is no file"),
        (&["--from", "http://example.org/locked.tar.gz"], 64, "proves nothing"),
        (&["--from", "/etc/passwd"], 64, "wants an https:// address"),
        (&["--binary", &small, "--shims"], 69, "has no shims"),
    ];
    for (words, status, why) in cases {
        let said = says(&mut install(&world, words), status);
        assert!(said.contains(why) && said.contains("\nnext:  "), "{words:?}: {said}");
        assert!(tree(&home(&world)).is_empty(), "{words:?}");
    }
}

/// Shims lead to what was installed, and would be tools that do not start without it; another's stay.
#[test]
fn shims_come_and_go_with_the_installation() {
    let world = World::new();
    let shims = world.root().join("shims");
    let installs = |words: &[&str]| {
        let mut command = install(&world, &["--binary", env!("CARGO_BIN_EXE_locked")]);
        command.args(words).env("LOCKED_SHIMS_DIR", &shims);
        command
    };
    if locked::cli::definition().find_subcommand("shims").is_none() {
        let said = says(&mut installs(&["--shims"]), 69);
        assert!(said.contains("has no shims"), "{said}");
        return;
    }
    let said = says(&mut installs(&["--shims"]), 0);
    let binary = fs::canonicalize(home(&world).join(".local/bin/locked")).expect("there");
    assert_eq!(fs::canonicalize(shims.join("sops")).expect("a shim"), binary);
    assert!(said.contains("hash -r"), "{said}");
    // Also by who does not say where they are; with the folder, which was made for them.
    says(uninstall(&world).env_remove("LOCKED_SHIMS_DIR"), 0);
    assert!(!shims.exists());
    says(&mut installs(&[]), 0);
    fs::create_dir_all(&shims).expect("directory");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_locked"), shims.join("sops")).expect("linked");
    says(uninstall(&world).env("LOCKED_SHIMS_DIR", &shims), 0);
    assert!(shims.join("sops").exists(), "that of another installation");
}

/// Hooks that call what is gone would stop their agent at every step. What else stands in its settings is as before, byte for
/// byte; hooks of another installation stay.
#[test]
fn hooks_of_agents_go_with_what_they_call() {
    for by_another in [false, true] {
        let world = World::new();
        let home = home(&world);
        let settings = home.join(".claude/settings.json");
        fs::create_dir_all(settings.parent().expect("parent")).expect("directory");
        fs::write(&settings, "{\n  \"model\": \"opus\"\n}\n").expect("settings");
        let before = tree(&home);
        says(&mut install(&world, &["--binary", env!("CARGO_BIN_EXE_locked")]), 0);
        let placed = home.join(".local/bin/locked");
        let caller = if by_another { env!("CARGO_BIN_EXE_locked").into() } else { placed.clone() };
        ends(world.command(&caller).args(["agents", "install", "claude"]).env("PATH", "/usr/bin:/bin"), 0);
        let text = fs::read_to_string(&settings).expect("settings");
        assert!(text.contains(&format!("{} agents check", caller.display())), "{text}");
        let said = says(&mut uninstall(&world), 0);
        assert_eq!(said.contains("agents' hooks: "), !by_another, "{said}");
        if by_another {
            assert_eq!(fs::read_to_string(&settings).expect("settings"), text);
            assert!(!placed.exists());
        } else {
            assert_eq!(tree(&home), before, "{said}");
        }
    }
}

/// However a shell has to quote the place, and JSON what the shell has to quote.
#[test]
fn hooks_of_agents_go_from_a_place_that_needs_quoting() {
    let world = World::new();
    let before = tree(&home(&world));
    for name in ["two words", "it's", "a \"quote\"", "a\\b'c\"d"] {
        let prefix = world.root().canonicalize().expect("root").join(name);
        let to = prefix.to_str().expect("UTF-8");
        says(&mut install(&world, &["--binary", env!("CARGO_BIN_EXE_locked"), "--prefix", to]), 0);
        ends(
            world.command(prefix.join("bin/locked")).args(["agents", "install", "claude"]).env("PATH", "/usr/bin:/bin"),
            0,
        );
        let said = says(&mut world.command(prefix.join("share/locked/uninstall.sh")), 0);
        assert!(said.contains("agents' hooks: "), "{name}: {said}");
        assert_eq!(tree(&home(&world)), before, "{name}: {said}");
    }
}

/// The help is the head of the script, and names every option that the script knows; so does its counterpart for Windows.
#[test]
fn both_installers_have_the_same_options_and_tell_them() {
    let world = World::new();
    let help = silent(install(&world, &["--help"]).stderr(Stdio::null()));
    let script = fs::read_to_string(checkout("install/install.sh")).expect("script");
    let windows = fs::read_to_string(checkout("install/install.ps1")).expect("script");
    let body = script.split_once("read_options() {").expect("function").1.split_once("\n}").expect("its end").0;
    let labels = body.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(')'));
    let options: Vec<String> = labels.map(|(label, _)| label.replace(" | --", " ")).collect();
    let options: Vec<&str> = options.iter().flat_map(|label| label.split(' ')).collect();
    assert!(options.contains(&"archive") && options.contains(&"modify-path"), "{options:?}");
    for option in options {
        assert!(help.contains(&format!("--{option}")), "--{option} is not in the help: {help}");
        // Windows has one shell that matters.
        if option != "shell" {
            let name = option.replace('-', "");
            let parameter = windows.lines().any(|line| line.to_lowercase() == format!(".parameter {name}"));
            let declared = windows.to_lowercase().contains(&format!("] ${name}"));
            assert!(parameter && declared, "install.ps1 has no -{name}");
        }
    }
    assert!(silent(world.command(checkout("install/uninstall.sh")).arg("--help")).contains("--prefix DIR"));
}
