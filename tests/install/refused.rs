//! What `install.sh` refuses: with the next step, before anything is changed. And what breaks in the middle.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use super::place::{MOUNTS, checkout, executable, home, install, small, tree, uninstall};
use crate::run::stage::{in_front, says, silent};
use crate::world::World;
use crate::world::apart::{first_that_runs, this_test};
use crate::world::ends::{ends, left_out, text};

fn with_small(world: &World, words: &[&str]) -> Command {
    let binary = small(world).display().to_string();
    let mut command = install(world, &["--binary", &binary]);
    command.args(words);
    command
}

/// It is refused with what is wrong and what to do, each in our own words, and the home is as it was.
#[track_caller]
fn refused(world: &World, command: &mut Command, status: i32, why: &str) -> String {
    let before = tree(&home(world));
    let said = says(command, status);
    assert!(said.contains(why) && said.contains("\nnext:  "), "{said}");
    let ours = said.lines().all(|line| line.starts_with("install: ") || line.starts_with("next:  "));
    assert!(ours, "{said}");
    assert_eq!(tree(&home(world)), before, "{said}");
    said
}

#[test]
fn a_relative_prefix_is_one_place_and_a_place_that_cannot_be_is_named() {
    let world = World::new();
    fs::create_dir(world.work().join("there")).expect("directory");
    fs::create_dir_all(world.work().join("far/away")).expect("directory");
    symlink("far/away", world.work().join("link")).expect("link");
    for (given, meant) in [
        ("rel/../x", "x"),
        ("./there/../a/./b//", "a/b"),
        ("link/../c", "far/c"),
        ("--odd", "--odd"),
        ("there", "there"),
    ] {
        says(&mut with_small(&world, &["--prefix", given]), 0);
        let placed = world.work().join(meant);
        assert!(placed.join("bin/locked").exists() && !world.work().join("rel").exists(), "{given}");
        let manifest = fs::read_to_string(placed.join("share/locked/manifest")).expect("manifest");
        assert!(!manifest.contains("/../") && !manifest.contains("/./"), "{manifest}");
        says(&mut world.command(placed.join("share/locked/uninstall.sh")), 0);
        assert_eq!(placed.exists(), given == "there", "{given}");
    }
    fs::write(world.work().join("file"), "").expect("file");
    symlink("nowhere", world.work().join("dangling")).expect("link");
    let long = "x".repeat(300);
    for (given, why) in [
        ("file", "file is not a directory"),
        ("file/below", "file is not a directory"),
        ("dangling/below", "dangling is not a directory"),
        (&*long, "could not make the directory"),
    ] {
        refused(&world, &mut with_small(&world, &["--prefix", given]), 73, why);
    }
    // Root may write there, and cannot.
    let status = if rustix::process::geteuid().is_root() { 73 } else { 77 };
    refused(&world, &mut with_small(&world, &["--prefix", "/proc/nowhere"]), status, "/proc");
    // Without a home everything works that needs none.
    let prefix = world.work().join("elsewhere").display().to_string();
    for value in [None, Some(""), Some("relative")] {
        let homeless = |command: &mut Command, status| match value {
            None => says(command.env_remove("HOME"), status),
            Some(value) => says(command.env("HOME", value), status),
        };
        assert!(homeless(&mut with_small(&world, &[]), 64).contains("HOME is not set"), "{value:?}");
        assert!(homeless(&mut with_small(&world, &["--prefix", &prefix, "--modify-path"]), 64).contains("HOME"));
        homeless(&mut with_small(&world, &["--prefix", &prefix]), 0);
        let mut away = world.command(checkout("install/uninstall.sh"));
        homeless(away.args(["--prefix", &prefix]), 0);
    }
}

/// What divides PATH, in the prefix or in the folder that the shims go to, however that is named.
#[test]
fn a_folder_that_cannot_stand_on_path_is_refused() {
    let world = World::new();
    let real = env!("CARGO_BIN_EXE_locked");
    refused(&world, with_small(&world, &[]).env("HOME", home(&world).join("a:b")), 64, "divided there");
    for option in ["--shims", "--modify-path"] {
        for (name, value, status) in [
            ("LOCKED_SHIMS_DIR", "/x:/y", None),
            ("LOCKED_SHIMS_DIR", "/x\ny", None),
            ("LOCKED_SHIMS_DIR", "relative", Some(78)),
            ("XDG_DATA_HOME", "/a:b", None),
        ] {
            let mut command = install(&world, &["--binary", real, option, "--shell", "bash"]);
            let said = command.env_remove("LOCKED_SHIMS_DIR").env(name, value).output().expect("it runs");
            // Who refuses first is the program (78) or the script (64).
            let code = said.status.code().expect("a status");
            assert!(status.map_or(code == 64 || code == 78, |status| code == status), "{value}: {said:?}");
            assert!(text(&said.stderr).contains("LOCKED_SHIMS_DIR"), "{value}: {said:?}");
            assert!(tree(&home(&world)).is_empty(), "{name}={value:?}");
        }
    }
    // Without them nobody asks.
    says(install(&world, &["--binary", real]).env("LOCKED_SHIMS_DIR", "/x:/y"), 0);
}

#[test]
fn what_is_somebody_else_s_stays_unless_it_is_asked_for() {
    let world = World::new();
    let placed = home(&world).join(".local/bin/locked");
    executable(&placed, "#!/bin/sh\necho a padlock 1.0\n");
    refused(&world, &mut with_small(&world, &[]), 73, "somebody else's file is in the way, and stays");
    says(&mut with_small(&world, &["--force"]), 0);
    assert_eq!(silent(world.command(&placed).arg("--version")), "locked 0.0.0\n");
    // What was put there, and replaced by somebody since.
    executable(&placed, "#!/bin/sh\necho a padlock 1.0\n");
    refused(&world, &mut with_small(&world, &[]), 73, ".local/bin/locked");
    // The same program that no list knows (`cargo install`), and one that never answers.
    executable(&placed, "#!/bin/sh\necho locked 0.0.1\n");
    fs::remove_file(home(&world).join(".local/share/locked/manifest")).expect("removed");
    says(&mut with_small(&world, &[]), 0);
    says(&mut uninstall(&world), 0);
    // A page of another program that bears the name.
    let page = home(&world).join(".local/share/man/man1/locked.1");
    fs::create_dir_all(page.parent().expect("parent")).expect("directory");
    fs::write(&page, "a padlock").expect("page");
    refused(&world, &mut with_small(&world, &[]), 73, "man1/locked.1");
    fs::remove_file(&page).expect("removed");
    symlink("/nowhere", &page).expect("link");
    refused(&world, &mut with_small(&world, &[]), 73, "man1/locked.1");
    fs::remove_file(&page).expect("removed");
    fs::create_dir_all(home(&world).join(".local/share/locked/shell/powershell.ps1/mine")).expect("directory");
    let said = refused(&world, &mut with_small(&world, &["--force"]), 73, "a directory in the place of");
    assert!(said.contains("powershell.ps1"), "{said}");
}

#[test]
fn a_start_file_that_cannot_be_changed_is_named_before_anything_is_installed() {
    let world = World::new();
    let bashrc = home(&world).join(".bashrc");
    let modify = ["--modify-path", "--shell", "bash"];
    let cases: [(&str, &str, &dyn Fn()); 5] = [
        ("which is not there", "make that file", &|| symlink("dotfiles/bashrc", &bashrc).expect("link")),
        ("which is not there", "take the link away", &|| symlink(".bashrc", &bashrc).expect("link")),
        ("is not a file", "--shell", &|| fs::create_dir(&bashrc).expect("directory")),
        ("is not a file", "--shell", &|| symlink("/dev/null", &bashrc).expect("link")),
        (".bashrc:2: the lines about locked that begin here have no end", "put \"# <<< locked <<<\"", &|| {
            fs::write(&bashrc, "a\n# >>> locked, by install.sh --modify-path, of /x\nlocked_bin='/x/bin'\n")
                .expect("file");
        }),
    ];
    for (why, next, make) in cases {
        make();
        let said = refused(&world, &mut with_small(&world, &modify), if why.contains(':') { 65 } else { 73 }, why);
        assert!(said.contains(next), "{said}");
        if bashrc.is_dir() && !bashrc.is_symlink() { fs::remove_dir(&bashrc) } else { fs::remove_file(&bashrc) }
            .expect("removed");
    }
    // The second of two damages, and an end without its beginning.
    fs::write(home(&world).join(".profile"), "# <<< locked <<<\n").expect("file");
    refused(&world, &mut with_small(&world, &modify), 65, ".profile:1: the lines about locked that end here");
    fs::remove_file(home(&world).join(".profile")).expect("removed");

    // Root may read and write everything: then it is not refused, and nothing is lost either.
    fs::write(&bashrc, "mine\n").expect("file");
    let root = rustix::process::geteuid().is_root();
    for mode in [0o400, 0o200] {
        fs::set_permissions(&bashrc, fs::Permissions::from_mode(mode)).expect("mode");
        if root {
            says(&mut with_small(&world, &modify), 0);
            says(&mut uninstall(&world), 0);
        } else {
            let said = says(&mut with_small(&world, &modify), 77);
            assert!(said.contains("you may not read and write") && said.contains("\nnext:  "), "{said}");
            assert!(!home(&world).join(".local").exists());
        }
        fs::set_permissions(&bashrc, fs::Permissions::from_mode(0o600)).expect("mode");
        assert_eq!(fs::read_to_string(&bashrc).expect("text"), "mine\n");
    }
}

/// Where programs cannot be run, it is said before one lies there.
#[test]
fn a_place_where_nothing_runs_is_named() {
    let Some(inside) = first_that_runs(&MOUNTS) else {
        return left_out(this_test!(), "no mount namespace for this user");
    };
    let world = World::new();
    let place = world.root().join("noexec");
    fs::create_dir(&place).expect("directory");
    let script = "mount -t tmpfs -o noexec none \"$0\" && \"$@\"; status=$?; [ -z \"$(ls \"$0\")\" ] && exit $status";
    let mut command = world.command(inside[0]);
    command.args(&inside[1..]).args(["sh", "-c", script]).arg(&place).arg(checkout("install/install.sh"));
    let said = says(command.arg("--binary").arg(small(&world)).arg("--prefix").arg(place.join("x")), 73);
    assert!(said.contains("cannot be run (mounted noexec?)") && said.contains("next:  choose another"), "{said}");
}

/// `tool` in front of the real one, which fails for this word.
fn failing(world: &World, tool: &str, word: &str) -> OsString {
    let real = format!("/bin/{tool}");
    let tools = world.root().join(format!("failing-{tool}"));
    executable(&tools.join(tool), &format!("#!/bin/sh\ncase \"$*\" in *{word}*) exit 1 ;; esac\nexec {real} \"$@\"\n"));
    in_front(&tools)
}

/// As if the disk were full: before anything is in its place nothing is left; after that, what is there is listed.
#[test]
fn what_breaks_in_the_middle_leaves_nothing_or_what_is_listed() {
    let world = World::new();
    let before = tree(&home(&world));
    let mut full = with_small(&world, &["--modify-path", "--shell", "fish"]);
    let said = says(full.env("PATH", failing(&world, "cp", "locked-new.*powershell.ps1")), 73);
    assert!(said.contains("nothing is installed\nnext:  is the disk full?"), "{said}");
    assert_eq!(tree(&home(&world)), before);

    let said = says(with_small(&world, &[]).env("PATH", failing(&world, "mv", "powershell.ps1")), 73);
    assert!(said.contains("what is there already is listed"), "{said}");
    assert!(home(&world).join(".local/bin/locked").exists());
    assert!(tree(&home(&world)).keys().all(|path| !path.display().to_string().contains("locked-new")));
    says(&mut uninstall(&world), 0);
    assert_eq!(tree(&home(&world)), before);

    // What an installation left that was killed goes with the next one.
    let litter = home(&world).join(".local/bin/locked-new.999999999.locked");
    executable(&litter, "");
    says(&mut with_small(&world, &[]), 0);
    assert!(!litter.exists());
}

/// `curl … | sh`: beside the script lies nothing, whatever the directory is that somebody stands in.
#[test]
fn the_script_by_itself_takes_an_archive_and_nothing_that_happens_to_lie_there() {
    let world = World::new();
    fs::write(world.root().join("Cargo.toml"), "[package]\n").expect("a trap");
    fs::write(world.work().join("sh"), "").expect("a trap");
    let script = fs::read(checkout("install/install.sh")).expect("script");
    let by = |shell: &str, words: &[&str], status: i32| {
        let mut command = world.command(shell);
        command.arg("-s").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect(shell);
        // One that ends early reads no further.
        let _ended_early = child.stdin.take().expect("piped").write_all(&script);
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(status), "{shell} {words:?}: {output:?}");
        text(&output.stdout) + &text(&output.stderr)
    };
    for shell in ["dash", "bash"] {
        assert!(by(shell, &["--", "--help"], 0).contains("--archive FILE"));
        let said = by(shell, &[], 64);
        assert!(said.contains("beside this script") && said.contains("--archive FILE, or --from URL"), "{said}");
        let small = small(&world).display().to_string();
        assert!(by(shell, &["--", "--binary", &small], 64).contains("beside this script"));
        assert!(tree(&home(&world)).is_empty());
    }
}

/// From source: what cargo builds is installed, from wherever cargo puts it; and what it cannot build is not.
#[test]
fn a_checkout_is_built_or_nothing_is_installed() {
    let world = World::new();
    let tree_of = world.work().join("checkout");
    fs::create_dir(&tree_of).expect("directory");
    for part in ["install", "shims", "LICENSE", "Cargo.toml"] {
        ends(world.command("cp").arg("-R").arg(checkout(part)).arg(&tree_of), 0);
    }
    let tools = world.root().join("tools");
    let cargo = "#!/bin/sh\n[ -z \"${CARGO_BUILD_TARGET-}\" ] && [ -f Cargo.toml ] || exit 1\n\
        out=${CARGO_TARGET_DIR:-target}/release; mkdir -p \"$out\"; cp \"$SMALL\" \"$out/locked\"\n";
    let build = |status: i32| {
        let mut command = world.command(tree_of.join("install/install.sh"));
        command.env("PATH", in_front(&tools)).env("SMALL", small(&world)).env("CARGO_BUILD_TARGET", "another");
        says(command.env("CARGO_TARGET_DIR", "built"), status)
    };
    executable(&tools.join("cargo"), "#!/bin/sh\nexit 101\n");
    let said = build(69);
    assert!(said.contains("could not build it") && tree(&home(&world)).is_empty(), "{said}");
    executable(&tools.join("cargo"), cargo);
    build(0);
    assert!(tree_of.join("built/release/locked").exists() && home(&world).join(".local/bin/locked").exists());
}

/// From any directory, by a link, and with a CDPATH that would lead `cd` elsewhere: so does every other script.
#[test]
fn it_finds_what_lies_beside_it_from_everywhere() {
    let world = World::new();
    let link = world.work().join("get-locked");
    symlink(checkout("install/install.sh"), &link).expect("link");
    fs::create_dir_all(world.root().join("trap/install")).expect("a trap");
    let small = small(&world).display().to_string();
    let from: [(&Path, &Path); 2] = [(&link, Path::new("/")), (Path::new("install/install.sh"), &checkout(""))];
    for (script, cwd) in from {
        let mut command = world.command("sh");
        command.arg(script).args(["--binary", &small]).current_dir(cwd).env("CDPATH", world.root().join("trap"));
        says(&mut command, 0);
        says(world.command("sh").arg("share/locked/uninstall.sh").current_dir(home(&world).join(".local")), 0);
        assert!(tree(&home(&world)).is_empty());
    }
    for file in ["test", "release", "quickstart", "tools.sh", "install.sh", "uninstall.sh"] {
        let text = fs::read_to_string(checkout("install").join(file)).expect(file);
        assert!(!text.contains("cd \"$(dirname") || text.contains("unset CDPATH"), "{file}");
    }
}
