//! One file, one name: real links, real repositories, real git.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use locked::naming::{Local, Namer, NamingError, Target, name};

use crate::world::World;

/// The environment of a command in this world, as far as git's configuration goes.
pub(crate) fn env_of(world: &World) -> impl Fn(&str) -> Option<OsString> {
    let home = world.root().join("home");
    move |variable| match variable {
        "HOME" => Some(home.clone().into_os_string()),
        "GIT_CONFIG_NOSYSTEM" => Some("1".into()),
        _ => None,
    }
}

pub(crate) fn target(world: &World, path: impl AsRef<Path>) -> Target {
    name(path.as_ref(), Local::Make, &env_of(world)).expect("a name")
}

fn scope(world: &World, path: impl AsRef<Path>) -> String {
    target(world, path).scope().0.clone()
}

/// A repository below `work` with one commit, and an origin if one is given.
pub(crate) fn repository(world: &World, place: &str, origin: Option<&str>) -> PathBuf {
    let root = world.work().join(place);
    std::fs::create_dir_all(root.join("secrets")).expect("directory");
    world.git(&root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("secrets/monitoring.env.sops"), "x\n").expect("file");
    world.git(&root, &["add", "."]);
    world.git(&root, &["commit", "-qm", "first"]);
    if let Some(origin) = origin {
        world.git(&root, &["remote", "add", "origin", origin]);
    }
    std::fs::canonicalize(root).expect("root")
}

#[test]
fn every_spelling_of_one_file_is_one_name() {
    let world = World::new();
    let root = repository(&world, "infra", Some("git@github.com:acme/infra.git"));
    let file = root.join("secrets/monitoring.env.sops");
    symlink(&file, root.join("short.yaml")).expect("link");
    symlink("short.yaml", root.join("chain.env")).expect("link");
    symlink(root.join("secrets"), world.work().join("elsewhere")).expect("link");
    symlink(&root, world.work().join("whole")).expect("link");
    let expected = target(&world, &file);
    assert_eq!((expected.resource.name.as_str(), &*expected.key), ("sops:monitoring", "secrets/monitoring.env.sops"));
    assert_eq!((expected.scope().0.as_str(), &expected.path), ("github.com/acme/infra", &file));
    for spelling in [
        "infra/secrets/../secrets/./monitoring.env.sops",
        "infra//secrets///monitoring.env.sops",
        "infra/short.yaml",
        "infra/chain.env",
        "elsewhere/monitoring.env.sops",
        "elsewhere/../secrets/monitoring.env.sops",
        "whole/chain.env",
    ] {
        let other = target(&world, world.work().join(spelling));
        assert_eq!(
            (&other.resource, &other.key, &other.path),
            (&expected.resource, &expected.key, &file),
            "{spelling}"
        );
    }
}

#[test]
fn a_file_that_does_not_exist_yet_already_has_its_name() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    symlink("secrets/new.env.sops", root.join("dangling")).expect("link");
    symlink(root.join("secrets"), root.join("link")).expect("link");
    let expected = target(&world, root.join("secrets/new.env.sops"));
    assert_eq!(expected.resource.name.as_str(), "sops:new");
    for spelling in ["dangling", "link/new.env.sops", "secrets/missing/../new.env.sops"] {
        assert_eq!(target(&world, root.join(spelling)).key, expected.key, "{spelling}");
    }
    assert_eq!(target(&world, root.join("no/such/place/x.env")).key, "no/such/place/x.env");
}

#[test]
fn links_in_a_circle_and_relative_paths_have_no_name() {
    let world = World::new();
    symlink("b", world.work().join("a")).expect("link");
    symlink("a", world.work().join("b")).expect("link");
    let env = env_of(&world);
    assert!(matches!(name(&world.work().join("a"), Local::Make, &env), Err(NamingError::Circle(_))));
    assert!(matches!(name(Path::new("x"), Local::Make, &env), Err(NamingError::Relative(_))));
    assert!(matches!(name(Path::new("/"), Local::Make, &env), Err(NamingError::NoFile(_))));
}

#[test]
fn general_names_take_their_directory_along() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    for (path, expected) in [
        ("hosts/web1/secrets.yaml", "sops:hosts/web1/secrets"),
        ("apps/api/.env.sops", "sops:apps/api/.env"),
        ("apps/api/.enc.env", "sops:apps/api/.env"),
        ("apps/api/.env.prod.enc", "sops:apps/api/.env.prod"),
        (".env.sops", "sops:.env"),
        ("secrets/secrets.yaml", "sops:secrets/secrets"),
        ("chart/values.sops.yaml", "sops:chart/values"),
        ("my dir/creds.json", "sops:my%20dir/creds"),
        ("secrets/prod.enc.yaml", "sops:prod"),
        ("deploy/app.sops.json", "sops:app"),
        ("-i", "sops:-i"),
    ] {
        assert_eq!(target(&world, root.join(path)).resource.name.as_str(), expected, "{path}");
    }
}

#[test]
fn nasty_names_are_printable_and_stay_apart() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    for (file, stem, key) in [
        (&b"a b.env.sops"[..], "sops:a%20b", "a%20b.env.sops"),
        (b"a%20b.env.sops", "sops:a%2520b", "a%2520b.env.sops"),
        (b"a\nb.env.sops", "sops:a%0Ab", "a%0Ab.env.sops"),
        (b"a\xffb.env.sops", "sops:a%FFb", "a%FFb.env.sops"),
        ("ключ.env".as_bytes(), "sops:ключ", "ключ.env"),
    ] {
        let target = target(&world, root.join(OsStr::from_bytes(file)));
        assert_eq!((target.resource.name.as_str(), &*target.key), (stem, key));
        assert!(target.stem_from.chars().all(|letter| !letter.is_control()), "{:?}", target.stem_from);
    }
}

#[test]
fn outside_any_repository_the_whole_path_is_the_name() {
    let world = World::new();
    let file = world.work().join("app/monitoring.env.sops");
    let target = target(&world, &file);
    let whole = std::fs::canonicalize(world.work()).expect("work").join("app/monitoring");
    assert_eq!(target.resource.name.as_str(), format!("sops:{}", whole.display()));
    assert_eq!(target.key, format!("{}.env.sops", whole.display()));
    assert!(target.scope().0.starts_with("machine/") && target.worktree().is_none());
}

#[test]
fn hard_links_have_a_resource_in_common() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    let (one, other) = (root.join("secrets/monitoring.env.sops"), root.join("copy.env.sops"));
    assert_eq!(target(&world, &one).resources().count(), 1);
    std::fs::hard_link(&one, &other).expect("hard link");
    let (one, other) = (target(&world, &one), target(&world, &other));
    assert_ne!(one.resource, other.resource);
    assert!(one.link.is_some() && one.link == other.link, "{:?} and {:?}", one.link, other.link);
    assert_eq!(one.resources().count(), 2);
}

#[test]
fn explaining_says_which_path_gave_which_name() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    symlink("hosts/web1/secrets.yaml", root.join("web1")).expect("link");
    let said = target(&world, root.join("web1")).stem_from;
    let shown = root.display();
    assert_eq!(
        said,
        format!(
            "hosts/web1/secrets.yaml gives sops:hosts/web1/secrets, with its directory, because its own name is a general \
             one ({shown}/web1 is {shown}/hosts/web1/secrets.yaml)"
        )
    );
}

#[test]
fn a_repository_without_remote_gets_one_identity_from_many_firsts() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    let file = root.join("secrets/monitoring.env.sops");
    let peeked = name(&file, Local::Peek, &env_of(&world)).expect("a name");
    assert_eq!(peeked.scope().0, "local/unborn");
    assert!(!root.join(".git/locked").exists(), "looking made something");

    let start = std::sync::Barrier::new(20);
    let scopes: Vec<String> = std::thread::scope(|threads| {
        let first = || {
            start.wait();
            scope(&world, &file)
        };
        let all: Vec<_> = (0..20).map(|_| threads.spawn(first)).collect();
        all.into_iter().map(|one| one.join().expect("thread")).collect()
    });
    assert!(scopes[0].starts_with("local/") && scopes[0] != "local/unborn");
    assert!(scopes.iter().all(|scope| *scope == scopes[0]), "{scopes:?}");
    assert_eq!(std::fs::read_dir(root.join(".git/locked")).expect("directory").count(), 1, "drafts were left behind");
    assert_eq!(name(&file, Local::Peek, &env_of(&world)).expect("a name").scope().0, scopes[0]);
}

#[test]
fn half_an_identity_is_refused_not_replaced() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    std::fs::create_dir(root.join(".git/locked")).expect("directory");
    std::fs::write(root.join(".git/locked/scope"), "").expect("file");
    let answer = name(&root.join("x.env"), Local::Make, &env_of(&world));
    assert!(matches!(answer, Err(NamingError::NoIdentity(_))), "{answer:?}");
}

#[test]
fn a_namer_names_files_of_several_repositories() {
    let world = World::new();
    let (one, other) = (repository(&world, "one", None), repository(&world, "other", None));
    let env = env_of(&world);
    let mut namer = Namer::new(Local::Make, &env);
    let mut scope = |path: PathBuf| namer.name(&path).expect("a name").scope().clone();
    let (first, second, again) = (scope(one.join("a.env")), scope(other.join("a.env")), scope(one.join("b.env")));
    assert!(first == again && first != second);
}

/// Prints what naming costs on a warm repository; asserts no time.
#[test]
fn naming_is_measured() {
    let world = World::new();
    let root = repository(&world, "infra", Some("git@github.com:acme/infra.git"));
    let (file, env) = (root.join("secrets/monitoring.env.sops"), env_of(&world));
    let started = std::time::Instant::now();
    for _ in 0..1000 {
        std::hint::black_box(name(&file, Local::Peek, &env).expect("a name"));
    }
    println!("name(): {:?} each", started.elapsed() / 1000);
}
