//! tar: one header after the other, each with what it is about behind it.
#![forbid(unsafe_code)]

use std::path::Path;

use super::{LONGEST_NAME, Looked, Skip, path};

/// So many members are looked at.
const MOST: usize = 100_000;

/// Everything begins at a multiple of this.
const BLOCK: usize = 512;

/// Looks at the members.
pub(super) fn tar(
    source: &mut dyn Skip,
    is_late: &dyn Fn() -> bool,
    found: &mut dyn FnMut(&Path) -> bool,
) -> Option<Looked> {
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
