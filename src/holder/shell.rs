//! Whether a shell reads from a person.
#![forbid(unsafe_code)]

/// Whether a shell with these arguments (its own name not among them) was given neither a command nor a script, as by
/// POSIX `sh [-options] [command_file]` and the options of bash, zsh, fish and PowerShell that take a value.
pub(super) fn is_interactive<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> bool {
    while let Some(arg) = args.next() {
        match arg {
            b"--" | b"-" => return args.next().is_none(),
            b"--rcfile" | b"--init-file" | b"--init-command" => drop(args.next()),
            _ if starts_with_any(arg, &[b"--command", b"-Command", b"-File", b"-EncodedCommand"]) => return false,
            _ if arg.starts_with(b"--") => {}
            [b'-', cluster @ ..] if cluster.iter().all(u8::is_ascii_alphabetic) => {
                if cluster.contains(&b'c') {
                    return false;
                }
                if cluster.contains(&b's') {
                    return true;
                }
                skip_value(cluster, &mut args);
            }
            [b'+', cluster @ ..] => skip_value(cluster, &mut args),
            [b'-', ..] | b"" => {}
            _ => return false,
        }
    }
    true
}

/// `-o NAME` and `-O NAME` (`+o`, `+O`), and fish's `-C COMMAND`, which runs before the person's first line.
fn skip_value<'a>(cluster: &[u8], args: &mut impl Iterator<Item = &'a [u8]>) {
    if cluster.last().is_some_and(|last| b"oOC".contains(last)) {
        let _value = args.next();
    }
}

fn starts_with_any(arg: &[u8], starts: &[&[u8]]) -> bool {
    starts.iter().any(|start| arg.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_or_a_script_makes_a_shell_a_tool() {
        let cases: [(bool, &[&str]); 2] = [
            (
                true,
                &["", "-i", "-l", "--login", "--norc -i", "--rcfile x -i", "-o vi", "-O extglob -i", "-s a", "--posix"],
            ),
            (false, &["-c x", "-lc x", "-ic x", "script", "-e script", "-o pipefail -c x", "-- script", "--command=x"]),
        ];
        for (interactive, lines) in cases {
            for line in lines {
                let args = line.split_ascii_whitespace().map(str::as_bytes);
                assert_eq!(is_interactive(args), interactive, "{line}");
            }
        }
    }
}
