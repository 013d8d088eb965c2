//! Two installations of one account, one that was moved, and what must stay behind: each takes away what is its own, and says
//! what it leaves.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::place::{home, install, small, tree, uninstall};
use crate::run::stage::{ends, says, silent, text};
use crate::world::World;

const SHELLS: [&str; 5] = ["--modify-path", "--shell", "bash", "--shell", "fish"];

fn installed(world: &World, prefix: &Path) {
    let (binary, prefix) = (small(world).display().to_string(), prefix.display().to_string());
    says(install(world, &["--binary", &binary, "--prefix", &prefix]).args(SHELLS), 0);
}

fn uninstalled(world: &World, prefix: &Path, status: i32) -> String {
    says(&mut world.command(prefix.join("share/locked/uninstall.sh")), status)
}

fn blocks(file: &Path) -> usize {
    fs::read_to_string(file).map_or(0, |text| text.matches(">>> locked").count())
}

#[test]
fn each_of_two_has_its_own_lines_and_takes_only_these_away() {
    // In either order, before a file without a newline at its end, and one that is not there.
    for first_goes_first in [true, false] {
        let world = World::new();
        let home = home(&world);
        let bashrc = home.join(".bashrc");
        fs::write(&bashrc, "export A=1").expect("written");
        fs::create_dir_all(home.join(".config/fish/conf.d")).expect("directory");
        let before = tree(&home);
        let [one, two] = ["one", "it's \\n [two]*"].map(|name| world.root().join(name));
        installed(&world, &one);
        installed(&world, &two);
        let both = tree(&home);
        installed(&world, &one);
        assert_eq!(tree(&home), both, "once each");
        for start in [".bashrc", ".profile", ".config/fish/conf.d/locked.fish"] {
            assert_eq!(blocks(&home.join(start)), 2, "{start}");
        }
        let (goes, stays) = if first_goes_first { (&one, &two) } else { (&two, &one) };
        uninstalled(&world, goes, 0);
        assert_eq!(blocks(&bashrc), 1);
        for shell in ["bash", "fish"] {
            // fish makes directories of its own.
            let mut asked = world.command(shell);
            asked.args(["-l", "-c", "command -v locked"]).env("XDG_DATA_HOME", world.root().join("tmp"));
            assert_eq!(silent(&mut asked).trim(), stays.join("bin/locked").display().to_string(), "{shell}");
        }
        uninstalled(&world, stays, 0);
        assert_eq!(tree(&home), before, "{first_goes_first}");
    }
}

/// The end of our lines is gone: nobody can know what behind them is whose.
#[test]
fn damaged_lines_are_named_and_stay_until_somebody_mends_them() {
    let world = World::new();
    let prefix = world.root().join("there");
    let bashrc = home(&world).join(".bashrc");
    fs::write(&bashrc, "first\n").expect("written");
    installed(&world, &prefix);
    let whole = fs::read_to_string(&bashrc).expect("text");
    for (damaged, words) in [
        (
            whole.replace("# <<< locked <<<\n", "") + "precious\n",
            ".bashrc:2: the lines about locked that begin here have no end",
        ),
        (whole.replace("# >>> locked", "# > locked"), "that end here have no beginning"),
    ] {
        fs::write(&bashrc, &damaged).expect("written");
        let binary = small(&world).display().to_string();
        let again = ["--binary", &binary, "--prefix", &prefix.display().to_string()].map(str::to_owned);
        let again: Vec<&str> = again.iter().map(String::as_str).chain(SHELLS).collect();
        assert!(says(&mut install(&world, &again), 65).contains(words), "{words}");
        let said = uninstalled(&world, &prefix, 73);
        assert!(said.contains(words) && said.contains("but for what is named above"), "{said}");
        assert!(!said.contains(&format!("locked is gone from {}\n", prefix.display())), "{said}");
        assert_eq!(fs::read_to_string(&bashrc).expect("text"), damaged);
        // The program is gone, and the lines do nothing.
        assert!(!prefix.join("bin").exists() || !prefix.join("bin/locked").exists());
        silent(world.command("bash").args(["-c", ". ~/.bashrc 2>/dev/null; true"]));
        // Mended, the rest goes, and nothing is left.
        fs::write(&bashrc, &whole).expect("written");
        uninstalled(&world, &prefix, 0);
        assert_eq!(fs::read_to_string(&bashrc).expect("text"), "first\n");
        assert!(!prefix.exists());
        installed(&world, &prefix);
    }
}

/// Another's damage is another's: ours goes all the same.
#[test]
fn the_damage_of_another_keeps_nobody() {
    let world = World::new();
    let prefix = world.root().join("there");
    let bashrc = home(&world).join(".bashrc");
    installed(&world, &prefix);
    let theirs = "# >>> locked, by install.sh --modify-path, of /another\nlocked_bin='/another/bin'\n";
    let text = fs::read_to_string(&bashrc).expect("text");
    fs::write(&bashrc, format!("{theirs}{text}later\r\n")).expect("written");
    uninstalled(&world, &prefix, 0);
    assert_eq!(fs::read_to_string(&bashrc).expect("text"), format!("{theirs}later\r\n"));
}

/// By another name of the same directory it is the same installation; and one that was moved takes itself away from where it
/// is now, and nothing of what is now where it was.
#[test]
fn another_name_and_another_place() {
    let world = World::new();
    let before = tree(&home(&world));
    let place = |name: &str| -> PathBuf { world.root().join(name) };
    fs::create_dir(place("real")).expect("directory");
    symlink("real", place("link")).expect("link");
    installed(&world, &place("link"));
    installed(&world, &place("real"));
    assert_eq!(blocks(&home(&world).join(".bashrc")), 1);
    uninstalled(&world, &place("real"), 0);
    assert_eq!(tree(&home(&world)), before);

    installed(&world, &place("old"));
    fs::rename(place("old"), place("new")).expect("moved");
    installed(&world, &place("new"));
    let text = fs::read_to_string(home(&world).join(".bashrc")).expect("text");
    assert!(blocks(&home(&world).join(".bashrc")) == 1 && text.contains("/new/bin'"), "{text}");
    fs::rename(place("new"), place("newer")).expect("moved");
    installed(&world, &place("new"));
    uninstalled(&world, &place("newer"), 0);
    assert!(!place("newer").exists() && place("new/bin/locked").exists());
}

/// Many at once: one of them wins, and what the others made for it goes with it.
#[test]
fn installations_at_the_same_time_leave_one_that_goes() {
    let world = World::new();
    let before = tree(&home(&world));
    let binary = small(&world).display().to_string();
    let started: Vec<_> = (0..5)
        .map(|_| install(&world, &["--binary", &binary]).args(SHELLS).stderr(Stdio::piped()).spawn().expect("runs"))
        .collect();
    for one in started {
        let ended = one.wait_with_output().expect("ends");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    says(&mut uninstall(&world), 0);
    assert_eq!(tree(&home(&world)), before);
}

/// The folder of the shims, made for them; one that somebody had before; and one that other things lie in.
#[test]
fn the_folder_of_the_shims_goes_when_it_is_empty_and_ours() {
    let world = World::new();
    let before = tree(world.root());
    let data = home(&world).join("data");
    let named = home(&world).join("a/b/shims");
    for (variable, value, folder, how) in [
        ("LOCKED_SHIMS_DIR", named.clone(), named, &[(false, false), (true, false)][..]),
        ("XDG_DATA_HOME", data.clone(), data.join("locked/shims"), &[(false, true)]),
    ] {
        for &(had, by_hand) in how {
            if had {
                fs::create_dir_all(&folder).expect("directory");
            }
            let mut command = install(&world, &["--binary", env!("CARGO_BIN_EXE_locked")]);
            command.env_remove("LOCKED_SHIMS_DIR").env(variable, &value);
            says(if by_hand { &mut command } else { command.arg("--shims") }, 0);
            let binary = home(&world).join(".local/bin/locked");
            if by_hand {
                let mut shims = world.command(&binary);
                shims.env_remove("LOCKED_SHIMS_DIR").env(variable, &value).args(["shims", "install"]);
                says(&mut shims, 0);
            }
            assert!(folder.join("sops").is_symlink());
            let mut away = world.command(home(&world).join(".local/share/locked/uninstall.sh"));
            says(away.env_remove("LOCKED_SHIMS_DIR").env(variable, &value), 0);
            assert_eq!(folder.exists(), had, "{variable} {had} {by_hand}");
            let _made_by_somebody = fs::remove_dir_all(home(&world).join("a"));
            let _made_by_somebody = fs::remove_dir_all(&data);
        }
    }
    let left = tree(world.root()).into_keys().filter(|path| !before.contains_key(path));
    assert_eq!(left.filter(|path| !path.starts_with("state")).collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

/// Both were told to have shims, in one folder: the one that goes leaves them to the other, in either order and wherever they
/// lie, and says so; the last takes them with it.
#[test]
fn the_shims_of_two_stay_with_the_one_that_stays() {
    let world = World::new();
    let before = tree(&home(&world));
    let folder = world.root().join("shims");
    let sops = folder.join("sops");
    let leads = || fs::read_link(&sops).expect("a shim");
    let [one, two] = ["one", "two"].map(|name| world.root().join(name));
    let installed = |prefix: &Path| {
        let words = ["--binary", env!("CARGO_BIN_EXE_locked"), "--shims", "--prefix", &prefix.display().to_string()];
        let said = says(&mut install(&world, &words), 0);
        assert_eq!(leads(), prefix.join("bin/locked"), "{said}");
    };
    for (goes, stays) in [(&two, &one), (&one, &two)] {
        installed(&one);
        installed(&two);
        let said = uninstalled(&world, goes, 0);
        assert_eq!(leads(), stays.join("bin/locked"), "{said}");
        assert_eq!(
            said.contains(&format!("lead to {} now", stays.join("bin/locked").display())),
            goes == &two,
            "{said}"
        );
        ends(world.command(&sops).arg("--version"), 0);
        let said = uninstalled(&world, stays, 0);
        assert!(
            said.contains(&format!("the shims in {} are gone", folder.display())) && said.contains("hash -r"),
            "{said}"
        );
        assert!(!sops.is_symlink());
    }
    assert_eq!(tree(&home(&world)), before);
}

/// What `--modify-path` does itself nobody is told to do.
#[test]
fn nobody_is_told_to_do_what_was_done() {
    let world = World::new();
    let words = ["--binary", env!("CARGO_BIN_EXE_locked"), "--shims"];
    let told = |words: &[&str]| {
        let output = ends(&mut install(&world, words), 0);
        text(&output.stdout) + &text(&output.stderr)
    };
    assert!(told(&words).contains("put the folder first on PATH"));
    uninstalled(&world, &home(&world).join(".local"), 0);
    let said = told(&[&words[..], &["--modify-path", "--shell", "bash"]].concat());
    assert!(!said.contains("put the folder first") && said.contains("has shims of"), "{said}");
}
