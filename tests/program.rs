//! Tests of `program`: real files, and bash as the judge of what a shell would run.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use locked::program::{FileId, NotFound, Program, SkipReason, resolve};

use crate::world::World;

/// Directories `a`, `b`, `c` below `work`, a stand-in for ourselves in `home`, and resolving in that world.
struct Place {
    world: World,
    ourselves: PathBuf,
}

impl Place {
    fn new() -> Self {
        let world = World::new();
        for directory in ["a", "b", "c"] {
            fs::create_dir(world.work().join(directory)).expect(directory);
        }
        let ourselves = world.root().join("home/locked");
        let place = Self { world, ourselves };
        place.write("../home/locked", "#!/bin/sh\necho ourselves\n", 0o755);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.world.work().join(name)
    }

    fn write(&self, name: &str, content: &str, mode: u32) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, content).expect(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect(name);
        path
    }

    /// An executable that prints its own place.
    fn tool(&self, name: &str) -> PathBuf {
        self.write(name, &format!("#!/bin/sh\necho {name}\n"), 0o755)
    }

    /// A PATH of these places below `work`.
    fn path(&self, entries: &[&str]) -> OsString {
        let entries: Vec<_> = entries.iter().map(|entry| self.at(entry).into_os_string()).collect();
        entries.join(OsStr::new(":"))
    }

    fn resolve(&self, word: &str, path: &OsStr) -> Result<Program, NotFound> {
        let ourselves = FileId::of(&self.ourselves).expect("ourselves");
        resolve(OsStr::new(word), Some(path), &self.world.work(), ourselves)
    }

    /// What bash does with the same word and PATH: its status and what the program printed.
    fn bash(&self, word: &str, path: &OsStr) -> (i32, String) {
        let output = self
            .world
            .command("/bin/bash")
            .args(["--norc", "-c", r#"PATH=$2; "$1"; exit $?"#, "bash", word])
            .arg(path)
            .output()
            .expect("bash runs");
        (output.status.code().expect("ends"), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

#[test]
fn the_walk_ends_where_a_shell_ends() {
    let place = Place::new();
    let blocked = |name: &str| place.write(name, "#!/bin/sh\n", 0o644);
    place.tool("a/first");
    place.tool("b/first");
    place.tool("b/second");
    blocked("a/second");
    blocked("a/third");
    blocked("b/third");
    fs::create_dir(place.at("a/fourth")).expect("fourth");
    place.tool("c/fourth");
    fs::create_dir(place.at("a/fifth")).expect("fifth");
    symlink(place.at("nowhere"), place.at("a/sixth")).expect("sixth");
    place.tool("b/sixth");
    symlink(place.at("nowhere"), place.at("a/seventh")).expect("seventh");
    place.tool("here");
    place.write("a/file", "", 0o644);
    let path = place.path(&["a", "a", "b/", "c", "missing", "a/file"]);
    let relative = OsString::from("c:a/:b");
    let with_cwd = OsString::from(format!("{}:", place.at("a").display()));
    let words = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "here",
        "none",
        "",
        "./here",
        "a/first",
        "a/second",
        "a/fourth",
        "a/sixth",
        "a/file/x",
        "a//first",
        "missing/x",
    ];
    for path in [&path, &relative, &with_cwd, &OsString::new()] {
        for word in words {
            let (status, printed) = place.bash(word, path);
            match place.resolve(word, path) {
                Err(error) => assert_eq!(error.status(), status, "{word:?} in {path:?}: {error}"),
                Ok(program) => {
                    let output = place.world.command(&program.path).output().expect("what was found runs");
                    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), printed, "{word:?} in {path:?}");
                    assert_eq!(status, 0, "{word:?} in {path:?}");
                }
            }
        }
    }
}

/// Here bash says 127 and `env` 126; the message is better with the file that could be made executable.
#[test]
fn a_directory_does_not_hide_the_file_that_only_lacks_permission() {
    let place = Place::new();
    fs::create_dir(place.at("a/both")).expect("both");
    let file = place.write("b/both", "#!/bin/sh\n", 0o644);
    let error = place.resolve("both", &place.path(&["a", "b"])).expect_err("not executable");
    assert_eq!((error.status(), error.to_string().contains(&format!("{file:?}"))), (126, true), "{error}");
}

#[test]
fn the_path_is_answered_as_found_and_not_as_it_really_is() {
    let place = Place::new();
    place.tool("b/multicall");
    symlink(place.at("b"), place.at("alias")).expect("alias");
    symlink("multicall", place.at("b/tool")).expect("tool");
    let found = place.resolve("tool", &place.path(&["alias"])).expect("found");
    assert_eq!(found.path, place.at("alias/tool"));
    let found = place.resolve("tool", OsStr::new("a:./alias/")).expect("found");
    assert_eq!(found.path.as_os_str(), "./alias/tool");
    let typed = place.resolve("alias/../b/tool", OsStr::new("")).expect("found");
    assert_eq!((typed.path.as_os_str(), typed.name.as_os_str()), (OsStr::new("alias/../b/tool"), OsStr::new("tool")));
}

#[test]
fn bytes_that_are_no_text_are_a_name_like_any_other() {
    let place = Place::new();
    let (directory, word) = (OsString::from_vec(b"d\xff".to_vec()), OsString::from_vec(b"t\xfe".to_vec()));
    fs::create_dir(place.world.work().join(&directory)).expect("directory");
    let tool = place.world.work().join(&directory).join(&word);
    fs::copy(place.tool("a/x"), &tool).expect("tool");
    let ourselves = FileId::of(&place.ourselves).expect("ourselves");
    let found = resolve(&word, Some(&directory), &place.world.work(), ourselves).expect("found");
    assert_eq!(found.path.as_os_str().as_bytes(), b"d\xff/t\xfe");
}

/// The first page of a real build with this crate in it, as another inode: a copy, as far as anybody looks.
fn copy_of_locked(to: &Path) {
    let build = fs::read(std::env::current_exe().expect("this test")).expect("readable");
    fs::write(to, &build[..8192]).expect("copy");
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).expect("mode");
}

/// Puts us at a place.
type Make<'a> = &'a dyn Fn(&Path);

#[test]
fn we_are_stepped_over_as_link_hard_link_and_copy() {
    let place = Place::new();
    place.tool("c/sops");
    let ways: [(&str, SkipReason, Make<'_>); 4] = [
        ("symbolic link", SkipReason::Ourselves, &|to| symlink(&place.ourselves, to).expect("link")),
        ("relative link", SkipReason::Ourselves, &|to| symlink("../../home/locked", to).expect("link")),
        ("hard link", SkipReason::Ourselves, &|to| fs::hard_link(&place.ourselves, to).expect("link")),
        ("copy", SkipReason::Copy, &copy_of_locked),
    ];
    for (what, why, make) in ways {
        let shim = place.at("a/sops");
        make(&shim);
        symlink(place.at("a"), place.at("again")).expect("again");
        let found = place.resolve("sops", &place.path(&["a", "again", "a/", "c"])).expect(what);
        assert_eq!(found.path, place.at("c/sops"), "{what}");
        // `a` and `a/` are one place.
        assert_eq!(found.skipped.iter().map(|skipped| skipped.why).collect::<Vec<_>>(), [why; 2], "{what}");

        let found = place.resolve("a/sops", &place.path(&["a", "c"])).expect(what);
        assert_eq!(found.path, place.at("c/sops"), "{what}: a path to a shim means what it stands in front of");

        let missing = place.resolve("sops", &place.path(&["a", "b"])).expect_err(what);
        assert_eq!(missing.status(), 127, "{what}");
        assert!(missing.to_string().contains("a/sops"), "{what}: {missing}");
        // By its path, as `ln -s "$(command -v sops)" s` is called: told once, though PATH leads there too.
        let missing =
            place.resolve(place.at("a/sops").to_str().expect("text"), &place.path(&["a", "a/."])).expect_err(what);
        assert_eq!(missing.to_string().matches("a/sops").count(), 1, "{what}: {missing}");
        assert!(missing.to_string().contains("a shim starts the program of its own name"), "{missing}");
        fs::remove_file(&shim).expect("remove");
        fs::remove_file(place.at("again")).expect("remove");
    }
}

#[test]
fn a_sibling_in_the_directory_of_our_shims_is_found() {
    let place = Place::new();
    symlink(&place.ourselves, place.at("a/sops")).expect("shim");
    place.tool("a/gh");
    assert_eq!(place.resolve("gh", &place.path(&["a", "b"])).expect("found").path, place.at("a/gh"));
}

#[test]
fn under_our_own_name_we_are_a_program_like_any_other() {
    let place = Place::new();
    symlink(&place.ourselves, place.at("a/locked")).expect("link");
    assert_eq!(place.resolve("locked", &place.path(&["a"])).expect("found").path, place.at("a/locked"));
    assert_eq!(place.resolve("a/locked", OsStr::new("")).expect("found").path.as_os_str(), "a/locked");
}

#[test]
fn without_path_the_default_of_the_system_is_walked() {
    let place = Place::new();
    let ourselves = FileId::of(&place.ourselves).expect("ourselves");
    let found = resolve(OsStr::new("sh"), None, &place.world.work(), ourselves).expect("sh is in the default path");
    assert!(found.path.is_absolute(), "{:?}", found.path);
}

#[test]
fn we_know_ourselves() {
    let ourselves = FileId::ourselves().expect("known");
    assert_eq!(ourselves, FileId::of(&std::env::current_exe().expect("this test")).expect("known"));
}
