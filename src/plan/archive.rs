//! What stands in an archive: tar, with or without gzip, and zip. Nothing is unpacked onto a disk, and what is longer than a
//! look is left.
//!
//! Sources: POSIX.1-2024 pax (ustar), tar(5) of libarchive (GNU's long names), RFC 1952 (gzip), PKWARE's APPNOTE (zip).
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

use super::below::Looked;

/// So many members are looked at.
const MOST: usize = 100_000;

/// The directory of a zip, and a name or its extension in a tar, are no longer (bytes).
const LONGEST_DIRECTORY: u64 = 16 << 20;
const LONGEST_NAME: u64 = 64 * 1024;

/// A block of tar.
const BLOCK: usize = 512;

/// Looks at the members until one is what is looked for; directories are passed over.
pub(super) fn members(archive: &Path, is_late: &dyn Fn() -> bool, found: &mut dyn FnMut(&Path) -> bool) -> Looked {
    look(archive, is_late, found).unwrap_or(Looked::Unfinished)
}

fn look(archive: &Path, is_late: &dyn Fn() -> bool, found: &mut dyn FnMut(&Path) -> bool) -> Option<Looked> {
    // A pipe would block the reader.
    let is_file = std::fs::metadata(archive).ok()?.is_file();
    let mut file = File::open(archive).ok().filter(|_| is_file)?;
    let mut head = [0; 4];
    let length = file.read(&mut head).ok()?;
    file.rewind().ok()?;
    match head[..length] {
        [0x1f, 0x8b, ..] => tar(&mut Inflated::begin(BufReader::new(file))?, is_late, found),
        [b'P', b'K', 3 | 5, 4 | 6] => zip(file, found),
        _ => tar(&mut BufReader::new(file), is_late, found),
    }
}

/// Reads over so many bytes.
trait Skip: Read {
    fn skip(&mut self, bytes: u64) -> Option<()>;
}

impl Skip for BufReader<File> {
    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.seek_relative(i64::try_from(bytes).ok()?).ok()
    }
}

impl Skip for Inflated {
    fn skip(&mut self, bytes: u64) -> Option<()> {
        let over = std::io::copy(&mut self.take(bytes), &mut std::io::sink()).ok()?;
        (over == bytes).then_some(())
    }
}

fn tar(source: &mut dyn Skip, is_late: &dyn Fn() -> bool, found: &mut dyn FnMut(&Path) -> bool) -> Option<Looked> {
    let mut named: Option<Vec<u8>> = None;
    for _ in 0..MOST {
        let mut block = [0; BLOCK];
        if is_late() {
            return None;
        }
        source.read_exact(&mut block).ok()?;
        if block.iter().all(|&byte| byte == 0) {
            return Some(Looked::Nothing);
        }
        if !is_header(&block) {
            return None;
        }
        let size = number(&block[124..136])?;
        let padded = size.checked_next_multiple_of(BLOCK as u64)?;
        match block[156] {
            kind @ (b'L' | b'x') => {
                if size > LONGEST_NAME {
                    return None;
                }
                let mut text = vec![0; usize::try_from(size).ok()?];
                source.read_exact(&mut text).ok()?;
                source.skip(padded - size)?;
                named = if kind == b'L' { Some(until_zero(&text).to_vec()) } else { by_pax(&text).or(named) };
            }
            b'g' | b'K' => source.skip(padded)?,
            kind => {
                let name = named.take().unwrap_or_else(|| name(&block));
                if kind != b'5' && !name.ends_with(b"/") && found(&path(&name)) {
                    return Some(Looked::Found);
                }
                // Links and devices have no content.
                source.skip(if matches!(kind, b'1'..=b'6') { 0 } else { padded })?;
            }
        }
    }
    None
}

/// Whether the sum that stands in it is its own, with spaces in the place of the sum.
fn is_header(block: &[u8; BLOCK]) -> bool {
    let sum = block.iter().enumerate().map(|(at, &byte)| if (148..156).contains(&at) { 32 } else { u64::from(byte) });
    number(&block[148..156]) == Some(sum.sum())
}

/// Octal digits, or GNU's binary where the first bit is set.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let mut bytes = field.iter().skip(1);
        return bytes.try_fold(u64::from(field[0] & 0x3f), |sum, &byte| Some(sum.checked_mul(256)? + u64::from(byte)));
    }
    let text = std::str::from_utf8(until_zero(field)).ok()?.trim();
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn name(block: &[u8; BLOCK]) -> Vec<u8> {
    let own = until_zero(&block[..100]);
    let prefix = until_zero(&block[345..500]);
    if block[257..262] == *b"ustar" && block[262] == 0 && !prefix.is_empty() {
        [prefix, b"/", own].concat()
    } else {
        own.to_vec()
    }
}

/// The name in an extended header: `LENGTH path=NAME\n`.
fn by_pax(text: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text;
    while let Some(space) = rest.iter().position(|&byte| byte == b' ') {
        let length: usize = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
        let record = rest.get(space + 1..length.checked_sub(1)?)?;
        if let Some(name) = record.strip_prefix(b"path=") {
            return Some(name.to_vec());
        }
        rest = rest.get(length..)?;
    }
    None
}

fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

/// The directory at the end of a zip.
fn zip(mut file: File, found: &mut dyn FnMut(&Path) -> bool) -> Option<Looked> {
    let length = file.metadata().ok()?.len();
    let begin = length.saturating_sub(LONGEST_NAME + 22);
    file.seek(SeekFrom::Start(begin)).ok()?;
    let mut end = Vec::new();
    (&file).take(LONGEST_NAME + 22).read_to_end(&mut end).ok()?;
    let at = end.windows(4).rposition(|four| four == b"PK\x05\x06")?;
    let little = |at: usize, bytes: usize, of: &[u8]| -> Option<u64> {
        let field = of.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0, |sum, &byte| sum * 256 + u64::from(byte)))
    };
    let (size, from) = (little(at + 12, 4, &end)?, little(at + 16, 4, &end)?);
    if size > LONGEST_DIRECTORY || from.checked_add(size)? > length {
        return None;
    }
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut directory = Vec::new();
    file.take(size).read_to_end(&mut directory).ok()?;
    let mut rest = directory.as_slice();
    while rest.starts_with(b"PK\x01\x02") {
        let field = |at: usize| little(at, 2, rest).and_then(|length| usize::try_from(length).ok());
        let (named, extra, said) = (field(28)?, field(30)?, field(32)?);
        let name = rest.get(46..46 + named)?;
        if !name.ends_with(b"/") && found(&path(name)) {
            return Some(Looked::Found);
        }
        rest = rest.get(46 + named + extra + said..)?;
    }
    Some(Looked::Nothing)
}

/// What gzip has made small.
struct Inflated {
    source: BufReader<File>,
    state: Box<InflateState>,
    input: Vec<u8>,
    used: usize,
    ended: bool,
}

impl Inflated {
    /// Behind the header (RFC 1952, 2.3).
    fn begin(mut source: BufReader<File>) -> Option<Self> {
        let mut head = [0; 10];
        source.read_exact(&mut head).ok()?;
        let flags = head[3];
        if head[2] != 8 {
            return None;
        }
        if flags & 4 != 0 {
            let mut length = [0; 2];
            source.read_exact(&mut length).ok()?;
            source.skip(u64::from(u16::from_le_bytes(length)))?;
        }
        for _ in 0..(u32::from(flags & 8 != 0) + u32::from(flags & 16 != 0)) {
            let text = source.by_ref().bytes().take(BLOCK * 8);
            text.map_while(Result::ok).take_while(|&byte| byte != 0).for_each(drop);
        }
        if flags & 2 != 0 {
            source.skip(2)?;
        }
        let state = InflateState::new_boxed(DataFormat::Raw);
        Some(Self { source, state, input: Vec::new(), used: 0, ended: false })
    }
}

impl Read for Inflated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if self.ended || buffer.is_empty() {
                return Ok(0);
            }
            if self.used == self.input.len() {
                self.input.resize(64 * 1024, 0);
                let length = self.source.read(&mut self.input)?;
                self.input.truncate(length);
                self.used = 0;
            }
            let is_over = self.input.is_empty();
            let done = inflate(&mut self.state, &self.input[self.used..], buffer, MZFlush::None);
            self.used += done.bytes_consumed;
            match done.status {
                Ok(MZStatus::StreamEnd) => self.ended = true,
                Ok(_) => {}
                Err(_) if done.bytes_written > 0 => {}
                Err(_) => return Err(std::io::ErrorKind::InvalidData.into()),
            }
            if done.bytes_written > 0 {
                return Ok(done.bytes_written);
            }
            if is_over {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            let made = Command::new("tar")
                .current_dir(root.path())
                .args(options)
                .args([archive, "app", &"d".repeat(90)])
                .status();
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
}
