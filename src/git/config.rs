//! A reader of git's configuration syntax: sections, quoted sub-sections, escapes, comments, continued lines. Facts from
//! git's `config.txt`, section "Syntax", and checked against the real git by a test.
#![forbid(unsafe_code)]

use std::iter::Peekable;

/// One `key = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Lower-case.
    pub(super) section: String,
    /// As written; lower-case in the old form `[section.sub]`.
    pub(super) subsection: Option<Vec<u8>>,
    /// Lower-case.
    pub(super) key: String,
    /// None for a key without `=`, which means true.
    pub(super) value: Option<Vec<u8>>,
}

impl Entry {
    /// Is this `section.subsection.key`? `section` and `key` are given in lower case.
    pub(super) fn is(&self, section: &str, subsection: Option<&str>, key: &str) -> bool {
        self.section == section && self.subsection.as_deref() == subsection.map(str::as_bytes) && self.key == key
    }

    /// The name of the remote whose URL this is; none for what takes back those before it.
    pub(super) fn remote(&self) -> Option<&str> {
        let is_url = self.section == "remote" && self.key == "url" && !self.value.as_ref()?.is_empty();
        std::str::from_utf8(self.subsection.as_deref()?).ok().filter(|_| is_url)
    }
}

/// The line (from 1) that does not parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadLine(pub(super) usize);

/// All entries in order.
pub(super) fn parse(text: &[u8]) -> Result<Vec<Entry>, BadLine> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader { bytes: text.iter().copied().peekable(), line: 1 };
    let mut entries = Vec::new();
    // git lets keys stand before any section.
    let mut section = (String::new(), None);
    while let Some(byte) = reader.next() {
        match byte {
            b'#' | b';' => reader.skip_line(),
            b'[' => section = reader.header()?,
            byte if is_blank(byte) => {}
            byte if byte.is_ascii_alphabetic() => {
                let (section, subsection) = section.clone();
                let (key, value) = reader.entry(byte)?;
                entries.push(Entry { section, subsection, key, value });
            }
            _ => return Err(BadLine(reader.line)),
        }
    }
    Ok(entries)
}

/// What git calls a space; a form feed is none.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

struct Reader<I: Iterator<Item = u8>> {
    bytes: Peekable<I>,
    line: usize,
}

impl<I: Iterator<Item = u8>> Reader<I> {
    /// The next byte; CRLF counts as LF.
    fn next(&mut self) -> Option<u8> {
        let mut byte = self.bytes.next()?;
        if byte == b'\r' && self.bytes.peek() == Some(&b'\n') {
            byte = self.bytes.next()?;
        }
        if byte == b'\n' {
            self.line += 1;
        }
        Some(byte)
    }

    fn bad(&self) -> BadLine {
        BadLine(self.line)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// The rest of `[section "sub"]`.
    fn header(&mut self) -> Result<(String, Option<Vec<u8>>), BadLine> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(b']') if !name.is_empty() => break,
                Some(b' ' | b'\t') => return Ok((name, Some(self.quoted_subsection()?))),
                Some(byte) if byte.is_ascii_alphanumeric() || b"-.".contains(&byte) => {
                    name.push(char::from(byte.to_ascii_lowercase()));
                }
                _ => return Err(self.bad()),
            }
        }
        Ok(match name.split_once('.') {
            Some((section, sub)) => (section.to_owned(), Some(sub.as_bytes().to_vec())),
            None => (name, None),
        })
    }

    fn quoted_subsection(&mut self) -> Result<Vec<u8>, BadLine> {
        let mut sub = Vec::new();
        while self.bytes.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            self.next();
        }
        if self.next() != Some(b'"') {
            return Err(self.bad());
        }
        loop {
            match self.next() {
                Some(b'"') => break,
                Some(b'\\') => sub.push(self.next().filter(|&byte| byte != b'\n').ok_or(self.bad())?),
                Some(b'\n') | None => return Err(self.bad()),
                Some(byte) => sub.push(byte),
            }
        }
        if self.next() == Some(b']') { Ok(sub) } else { Err(self.bad()) }
    }

    /// A key, of which `first` has been read, and its value.
    fn entry(&mut self, first: u8) -> Result<(String, Option<Vec<u8>>), BadLine> {
        let mut key = String::from(char::from(first.to_ascii_lowercase()));
        while let Some(&byte) = self.bytes.peek() {
            if !byte.is_ascii_alphanumeric() && byte != b'-' {
                break;
            }
            key.push(char::from(byte.to_ascii_lowercase()));
            self.next();
        }
        loop {
            match self.next() {
                Some(b' ' | b'\t') => {}
                Some(b'\n') | None => return Ok((key, None)),
                // `key ; comment` and `key # comment` are errors in git as well: a value-less key ends its line.
                Some(b'=') => return Ok((key, Some(self.value()?))),
                Some(_) => return Err(self.bad()),
            }
        }
    }

    /// A value to the end of its line. Blanks at either end count only inside quotes.
    fn value(&mut self) -> Result<Vec<u8>, BadLine> {
        let (mut value, mut kept, mut quoted) = (Vec::new(), 0, false);
        loop {
            match self.next() {
                Some(b'\n') | None if quoted => return Err(self.bad()),
                Some(b'\n') | None => break,
                Some(b'#' | b';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some(b'"') => quoted = !quoted,
                Some(byte) if is_blank(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                Some(b'\\') => match self.next() {
                    // Blanks before the end of a continued line are part of the value.
                    Some(b'\n') | None => {}
                    Some(b't') => value.push(b'\t'),
                    Some(b'b') => value.push(8),
                    Some(b'n') => value.push(b'\n'),
                    Some(byte @ (b'\\' | b'"')) => value.push(byte),
                    _ => return Err(self.bad()),
                },
                Some(byte) => value.push(byte),
            }
            kept = value.len();
        }
        value.truncate(kept);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<(String, Option<String>)> {
        let text_of = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        parse(text.as_bytes())
            .expect("parses")
            .into_iter()
            .map(|entry| {
                let sub = entry.subsection.map(|sub| format!(".{}", text_of(sub))).unwrap_or_default();
                (format!("{}{sub}.{}", entry.section, entry.key), entry.value.map(text_of))
            })
            .collect()
    }

    #[test]
    fn every_form_of_a_value_reads_as_git_reads_it() {
        for (text, value) in [
            ("[a]\nb = c", "c"),
            ("[a]b=c", "c"),
            ("[a]\r\n\tb =  c d \r\n", "c d"),
            ("[a]\nb = c ; note", "c"),
            ("[a]\nb = c# note", "c"),
            ("[a]\nb = \"c # d \" # note", "c # d "),
            ("[a]\nb = c\\\nd", "cd"),
            ("[a]\nb = c \\\n # d", "c "),
            ("[a]\nb = c\\", "c"),
            ("[a]\nb = \"c\\\"\\\\\\t\"", "c\"\\\t"),
            ("\u{feff}[a]\nb =", ""),
        ] {
            assert_eq!(values(text), [("a.b".to_owned(), Some(value.to_owned()))], "{text:?}");
        }
    }

    #[test]
    fn sections_fold_case_and_subsections_do_not() {
        assert_eq!(
            values("[REMOTE \"Or\\\"igin\"]\n URL = x\n[Remote.ORIGIN]\nurl = y\n[core]\nbare\n"),
            [
                ("remote.Or\"igin.url".to_owned(), Some("x".to_owned())),
                ("remote.origin.url".to_owned(), Some("y".to_owned())),
                ("core.bare".to_owned(), None),
            ]
        );
    }

    #[test]
    fn what_git_refuses_is_refused_with_its_line() {
        for (text, line) in
            [("[]", 1), ("[a]\n\n= c", 3), ("[a]\nb = \"c\n", 3), ("[a\n]", 2), ("[a]\n\u{c}", 2), ("[a]\nb = \\q", 2)]
        {
            assert_eq!(parse(text.as_bytes()), Err(BadLine(line)), "{text:?}");
        }
    }

    /// As git itself writes them (`write_section`, `write_pair` in its `config.c`).
    fn written(entries: &[Entry]) -> Vec<u8> {
        let escaped = |text: &[u8]| {
            let escape = |byte: &u8| match byte {
                b'"' | b'\\' => vec![b'\\', *byte],
                b'\n' => b"\\n".to_vec(),
                b'\t' => b"\\t".to_vec(),
                other => vec![*other],
            };
            text.iter().flat_map(escape).collect::<Vec<u8>>()
        };
        let mut text = Vec::new();
        for entry in entries {
            text.extend(format!("[{}", entry.section).into_bytes());
            if let Some(sub) = &entry.subsection {
                let quoted = sub.iter().flat_map(|&byte| match byte {
                    b'"' | b'\\' => vec![b'\\', byte],
                    other => vec![other],
                });
                text.extend([b' ', b'"'].into_iter().chain(quoted).chain([b'"']));
            }
            text.extend(format!("]\n\t{}", entry.key).into_bytes());
            if let Some(value) = &entry.value {
                text.extend([&b" = \""[..], &escaped(value), b"\""].concat());
            }
            text.push(b'\n');
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read(entries in proptest::collection::vec((
            "[a-z][a-z0-9-]{0,4}",
            proptest::option::of(proptest::collection::vec(any::<u8>().prop_filter("no line", |b| !b"\n\0\r".contains(b)), 0..6)),
            "[a-z][a-z0-9-]{0,4}",
            proptest::option::of(proptest::collection::vec(any::<u8>().prop_filter("no line", |b| !b"\0\r".contains(b)), 0..8)),
        ), 0..6)) {
            let entry = |(section, subsection, key, value)| Entry { section, subsection, key, value };
            let entries: Vec<Entry> = entries.into_iter().map(entry).collect();
            prop_assert_eq!(parse(&written(&entries)), Ok(entries));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "([\\[\\]\"=\\\\;# \n\ta.]|\r\n|\u{feff}|[^\0]){0,40}") {
            let _read = parse(text.as_bytes());
        }
    }
}
