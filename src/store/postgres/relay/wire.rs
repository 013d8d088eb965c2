//! What both sides say: four bytes of length, then JSON. Never shown: arguments can carry a lease key.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::store::StoreError;

/// The longest frame, 64 MiB: an answer is a page of a ledger at most.
const LONGEST: u32 = 64 << 20;

/// Asked by a command.
#[derive(Serialize, Deserialize)]
pub(super) enum Ask {
    /// It could have connected itself: what its proof shows for the salt.
    Prove([u8; 32]),
    /// Call this function, within so many milliseconds.
    Call { function: String, arguments: Vec<(String, String, String)>, limit_ms: u64 },
    /// Answer when something has changed so often about one of these, or when so many milliseconds have passed.
    Hear { wanted: Vec<String>, changes: usize, span_ms: u64 },
}

/// Said by the relay.
#[derive(Serialize, Deserialize)]
pub(super) enum Said {
    /// To show a proof for.
    Salt([u8; 32]),
    /// Go on.
    Welcome,
    /// What the function answered.
    Answer(String),
    /// Why it did not.
    Fault(StoreError),
    /// Something has changed, or the time has passed.
    Heard,
    /// The server cannot call out to anybody here.
    Deaf,
}

pub(super) fn say(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, what)?;
    let length =
        u32::try_from(frame.len() - 4).ok().filter(|&length| length <= LONGEST).ok_or(io::ErrorKind::InvalidData)?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    to.write_all(&frame)
}

pub(super) fn hear<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_and_what_is_cut_short_is_a_fault() {
        let mut wire = Vec::new();
        say(&mut wire, &Said::Answer("{}".to_owned())).expect("said");
        assert!(matches!(hear(&mut &*wire), Ok(Said::Answer(text)) if text == "{}"));
        for cut in 0..wire.len() {
            assert!(hear::<Said>(&mut &wire[..cut]).is_err(), "{cut}");
        }
        assert!(hear::<Said>(&mut &[0xff, 0xff, 0xff, 0xff, b'{'][..]).is_err(), "longer than anything");
    }
}
