//! What `printf` makes of its words (POSIX; printf(1) of bash and of the GNU coreutils), and what escapes stand for. What is not
//! known by the letter is marked as something that only run time knows: half a name is the name of something else.
#![forbid(unsafe_code)]

mod escape;

use std::ffi::OsString;

pub(super) use self::escape::unescaped;

use self::escape::escape;
use super::piped::Said;
use super::step::UNKNOWN;

/// Nobody writes more with one command (bytes: 256 KiB), nor a wider field.
const LONGEST: usize = 256 * 1024;
const WIDEST: usize = 4096;

/// Flags, width and precision of one conversion.
#[derive(Default)]
struct Field {
    left: bool,
    zero: bool,
    sign: Option<u8>,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// `printf FORMAT WORD…`: the format is used again as long as there are words.
pub(super) fn formatted(args: &[OsString]) -> Said {
    let args = if args.first().is_some_and(|first| first == "--") { &args[1..] } else { args };
    let Some((format, words)) = args.split_first() else { return Said::Nothing };
    let format = format.as_encoded_bytes();
    let mut words = words.iter().map(|word| word.as_encoded_bytes());
    let mut text = Vec::new();
    loop {
        let before = words.len();
        once(format, &mut words, &mut text);
        if text.len() > LONGEST {
            return Said::Unknown;
        }
        if words.len() == 0 || words.len() == before {
            let exact = words.len() == 0 && !text.contains(&UNKNOWN);
            return Said::Text { text, exact };
        }
    }
}

fn once<'w>(format: &[u8], words: &mut impl Iterator<Item = &'w [u8]>, text: &mut Vec<u8>) {
    let mut at = 0;
    while at < format.len() {
        match format[at..] {
            [b'%', b'%', ..] => {
                text.push(b'%');
                at += 2;
            }
            [b'%', ..] => at += 1 + conversion(&format[at + 1..], words, text),
            [b'\\', ..] => at += escape(&format[at..], false, text),
            [byte, ..] => {
                text.push(byte);
                at += 1;
            }
            [] => {}
        }
    }
}

/// One conversion, behind its `%`. Answers how long it is.
fn conversion<'w>(format: &[u8], words: &mut impl Iterator<Item = &'w [u8]>, text: &mut Vec<u8>) -> usize {
    let (mut field, mut at) = (Field::default(), 0);
    while let Some(flag @ (b'-' | b'0' | b'+' | b' ' | b'#')) = format.get(at) {
        match flag {
            b'-' => field.left = true,
            b'0' => field.zero = true,
            b'#' => field.alternate = true,
            sign => field.sign = Some(*sign),
        }
        at += 1;
    }
    field.width = number(format, &mut at, words);
    if format.get(at) == Some(&b'.') {
        at += 1;
        field.precision = Some(number(format, &mut at, words));
    }
    let Some(letter) = format.get(at) else {
        text.push(UNKNOWN);
        return at;
    };
    match filled(*letter, &field, words.next().unwrap_or_default()) {
        Some(value) if field.width <= WIDEST => {
            let padding = field.width.saturating_sub(value.len());
            let (before, behind) = if field.left { (0, padding) } else { (padding, 0) };
            text.extend(std::iter::repeat_n(b' ', before));
            text.extend(value);
            text.extend(std::iter::repeat_n(b' ', behind));
        }
        _ => text.push(UNKNOWN),
    }
    at + 1
}

fn number<'w>(format: &[u8], at: &mut usize, words: &mut impl Iterator<Item = &'w [u8]>) -> usize {
    if format.get(*at) == Some(&b'*') {
        *at += 1;
        let word = words.next().unwrap_or_default();
        return std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).unwrap_or(usize::MAX);
    }
    let mut value = 0_usize;
    while let Some(digit @ b'0'..=b'9') = format.get(*at) {
        value = value.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    value
}

/// What a word becomes, before it is padded with blanks; none where that is not known.
fn filled(letter: u8, field: &Field, word: &[u8]) -> Option<Vec<u8>> {
    let is_open = word.contains(&UNKNOWN);
    match letter {
        b's' | b'b' if is_open => (field.precision.is_none() && field.width == 0).then(|| word.to_vec()),
        _ if is_open => None,
        b's' | b'b' => {
            let whole = if letter == b'b' { unescaped(word) } else { word.to_vec() };
            let most = field.precision.unwrap_or(whole.len()).min(whole.len());
            Some(whole[..most].to_vec())
        }
        b'c' => Some(word.iter().take(1).copied().collect()),
        b'q' => word.iter().all(u8::is_ascii_alphanumeric).then(|| word.to_vec()),
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => integer(letter, field, word),
        _ => None,
    }
}

fn integer(letter: u8, field: &Field, word: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(word).ok()?;
    let digits = text.trim_start_matches(['+', '-']);
    // `010` is octal, `0x10` hexadecimal, and what is no number a complaint.
    let value: i64 = match text {
        "" => 0,
        _ if digits.len() > 1 && digits.starts_with('0') => return None,
        _ => text.parse().ok()?,
    };
    let (negative, size) = (value < 0, value.unsigned_abs());
    if letter != b'd' && letter != b'i' && (negative || field.alternate) {
        return None;
    }
    let digits = match letter {
        b'x' => format!("{size:x}"),
        b'X' => format!("{size:X}"),
        b'o' => format!("{size:o}"),
        _ => size.to_string(),
    };
    let sign = if negative { "-" } else { field.sign.map_or("", |sign| if sign == b'+' { "+" } else { " " }) };
    let sign = if matches!(letter, b'd' | b'i') { sign } else { "" };
    let zeros = field.zero && !field.left && field.precision.is_none();
    let least = if zeros { field.width.saturating_sub(sign.len()) } else { field.precision.unwrap_or_default() };
    (least <= WIDEST).then(|| format!("{sign}{digits:0>least$}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printf_is_read_as_it_prints() {
        let open = "\u{1a}";
        let table: [(&[&str], &str, bool); 18] = [
            (&["web%02d\\n", "1", "2"], "web01\nweb02\n", true),
            (&["%s=%d %%\\n", "a", "1"], "a=1 %\n", true),
            (&["%x,%X,%o", "255", "255", "8"], "ff,FF,10", true),
            (&["%.3s|%5s|%-3s|", "abcdef", "ab", "c"], "abc|   ab|c  |", true),
            (&["a\\055b"], "a-b", true),
            (&["a\\x2db"], "a-b", true),
            (&["%b", "a\\055b\\0055"], "a-b-", true),
            (&["%b", "a\\tb"], "a\tb", true),
            (&["%s\\0", "a", "b"], "a\0b\0", true),
            (&["%03d|%+d|%.2d", "-7", "3", "4"], "-07|+3|04", true),
            (&["%*s", "3", "a"], "  a", true),
            (&["%s-%d", "a"], "a-0", true),
            (&["%d", "010"], open, false),
            (&["%f", "1"], open, false),
            (&["%q", "a b"], open, false),
            (&["%.1s", "\u{1a}x"], open, false),
            (&["a", "b"], "a", false),
            (&["--", "a%%b"], "a%b", true),
        ];
        for (words, expected, exact) in table {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(formatted(&words), Said::Text { text: expected.into(), exact }, "{words:?}");
        }
        assert_eq!(String::from_utf8_lossy(&unescaped(b"a\\x2db\\055\\1")), "a-b-\\1");
        assert_eq!(unescaped(b"a\\0055b\\0"), b"a-b\0");
    }
}
