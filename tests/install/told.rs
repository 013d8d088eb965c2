//! The README's blocks about `install.sh`, as a reader types them.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use super::place::{MOUNTS, checkout, executable, home, small};
use crate::run::stage::{ends, silent, text};
use crate::world::World;
use crate::world::apart::{first_that_runs, this_test};
use crate::world::ends::left_out;

/// A checkout of one's own, and before the programs of the system those that this machine cannot have: a cargo that builds in
/// no time, the address of the example, and sudo where one is root already.
struct Reader {
    world: World,
    checkout: PathBuf,
    programs: PathBuf,
}

impl Reader {
    fn new() -> Self {
        let world = World::new();
        let (checkout, programs) = (copied(&world), world.root().join("programs"));
        let binary = small(&world).display().to_string();
        let builds = format!("#!/bin/sh\nmkdir -p target/release && cp '{binary}' target/release/locked\n");
        executable(&programs.join("cargo"), &builds);
        executable(&programs.join("sudo"), "#!/bin/sh\nexec \"$@\"\n");
        let served = world.root().join("served");
        // curl … --output FILE URL
        let fetches = format!(
            "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --output ] && to=$2; shift; done\n\
             case $1 in https://example.org/*) ;; *) exit 6 ;; esac\nexec cp '{}'/\"${{1##*/}}\" \"$to\"\n",
            served.display()
        );
        executable(&programs.join("curl"), &fetches);
        let mut pack = world.command(checkout.join("install/release"));
        pack.args(["--target", "x86_64-unknown-linux-musl", "--binary", &binary, "--out"]).arg(&served);
        silent(pack.env("SOURCE_DATE_EPOCH", "1700000000"));
        // What the reader of the second form has beside the checkout's own files.
        for entry in fs::read_dir(&served).expect("archives") {
            let path = entry.expect("entry").path();
            fs::copy(&path, checkout.join(path.file_name().expect("name"))).expect("copied");
        }
        Self { world, checkout, programs }
    }

    /// A shell in the checkout, with a /usr/local of its own; the first line that fails is its end.
    fn shell(&self, inside: &[&str], script: &str) -> std::process::Command {
        let mut shell = self.world.command(inside[0]);
        shell.args(&inside[1..]).args(["bash", "-euo", "pipefail", "-c"]);
        shell.arg(format!("mount -t tmpfs none /usr/local\n{script}")).current_dir(&self.checkout);
        shell.env("PATH", format!("{}:/usr/bin:/bin", self.programs.display())).env("SHELL", "/bin/sh");
        shell
    }
}

fn copied(world: &World) -> PathBuf {
    let copy = world.root().join("checkout");
    fs::create_dir(&copy).expect("directory");
    for part in ["install", "shims", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "Cargo.toml"] {
        ends(world.command("cp").arg("-R").arg(checkout(part)).arg(&copy), 0);
    }
    copy
}

#[test]
fn the_readme_s_blocks_about_installing_run_as_they_stand() {
    let Some(inside) = first_that_runs(&MOUNTS) else {
        return left_out(this_test!(), "no mount namespace for this user");
    };
    let reader = Reader::new();
    let readme = fs::read_to_string(checkout("README.md")).expect("README.md");
    let fenced = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(block, _)| block));
    let blocks: Vec<&str> = fenced.filter(|block| block.contains("install/install.sh")).collect();
    assert!(blocks.len() > 1 && blocks.iter().any(|block| block.lines().count() > 3), "{blocks:?}");
    let placed = home(&reader.world).join(".local/bin/locked");
    for block in blocks {
        let after = "\necho done; if [ -e /usr/local/bin/locked ]; then /usr/local/bin/locked --version; fi";
        let said = text(&ends(&mut reader.shell(inside, &format!("{block}{after}")), 0).stdout);
        let for_all = block.contains("--system");
        assert_eq!(said, if for_all { "done\nlocked 0.0.0\n" } else { "done\n" }, "{block}");
        assert_eq!(silent(reader.world.command(&placed).arg("--version")), "locked 0.0.0\n", "{block}");
        taken_away(&reader, &placed);
    }
}

/// The next block begins where the first began.
fn taken_away(reader: &Reader, placed: &Path) {
    let gone = home(&reader.world).join(".local/share/locked/uninstall.sh");
    ends(&mut reader.world.command(gone), 0);
    assert!(!placed.exists());
}
