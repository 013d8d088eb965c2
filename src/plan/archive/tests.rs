//! Archives of real programs, and what is none.
#![forbid(unsafe_code)]

#[cfg(unix)]
use std::process::Command;

use super::*;

/// The members, as the real programs write them.
fn of(archive: &Path) -> (Looked, Vec<String>) {
    let mut names = Vec::new();
    let looked = members(archive, &|| false, &mut |path| {
        names.push(path.display().to_string());
        false
    });
    names.sort();
    (looked, names)
}

#[cfg(unix)]
#[test]
fn members_of_real_archives_are_found() {
    let root = tempfile::tempdir().expect("root");
    let long = format!("{0}/{0}", "d".repeat(90));
    for name in ["app/.env", "app/a b", &format!("{long}/x")] {
        let file = root.path().join(name);
        std::fs::create_dir_all(file.parent().expect("parent")).expect("directory");
        std::fs::write(file, name.repeat(300)).expect("file");
    }
    for (archive, options) in [
        ("a.tar", &["-cf"][..]),
        ("a.tgz", &["-czf"]),
        ("pax.tar", &["--format=pax", "-cf"]),
        ("ustar.tgz", &["--format=ustar", "-czf"]),
        ("v7.tar", &["--format=v7", "--exclude=d*", "-cf"]),
    ] {
        let made =
            Command::new("tar").current_dir(root.path()).args(options).args([archive, "app", &"d".repeat(90)]).status();
        assert!(made.expect("tar runs").success(), "{archive}");
        let mut expected = vec!["app/.env".to_owned(), "app/a b".to_owned(), format!("{long}/x")];
        expected.retain(|name| archive != "v7.tar" || !name.starts_with('d'));
        assert_eq!(of(&root.path().join(archive)), (Looked::Nothing, expected), "{archive}");
    }
}

/// A zip with two stored members and a directory, byte by byte as Info-ZIP writes it.
#[test]
fn members_of_a_zip_are_found() {
    let root = tempfile::tempdir().expect("root");
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for name in ["app/", "app/.env", "x"] {
        let at = u32::try_from(file.len()).expect("short");
        let length = u16::try_from(name.len()).expect("short").to_le_bytes();
        file.extend([b"PK\x03\x04".as_slice(), &[0; 22], &length, &[0; 2], name.as_bytes()].concat());
        directory.extend(
            [b"PK\x01\x02".as_slice(), &[0; 24], &length, &[0; 12], &at.to_le_bytes(), name.as_bytes()].concat(),
        );
    }
    let (size, from) = (u32::try_from(directory.len()).expect("short"), u32::try_from(file.len()).expect("short"));
    let end = [b"PK\x05\x06".as_slice(), &[0; 8], &size.to_le_bytes(), &from.to_le_bytes(), &[0; 2]].concat();
    let archive = root.path().join("a.zip");
    std::fs::write(&archive, [file, directory, end].concat()).expect("file");
    assert_eq!(of(&archive), (Looked::Nothing, vec!["app/.env".to_owned(), "x".to_owned()]));
    assert_eq!(members(&archive, &|| true, &mut |_| false), Looked::Unfinished);
}

/// The time is up in the midst of a member that is longer than one read of the file.
#[cfg(unix)]
#[test]
fn a_long_member_is_not_read_to_its_end() {
    let root = tempfile::tempdir().expect("root");
    // What does not become smaller: 4 MiB are 64 reads.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    });
    std::fs::write(root.path().join("dump"), noise.take(4 << 20).collect::<Vec<u8>>()).expect("file");
    std::fs::write(root.path().join("last"), "").expect("file");
    let made = Command::new("tar").current_dir(root.path()).args(["-czf", "a.tgz", "dump", "last"]).status();
    assert!(made.expect("tar runs").success());
    let archive = root.path().join("a.tgz");
    let asked = std::cell::Cell::new(0);
    let is_late = || {
        asked.set(asked.get() + 1);
        asked.get() > 4
    };
    let mut names = Vec::new();
    let looked = members(&archive, &is_late, &mut |path| {
        names.push(path.to_owned());
        false
    });
    assert_eq!((looked, names), (Looked::Unfinished, vec![PathBuf::from("dump")]));
    assert_eq!(of(&archive), (Looked::Nothing, vec!["dump".to_owned(), "last".to_owned()]));
}

#[test]
fn what_is_none_or_is_cut_is_not_finished() {
    let root = tempfile::tempdir().expect("root");
    let place = root.path().join("x");
    for bytes in [&b""[..], b"x", b"PK\x03\x04", b"\x1f\x8b\x08\0\0\0\0\0\0\0junk", &[b'x'; 2000], b"\xfd7zXZ\0"] {
        std::fs::write(&place, bytes).expect("file");
        assert_eq!(of(&place), (Looked::Unfinished, Vec::new()), "{bytes:?}");
    }
    assert_eq!(of(Path::new("/dev/null")), (Looked::Unfinished, Vec::new()));
    assert_eq!(of(root.path()), (Looked::Unfinished, Vec::new()));
}

/// Nobody writes into it: whoever opened it would wait.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let root = tempfile::tempdir().expect("root");
    let pipe = root.path().join("x.tar");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send((of(&pipe), crate::platform::regular(&pipe).is_err())));
    let ended = told.recv_timeout(std::time::Duration::from_secs(20)).expect("it waits for the pipe");
    assert_eq!(ended, ((Looked::Unfinished, Vec::new()), true));
}
