//! gzip: what is in it, as it is read.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufReader, Read};

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

use super::Skip;

/// No name or comment in a header is longer (bytes).
const LONGEST: usize = 4096;

/// What gzip has made small.
pub(super) struct Inflated<'a> {
    source: BufReader<File>,
    /// One member may be longer than anybody waits.
    is_late: &'a dyn Fn() -> bool,
    state: Box<InflateState>,
    input: Vec<u8>,
    used: usize,
    ended: bool,
}

impl<'a> Inflated<'a> {
    /// Behind the header (RFC 1952, 2.3).
    pub(super) fn begin(mut source: BufReader<File>, is_late: &'a dyn Fn() -> bool) -> Option<Self> {
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
            let text = source.by_ref().bytes().take(LONGEST);
            text.map_while(Result::ok).take_while(|&byte| byte != 0).for_each(drop);
        }
        if flags & 2 != 0 {
            source.skip(2)?;
        }
        let state = InflateState::new_boxed(DataFormat::Raw);
        Some(Self { source, is_late, state, input: Vec::new(), used: 0, ended: false })
    }
}

impl Skip for Inflated<'_> {
    fn skip(&mut self, bytes: u64) -> Option<()> {
        let over = std::io::copy(&mut self.take(bytes), &mut std::io::sink()).ok()?;
        (over == bytes).then_some(())
    }
}

impl Read for Inflated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if self.ended || buffer.is_empty() {
                return Ok(0);
            }
            if self.used == self.input.len() {
                if (self.is_late)() {
                    return Err(std::io::ErrorKind::TimedOut.into());
                }
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
