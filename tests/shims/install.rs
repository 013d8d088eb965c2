//! `locked shims install`, `list`, `remove` and `path`.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use serde_json::Value;

use crate::world::apart::{as_root, first_that_runs, this_test};
use crate::world::board::{install as copy, json, write_program};
use crate::world::ends::{ends, left_out, says, text};

use super::{LOCKED, Place, names};

/// A place without shims.
fn bare() -> Place {
    let place = Place::new();
    fs::remove_dir_all(place.at("shims")).expect("no shims");
    place
}

fn said(place: &Place, words: &[&str], path: &[&str]) -> String {
    text(&ends(place.shims(words).env("PATH", place.path(path)), 0).stdout)
}

#[test]
fn the_ready_tools_and_those_that_are_asked_for() {
    let place = bare();
    let config = place.directory("config/locked");
    let rules = "[[rule]]\nname = \"n8n\"\nprogram = [\"n8nctl\"]\nresource = \"container:n8n\"\n\
        [[rule]]\nname = \"far\"\nprogram = \"elsewhere\"\non = \"remote\"\nresource = \"a:b\"\n";
    fs::write(config.join("config.toml"), rules).expect("rules");
    let ready = ["docker", "docker-compose", "gh", "sops"];
    for (words, more) in [
        (&[][..], &[][..]),
        (&["--all"], &["rsync", "scp", "sftp", "ssh"]),
        (&["--from-rules"], &["n8nctl", "podman"]),
        (&["tool", "tool"], &["tool"]),
    ] {
        let folder = tempfile::tempdir_in(place.world.root()).expect("folder");
        let folder = folder.path().join("a/b").to_str().expect("UTF-8").to_owned();
        let mut command = place.shims(&[&["install", "--dir", &folder], words].concat());
        ends(command.env("XDG_CONFIG_HOME", place.at("config")), 0);
        let found = names(Path::new(&folder));
        let missing: Vec<_> = more.iter().filter(|name| !found.iter().any(|found| found == *name)).collect();
        assert!(missing.is_empty(), "{words:?}: {missing:?} of {found:?}");
        assert_eq!(ready.iter().all(|name| found.iter().any(|found| found == name)), words != ["tool", "tool"]);
        for never in ["never", "elsewhere", "locked", "x"] {
            assert!(!found.iter().any(|found| found == never), "{words:?}: {found:?}");
        }
        if words.is_empty() {
            assert_eq!(found, ready);
        }
    }
}

#[test]
fn twice_is_once_and_what_is_left_to_do_is_said() {
    let place = bare();
    let first = said(&place, &["install", "tool", "absent"], &["real"]);
    let shims = place.at("shims").display().to_string();
    assert!(first.starts_with(&format!("{shims} has shims of tool absent\n")), "{first}");
    assert!(first.contains("not installed here: absent; until then its shim ends with 127"), "{first}");
    assert!(first.contains(&format!("export PATH={shims}:\"$PATH\"")) && first.contains("hash -r"), "{first}");
    let before = fs::symlink_metadata(place.at("shims/tool")).expect("shim").modified().expect("time");

    let again = said(&place, &["install", "tool"], &["shims", "real"]);
    assert_eq!(again, format!("{shims} has shims of tool\n"), "nothing is left to do");
    assert_eq!(fs::symlink_metadata(place.at("shims/tool")).expect("shim").modified().expect("time"), before);

    let behind = said(&place, &["install", "tool"], &["real", "shims"]);
    assert!(behind.contains("real/tool is found before the shim, so that it runs without locked"), "{behind}");
    assert!(behind.contains("export PATH="), "{behind}");
    let mode = fs::metadata(place.at("shims")).expect("folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "others may follow the links, and change none");
}

#[test]
fn what_it_says_in_json() {
    let place = bare();
    write_program(&place.at("real/gh"), "#!/bin/sh\n");
    fs::create_dir(place.at("shims")).expect("folder");
    fs::write(place.at("shims/gh"), "somebody's").expect("foreign");
    let mut install = place.shims(&["install", "--json", "tool", "gh"]);
    let output = ends(install.env("PATH", place.path(&["shims", "real"])), 78);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["folder"], place.at("shims").to_str().expect("UTF-8"));
    assert_eq!((&answer["on_path"], &answer["shims"][0]["result"]), (&true.into(), &"made".into()));
    assert_eq!((&answer["shims"][0]["stands"], &answer["shims"][1]["result"]), (&"first".into(), &"refused".into()));
    let listed: Value = json(place.shims(&["list", "--json"]).env("PATH", place.path(&["real", "shims"])));
    assert_eq!(listed.as_array().expect("list").len(), 1);
    let [stands, before] = ["stands", "before"].map(|field| listed[0][field].clone());
    assert_eq!((stands, before), ("behind".into(), place.at("real/tool").to_str().expect("UTF-8").into()));
}

#[test]
fn what_is_not_ours_stays_and_what_is_no_name_is_refused() {
    let place = bare();
    fs::create_dir(place.at("shims")).expect("folder");
    symlink("/bin/sh", place.at("shims/tool")).expect("link");
    fs::create_dir(place.at("shims/one")).expect("directory");
    symlink("/nowhere/else", place.at("shims/two")).expect("dangling");
    for name in ["tool", "one", "two"] {
        for verb in ["install", "remove"] {
            let refused = says(&mut place.shims(&[verb, name, "three"]), 78);
            assert!(refused.contains(&format!("shims/{name} is not ours")), "{verb}: {refused}");
            // The others are done all the same.
            assert_eq!(place.at("shims/three").exists(), verb == "install", "{verb} {name}");
        }
    }
    assert_eq!(names(&place.at("shims")), ["one", "tool", "two"]);
    for name in ["locked", "locked-0.2", "a/b", "/bin/sh", "", ".x"] {
        says(&mut place.shims(&["install", "--", name]), 64);
        says(&mut place.shims(&["remove", "--", name]), 64);
    }
    says(&mut place.shims(&["remove"]), 64);
    says(&mut place.shims(&["install", "--dir", "x", "--system"]), 64);
    assert_eq!(names(&place.at("shims")), ["one", "tool", "two"]);
}

#[test]
fn they_lead_to_a_path_that_lasts() {
    let place = bare();
    copy(LOCKED, &place.directory("cellar/1").join("locked"), "0755");
    copy(LOCKED, &place.directory("cellar/2").join("locked"), "0755");
    let launcher = place.directory("bin").join("locked");
    symlink("../cellar/1/locked", &launcher).expect("launcher");
    let leads_to = || fs::read_link(place.at("shims/tool")).expect("shim");
    // As PATH finds it, also when it is called by its real path; else as it is called.
    for (program, path) in [("cellar/1/locked", "bin"), ("bin/locked", "real")] {
        let mut install = place.world.command(place.at(program));
        ends(install.args(["shims", "install", "tool"]).env("PATH", place.path(&[path])), 0);
        assert_eq!(leads_to(), launcher, "{program}");
    }
    let mut relative = place.world.command("../bin/../bin/./locked");
    ends(relative.args(["shims", "install", "tool"]).env("PATH", "/nowhere"), 0);
    assert!(leads_to().is_absolute() && leads_to().ends_with("bin/locked"), "{:?}", leads_to());
    // The next version comes, and the one before goes.
    ends(place.world.command(&launcher).args(["shims", "install", "tool"]).env("PATH", place.path(&["bin"])), 0);
    fs::remove_file(&launcher).expect("launcher");
    fs::remove_dir_all(place.at("cellar/1")).expect("the old version");
    let broken = said(&place, &["list"], &["shims", "real"]);
    assert!(broken.contains("broken") && broken.contains("where locked is no longer"), "{broken}");
    symlink("../cellar/2/locked", &launcher).expect("launcher");
    place.ends_at_the_real(&["shims", "real"]);
    // Or it goes to another place; then they are made anew.
    fs::remove_file(&launcher).expect("launcher");
    said(&place, &["install", "tool"], &["real"]);
    place.ends_at_the_real(&["shims", "real"]);
}

#[test]
fn list_and_remove_know_what_is_ours() {
    let place = bare();
    assert!(said(&place, &["list"], &["real"]).contains("no shims in"));
    assert_eq!(said(&place, &["path"], &["real"]), format!("{}\n", place.at("shims").display()));
    assert_eq!(said(&place, &["path", "--system"], &["real"]), "/usr/local/lib/locked/shims\n");
    said(&place, &["install", "tool", "one", "two"], &["real"]);
    // The program itself and others may lie in the same folder.
    copy(LOCKED, &place.at("shims/locked"), "0755");
    copy(LOCKED, &place.at("shims/copied"), "0755");
    copy("/bin/sh", &place.at("shims/other"), "0755");
    let list = said(&place, &["list"], &["shims", "real"]);
    let tools: Vec<_> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(tools, ["copied", "one", "tool", "two"]);
    let tool = list.lines().find(|line| line.starts_with("tool")).expect("tool");
    assert!(tool.contains("first") && tool.ends_with("real/tool"), "{list}");
    assert_eq!(said(&place, &["remove", "one", "none"], &["real"]), "removed one; no shim of none\n");
    assert_eq!(said(&place, &["remove", "--all"], &["real"]), "removed copied tool two\n");
    assert_eq!(names(&place.at("shims")), ["locked", "other"]);
    assert_eq!(said(&place, &["remove", "--all"], &["real"]), "no shims\n");
}

/// A shell that knows where the program was goes there until it is told to forget.
#[test]
fn a_shell_that_ran_the_program_before_must_be_told() {
    let place = bare();
    fs::create_dir(place.at("shims")).expect("folder");
    write_program(&place.at("real/docker"), "#!/bin/sh\necho \"${LOCKED_RESOURCES-bare}\"\n");
    let line = "docker compose -p shop down; \"$LOCKED\" shims install docker | tail -n 1\n\
        docker compose -p shop down; hash -r; docker compose -p shop down";
    let mut shell = place.world.command("/bin/bash");
    shell.args(["--norc", "-c", line]).env("LOCKED", LOCKED);
    shell.env("PATH", place.path(&["shims", "real", "=/usr/bin", "=/bin"]));
    let output = ends(&mut shell, 0);
    let said = text(&output.stdout);
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[1].contains("hash -r"), "{said}");
    assert_eq!([lines[0], lines[2], lines[3]], ["bare", "bare", "container:shop"]);
}

#[test]
fn a_place_that_cannot_be_had_is_said() {
    let place = bare();
    fs::write(place.at("file"), "").expect("file");
    let folder = place.at("file").join("shims").to_str().expect("UTF-8").to_owned();
    let refused = says(&mut place.shims(&["install", "--dir", &folder, "tool"]), 78);
    assert!(refused.contains("a file stands in its way"), "{refused}");
    let refused = says(&mut place.shims(&["install", "--dir", "/proc/locked/shims", "tool"]), 78);
    assert!(
        refused.contains("/proc/locked/shims cannot be made: ") && refused.contains("`ls -ld /proc/locked`"),
        "{refused}"
    );
}

/// A folder that no PATH can name, or that is none, is refused by whoever would have people put it there, and nothing is made.
#[test]
fn a_folder_that_guards_nothing_is_refused() {
    let place = bare();
    fs::write(place.at("file"), "").expect("file");
    symlink("nowhere", place.at("link")).expect("link");
    let wrong = [
        ("here", "LOCKED_SHIMS_DIR is relative", "export LOCKED_SHIMS_DIR=/"),
        (&*place.at("a:b").display().to_string(), "PATH would take it for two", "name another folder"),
        (&*place.at("a\nb").display().to_string(), "control characters", "name another folder"),
        (&*place.at("file").display().to_string(), "it is no directory", "name another folder"),
        (&*place.at("link").display().to_string(), "leads nowhere", "name another folder"),
    ];
    for (folder, why, next) in wrong {
        for verb in [&["install", "tool"][..], &["list"], &["path"], &["install", "--json", "tool"]] {
            let mut command = place.shims(verb);
            let output = ends(command.env("LOCKED_SHIMS_DIR", folder), 78);
            let refused = text(&output.stderr);
            assert!(refused.contains(why) && refused.contains(&format!("next:  {next}")), "{verb:?}: {refused}");
            assert!(output.stdout.is_empty() && refused.lines().count() <= 5, "{verb:?}: {refused}");
        }
    }
    says(&mut place.shims(&["install", "--dir", "x:y", "tool"]), 78);
    assert_eq!(fs::read_dir(place.world.work()).expect("work").count(), 0);
    assert_eq!(names(place.world.root()), ["file", "home", "key.txt", "link", "real", "state", "tmp", "work"]);
}

/// What was made, what was not and why is said; the line to type moves what is somebody's aside, and then all is there.
#[test]
fn what_stands_in_the_way_is_told_with_a_line_that_helps() {
    let place = bare();
    fs::create_dir_all(place.at("my shims/two")).expect("folder");
    fs::write(place.at("my shims/one"), "somebody's").expect("file");
    fs::write(place.at("my shims/.one.kept"), "of before").expect("file");
    let folder = place.at("my shims").display().to_string();
    let refused = says(&mut place.shims(&["install", "--dir", &folder, "tool", "one", "two"]), 78);
    assert!(refused.contains("/my shims/one' is not ours, and stays as it is; '"), "{refused}");
    assert!(
        refused.contains("\nwhy:   what is not a shim of locked may be somebody's; made: shims of tool\n"),
        "{refused}"
    );
    assert_eq!(refused.lines().count(), 4, "{refused}");
    let next = refused.lines().find_map(|line| line.strip_prefix("next:  ")).expect("a line to type");
    let bin = Path::new(LOCKED).parent().expect("bin").to_str().expect("UTF-8").to_owned();
    let mut typed = place.world.command("/bin/sh");
    ends(typed.args(["-c", next]).env("PATH", place.path(&[&format!("={bin}"), "=/usr/bin", "=/bin"])), 0);
    assert_eq!(names(Path::new(&folder)), [".one.kept", ".one.kept-1", ".two.kept", "one", "tool", "two"]);
    assert_eq!(fs::read_to_string(place.at("my shims/.one.kept-1")).expect("file"), "somebody's");
    assert!(fs::symlink_metadata(place.at("my shims/one")).expect("shim").is_symlink());

    fs::write(place.at("my shims/three"), "somebody's").expect("file");
    let nothing = says(&mut place.shims(&["install", "--dir", &folder, "three"]), 78);
    assert!(nothing.contains("; no shim was made\n"), "{nothing}");
    let left = says(&mut place.shims(&["remove", "--dir", &folder, "three", "one"]), 78);
    assert!(left.contains("removed: one") && left.contains("next:  ls -ld '"), "{left}");
}

/// Where the program itself stands, it stays: moved aside it would be behind no shim.
#[test]
fn nobody_is_told_to_move_the_program_itself() {
    let place = Place::new();
    let real = place.at("real").display().to_string();
    let mut install = place.shims(&["install", "--dir", &real, "tool"]);
    let refused = says(install.env("PATH", place.path(&["shims", "real"])), 78);
    assert!(refused.contains("next:  give the shims a folder of their own") && !refused.contains("mv "), "{refused}");
}

/// Names that do not show as themselves are not made; those that are there are shown escaped, and can be taken away.
#[test]
fn no_name_reaches_a_terminal_as_it_is() {
    let place = bare();
    for name in ["a\nb", "\u{1b}[2J", "a\u{202e}b", "tab\tbed", "\u{7f}"] {
        let refused = says(&mut place.shims(&["install", "--", name]), 64);
        assert!(refused.contains("only letters that show") && refused.lines().count() <= 5, "{refused:?}");
        assert!(!refused.contains(name), "{refused:?}");
    }
    let folder = place.directory("\u{1b}[31m \u{202e}red");
    symlink(LOCKED, folder.join("\u{1b}[2J")).expect("link");
    symlink("/nowhere/\u{1b}[2J/locked", folder.join("a\nb")).expect("link");
    fs::write(folder.join("tool"), "somebody's").expect("file");
    write_program(&place.at("real/\u{1b}[2J"), "#!/bin/sh\n");
    let path = std::env::join_paths([place.at("real"), folder.clone()]).expect("PATH");
    let folder = folder.to_str().expect("UTF-8").to_owned();
    for (words, status) in [
        (&["list"][..], 78),
        (&["install", "tool", "my tool"], 78),
        (&["remove", "tool", "\u{1b}[2J"], 78),
        (&["remove", "none\n"], 0),
    ] {
        let mut command = place.shims(words);
        command.env("PATH", &path).env("LOCKED_SHIMS_DIR", &folder);
        let output = ends(&mut command, status);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(!all.contains(['\u{1b}', '\u{202e}']), "{words:?}: {all:?}");
    }
    let calm = place.directory("calm");
    symlink(LOCKED, calm.join("\u{1b}[2J")).expect("link");
    symlink("/nowhere/\u{1b}[2J/locked", calm.join("a\nb")).expect("link");
    let calm = calm.to_str().expect("UTF-8").to_owned();
    let listed = said(&place, &["list", "--dir", &calm], &["real", "calm"]);
    assert!(listed.contains(r#""$(printf '\033[2J')""#), "{listed}");
    assert!(!listed.contains('\u{1b}') && listed.contains(r#""$(printf 'a\012b')""#), "{listed}");
    assert_eq!(
        said(&place, &["remove", "--dir", &calm, "--all"], &["real"]),
        "removed \"$(printf '\\033[2J')\" \"$(printf 'a\\012b')\"\n"
    );
}

/// Tools with a dot or a space are tools.
#[test]
fn a_name_may_have_what_names_have() {
    let place = bare();
    for name in ["python3.12", "my tool", "ü"] {
        place.script(&format!("real/{name}"), "echo real");
        said(&place, &["install", "--", name], &["shims", "real"]);
        let mut call = place.world.command(place.at("shims").join(name));
        assert_eq!(text(&ends(call.env("PATH", place.path(&["shims", "real"])), 0).stdout), "real\n", "{name}");
        let list = said(&place, &["list"], &["shims", "real"]);
        assert!(list.contains("first"), "{list}");
    }
}

/// Whoever may not write where a system's shims are is told the line for who may; sudo does not look where a user installs.
#[test]
fn a_system_s_shims_are_not_for_an_ordinary_user_to_make() {
    if Path::new("/usr/local/lib/locked/shims").exists() {
        return left_out(this_test!(), "this machine has shims of a system");
    }
    let user: u32 = if rustix::process::geteuid().is_root() { 65_534 } else { rustix::process::geteuid().as_raw() };
    // Where anybody may start it.
    let place = tempfile::tempdir().expect("place");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    let binary = place.path().join("locked");
    copy(LOCKED, &binary, "0755");
    let mut command = std::process::Command::new(&binary);
    command.args(["shims", "install", "--system", "tool"]).current_dir("/").env_clear().env("PATH", "/usr/bin:/bin");
    if rustix::process::geteuid().is_root() {
        command.uid(user).gid(user);
    }
    let refused = says(&mut command, 78);
    assert!(refused.contains("/usr/local/lib/locked/shims cannot be made: Permission denied"), "{refused}");
    let for_all = "next:  install it for everybody, `sudo install/install.sh --system --shims` in a checkout or an unpacked release\n";
    let next = format!("next:  sudo {} shims install --system\n", binary.display());
    let next = if rustix::process::geteuid().is_root() { &next } else { for_all };
    assert!(refused.ends_with(next) && refused.lines().count() == 4, "{refused}");
    assert!(!Path::new("/usr/local/lib/locked").exists(), "nothing is half made");
}

/// What everybody's shims lead to everybody must come to, and nobody but root may change.
#[test]
fn a_system_s_shims_lead_to_nothing_that_is_somebody_s_own() {
    if !as_root(this_test!()) {
        return;
    }
    let place = tempfile::tempdir().expect("place");
    let own = place.path().join("bin");
    fs::create_dir(&own).expect("directory");
    let binary = own.join("locked");
    copy(LOCKED, &binary, "0755");
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    let line = format!(
        "mount -t tmpfs none /usr/local && chmod 755 /usr/local && '{}' shims install --system tool; status=$?; \
         readlink /usr/local/lib/locked/shims/tool; exit $status",
        binary.display()
    );
    let run = || {
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", &line]).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command
    };
    if first_that_runs(&[&["unshare", "--mount"]]).is_none() {
        return left_out(this_test!(), "no mount namespace for this user");
    }
    let open = |mode: u32| [place.path(), &own].into_iter().for_each(|part| set(part, mode));
    open(0o755);
    let done = text(&ends(&mut run(), 0).stdout);
    assert!(done.ends_with(&format!("{}\n", binary.display())), "{done}");
    type Plant<'a> = (&'a Path, u32, Option<u32>, &'a str);
    let plants: [Plant<'_>; 4] = [
        (place.path(), 0o750, None, "others may not come there"),
        (&own, 0o777, None, "everybody may write there (777)"),
        (&binary, 0o757, None, "everybody may write there (757)"),
        (&binary, 0o755, Some(65_534), "it belongs to user 65534"),
    ];
    for (part, mode, owner, why) in plants {
        open(0o755);
        std::os::unix::fs::chown(&binary, Some(owner.unwrap_or(0)), None).expect("owner");
        set(&binary, 0o755);
        set(part, mode);
        let refused = ends(&mut run(), 78);
        assert_eq!(text(&refused.stdout), "", "no shim was made");
        let said = text(&refused.stderr);
        assert!(said.contains(&format!("is no program for everybody: {}: {why}", part.display())), "{said}");
        assert!(
            said.ends_with("`sudo install/install.sh --system --shims` in a checkout or an unpacked release\n"),
            "{said}"
        );
    }
}

/// A folder in which others may put programs is told of, with the line that closes it.
#[test]
fn a_folder_that_is_open_to_others_is_told_of() {
    let place = bare();
    let folder = place.directory("open");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("mode");
    let words = ["install", "--dir", folder.to_str().expect("UTF-8"), "tool"];
    let told = said(&place, &words, &["real"]);
    let close = format!("    chmod o-w {}\n", folder.display());
    assert!(told.contains("everybody may write there (777)") && told.contains(&close), "{told}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("mode");
    assert!(!said(&place, &words, &["real"]).contains("others can change"));
    assert!(says(&mut place.shims(&["install", "sops,docker"]), 64).contains("is no name of a program"));
}

/// Another folder than the ready one is looked at by its name, from where one stands.
#[test]
fn the_shims_of_a_folder_that_is_named_are_listed() {
    let place = bare();
    said(&place, &["install", "tool"], &["real"]);
    let other = place.directory("work/other shims");
    said(&place, &["install", "--dir", "other shims", "gh"], &["real"]);
    assert_eq!((names(&other), names(&place.at("shims"))), (vec!["gh".to_owned()], vec!["tool".to_owned()]));
    let of = |words: &[&str]| -> Vec<String> {
        let listed = said(&place, &[&["list"], words].concat(), &["shims", "work/other shims", "real"]);
        listed.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(of(&["--dir", "other shims"]), ["gh first -"]);
    assert_eq!(of(&[]), [format!("tool first {}", place.at("real/tool").display())]);
    let listed: Value = json(&mut place.shims(&["list", "--json", "--dir", "other shims"]));
    assert_eq!(listed[0]["path"], other.join("gh").to_str().expect("UTF-8"));
    let none = said(&place, &["list", "--dir", "none"], &["real"]);
    assert_eq!(none, format!("no shims in {}\n", other.with_file_name("none").display()));
    says(&mut place.shims(&["list", "--dir", "x", "--system"]), 64);
}

/// For programs, byte for byte.
#[test]
fn the_folder_is_printed_as_it_is() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = bare();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9 shims");
    let folder = place.world.root().join(name);
    let mut command = place.shims(&["path"]);
    let output = ends(command.env("LOCKED_SHIMS_DIR", &folder), 0);
    assert_eq!(output.stdout, [folder.as_os_str().as_bytes(), b"\n"].concat());
}
