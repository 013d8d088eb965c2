//! Which repository, which scope, which branch, which blob: against the real git.

use std::path::{Path, PathBuf};

use locked::git::{GitError, ObjectFormat, Repository};
use locked::naming::{Local, NamingError, name};

use crate::naming::{env_of, repository, target};
use crate::world::World;

fn scope(world: &World, root: &Path) -> String {
    target(world, root.join("secrets/monitoring.env.sops")).scope().0.clone()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn found(root: &Path) -> Repository {
    Repository::around(root).expect("readable").expect("a repository")
}

#[test]
fn clones_of_one_origin_share_their_names_and_others_do_not() {
    let world = World::new();
    let seed = repository(&world, "seed", None);
    world.git(&world.work(), &["clone", "-q", "--bare", text(&seed), "origin.git"]);
    let bare = std::fs::canonicalize(world.work()).expect("work").join("origin.git");
    std::os::unix::fs::symlink(&bare, world.work().join("alias")).expect("link");
    for (url, place) in [(text(&bare), "a"), (&format!("file://{}", bare.display()), "b"), ("alias", "c")] {
        world.git(&world.work(), &["clone", "-q", url, place]);
    }
    let b = std::fs::canonicalize(world.work().join("b")).expect("b");
    world.git(&b, &["worktree", "add", "-q", "-b", "side", "../deep/er/tree"]);
    let expected = format!("file{}", text(&bare).trim_end_matches(".git"));
    for place in ["a", "b", "c", "deep/er/tree"] {
        assert_eq!(scope(&world, &world.work().join(place)), expected, "{place}");
    }
    // A relative URL means the same from a linked work tree at another depth.
    world.git(&b, &["remote", "set-url", "origin", "../origin.git"]);
    assert_eq!(scope(&world, &world.work().join("deep/er/tree")), expected);
    assert_eq!(scope(&world, &b), expected);
    assert!(scope(&world, &seed).starts_with("local/"));
}

#[test]
fn work_trees_without_remote_share_one_identity() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    world.git(&root, &["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = world.work().join("side");
    let (one, other) = (target(&world, root.join("x.env")), target(&world, side.join("x.env")));
    assert_eq!((&one.resource, &one.key), (&other.resource, &other.key));
    assert_ne!(one.worktree(), other.worktree());
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let world = World::new();
    let part = repository(&world, "part", None);
    let root = repository(&world, "infra", Some("git@github.com:acme/infra.git"));
    world.git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", text(&part), "part"]);
    let inside = target(&world, root.join("part/secrets/monitoring.env.sops"));
    assert_eq!(inside.scope().0, format!("file{}", part.display()));
    assert_eq!((inside.worktree(), &*inside.key), (Some(&*root.join("part")), "secrets/monitoring.env.sops"));
}

#[test]
fn a_work_tree_whose_repository_is_gone_is_refused_with_the_remedy() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    world.git(&root, &["worktree", "add", "-q", "-b", "side", "../side"]);
    std::fs::rename(&root, world.work().join("moved")).expect("moved");
    let answer = name(&world.work().join("side/x.env"), Local::Make, &env_of(&world));
    let Err(NamingError::Git(error @ GitError::Broken { .. })) = answer else { panic!("{answer:?}") };
    assert!(error.to_string().contains("git worktree repair"), "{error}");
}

#[test]
fn a_file_inside_a_git_directory_is_in_no_work_tree() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    std::fs::create_dir(world.work().join("fake")).expect("directory");
    std::fs::create_dir(world.work().join("fake/.git")).expect("directory");
    assert!(target(&world, root.join(".git/x.env")).repository.is_none());
    assert!(target(&world, world.work().join("fake/x.env")).repository.is_none(), "an empty .git is no repository");
}

/// Guessing "no repository" there would give its files other names than its owner's commands do.
#[test]
fn a_git_directory_that_cannot_be_looked_at_is_an_error() {
    let world = World::new();
    std::os::unix::fs::symlink(".git", world.work().join(".git")).expect("link");
    let answer = name(&world.work().join("x.env"), Local::Make, &env_of(&world));
    assert!(matches!(answer, Err(NamingError::Git(GitError::Unreadable { .. }))), "{answer:?}");
}

/// `insteadOf` may stand in the repository, in the user's file, behind an include, or in the environment.
#[test]
fn the_origin_is_read_after_instead_of_wherever_it_stands() {
    const RULE: &str = "[url \"https://user:hunter2@GitHub.com/\"]\n\tinsteadOf = gh:\n";
    let world = World::new();
    let home = world.root().join("home");
    let root = repository(&world, "infra", Some("gh:acme/infra"));
    let file = root.join("x.env");
    assert_eq!(target(&world, &file).scope().0, "gh/acme/infra");

    std::fs::write(home.join(".gitconfig"), RULE).expect("file");
    assert_eq!(target(&world, &file).scope().0, "github.com/acme/infra");

    std::fs::write(home.join("more"), RULE).expect("file");
    std::fs::write(home.join(".gitconfig"), "[includeIf \"gitdir:**\"]\n\tpath = ~/more\n").expect("file");
    assert_eq!(target(&world, &file).scope().0, "github.com/acme/infra");
    std::fs::write(home.join(".gitconfig"), "[includeIf \"gitdir:/nowhere/\"]\n\tpath = more\n").expect("file");
    assert_eq!(target(&world, &file).scope().0, "gh/acme/infra", "the condition does not hold");

    std::fs::remove_file(home.join(".gitconfig")).expect("removed");
    std::fs::create_dir_all(home.join(".config/git")).expect("directory");
    std::fs::write(home.join(".config/git/config"), RULE).expect("file");
    assert_eq!(target(&world, &file).scope().0, "github.com/acme/infra");
    std::fs::remove_file(home.join(".config/git/config")).expect("removed");

    let plain = env_of(&world);
    let with_rule = |variable: &str| match variable {
        "GIT_CONFIG_COUNT" => Some("1".into()),
        "GIT_CONFIG_KEY_0" => Some("url.ssh://git@example.org/.insteadOf".into()),
        "GIT_CONFIG_VALUE_0" => Some("gh:".into()),
        other => plain(other),
    };
    let named = name(&file, Local::Make, &with_rule).expect("a name");
    assert_eq!(named.scope().0, "example.org/acme/infra");
    let without_remote = repository(&world, "bare", None);
    let named = name(&without_remote.join("x.env"), Local::Peek, &with_rule).expect("a name");
    assert_eq!(named.scope().0, "local/unborn", "git was asked and knew no origin");

    let mut config = std::fs::read_to_string(root.join(".git/config")).expect("config");
    config.push_str(RULE);
    std::fs::write(root.join(".git/config"), config).expect("config");
    assert_eq!(target(&world, &file).scope().0, "github.com/acme/infra");
}

/// `git clone -o up`: one file must not have two scopes because of what a remote is called. Which of several is the one that all
/// checkouts have nobody can tell.
#[test]
fn the_only_remote_is_the_origin_whatever_it_is_called() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    assert!(scope(&world, &root).starts_with("local/"));
    world.git(&root, &["remote", "add", "up", "git@one:x"]);
    assert_eq!(scope(&world, &root), "one/x");
    // git's own word, where it has to be asked, is the same.
    let plain = env_of(&world);
    let with_rule = |variable: &str| match variable {
        "GIT_CONFIG_COUNT" => Some("1".into()),
        "GIT_CONFIG_KEY_0" => Some("url.ssh://git@example.org/.insteadOf".into()),
        "GIT_CONFIG_VALUE_0" => Some("gh:".into()),
        other => plain(other),
    };
    let asked =
        |root: &std::path::Path| name(&root.join("x.env"), Local::Make, &with_rule).expect("a name").scope().0.clone();
    assert_eq!(asked(&root), "one/x");
    world.git(&root, &["remote", "add", "mine", "git@two:x"]);
    assert!(scope(&world, &root).starts_with("local/"));
    assert!(asked(&root).starts_with("local/"));
    world.git(&root, &["remote", "add", "origin", "git@three:x"]);
    assert_eq!(scope(&world, &root), "three/x");
}

#[test]
fn the_native_reading_of_a_configuration_is_gits_own() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    let config = std::fs::read_to_string(root.join(".git/config")).expect("config");
    for (extra, host) in [
        ("[remote \"origin\"]\n\turl = git@one:x ; note\n\turl = git@two:x\n", "one"),
        ("[REMOTE \"origin\"] URL=\"git@one:\\\nx\" # note\n", "one"),
        ("[remote \"ORIGIN\"]\nurl = git@other:x\n[remote \"o\\rigin\"]\n url=git@one:x\n", "one"),
        ("[remote.Origin]\n  url = git@one:x   \n", "one"),
        ("# [remote \"origin\"]\n; url = y\n[remote \"origin\"]\r\n\turl = git@one:x\r\n", "one"),
    ] {
        std::fs::write(root.join(".git/config"), format!("{config}{extra}")).expect("config");
        assert_eq!(world.git(&root, &["ls-remote", "--get-url", "origin"]), format!("git@{host}:x\n"), "{extra}");
        assert_eq!(scope(&world, &root), format!("{host}/x"), "{extra}");
    }
    std::fs::write(root.join(".git/config"), format!("{config}[remote \"origin\"\n")).expect("config");
    let answer = name(&root.join("x.env"), Local::Make, &env_of(&world));
    assert!(matches!(answer, Err(NamingError::Git(GitError::BadConfig { .. }))), "{answer:?}");
}

#[test]
fn an_origin_of_one_work_tree_alone_counts_there() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    world.git(&root, &["config", "extensions.worktreeConfig", "true"]);
    world.git(&root, &["config", "--worktree", "remote.origin.url", "git@host:mine"]);
    world.git(&root, &["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = world.work().join("side");
    assert_eq!(scope(&world, &root), "host/mine");
    // git gave the new work tree a copy of the setting.
    world.git(&side, &["config", "--worktree", "remote.origin.url", "git@host:theirs"]);
    assert_eq!((scope(&world, &root), scope(&world, &side)), ("host/mine".to_owned(), "host/theirs".to_owned()));
    world.git(&side, &["config", "--worktree", "--unset", "remote.origin.url"]);
    assert!(scope(&world, &side).starts_with("local/"));
}

#[test]
fn the_branch_is_what_git_says() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    let env = env_of(&world);
    assert_eq!(found(&root).branch(&env).expect("HEAD").as_deref(), Some("main"));
    world.git(&root, &["switch", "-qc", "feature/ключ"]);
    assert_eq!(found(&root).branch(&env).expect("HEAD").as_deref(), Some("feature/ключ"));
    world.git(&root, &["switch", "-q", "--detach"]);
    assert_eq!(found(&root).branch(&env).expect("HEAD"), None);
}

#[test]
fn blobs_have_the_names_that_git_gives_them() {
    let world = World::new();
    for (format, expected) in [("sha1", ObjectFormat::Sha1), ("sha256", ObjectFormat::Sha256)] {
        let root: PathBuf = world.work().join(format);
        std::fs::create_dir(&root).expect("directory");
        world.git(&root, &["init", "-q", "--object-format", format]);
        std::fs::write(root.join("f"), b"a\r\n\xff\0b").expect("file");
        let told = world.git(&root, &["hash-object", "--no-filters", "f"]);
        assert_eq!(found(&root).object_format().expect("format"), expected);
        assert_eq!(found(&root).blob_id(b"a\r\n\xff\0b").expect("id"), told.trim());
    }
}

#[test]
fn head_is_read_byte_for_byte_past_every_filter() {
    let world = World::new();
    let root = repository(&world, "infra", None);
    let env = env_of(&world);
    let odd = root.join("secrets/*odd\n\"name.env");
    std::fs::write(&odd, b"A=1\nB=\xff\n").expect("file");
    world.git(&root, &["add", "."]);
    world.git(&root, &["commit", "-qm", "second"]);
    world.git(&root, &["config", "filter.spoil.smudge", "tr a-zA-Z x"]);
    world.git(&root, &["config", "core.autocrlf", "true"]);
    std::fs::write(root.join(".gitattributes"), "* filter=spoil\n").expect("attributes");
    std::fs::write(&odd, "changed").expect("file");
    let head = |path: &Path| found(&root).head_content(path, &env).expect("git");
    assert_eq!(head(&odd).as_deref(), Some(&b"A=1\nB=\xff\n"[..]));
    assert_eq!(head(&root.join("secrets/new.env")), None);
    assert_eq!(head(&root.join("secrets")), None, "a directory is no file");
    assert_eq!(head(Path::new("/elsewhere")), None);

    let unborn = world.work().join("unborn");
    std::fs::create_dir(&unborn).expect("directory");
    world.git(&unborn, &["init", "-q"]);
    assert_eq!(found(&unborn).head_content(&unborn.join("f"), &env).expect("git"), None);
}
