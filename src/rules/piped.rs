//! What a command prints, where its own line says it: `echo`, `printf`, `cat`, `find`.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use super::find;
use super::format::{formatted, unescaped};

/// What comes out of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// This, nearly: escapes are read.
    Text {
        /// What.
        text: Vec<u8>,
        /// It is this to the letter, in whatever shell.
        exact: bool,
    },
    /// What these files hold; `-` is what goes in.
    Files(Vec<OsString>),
    /// What these SOPS files hold, decrypted: their keys are the same.
    Decrypted(Vec<OsString>),
    /// The bytes that go in, or those of these files, made small, made large again, or counted on the way.
    Through(Vec<OsString>),
    /// An archive, as these words of tar make it.
    Packed,
    /// What goes in.
    Input,
    /// Its directory.
    Directory,
    /// Nothing.
    Nothing,
    /// Nobody knows.
    Unknown,
}

/// What a command line says.
pub(super) fn said(name: &str, args: &[OsString]) -> Said {
    let is_option = |word: &&OsString| word.len() > 1 && word.as_encoded_bytes()[0] == b'-';
    let is_of_echo =
        |word: &&OsString| is_option(word) && word.as_encoded_bytes()[1..].iter().all(|byte| b"neE".contains(byte));
    match name {
        "echo" => {
            let words: Vec<&OsString> = args.iter().skip_while(is_of_echo).collect();
            let (mut text, plain) = text(&words);
            text.extend(Some(b'\n').filter(|_| args.first().is_none_or(|first| first != "-n")));
            Said::Text { text, exact: plain && args.len() == words.len() }
        }
        "printf" if args.first().is_none_or(|first| first != "-v") => formatted(args),
        "cat" => {
            let files: Vec<OsString> = args.iter().filter(|word| !is_option(word)).cloned().collect();
            if files.is_empty() { Said::Input } else { Said::Files(files) }
        }
        "find" => Said::Text { text: find::names(args), exact: false },
        // `kubectl create secret … -o yaml`: what comes out is named by the line.
        "kubectl" | "oc" if args.iter().any(|word| word == "secret") => {
            // A word stays one: a piece of a value is none of its own.
            let one = |word: &OsString| {
                word.as_encoded_bytes()
                    .iter()
                    .map(|&byte| if byte.is_ascii_whitespace() { b'_' } else { byte })
                    .collect::<Vec<u8>>()
            };
            Said::Text { text: args.iter().map(one).collect::<Vec<_>>().join(&b' '), exact: false }
        }
        "sops" if args.iter().any(|word| ["-d", "--decrypt", "decrypt"].iter().any(|it| word == it)) => {
            let mut files = args.iter().filter(|word| !is_option(word) && *word != "decrypt");
            Said::Decrypted(files.next_back().cloned().into_iter().collect())
        }
        "gzip" | "gunzip" | "zcat" | "pigz" | "unpigz" | "zstd" | "zstdcat" | "xz" | "xzcat" | "bzip2" | "bzcat"
        | "lz4" | "pv" => Said::Through(args.iter().filter(|word| !is_option(word)).cloned().collect()),
        "tar" | "gtar" | "bsdtar" => Said::Packed,
        // Where a program lies: it is called as it is named.
        "which" | "command" | "type" if asked_for(name, args).is_some() => {
            let program = asked_for(name, args).map(|program| program.as_encoded_bytes());
            Said::Text { text: [program.unwrap_or_default(), b"\n"].concat(), exact: true }
        }
        // A new file that nobody shares: its name is made up.
        "mktemp" if args.iter().all(|word| ["-d", "-u", "-q", "--directory"].iter().any(|option| word == option)) => {
            Said::Text { text: b"/tmp/tmp.XXXXXXXXXX\n".to_vec(), exact: true }
        }
        // What goes in comes out, with variables filled in or written down as well.
        "tee" | "envsubst" => Said::Input,
        "pwd" if args.is_empty() => Said::Directory,
        // Launchers that have no options here.
        "command" | "builtin" | "exec" | "sudo" | "doas" | "nohup" | "time" | "nice" => match args.split_first() {
            Some((program, args)) if !is_option(&program) && !program.as_encoded_bytes().contains(&b'=') => {
                said(program.to_str().unwrap_or_default(), args)
            }
            _ => Said::Unknown,
        },
        "cd" | "pushd" | "export" | "unset" | "set" | "local" | "readonly" | "declare" | "typeset" | ":" | "true"
        | "false" | "[" | "test" | "return" | "exit" | "sleep" | "mkdir" | "rm" | "shift" | "trap" | "umask"
        | "read" | "printf" | "eval" | "break" | "continue" | "wait" => Said::Nothing,
        _ => Said::Unknown,
    }
}

/// The one program that is looked for: `which docker`, `command -v docker`, `type -P docker`.
fn asked_for<'a>(name: &str, args: &'a [OsString]) -> Option<&'a OsString> {
    let behind = match (name, args) {
        ("which", [program]) => program,
        ("command", [option, program]) if option == "-v" => program,
        ("type", [option, program]) if option == "-P" || option == "-p" => program,
        _ => return None,
    };
    (!behind.as_encoded_bytes().starts_with(b"-")).then_some(behind)
}

/// The words joined by spaces. Escapes are read whether or not `-e` asks for it: shells differ, and a line break parts
/// words as a space does. Whether there were none.
fn text(words: &[&OsString]) -> (Vec<u8>, bool) {
    let (mut text, mut plain) = (Vec::new(), true);
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push(b' ');
        }
        plain &= !word.as_encoded_bytes().contains(&b'\\');
        text.extend(unescaped(word.as_encoded_bytes()));
    }
    (text, plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_off_the_line() {
        let text = |text: &str, exact| Said::Text { text: text.into(), exact };
        let files = |names: &[&str]| Said::Files(names.iter().map(OsString::from).collect());
        let table: [(&str, &[&str], Said); 19] = [
            ("echo", &["grant", "x"], text("grant x\n", true)),
            ("echo", &["-p", "x"], text("-p x\n", true)),
            ("echo", &["-n", "-e", "a\\nb"], text("a\nb", false)),
            ("printf", &["%s\\n", "grant x"], text("grant x\n", true)),
            ("printf", &["%s\\0", "a", "b"], text("a\0b\0", true)),
            ("printf", &["%s=%d %%\\n", "a", "1"], text("a=1 %\n", true)),
            ("printf", &["a%%b"], text("a%b", true)),
            ("printf", &["a", "b"], text("a", false)),
            ("printf", &["-v", "x", "y"], Said::Nothing),
            ("cat", &["a.sql", "-v", "b.sql"], files(&["a.sql", "b.sql"])),
            ("cat", &["-"], files(&["-"])),
            ("cat", &["-v"], Said::Input),
            ("sudo", &["cat", "a"], files(&["a"])),
            ("tee", &["log"], Said::Input),
            ("pwd", &[], Said::Directory),
            ("cd", &["x"], Said::Nothing),
            ("find", &["x", "-name", "*.env", "-print0"], text("\u{1a}/*.env\0", false)),
            ("gunzip", &["-c", "x.gz"], Said::Through(vec!["x.gz".into()])),
            ("", &[], Said::Unknown),
        ];
        for (name, args, expected) in table {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(said(name, &args), expected, "{name} {args:?}");
        }
    }
}
