//! Many objects asked of one `cat-file`, also where the clone has only some of them.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::process::{ChildStdout, Stdio};

use super::super::Door;
use super::super::spawn::{cannot_read, ended};
use crate::git::GitError;

/// What git older than 2.44 says as it dies of an object that it would have to fetch and may not (seen with 2.39.5);
/// later ones answer `missing` and go on.
const NOT_HERE: &str = "from promisor remote";

impl Door {
    /// Asks `cat-file` with this option (`--batch`, `--batch-check`) about each name in turn. `take` gets a name's place,
    /// the answer's first line (empty where the object is not here) and what follows it.
    pub(super) fn each<N: AsRef<[u8]>>(
        &self,
        option: &'static str,
        names: &[N],
        mut take: impl FnMut(usize, &[u8], &mut BufReader<ChildStdout>) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        // Where each name begins in the list, so that the next git goes on behind the one that the last died of.
        let mut list = Vec::new();
        let mut begins = Vec::with_capacity(names.len());
        for name in names {
            begins.push(list.len() as u64);
            list.extend_from_slice(name.as_ref());
            list.push(b'\n');
        }
        let mut file = tempfile::tempfile().map_err(cannot_read)?;
        file.write_all(&list).map_err(cannot_read)?;
        let mut at = 0;
        while at < names.len() {
            file.seek(SeekFrom::Start(begins[at])).map_err(cannot_read)?;
            let mut command = self.git();
            command.args(["cat-file", option, "--buffer"]).stderr(Stdio::piped());
            command.stdin(file.try_clone().map_err(cannot_read)?).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(cannot_read)?;
            let (Some(output), Some(mut words)) = (child.stdout.take(), child.stderr.take()) else {
                return Err(cannot_read(std::io::ErrorKind::BrokenPipe.into()));
            };
            let mut output = BufReader::with_capacity(1 << 16, output);
            let mut line = Vec::new();
            while at < names.len() && output.read_until(b'\n', &mut line).map_err(cannot_read)? > 0 {
                take(at, &line, &mut output)?;
                line.clear();
                at += 1;
            }
            let mut said = Vec::new();
            words.read_to_end(&mut said).map_err(cannot_read)?;
            match ended("cat-file", &self.directory, &mut child) {
                Err(_) if at < names.len() && String::from_utf8_lossy(&said).contains(NOT_HERE) => {
                    take(at, b"", &mut output)?;
                    at += 1;
                }
                Ok(()) if at < names.len() => return Err(cannot_read(std::io::ErrorKind::UnexpectedEof.into())),
                other => return other,
            }
        }
        Ok(())
    }
}
