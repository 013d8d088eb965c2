//! Shims, and where they are passed by.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;

use crate::run::stage::{ends, text};
use crate::world::apart::this_test;
use crate::world::board::install;
use crate::world::ends::left_out;

use super::bed::{Bed, findings, mode, wanted, wrong};

#[test]
fn shims_that_lead_nowhere_or_elsewhere_or_are_missing_are_found_and_made_again() {
    let bed = Bed::new();
    let shim = |name: &str| bed.shims().join(name);
    fs::remove_file(shim("sops")).expect("gone");
    bed.finds(&[], ("shims.missing", "warning", "locked shims install sops"));
    bed.finds_fixed("shims.missing");
    fs::remove_file(shim("gh")).expect("gone");
    symlink("/opt/gone/locked", shim("gh")).expect("dangling");
    bed.finds(&[], ("shims.dangling", "fault", "locked shims install"));
    bed.finds_fixed("shims.dangling");
    assert_eq!(fs::read_link(shim("gh")).expect("link"), fs::canonicalize(env!("CARGO_BIN_EXE_locked")).expect("ours"));
    assert!(bed.findings(&["shims"], &[]).iter().all(|it| it["level"] == "ok"));
    fs::remove_file(shim("docker")).expect("gone");
    symlink("/bin/true", shim("docker")).expect("foreign");
    let other = bed.finds(&[], ("shims.other", "warning", "mv "));
    assert_eq!(other["fixable"], false, "what is not ours is left to a person");
    fs::remove_file(shim("docker")).expect("gone");
    symlink("/opt/gone/docker", shim("docker")).expect("foreign");
    assert_eq!(bed.finds(&[], ("shims.other", "warning", ""))["fixable"], false, "nor is a link that never led to us");
    let copy = bed.stage.world.root().join("copy");
    install(env!("CARGO_BIN_EXE_locked"), &copy, "0755");
    fs::remove_file(shim("docker")).expect("gone");
    symlink(&copy, shim("docker")).expect("copy");
    bed.finds(&[], ("shims.copy", "warning", "locked shims install docker"));
}

/// What stands beside the remedy is a line that, typed, leaves nothing of the finding.
#[test]
fn the_line_to_type_mends_what_was_found() {
    type Plant = fn(&std::path::Path);
    let planted: [(&str, Plant); 5] = [
        ("shims.missing", |shims| fs::remove_file(shims.join("sops")).expect("gone")),
        ("shims.dangling", |shims| symlink("/opt/gone/locked", shims.join("ssh")).expect("dangling")),
        ("shims.other", |shims| symlink("/bin/true", shims.join("scp")).expect("foreign")),
        ("shims.other", |shims| fs::write(shims.join("my tool"), "somebody's").expect("foreign")),
        ("shims.copy", |shims| install(env!("CARGO_BIN_EXE_locked"), &shims.join("rsync"), "0755")),
    ];
    for default in [true, false] {
        let bed = Bed::new();
        let data = bed.stage.world.root().join("data");
        let shims = if default { bed.shims() } else { data.join("locked/shims") };
        if !default {
            fs::create_dir_all(data.join("locked")).expect("directory");
            fs::rename(bed.shims(), &shims).expect("moved");
        }
        let asked = || {
            let mut command = bed.doctor(&["shims", "--json"]);
            match default {
                true => command.env("LOCKED_SHIMS_DIR", &shims),
                false => command.env_remove("LOCKED_SHIMS_DIR").env("XDG_DATA_HOME", &data),
            };
            command
        };
        for (id, plant) in &planted {
            plant(&shims);
            let one =
                wanted(&findings(&mut asked()), (id, if *id == "shims.dangling" { "fault" } else { "warning" }, ""));
            let line = one["remedy"].as_str().expect("a remedy");
            let mut typed = asked();
            let bin = std::path::Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("bin");
            let mut shell = bed.stage.world.command("sh");
            shell.args(["-c", line]).env("PATH", crate::run::stage::in_front(bin)).env_remove("LOCKED_SHIMS_DIR");
            for (name, value) in typed.env("X", "1").get_envs().filter(|(name, _)| *name != "PATH") {
                if let Some(value) = value {
                    shell.env(name, value);
                }
            }
            crate::run::stage::ends(&mut shell, 0);
            let after = findings(&mut asked());
            assert!(after.iter().all(|it| it["level"] == "ok" || it["level"] == "note"), "{id}: {line}: {after:#?}");
        }
    }
}

/// A folder that no PATH can name, or that is none, is a fault: nothing that stands there would ever be found.
#[test]
fn a_folder_that_guards_nothing_is_found() {
    let bed = Bed::new();
    let at = |name: &str| bed.stage.world.root().join(name);
    fs::write(at("file"), "").expect("file");
    symlink("nowhere", at("link")).expect("link");
    fs::create_dir(at("a:b")).expect("folder");
    for (folder, why, remedy) in [
        ("here".into(), "LOCKED_SHIMS_DIR is relative", "export LOCKED_SHIMS_DIR=/"),
        (at("file"), "it is no directory", "unset LOCKED_SHIMS_DIR"),
        (at("file").join("x"), "a file stands in its way", "unset LOCKED_SHIMS_DIR"),
        (at("link"), "a link that leads nowhere", "unset LOCKED_SHIMS_DIR"),
        (at("a:b"), "PATH would take it for two", "unset LOCKED_SHIMS_DIR"),
        (at("a\nb"), "control characters", "unset LOCKED_SHIMS_DIR"),
    ] {
        let found =
            bed.finds(&[("LOCKED_SHIMS_DIR", folder.to_str().expect("UTF-8"))], ("shims.folder", "fault", remedy));
        assert!(found["what"].as_str().expect("text").contains(why), "{found:#}");
    }
}

/// Whoever may write there has every command that is typed: the folder, what is above it, the program. The line beside it closes it.
#[test]
fn what_others_may_change_of_the_shims_is_found() {
    let bed = Bed::new();
    let data = bed.stage.world.root().join("data");
    let (folder, program) = (data.join("shims"), data.join("locked"));
    fs::create_dir(&data).expect("directory");
    fs::rename(bed.shims(), &folder).expect("moved");
    install(env!("CARGO_BIN_EXE_locked"), &program, "0755");
    fs::remove_file(folder.join("gh")).expect("gone");
    symlink(&program, folder.join("gh")).expect("shim");
    let env = [("LOCKED_SHIMS_DIR", folder.to_str().expect("UTF-8"))];
    let writable = || {
        let found = bed.findings(&["shims"], &env);
        found.into_iter().filter(|it| it["id"] == "shims.writable").collect::<Vec<_>>()
    };
    assert!(writable().is_empty(), "{:#?}", writable());
    for part in [&data, &folder, &program] {
        mode(part, 0o777);
        let found = writable();
        let one = wanted(&found, ("shims.writable", "fault", &format!("chmod o-w {}", part.display())));
        assert_eq!(found.len(), 1, "{found:#?}");
        ends(bed.stage.world.command("sh").args(["-c", one["remedy"].as_str().expect("a line")]), 0);
        assert!(writable().is_empty());
    }
}

/// A folder of programs that was named for the shims is no place to tidy up.
#[test]
fn nobody_is_told_to_move_programs() {
    let bed = Bed::new();
    let found = bed
        .finds(&[("LOCKED_SHIMS_DIR", "/usr/bin")], ("shims.other", "warning", "give the shims a folder of their own"));
    assert!(!found["remedy"].as_str().expect("text").contains("mv "), "{found:#}");
}

/// Whatever PATH is, and wherever there is nothing to ask the system, the doctor ends and breaks nothing.
#[test]
fn odd_paths_break_nothing() {
    let bed = Bed::new();
    for path in [None, Some(""), Some(":"), Some("::/nowhere:.:"), Some("relative:/usr/bin:/bin")] {
        let mut command = bed.doctor(&["shims", "path", "tools", "hooks", "--json"]);
        match path {
            Some(path) => command.env("PATH", path),
            None => command.env_remove("PATH"),
        };
        let found = findings(&mut command);
        assert!(found.iter().any(|it| it["check"] == "shims"), "{path:?}: {found:#?}");
    }
}

#[test]
fn wherever_the_shims_are_passed_by_is_found() {
    let bed = Bed::new();
    // A tool that every PATH has, with a shim.
    symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    let healthy = bed.findings(&["path"], &[]);
    assert!(wrong(&healthy).is_empty(), "{healthy:#?}");
    wanted(&healthy, ("path.cron", "note", "at the head of the crontab"));
    wanted(&healthy, ("path.script", "note", "write `locked` before the command"));

    let path = std::env::var("PATH").expect("PATH");
    let behind = format!("{path}:{}", bed.shims().display());
    let here = findings(bed.doctor(&["path", "--json"]).env("PATH", behind));
    wanted(&here, ("path.here", "fault", "export PATH="));

    fs::write(bed.home().join(".profile"), format!("PATH=$PATH:{}\n", bed.shims().display())).expect("behind");
    bed.finds(&[], ("path.login", "warning", "` at the end of ~/.profile"));
    bed.rc(".profile", "");
    fs::remove_file(bed.home().join(".bashrc")).expect("gone");
    let found = bed.finds(&[], ("path.interactive", "warning", "` at the end of ~/.bashrc"));
    assert!(found["what"].as_str().expect("text").contains("/cat"), "{found}");
}

/// What is said beside a finding about a start file, done to the letter, leaves nothing of it: each shell reads a file of its own.
#[test]
fn a_line_at_the_end_of_the_named_file_is_read() {
    let bed = Bed::new();
    symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    let home = bed.home();
    let fish = home.join(".config/fish");
    fs::create_dir_all(&fish).expect("directory");
    let spoilt = "PATH=/usr/local/bin:/usr/bin:/bin\n";
    let cases: [(&str, &str, &[&str], &str, &str); 5] = [
        ("bash", "path.login", &[".bash_profile"], spoilt, "~/.bash_profile"),
        ("bash", "path.login", &[".bash_login"], spoilt, "~/.bash_login"),
        ("bash", "path.login", &[".profile"], spoilt, "~/.profile"),
        ("zsh", "path.login", &[".zprofile"], spoilt, "/.zprofile"),
        (
            "fish",
            "path.login",
            &[".config/fish/config.fish"],
            "set -gx PATH /usr/local/bin /usr/bin /bin\n",
            "/config.fish",
        ),
    ];
    for (shell, id, files, says, named) in cases {
        for name in [".profile", ".bash_profile", ".bash_login", ".zprofile", ".config/fish/config.fish"] {
            let _there_or_not = fs::remove_file(home.join(name));
        }
        bed.rc(".profile", "");
        files.iter().for_each(|name| fs::write(home.join(name), says).expect("start file"));
        let place = text(&ends(bed.stage.world.command("sh").args(["-c", &format!("command -v {shell}")]), 0).stdout);
        let asked = || {
            findings(
                bed.doctor(&["path", "--json"]).env("SHELL", place.trim()).env("XDG_CONFIG_HOME", home.join(".config")),
            )
        };
        let one = wanted(&asked(), (id, "warning", named));
        let remedy = one["remedy"].as_str().expect("text");
        let (line, file) = (remedy.split('`').nth(1).expect("a line"), remedy.rsplit(' ').next().expect("a file"));
        let file = file.strip_prefix("~/").map_or_else(|| file.into(), |below| home.join(below));
        let before = fs::read_to_string(&file).expect("the named file is there");
        fs::write(&file, format!("{before}{line}\n")).expect("written");
        let after = asked();
        assert!(after.iter().all(|it| it["id"] != id), "{shell} {remedy}: {after:#?}");
    }
    fs::create_dir(fish.join("functions")).expect("directory");
    fs::write(fish.join("functions/gh.fish"), "function gh\n  /usr/bin/gh $argv\nend\n").expect("function");
    let place = text(&ends(bed.stage.world.command("sh").args(["-c", "command -v fish"]), 0).stdout);
    let found = findings(
        bed.doctor(&["path", "--json"]).env("SHELL", place.trim()).env("XDG_CONFIG_HOME", home.join(".config")),
    );
    wanted(&found, ("path.function", "warning", "functions/gh.fish"));
}

/// What comes before every PATH: aliases, functions, places that a shell was told to remember.
#[test]
fn a_word_that_means_something_else_to_the_shell_is_found() {
    let bed = Bed::new();
    for (says, id) in [
        ("alias sops=/usr/local/bin/sops", "path.alias"),
        ("alias docker=podman", "path.alias"),
        ("sops() { /usr/local/bin/sops \"$@\"; }", "path.function"),
        ("hash -p /usr/bin/true sops", "path.hashed"),
    ] {
        fs::write(bed.home().join(".bashrc"), format!("export PATH={}:$PATH\n{says}\n", bed.shims().display()))
            .expect("rc");
        bed.finds(&[], (id, "warning", "~/.bashrc"));
    }
    let harmless = "alias sops='locked sops'; alias gh='gh --help'; docker() { command docker \"$@\"; }";
    bed.rc(".bashrc", harmless);
    let found = bed.findings(&["path"], &[]);
    assert!(wrong(&found).is_empty(), "{found:#?}");
    let function = "() {  /usr/local/bin/sops \"$@\"\n}";
    bed.finds(&[("BASH_FUNC_sops%%", function)], ("path.exported", "fault", "unset -f sops"));
    fs::write(
        bed.home().join(".zshrc"),
        format!("export PATH={}:$PATH\nalias gh=/usr/bin/gh\n", bed.shims().display()),
    )
    .expect("rc");
    bed.rc(".zprofile", "");
    bed.finds(&[("SHELL", "/usr/bin/zsh")], ("path.alias", "warning", "~/.zshrc"));
    let fish = bed.home().join(".config/fish");
    fs::create_dir_all(&fish).expect("directory");
    let text = format!("set -gx PATH {} $PATH\nfunction gh\n  /usr/bin/gh $argv\nend\n", bed.shims().display());
    fs::write(fish.join("config.fish"), text).expect("rc");
    bed.finds(&[("SHELL", "/usr/bin/fish")], ("path.function", "warning", "config.fish"));
}

/// One fault is told once.
#[test]
fn a_shim_that_leads_nowhere_is_no_finding_of_every_path() {
    let bed = Bed::new();
    symlink("/opt/gone/locked", bed.shims().join("cat")).expect("dangling");
    let found = bed.findings(&["shims", "path"], &[]);
    assert_eq!(wrong(&found), ["shims.dangling"], "{found:#?}");
}

#[test]
fn sudo_is_asked_without_a_password_and_believed() {
    let bed = Bed::new();
    symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    let with = |body: &str| {
        let mut command = bed.doctor(&["path", "--json"]);
        findings(command.env("PATH", bed.path_with("sudo", body)))
    };
    let strict = "[ \"$1\" = -n ] || exec sleep 600; shift; PATH=/usr/sbin:/usr/bin:/bin exec \"$@\"";
    wanted(&with(strict), ("path.sudo", "note", "/locked` before the command, or add the folder to secure_path"));
    let asks = with("echo 'sudo: a password is required' >&2; exit 1");
    let untold = wanted(&asks, ("path.sudo", "note", "sudo sh -c"));
    assert!(untold["what"].as_str().expect("text").starts_with("sudo did not say"), "{untold}");
    let keeps = with("shift; exec \"$@\"");
    assert!(keeps.iter().all(|it| it["id"] != "path.sudo"), "{keeps:#?}");
}

/// `sudo -i` leaves who called it in the environment, and is a login shell of root's: that the user's folder is not on its PATH
/// is as it should be.
#[test]
fn root_s_login_shell_by_sudo_is_not_told_of_the_user_s_folder() {
    if !rustix::process::geteuid().is_root() {
        return left_out(this_test!(), "this user is not root");
    }
    let bed = Bed::new();
    let data = bed.stage.world.root().join("data/locked");
    std::fs::create_dir_all(&data).expect("directory");
    symlink(bed.shims(), data.join("shims")).expect("the user's folder");
    for file in [".profile", ".bashrc"] {
        std::fs::write(bed.home().join(file), "").expect("start file");
    }
    let asked = |variables: &[(&str, &str)]| {
        let mut command = bed.doctor(&["path", "--json"]);
        command.env_remove("LOCKED_SHIMS_DIR").env("XDG_DATA_HOME", bed.stage.world.root().join("data"));
        findings(command.env("PATH", "/usr/bin:/bin").envs(variables.iter().copied()))
    };
    let named = |found: &[serde_json::Value]| format!("{found:?}").contains("data/locked/shims");
    let by_sudo = asked(&[("SUDO_UID", "65534"), ("SUDO_GID", "65534")]);
    if std::path::Path::new("/usr/local/lib/locked/shims").is_dir() {
        left_out(this_test!(), "this machine has shims of a system");
    } else {
        assert!(wrong(&by_sudo).is_empty() && !named(&by_sudo), "{by_sudo:#?}");
        wanted(&by_sudo, ("path.lent", "note", "--system"));
    }
    // Root's own folder is another matter.
    let own = asked(&[]);
    assert!(named(&own), "{own:#?}");
    wanted(&own, ("path.login", "warning", "at the end of ~/.profile"));
}

#[test]
fn a_job_of_cron_that_passes_the_shims_by_is_found() {
    let bed = Bed::new();
    symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    let with = |table: &str| {
        let mut command = bed.doctor(&["path", "--json"]);
        let says = format!("[ \"$*\" = -l ] && printf '%s\\n' '{table}'");
        findings(command.env("PATH", bed.path_with("crontab", &says)))
    };
    let passed = wanted(
        &with("# jobs\n0 5 * * * cd /srv && cat secrets"),
        ("path.crontab", "warning", "write `locked cat` there"),
    );
    assert!(passed["what"].as_str().expect("text").starts_with("line 2 of the crontab calls cat"), "{passed}");
    let shims = bed.shims().display().to_string();
    for sound in
        [format!("PATH={shims}:/usr/bin:/bin\n@daily cat x"), "0 5 * * * locked cat x".to_owned(), String::new()]
    {
        assert!(wrong(&with(&sound)).is_empty(), "{sound}");
    }
}

/// Every shell that is here reads its own files and is understood.
#[test]
fn shells_of_all_kinds_are_asked_in_their_own_way() {
    let bed = Bed::new();
    symlink(env!("CARGO_BIN_EXE_locked"), bed.shims().join("cat")).expect("shim");
    let mut asked = 0;
    for (shell, login, other) in
        [("bash", ".profile", Some(".bashrc")), ("zsh", ".zprofile", Some(".zshrc")), ("dash", ".profile", None)]
    {
        let place = bed.stage.world.command("sh").args(["-c", &format!("command -v {shell}")]).output().expect("sh");
        let place = text(&place.stdout).trim().to_owned();
        if place.is_empty() {
            continue;
        }
        asked += 1;
        for file in [Some(login), other].into_iter().flatten() {
            bed.rc(file, "");
        }
        let found = findings(bed.doctor(&["path", "--json"]).env("SHELL", OsStr::new(&place)));
        let passed = wrong(&found);
        let expected: &[&str] = if other.is_some() { &[] } else { &["path.interactive"] };
        assert_eq!(passed, expected, "{shell}: {found:#?}");
    }
    assert!(asked > 0, "bash is a need of the tests");
}
