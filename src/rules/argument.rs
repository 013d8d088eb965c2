//! Arguments as bytes: what a parser may ask of an [`OsStr`] without turning it into text.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
#[cfg(not(unix))]
use std::path::Component;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use super::step::LONGEST_PATH;

/// The words, if one is longer than Linux hands to any program (`MAX_ARG_STRLEN`, 128 KiB with the zero byte at its end): that
/// one is cut right behind, so that it still is one of these.
#[cfg(target_os = "linux")]
pub(super) fn cut(words: &[OsString]) -> Option<Vec<OsString>> {
    use std::os::unix::ffi::OsStrExt as _;
    const LONGEST: usize = crate::shell::LONGEST + 1;
    let shortened = |word: &OsString| OsStr::from_bytes(&word.as_bytes()[..word.len().min(LONGEST)]).to_owned();
    words.iter().any(|word| word.len() > LONGEST).then(|| words.iter().map(shortened).collect())
}

/// Other systems have no limit for one word.
#[cfg(not(target_os = "linux"))]
pub(super) fn cut(_words: &[OsString]) -> Option<Vec<OsString>> {
    None
}

/// What follows the first `from` bytes. `from` is a place right behind an ASCII character.
#[cfg(unix)]
pub(crate) fn tail(argument: &OsStr, from: usize) -> Cow<'_, OsStr> {
    use std::os::unix::ffi::OsStrExt as _;
    Cow::Borrowed(OsStr::from_bytes(&argument.as_bytes()[from..]))
}

/// What follows the first `from` bytes. An unpaired surrogate cannot be cut without guessing, so such a name is cut as it
/// would be shown.
#[cfg(not(unix))]
pub(crate) fn tail(argument: &OsStr, from: usize) -> Cow<'_, OsStr> {
    match argument.to_str() {
        Some(text) => Cow::Borrowed(OsStr::new(&text[from..])),
        None => Cow::Owned(argument.to_string_lossy()[from..].into()),
    }
}

/// The absolute path after a lexical clean, as Go's `filepath.Abs` has it: `..` removes the part before it, whatever
/// that part is on disk.
#[cfg(unix)]
pub(crate) fn cleaned(cwd: &Path, typed: &OsStr) -> PathBuf {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let cwd = if typed.as_bytes().first() == Some(&b'/') { b"" } else { cwd.as_os_str().as_bytes() };
    let mut path = Vec::with_capacity(cwd.len() + typed.len().min(LONGEST_PATH) + 2);
    for part in [cwd, typed.as_bytes()].into_iter().flat_map(parts) {
        match part {
            b"." => {}
            b".." => path.truncate(path.iter().rposition(|&byte| byte == b'/').unwrap_or_default()),
            // What no system takes stays what no system takes, and is not copied.
            part => {
                path.push(b'/');
                path.extend_from_slice(&part[..part.len().min(LONGEST_PATH + 1)]);
            }
        }
    }
    if path.is_empty() {
        path.push(b'/');
    }
    OsString::from_vec(path).into()
}

/// What stands between the slashes, where anything does.
#[cfg(unix)]
fn parts(mut path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let start = path.iter().position(|&byte| byte != b'/')?;
        let rest = &path[start..];
        let (part, behind) = rest.split_at(to_the_slash(rest));
        path = behind;
        Some(part)
    })
}

/// How much stands before the first slash. Most parts are short; in a long one it is looked for block by block, since it is
/// told much faster whether a block has one than where (1 MiB byte by byte takes most of a millisecond).
#[cfg(unix)]
fn to_the_slash(path: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let within = |part: &[u8]| part.iter().position(|&byte| byte == b'/');
    if let Some(near) = within(&path[..path.len().min(BLOCK)]) {
        return near;
    }
    let passed = path.chunks(BLOCK).take_while(|block| !block.contains(&b'/')).map(<[u8]>::len).sum::<usize>();
    passed + within(&path[passed..]).unwrap_or_default()
}

/// The same with what else paths begin with (`C:`).
#[cfg(not(unix))]
pub(crate) fn cleaned(cwd: &Path, typed: &OsStr) -> PathBuf {
    let mut path = PathBuf::new();
    for part in as_typed(cwd, typed).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => path.push(part),
        }
    }
    path
}

/// The absolute path with every part as it was typed: the kernel follows links before it goes up by `..`.
#[cfg(unix)]
pub(crate) fn as_typed(cwd: &Path, typed: &OsStr) -> PathBuf {
    cwd.join(typed)
}

/// The same on another host or in a container, whose paths have slashes and no drives, wherever this is asked.
#[cfg(unix)]
pub(crate) fn over_there(directory: &Path, typed: &OsStr) -> PathBuf {
    directory.join(typed)
}

/// The same.
#[cfg(not(unix))]
pub(crate) fn over_there(directory: &Path, typed: &OsStr) -> PathBuf {
    if typed.as_encoded_bytes().first() == Some(&b'/') {
        return typed.into();
    }
    let mut path = directory.as_os_str().to_owned();
    if !path.as_encoded_bytes().ends_with(b"/") {
        path.push("/");
    }
    path.push(typed);
    path.into()
}

/// The same. `/c/x` is what Git Bash calls `C:\x`, and `D:x` is seen from the directory where we are on that drive.
#[cfg(not(unix))]
pub(crate) fn as_typed(cwd: &Path, typed: &OsStr) -> PathBuf {
    // Below a directory that only run time knows: on which drive that is nobody knows either.
    if !cwd.is_absolute() && !Path::new(typed).has_root() && Path::new(typed).is_relative() {
        return over_there(cwd, typed);
    }
    let path = match typed.as_encoded_bytes() {
        [b'/', letter, rest @ ..] if letter.is_ascii_alphabetic() && matches!(rest.first(), None | Some(b'/')) => {
            let drive = PathBuf::from(format!("{}:\\", char::from(letter.to_ascii_uppercase())));
            drive.join(tail(typed, if rest.is_empty() { 2 } else { 3 }))
        }
        _ => cwd.join(typed),
    };
    // What the system cannot name (it has a zero byte) is no file; it is taken for one of this directory.
    let unnamed =
        || cwd.join(path.components().filter(|part| matches!(part, Component::Normal(_))).collect::<PathBuf>());
    let path = if path.is_absolute() { path } else { std::path::absolute(&path).unwrap_or_else(|_| unnamed()) };
    file_of(path)
}

/// The file that the system opens by this path: dots and spaces at the end of its name are left out, and what follows a colon is
/// a stream of it; but for a path that is to be taken as it stands (`\\?\`).
#[cfg(not(unix))]
fn file_of(path: PathBuf) -> PathBuf {
    let as_it_stands =
        matches!(path.components().next(), Some(Component::Prefix(prefix)) if prefix.kind().is_verbatim());
    let name = path.file_name().and_then(OsStr::to_str).filter(|_| !as_it_stands);
    let file = name.and_then(|name| name.split(':').next()).map(|name| name.trim_end_matches(['.', ' ']));
    match file {
        Some(file) if !file.is_empty() && Some(file) != name => path.with_file_name(file),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(windows)]
    use crate::rules::step::nowhere;

    /// Where we are on another drive the system says, so no such path is here.
    #[cfg(windows)]
    #[test]
    fn every_way_to_write_a_path_comes_to_one() {
        let table = [
            ("x.env", r"C:\w\x.env"),
            (r".\a\..\x.env", r"C:\w\x.env"),
            ("a/b\\..//x.env", r"C:\w\a\x.env"),
            (r"..\..\..\x", r"C:\x"),
            (r"C:\x\secrets\monitoring.env.sops", r"C:\x\secrets\monitoring.env.sops"),
            ("C:/x/secrets/monitoring.env.sops", r"C:\x\secrets\monitoring.env.sops"),
            ("/c/x/secrets/monitoring.env.sops", r"C:\x\secrets\monitoring.env.sops"),
            ("/D/./y/", r"D:\y"),
            ("/d", r"D:\"),
            (r"\y", r"C:\y"),
            ("/cc/y", r"C:\cc\y"),
            (r"\\host\share\a\..\b", r"\\host\share\b"),
            ("//host/share/b", r"\\host\share\b"),
            ("", r"C:\w"),
        ];
        for (typed, expected) in table {
            assert_eq!(cleaned(Path::new(r"C:\w"), OsStr::new(typed)), Path::new(expected), "{typed}");
        }
        assert_eq!(as_typed(Path::new(r"C:\w"), OsStr::new(r"ln\..\x")).as_os_str(), r"C:\w\ln\..\x");
        assert!(as_typed(Path::new(r"C:\w"), OsStr::new("D:x")).is_absolute());
        for other in [r"x.env.", "x.env ", "x.env. .", "x.env::$DATA", "x.env:part", r"C:\w\x.env."] {
            assert_eq!(as_typed(Path::new(r"C:\w"), OsStr::new(other)), Path::new(r"C:\w\x.env"), "{other}");
        }
        assert_eq!(as_typed(&nowhere(), OsStr::new("y/x.env")).as_os_str(), "/\x1a/y/x.env");
        assert_eq!(as_typed(&nowhere(), OsStr::new("/c/x.env")), Path::new(r"C:\x.env"));
        assert_eq!(as_typed(Path::new(r"C:\w"), OsStr::new(r"\\?\C:\w\x.")), Path::new(r"\\?\C:\w\x."));
        assert_eq!(as_typed(Path::new(r"C:\w"), OsStr::new("D:x\0")), Path::new("C:\\w\\x\0"));
    }

    #[test]
    fn paths_of_another_host_are_taken_as_they_stand() {
        let table = [(".env", "/w/.env"), ("/c/x/.env", "/c/x/.env"), ("a:b", "/w/a:b"), ("x/../.env", "/w/x/../.env")];
        for (typed, expected) in table {
            assert_eq!(over_there(Path::new("/w"), OsStr::new(typed)).as_os_str(), expected, "{typed}");
        }
        assert_eq!(over_there(Path::new("/"), OsStr::new("x")).as_os_str(), "/x");
    }

    #[cfg(unix)]
    #[test]
    fn a_clean_path_has_no_dots_and_no_doubled_slashes() {
        let table = [
            ("x.env", "/w/x.env"),
            ("./a//b/../x.env", "/w/a/x.env"),
            ("ln/../x.env", "/w/x.env"),
            ("../../../x", "/x"),
            ("/a/./b/", "/a/b"),
            ("-", "/w/-"),
            ("", "/w"),
            ("/", "/"),
            ("//..//", "/"),
        ];
        for (typed, expected) in table {
            assert_eq!(cleaned(Path::new("/w"), OsStr::new(typed)).as_os_str(), expected, "{typed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_slash_is_found_wherever_it_stands() {
        for length in [0, 1, 255, 256, 257, 511, 512, 513, 5000] {
            let part = "x".repeat(length);
            assert_eq!(to_the_slash(part.as_bytes()), length);
            assert_eq!(to_the_slash(format!("{part}/y/z").as_bytes()), length);
        }
    }

    /// A typed path may be longer than any path, and come to a short one all the same.
    #[cfg(unix)]
    #[test]
    fn a_part_that_no_system_takes_can_be_left_again() {
        let huge = "x".repeat(1 << 20);
        let long = |typed: &str| cleaned(Path::new("/w"), OsStr::new(typed)).as_os_str().len();
        assert!((LONGEST_PATH + 1..LONGEST_PATH + 8).contains(&long(&huge)), "too long still");
        assert_eq!(cleaned(Path::new("/w"), OsStr::new(&format!("{huge}/../f"))).as_os_str(), "/w/f");
        assert_eq!(cleaned(Path::new("/w"), OsStr::new(&format!("{}f", "/".repeat(1 << 20)))).as_os_str(), "/f");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_word_that_no_system_hands_to_a_program_is_cut_and_stays_one() {
        const LONGEST: usize = 128 * 1024;
        let words = |length: usize| [OsString::from("a"), OsString::from("x".repeat(length))];
        assert_eq!(cut(&words(LONGEST + 1)), None);
        let shortened = cut(&words(1 << 20)).expect("it is cut");
        assert_eq!(shortened.iter().map(|word| word.len()).collect::<Vec<_>>(), [1, LONGEST + 1]);
    }

    #[cfg(unix)]
    #[test]
    fn a_raw_path_keeps_its_dots() {
        assert_eq!(as_typed(Path::new("/w"), OsStr::new("ln/../x")).as_os_str(), "/w/ln/../x");
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_cut_all_the_same() {
        use std::os::unix::ffi::OsStrExt as _;
        assert_eq!(tail(OsStr::from_bytes(b"--output=\xff"), 9).as_bytes(), b"\xff");
    }
}
