//! Names as bytes where names are sixteen-bit units: the encoding that std keeps them in (WTF-8: UTF-8, and a half of a
//! surrogate pair that stands alone as three bytes), checked, so that bytes from elsewhere can become a name.
#![forbid(unsafe_code)]

/// Whether these bytes can be a name.
pub(super) fn is_name(mut bytes: &[u8]) -> bool {
    let mut after_high = false;
    loop {
        let good = match std::str::from_utf8(bytes) {
            Ok(_) => return true,
            Err(error) => error.valid_up_to(),
        };
        let Some((&[first, second, third], rest)) = bytes[good..].split_first_chunk::<3>() else { return false };
        let alone = first == 0xED && (0xA0..=0xBF).contains(&second) && (0x80..=0xBF).contains(&third);
        let low = second >= 0xB0;
        // A high half and a low one behind it are one character, and have four bytes.
        if !alone || (after_high && good == 0 && low) {
            return false;
        }
        after_high = !low;
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn only_what_the_system_can_say_is_a_name() {
        let good: [&[u8]; 6] = [
            b"",
            b"a\\b",
            "\u{e4}\u{1f600}".as_bytes(),
            b"\xED\xA0\x80",
            b"x\xED\xB0\x80y",
            b"\xED\xB0\x80\xED\xA0\x80",
        ];
        let bad: [&[u8]; 5] = [b"\xFF", b"a\xC3", b"\xED\xA0\x80\xED\xB0\x80", b"\xED\xA0", b"\xC0\x80\x80"];
        for name in good {
            assert!(is_name(name), "{}", name.escape_ascii());
        }
        for name in bad {
            assert!(!is_name(name), "{}", name.escape_ascii());
        }
    }
}
