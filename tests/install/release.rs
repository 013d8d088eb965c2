//! `install/release`: archives that are the same whoever packs them, and that `install.sh` takes.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place::{checkout, executable, home, install, small, tree};
use crate::run::stage::{ends, says, silent, text};
use crate::world::World;

const TARGET: &str = "x86_64-unknown-linux-musl";

fn name() -> String {
    format!("locked-{}-{TARGET}", env!("CARGO_PKG_VERSION"))
}

/// Packs a binary into this directory.
fn pack(world: &World, script: &Path, binary: &Path, out: &Path) -> Command {
    let mut command = world.command(script);
    command.args(["--target", TARGET, "--binary"]).arg(binary).arg("--out").arg(out);
    command.env("SOURCE_DATE_EPOCH", "1700000000");
    command
}

fn packed(world: &World) -> PathBuf {
    let out = world.root().join("archives");
    let said = silent(&mut pack(world, &checkout("install/release"), &small(world), &out));
    let archive = out.join(format!("{}.tar.gz", name()));
    assert_eq!(said.trim(), archive.display().to_string());
    archive
}

/// The second one from a copy of the checkout, with other times and a stricter umask.
#[test]
fn two_packings_are_equal_byte_for_byte_and_their_checksums_hold() {
    let world = World::new();
    let first = packed(&world);
    let copy = world.root().join("copy");
    fs::create_dir(&copy).expect("directory");
    for part in ["install", "shims", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "Cargo.toml"] {
        ends(world.command("cp").arg("-R").arg(checkout(part)).arg(&copy), 0);
    }
    let other = world.root().join("other");
    let binary = world.root().join("another place");
    executable(&binary, &fs::read_to_string(small(&world)).expect("binary"));
    let mut again = pack(&world, &copy.join("install/release"), &binary, &other);
    let line = "umask 077; exec \"$0\" \"$@\" </dev/null";
    let mut strict = world.command("sh");
    strict.args(["-c", line]).arg(again.get_program()).args(again.get_args()).env("SOURCE_DATE_EPOCH", "1700000000");
    silent(&mut strict);
    let second = other.join(first.file_name().expect("name"));
    assert!(fs::read(&first).expect("first") == fs::read(second).expect("second"), "they differ");
    // Another moment is another archive: the first comparison could have failed.
    silent(again.env("SOURCE_DATE_EPOCH", "1700000001"));
    assert!(fs::read(&first).expect("first") != fs::read(other.join(first.file_name().expect("name"))).expect("other"));

    let directory = first.parent().expect("directory");
    silent(world.command("sha256sum").args(["--check", "--status", "SHA256SUMS"]).current_dir(directory));
    let listed = silent(world.command("tar").args(["-tvzf"]).arg(&first));
    let names: Vec<&str> = listed.lines().map(|line| line.rsplit(' ').next().expect("name")).collect();
    assert!(names.is_sorted() && names.iter().all(|path| path.starts_with(&name())), "{listed}");
    assert!(listed.lines().all(|line| line.contains(" 0/0 ")), "{listed}");
    for file in ["locked", "install/install.sh", "install/uninstall.sh", "install/man/locked.1", "shims/shell/zsh.sh"] {
        assert!(names.contains(&&*format!("{}/{file}", name())), "{file}: {listed}");
    }
}

#[test]
fn an_archive_installs_when_its_digest_agrees_and_else_nothing_does() {
    let world = World::new();
    let archive = packed(&world);
    let directory = archive.parent().expect("directory").to_owned();
    let shown = archive.display().to_string();
    let digest = fs::read_to_string(directory.join("SHA256SUMS")).expect("sums")[..64].to_owned();
    let beside = directory.join(format!("{}.tar.gz.sha256", name()));
    let good = fs::read(&beside).expect("sum");

    let refused = |words: &[&str]| {
        let said = says(&mut install(&world, &[&["--archive", &shown][..], words].concat()), 65);
        assert!(tree(&home(&world)).is_empty(), "{words:?}: {said}");
        said
    };
    fs::write(&beside, format!("{}  {}.tar.gz\n", "0".repeat(64), name())).expect("written");
    assert!(refused(&[]).contains("not what its digest says"));
    assert!(refused(&["--sha256", &"1".repeat(64)]).contains("not what its digest says"));
    fs::remove_file(&beside).expect("removed");
    fs::write(directory.join("SHA256SUMS"), format!("{digest}  another.tar.gz\n")).expect("written");
    assert!(refused(&[]).contains("nothing says what digest"), "its name is not in the list");
    fs::write(&beside, "").expect("written");
    assert!(refused(&[]).contains("nothing says what digest"), "an empty file says nothing");
    fs::remove_file(&beside).expect("removed");
    fs::remove_file(directory.join("SHA256SUMS")).expect("removed");
    assert!(refused(&[]).contains("nothing says what digest"));

    let accepted = |words: &[&str]| {
        says(&mut install(&world, &[&["--archive", &shown][..], words].concat()), 0);
        assert_eq!(silent(world.command(home(&world).join(".local/bin/locked")).arg("--version")), "locked 0.0.0\n");
        says(world.command(checkout("install/uninstall.sh")).current_dir("/"), 0);
        assert!(tree(&home(&world)).is_empty());
    };
    accepted(&["--sha256", &digest.to_uppercase()]);
    fs::write(directory.join("SHA256SUMS"), format!("{digest}  {}.tar.gz\n", name())).expect("written");
    accepted(&[]);
    fs::write(&beside, good).expect("written");
    accepted(&[]);

    // Unpacked, its own script installs it, without a toolchain.
    ends(world.command("tar").arg("-xzf").arg(&archive).arg("-C").arg(world.work()), 0);
    let own = world.work().join(name()).join("install/install.sh");
    says(world.command(own).env("PATH", "/usr/bin:/bin"), 0);
    assert_eq!(silent(world.command(home(&world).join(".local/bin/locked")).arg("--version")), "locked 0.0.0\n");
}

/// Where nothing can tell what a file is, nothing is proved: not "both are empty, so they are equal".
#[test]
fn without_a_tool_for_digests_nothing_is_installed() {
    let world = World::new();
    let archive = packed(&world);
    let tools = world.root().join("few");
    fs::create_dir(&tools).expect("directory");
    let few =
        "sh sed dirname mktemp rm awk cp cut tar gzip sort cat chmod mkdir mv grep tail tr uname readlink id head";
    for tool in few.split(' ') {
        let real = text(&ends(world.command("sh").args(["-c", "command -v \"$0\"", tool]), 0).stdout);
        std::os::unix::fs::symlink(real.trim(), tools.join(tool)).expect("linked");
    }
    for sum in ["", "0", "0000000000000000000000000000000000000000000000000000000000000000"] {
        fs::write(archive.with_extension("gz.sha256"), sum).expect("written");
        let mut command = install(&world, &["--archive", &archive.display().to_string()]);
        let said = says(command.env("PATH", &tools), 69);
        assert!(said.contains("neither sha256sum nor shasum"), "{said}");
        assert!(tree(&home(&world)).is_empty());
    }
}

/// What was asked for by https is fetched by nothing else, wherever the server points.
#[test]
fn a_server_cannot_send_a_fetch_elsewhere_than_to_https() {
    let world = World::new();
    for fetcher in ["curl", "wget"] {
        let tools = world.script(fetcher, "printf '%s\\n' \"$*\" >>\"$SEEN\"; exit 22");
        // The other of the two is not found.
        let mut path = tools.clone().into_os_string();
        if fetcher == "wget" {
            let bare = world.root().join("bare");
            fs::create_dir(&bare).expect("directory");
            for tool in "sh sed dirname mktemp rm awk cat readlink id sha256sum mkdir grep uname".split(' ') {
                let real = text(&ends(world.command("sh").args(["-c", "command -v \"$0\"", tool]), 0).stdout);
                std::os::unix::fs::symlink(real.trim(), bare.join(tool)).expect("linked");
            }
            path = std::env::join_paths([tools.clone(), bare]).expect("PATH");
        } else {
            path.push(":/usr/bin:/bin");
        }
        let seen = world.root().join(format!("seen-{fetcher}"));
        let mut command = install(&world, &["--from", "https://example.org/x.tar.gz"]);
        says(command.env("PATH", &path).env("SEEN", &seen), 69);
        let words = fs::read_to_string(seen).expect("it was called");
        let guard = if fetcher == "curl" { "--proto =https --proto-redir =https" } else { "--https-only" };
        assert!(words.lines().all(|line| line.contains(guard)), "{words}");
    }
}

/// The one of curl and wget that is there fetches archive and digest; what they bring is proved.
#[test]
fn an_archive_is_fetched_and_proved() {
    let world = World::new();
    let archive = packed(&world);
    let url = format!("https://example.org/v1/{}.tar.gz", name());
    let fetchers = [
        ("curl", "--output", "while [ \"$1\" != --output ]; do shift; done; to=$2; from=$3"),
        (
            "wget",
            "--output-document",
            "for word; do case $word in --output-document=*) to=${word#*=} ;; esac; from=$word; done",
        ),
    ];
    for (fetcher, _, read) in fetchers {
        // Only this one of the two is on PATH.
        let tools = world.root().join(format!("only-{fetcher}"));
        fs::create_dir(&tools).expect("directory");
        for tool in "sh sed dirname mktemp rm awk cp cut tar gzip sha256sum sort cat chmod mkdir mv grep tail tr uname"
            .split(' ')
        {
            let real = text(&ends(world.command("sh").args(["-c", "command -v \"$0\"", tool]), 0).stdout);
            std::os::unix::fs::symlink(real.trim(), tools.join(tool)).expect("linked");
        }
        let from = archive.parent().expect("directory").display().to_string();
        executable(
            &tools.join(fetcher),
            &format!(
                "#!/bin/sh\n{read}\ncase $from in https://example.org/v1/*) ;; *) exit 22 ;; esac\ncp '{from}/'\"${{from##*/}}\" \"$to\"\n"
            ),
        );
        says(install(&world, &["--from", &url]).env("PATH", &tools), 0);
        assert!(home(&world).join(".local/bin/locked").exists(), "{fetcher}");
        says(&mut world.command(home(&world).join(".local/share/locked/uninstall.sh")), 0);
        let missing = says(install(&world, &["--from", "https://example.org/v2/x.tar.gz"]).env("PATH", &tools), 69);
        assert!(missing.contains("could not fetch x.tar.gz"), "{missing}");
        executable(&tools.join(fetcher), &format!("#!/bin/sh\n{read}\necho something >\"$to\"\n"));
        says(install(&world, &["--from", &url]).env("PATH", &tools), 65);
        assert!(tree(&home(&world)).is_empty(), "{fetcher}");
    }
    let tools = world.root().join("only-curl");
    fs::remove_file(tools.join("curl")).expect("removed");
    let said = says(install(&world, &["--from", &url]).env("PATH", &tools), 69);
    assert!(said.contains("neither curl nor wget"), "{said}");
}

#[test]
fn what_cargo_binstall_looks_for_is_what_is_packed() {
    let world = World::new();
    let out = world.root().join("published");
    let script = checkout("install/release");
    for odd in ["http://example.org", "https://example.org/a|b", "ftp://x", "https://"] {
        says(pack(&world, &script, &small(&world), &out).args(["--downloads", odd]), 64);
    }
    silent(pack(&world, &script, &small(&world), &out).args(["--downloads", "https://example.org/r/releases/"]));
    let written = fs::read_to_string(out.join("binstall.toml")).expect("written");
    assert!(!written.contains("downloads.invalid\"") && !written.contains("{ repo }"), "{written}");
    let manifest: toml::Table = toml::from_str(&written).expect("TOML");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let filled = |text: &toml::Value, target: &str| {
        let values = [
            ("{ version }", env!("CARGO_PKG_VERSION")),
            ("{ name }", "locked"),
            ("{ bin }", "locked"),
            ("{ target }", target),
            ("{ archive-suffix }", ".tar.gz"),
            ("{ binary-ext }", ""),
        ];
        let text = text.as_str().expect("text").to_owned();
        let filled = values.iter().fold(text, |text, (name, value)| text.replace(name, value));
        assert!(!filled.contains('{'), "{filled}");
        filled
    };
    assert_eq!(binstall["pkg-fmt"].as_str(), Some("tgz"));
    let archive = packed(&world);
    let listed = silent(world.command("tar").arg("-tzf").arg(&archive));
    // glibc's target is served by the static binary as well.
    let places = [(binstall, TARGET), (&binstall["overrides"]["x86_64-unknown-linux-gnu"], "x86_64-unknown-linux-gnu")];
    for (place, target) in places {
        let url = filled(&place["pkg-url"], target);
        let published = format!("https://example.org/r/releases/v{}/{}.tar.gz", env!("CARGO_PKG_VERSION"), name());
        assert_eq!(url, published);
        let binary = filled(&place["bin-dir"], target);
        assert!(listed.lines().any(|line| line == binary), "{binary} is not in {listed}");
    }
    let mode = fs::metadata(archive).expect("there").permissions().mode();
    assert_eq!(mode & 0o111, 0);
}
