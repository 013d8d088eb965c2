//! What another process was told, as far as its part in a chain of processes needs it.
#![forbid(unsafe_code)]

/// Splits a command line as most programs do (quotes hold spaces together; a backslash before one keeps it).
pub(super) fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'"') => word.extend(characters.next()),
            '"' => (quoted, any) = (!quoted, true),
            ' ' | '\t' if !quoted => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            character => word.push(character),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether a shell with these arguments was given neither a command nor a script, or was told to stay after it.
pub(super) fn is_interactive<'a>(shell: &str, mut args: impl Iterator<Item = &'a [u8]>) -> bool {
    match shell {
        // `/k` runs a command and stays: so consoles for developers are opened.
        "cmd" => !args.any(|arg| matches!(arg, [b'/', b'c' | b'C' | b'r' | b'R', ..])),
        "powershell" | "pwsh" => of_powershell(args),
        _ => crate::holder::shell::is_interactive(args),
    }
}

/// about_PowerShell_exe: any beginning of an option's name stands for it, and what is no option is a command or a file.
fn of_powershell<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> bool {
    const VALUED: [&str; 8] = [
        "-executionpolicy",
        "-ep",
        "-version",
        "-windowstyle",
        "-inputformat",
        "-outputformat",
        "-workingdirectory",
        "-configurationname",
    ];
    let (mut told, mut stays) = (false, false);
    while let Some(arg) = args.next() {
        let arg = String::from_utf8_lossy(arg).to_lowercase();
        let begins = |name: &str| arg.len() > 1 && name.starts_with(&*arg);
        if begins("-noexit") && arg.len() > 3 {
            stays = true;
        } else if ["-command", "-file", "-encodedcommand", "-commandwithargs", "-cwa"].iter().any(|name| begins(name)) {
            told = true;
            break;
        } else if begins("-noninteractive") && arg.len() > 4 {
            return false;
        } else if VALUED.iter().any(|name| begins(name)) {
            let _value = args.next();
        } else if !arg.starts_with('-') {
            told = true;
            break;
        }
    }
    !told || stays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_by_spaces_outside_of_quotes() {
        let cases: [(&str, &[&str]); 5] = [
            (r#""C:\Program Files\a.exe" -x  "b c""#, &[r"C:\Program Files\a.exe", "-x", "b c"]),
            (r#"a "" b"#, &["a", "", "b"]),
            (r#"a \"b\" c"#, &["a", "\"b\"", "c"]),
            (r"a \\host\share", &["a", r"\\host\share"]),
            ("", &[]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line), words, "{line}");
        }
    }

    #[test]
    fn who_was_told_what_to_do_is_a_tool() {
        let cases: [(&str, bool, &[&str]); 4] = [
            (
                "powershell",
                true,
                &["", "-NoLogo", "-NoExit -Command x", "-noe -c x", "-ExecutionPolicy Bypass", "-ep Bypass"],
            ),
            (
                "pwsh",
                false,
                &["-Command x", "-c x", "-NoProfile -File x.ps1", "-enc AAA", "-e AAA", "x.ps1", "-NonInteractive"],
            ),
            ("cmd", true, &["", "/k vcvars.bat", "/K x"]),
            ("cmd", false, &["/c x", "/d /s /c x", "/C x"]),
        ];
        for (shell, interactive, lines) in cases {
            for line in lines {
                let words = split(line);
                assert_eq!(is_interactive(shell, words.iter().map(String::as_bytes)), interactive, "{shell} {line}");
            }
        }
    }
}
