//! What a command puts into a pipe, where its own line says it: `echo`, `printf`, `cat`.
#![forbid(unsafe_code)]

use std::ffi::OsString;

/// What comes out of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// This, nearly: escapes are read, the gaps of a format are not filled.
    Text(Vec<u8>),
    /// What these files hold; `-` is what goes in.
    Files(Vec<OsString>),
    /// What goes in.
    Input,
    /// Nobody knows.
    Unknown,
}

/// What a command line says.
pub(super) fn said(name: &str, args: &[OsString]) -> Said {
    let is_option = |word: &&OsString| word.len() > 1 && word.as_encoded_bytes()[0] == b'-';
    match name {
        "echo" => Said::Text(text(args.iter().skip_while(is_option))),
        "printf" => Said::Text(text(args.iter())),
        "cat" => {
            let files: Vec<OsString> = args.iter().filter(|word| !is_option(word)).cloned().collect();
            if files.is_empty() { Said::Input } else { Said::Files(files) }
        }
        // `kubectl create secret … -o yaml`: what comes out is named by the line.
        "kubectl" | "oc" if args.iter().any(|word| word == "secret") => Said::Text(text(args.iter())),
        // What goes in comes out, with variables filled in or written down as well.
        "tee" | "envsubst" => Said::Input,
        _ => Said::Unknown,
    }
}

/// The words joined by spaces. Escapes are read whether or not `-e` asks for it: shells differ, and a line break parts
/// words as a space does.
fn text<'a>(words: impl Iterator<Item = &'a OsString>) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        if !text.is_empty() {
            text.push(b' ');
        }
        let bytes = word.as_encoded_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let escaped = match (bytes[at], bytes.get(at + 1)) {
                (b'\\', Some(b'n' | b'r')) => Some(b'\n'),
                (b'\\', Some(b't')) => Some(b'\t'),
                _ => None,
            };
            text.push(escaped.unwrap_or(bytes[at]));
            at += 1 + usize::from(escaped.is_some());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_off_the_line() {
        let text = |text: &str| Said::Text(text.into());
        let files = |names: &[&str]| Said::Files(names.iter().map(OsString::from).collect());
        let table: [(&str, &[&str], Said); 9] = [
            ("echo", &["grant", "x"], text("grant x")),
            ("echo", &["-n", "-e", "a\\nb"], text("a\nb")),
            ("printf", &["%s\\n", "grant x"], text("%s\n grant x")),
            ("cat", &["a.sql", "-v", "b.sql"], files(&["a.sql", "b.sql"])),
            ("cat", &["-"], files(&["-"])),
            ("cat", &["-v"], Said::Input),
            ("tee", &["log"], Said::Input),
            ("gunzip", &["-c", "x.gz"], Said::Unknown),
            ("", &[], Said::Unknown),
        ];
        for (name, args, expected) in table {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(said(name, &args), expected, "{name} {args:?}");
        }
    }
}
