//! Which script an interpreter runs.
#![forbid(unsafe_code)]

/// The script or module of an interpreter: the first operand, unless the program text itself is an argument.
pub(super) fn of<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    loop {
        match args.next()? {
            b"-m" => return args.next().map(base_name),
            b"--eval" | b"--print" => return None,
            // -c, -e, -p, also in clusters (perl -lane TEXT): the text follows.
            [b'-', cluster @ ..] if cluster.iter().any(|letter| b"ceEp".contains(letter)) && cluster[0] != b'-' => {
                return None;
            }
            arg if arg.starts_with(b"-") => {}
            arg => return Some(base_name(arg)),
        }
    }
}

/// The last part of a path.
pub(super) fn base_name(path: &[u8]) -> String {
    let is_separator = |byte: &u8| *byte == b'/' || (cfg!(windows) && *byte == b'\\');
    String::from_utf8_lossy(path.rsplit(is_separator).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_name_and_program_text_is_never_taken() {
        let cases = [
            ("/usr/lib/npm-cli.js run x", Some("npm-cli.js")),
            ("-u worker.py", Some("worker.py")),
            ("-m tox -q", Some("tox")),
            ("-c secret", None),
            ("-e secret", None),
            ("-lane secret", None),
            ("--no-warnings cli.js", Some("cli.js")),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(of(line.split_ascii_whitespace().map(str::as_bytes)).as_deref(), expected, "{line}");
        }
    }
}
