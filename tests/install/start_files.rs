//! The lines in start files of shells: they do what they say in real shells, and go without a trace.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use super::place::{home, install, small, tree, uninstall};
use crate::run::stage::{says, silent};
use crate::world::World;

const ALL: [&str; 9] =
    ["--modify-path", "--shell", "bash", "--shell", "zsh", "--shell", "fish", "--shell", "powershell"];

fn installed(world: &World) -> String {
    let binary = small(world).display().to_string();
    says(install(world, &["--binary", &binary]).args(ALL), 0)
}

/// What a start file may be before.
const BEFORE: [(&str, Option<&str>); 8] = [
    (".bashrc", Some("export A=1")),
    (".profile", Some("# ünï\n\n\n")),
    (".bash_profile", Some("")),
    (".zshenv", Some("a\r\nb\r\n")),
    (".zprofile", Some("\n")),
    (".zshrc", None),
    (".config/fish/config.fish", Some("set x 1")),
    (".config/powershell/profile.ps1", Some("$a = 1\r\n$b = 2")),
];

#[test]
fn start_files_are_byte_for_byte_as_before() {
    let world = World::new();
    let home = home(&world);
    for (name, content) in BEFORE {
        let path = home.join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        if let Some(content) = content {
            fs::write(&path, content).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("mode");
        }
    }
    // A link into a repository of such files, as many have it.
    fs::create_dir(home.join("dotfiles")).expect("directory");
    fs::rename(home.join(".bashrc"), home.join("dotfiles/bashrc")).expect("moved");
    symlink("dotfiles/bashrc", home.join(".bashrc")).expect("linked");
    let before = tree(&home);

    let said = installed(&world);
    let after = tree(&home);
    for (name, _) in BEFORE.iter().filter(|(name, _)| !name.ends_with("config.fish")) {
        assert!(said.contains(name), "{name} is named: {said}");
        let text = fs::read_to_string(home.join(name)).expect(name);
        assert_eq!(text.matches(">>> locked").count(), 1, "{name}: {text}");
    }
    assert!(home.join(".config/fish/conf.d/locked.fish").exists());
    assert_eq!(before[&home.join(".bashrc").strip_prefix(&home).expect("below").to_owned()].0 & 0o170_000, 0o120_000);
    assert!(fs::symlink_metadata(home.join(".bashrc")).expect("there").is_symlink(), "the link stays");

    // Once more changes nothing, also when it is not asked for.
    installed(&world);
    assert_eq!(tree(&home), after);
    let binary = small(&world).display().to_string();
    says(&mut install(&world, &["--binary", &binary]), 0);
    assert_eq!(tree(&home), after);
    says(&mut uninstall(&world), 0);
    assert_eq!(tree(&home), before);
}

/// A file with two names keeps both; one with NUL bytes, of which nothing could be taken out again, is refused first.
#[test]
fn other_names_of_a_start_file_stay_its_names_and_no_text_is_refused() {
    use std::os::unix::fs::MetadataExt as _;
    let world = World::new();
    let home = home(&world);
    let (bashrc, other) = (home.join(".bashrc"), home.join("dotfile"));
    fs::write(&bashrc, "export A=1").expect("written");
    fs::hard_link(&bashrc, &other).expect("linked");
    let before = tree(&home);
    installed(&world);
    says(&mut uninstall(&world), 0);
    assert_eq!(tree(&home), before);
    let number = |path| fs::metadata(path).expect("there").ino();
    assert_eq!(number(&bashrc), number(&other));

    fs::write(&bashrc, b"export A=1\n\0\n").expect("written");
    let before = tree(&home);
    let binary = small(&world).display().to_string();
    let said = says(install(&world, &["--binary", &binary]).args(ALL), 65);
    assert!(said.contains(".bashrc has NUL bytes") && said.contains("--shell"), "{said}");
    assert_eq!(tree(&home), before, "nothing is installed");
    fs::write(&bashrc, "export A=1\n").expect("written");
    installed(&world);
    let text = [fs::read(&bashrc).expect("text"), b"\0\n".to_vec()].concat();
    fs::write(&bashrc, text).expect("written");
    let said = says(&mut uninstall(&world), 73);
    assert!(said.contains("has NUL bytes, and lines about locked"), "{said}");
}

#[test]
fn what_somebody_wrote_around_the_lines_stays_and_lines_without_an_end_are_left_alone() {
    let world = World::new();
    let bashrc = home(&world).join(".bashrc");
    fs::write(&bashrc, "first").expect("written");
    installed(&world);
    let text = fs::read_to_string(&bashrc).expect("text");
    fs::write(&bashrc, text.clone() + "later\n").expect("written");
    // Of an older version, whose lines were others.
    let profile = home(&world).join(".profile");
    let older = fs::read_to_string(&profile).expect("text").replace("if [ -r", "if [ -e");
    fs::write(&profile, older).expect("written");
    installed(&world);
    let text = fs::read_to_string(&profile).expect("text");
    assert!(text.matches(">>> locked").count() == 1 && text.contains("if [ -r"), "{text}");
    let zshrc = home(&world).join(".zshrc");
    let cut = fs::read_to_string(&zshrc).expect("text").replace("# <<< locked <<<", "") + "precious\n";
    fs::write(&zshrc, &cut).expect("written");
    let said = says(&mut uninstall(&world), 73);
    assert_eq!(fs::read_to_string(&bashrc).expect("text"), "first\nlater\n");
    assert!(said.contains("have no end") && said.contains(".zshrc"), "{said}");
    assert_eq!(fs::read_to_string(&zshrc).expect("text"), cut);
}

/// Login, interactive, neither; and a version manager that puts its own folder first before we come.
#[test]
fn in_every_shell_the_shims_come_first_once() {
    let world = World::new();
    let home = home(&world);
    let shims = world.root().join("shims");
    fs::create_dir_all(&shims).expect("directory");
    fs::create_dir(home.join("other")).expect("directory");
    for start in [".bashrc", ".profile", ".zshenv", ".zprofile", ".zshrc"] {
        fs::write(home.join(start), "PATH=$HOME/other:$PATH").expect("written");
    }
    installed(&world);
    let cases: [(&str, &[&str]); 9] = [
        ("sh", &["-l"]),
        ("bash", &["-l"]),
        ("bash", &["-i"]),
        ("bash", &["-l", "-i"]),
        ("zsh", &[]),
        ("zsh", &["-l"]),
        ("zsh", &["-i"]),
        ("fish", &[]),
        ("fish", &["-l"]),
    ];
    let own = |command: &mut Command| silent(command.stderr(std::process::Stdio::null()));
    for (shell, how) in cases {
        // Already on PATH, at the end and with the folder named twice: it moves to the front.
        let path = format!("/usr/bin:/bin:{0}:{0}", shims.display());
        let said = own(world.command(shell).args(how).args(["-c", "printenv PATH"]).env("PATH", path));
        let folders: Vec<&str> = said.trim().split(':').collect();
        assert_eq!(folders[0], shims.display().to_string(), "{shell} {how:?}: {said}");
        assert_eq!(folders.iter().filter(|folder| **folder == folders[0]).count(), 1, "{shell} {how:?}: {said}");
        assert!(folders.contains(&&*home.join(".local/bin").display().to_string()), "{shell} {how:?}: {said}");
    }
    // Where the folder lies, `LOCKED_SHIMS_DIR` may say; a relative one is nobody's.
    let elsewhere = world.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("directory");
    for shell in ["sh", "zsh", "fish"] {
        let ask = |value: &str| {
            let mut command = world.command(shell);
            own(command.args(["-l", "-c", "printenv PATH"]).env("LOCKED_SHIMS_DIR", value).current_dir(world.root()))
        };
        assert!(ask(&elsewhere.display().to_string()).starts_with(&format!("{}:", elsewhere.display())), "{shell}");
        assert!(!ask("elsewhere").starts_with("elsewhere"), "{shell}");
    }
}

#[test]
fn the_snippets_stand_strict_shells_and_shellcheck() {
    let world = World::new();
    let snippet = super::place::checkout("shims/shell/bash.sh");
    silent(world.command("shellcheck").arg(&snippet));
    for shell in ["dash", "bash"] {
        let script = format!("set -eu; . '{}'; echo ${{_locked_rest-gone}}", snippet.display());
        let said = silent(world.command(shell).args(["-c", &script]).env_remove("HOME"));
        assert_eq!(said, "gone\n", "{shell}");
    }
}
