//! A word after sops' own, where its message does not say what is wrong.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use super::request::{Act, Place, Request, request};
use super::{is_sops, table};
use crate::rules::Command;
use crate::rules::argument::{as_typed, cleaned};
use crate::rules::urfave::{Line, parse};
use crate::terms::shell_quote;

/// How the lines of the file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    /// `\n`, or no line end at all.
    Lf,
    /// At least one `\r\n`.
    Crlf,
}

/// One or two sentences for a person after sops ended with `exit`, or none. `ends` describes the file that sops was to
/// read. Pure: it looks at no file. Three puzzles are known: a file that the shell emptied before sops could read it
/// (also at exit 0, since sops takes an empty file for an empty document), Windows line ends in a dotenv file, and a name
/// like `x.env.sops`, which sops takes for binary.
#[must_use]
pub fn hint(command: &Command<'_>, exit: i32, ends: LineEnds) -> Option<String> {
    if !is_sops(command.name) {
        return None;
    }
    let Line::Runs(run) = parse(&table::SOPS, command.args, command.env) else { return None };
    let request = request(run).ok()?;
    let file = request.files.first()?;
    let shown = shell_quote(file.as_encoded_bytes());
    if emptied_by_the_shell(command, &request, file) {
        return Some(format!(
            "the shell emptied {shown} before sops started: take it back with git or `locked restore {shown}`, and let \
             sops write it with --in-place or --output"
        ));
    }
    if exit == 0 {
        return None;
    }
    let name = naming(&request, file);
    if ends == LineEnds::Crlf && (is_dotenv(name) || hides_dotenv(name) || says_dotenv(&request, "input-type")) {
        return Some(format!(
            "{shown} has Windows line ends, which sops does not read in dotenv files: convert it to \\n, and keep it so \
             with `text eol=lf` in .gitattributes"
        ));
    }
    // 1: cannot be parsed; 2: cannot be read as plaintext; 4: cannot be written as binary.
    if matches!(exit, 1 | 2 | 4) && hides_dotenv(name) { binary(&request, &shown) } else { None }
}

fn emptied_by_the_shell(command: &Command<'_>, request: &Request<'_>, file: &OsStr) -> bool {
    let Some(stdout) = command.stdout.filter(|stdout| !stdout.append) else { return false };
    let is_input = stdout.path == cleaned(command.cwd, file) || stdout.path == as_typed(command.cwd, file);
    request.place == Place::Stdout && is_input
}

/// The name by which sops chooses the format.
fn naming<'r>(request: &'r Request<'_>, file: &'r OsStr) -> &'r OsStr {
    request.flags().text("filename-override").unwrap_or(file)
}

/// The options by which sops takes the file for what its name says to people and not to it (`x.env.sops`, `x.yaml.enc`), with
/// a space before them; nothing where the name tells sops, or nobody.
#[must_use]
pub fn types(path: &Path) -> String {
    let name = name_of(path);
    by_name(bare(&name)).map(|format| types_for(path, format)).unwrap_or_default()
}

/// The same for a file that is of this format, whatever its name says.
#[must_use]
pub fn types_for(path: &Path, format: &str) -> String {
    if by_name(&name_of(path)) == Some(format) {
        return String::new();
    }
    format!(" --input-type {format} --output-type {format}")
}

fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().map(OsStr::to_string_lossy).unwrap_or_default()
}

/// The format by which sops opens a file of this name (`config.go`: `formatForPath`); none: as bytes.
fn by_name(name: &str) -> Option<&'static str> {
    let ends = |end: &&(&str, &str)| name.ends_with(end.0);
    let known = [(".yaml", "yaml"), (".yml", "yaml"), (".json", "json"), (".env", "dotenv"), (".ini", "ini")];
    known.iter().find(ends).map(|(_, format)| *format)
}

/// A name without the marks that say that it is encrypted.
fn bare(name: &str) -> &str {
    let markers = [".sops", ".enc", ".encrypted", ".crypt", ".age"];
    let mut rest = name;
    while let Some(shorter) = markers.iter().find_map(|marker| rest.strip_suffix(marker)) {
        rest = shorter;
    }
    rest
}

fn is_dotenv(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(b".env")
}

/// `x.env.sops` and its kin: dotenv to people, binary to sops.
fn hides_dotenv(name: &OsStr) -> bool {
    let Some(name) = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned()) else { return false };
    let rest = bare(&name);
    rest.len() < name.len() && rest.ends_with(".env")
}

fn says_dotenv(request: &Request<'_>, flag: &str) -> bool {
    request.flags().text(flag).is_some_and(|kind| kind == "dotenv")
}

fn binary(request: &Request<'_>, shown: &str) -> Option<String> {
    let flags = request.flags();
    let missing: Vec<&str> = ["input-type", "output-type"]
        .into_iter()
        .filter(|flag| flags.knows(flag) && !says_dotenv(request, flag))
        .collect();
    let cannot_say = !flags.knows("input-type");
    if missing.is_empty() && !cannot_say {
        return None;
    }
    let because = format!("sops chooses the format by the end of the name and takes {shown} for binary");
    let words = request.act.words();
    Some(match request.act {
        Act::ExecEnv | Act::Publish => {
            format!("{because}; sops {words} cannot be told otherwise: a name that ends in .sops.env can")
        }
        _ => format!("{because}: add --{} dotenv, or let the name end in .sops.env", missing.join(" dotenv --")),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LineEnds, hint, types};
    use crate::rules::sops::example::Example;

    fn hinted(example: &Example, exit: i32, ends: LineEnds) -> Option<String> {
        example.with(|command| hint(command, exit, ends))
    }

    #[test]
    fn a_dotenv_file_that_sops_takes_for_binary_wants_both_types() {
        let table = [
            ("decrypt|x.env.sops", Some("add --input-type dotenv --output-type dotenv,")),
            ("set|.env.enc|[\"A\"]|1", Some("add --input-type dotenv --output-type dotenv,")),
            ("decrypt|--input-type|dotenv|x.env.sops", Some("add --output-type dotenv,")),
            ("-d|--output-type=dotenv|x.env.sops", Some("add --input-type dotenv,")),
            ("updatekeys|x.env.sops", Some("add --input-type dotenv,")),
            ("exec-env|x.env.sops|true", Some("exec-env cannot be told")),
            ("decrypt|--input-type|dotenv|--output-type|dotenv|x.env.sops", None),
            ("decrypt|--filename-override|x.env|x.env.sops", None),
            ("decrypt|x.sops.env", None),
            ("decrypt|x.env", None),
            ("decrypt|x.yaml.enc", None),
            ("decrypt", None),
            ("--help", None),
        ];
        for (line, expected) in table {
            let found = hinted(&Example::new(line), 1, LineEnds::Lf);
            let fits = expected.map_or(found.is_none(), |part| found.as_ref().is_some_and(|hint| hint.contains(part)));
            assert!(fits, "{line}: {found:?}");
        }
    }

    #[test]
    fn sops_is_told_what_a_name_tells_people_alone() {
        let table = [
            ("s/x.env.sops", " --input-type dotenv --output-type dotenv"),
            (".env.enc", " --input-type dotenv --output-type dotenv"),
            ("x.yaml.enc", " --input-type yaml --output-type yaml"),
            ("x.json.sops.age", " --input-type json --output-type json"),
            ("x.sops.env", ""),
            ("x.yaml", ""),
            ("x.sops", ""),
            ("..", ""),
        ];
        table.into_iter().for_each(|(path, options)| assert_eq!(types(Path::new(path)), options, "{path}"));
    }

    #[test]
    fn a_success_and_a_clear_failure_get_no_hint() {
        for exit in [0, 3, 8, 51, 100, 128, 200, 203] {
            assert_eq!(hinted(&Example::new("edit|x.env.sops"), exit, LineEnds::Lf), None, "{exit}");
        }
    }

    #[test]
    fn windows_line_ends_are_named_for_dotenv_alone() {
        for line in ["decrypt|x.env", "decrypt|x.env.sops", "decrypt|--input-type|dotenv|x.txt"] {
            let found = hinted(&Example::new(line), 1, LineEnds::Crlf).expect("hint");
            assert!(found.contains("Windows line ends"), "{line}: {found}");
        }
        assert_eq!(hinted(&Example::new("decrypt|x.yaml"), 1, LineEnds::Crlf), None);
        assert_eq!(hinted(&Example::new("decrypt|x.env"), 0, LineEnds::Crlf), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_redirection_onto_the_input_is_named_even_if_sops_was_content() {
        for (line, exit) in [("encrypt|x.env", 0), ("-r|./x.env", 1), ("decrypt|/w/x.env", 1)] {
            let found = hinted(&Example::new(line).redirected("/w/x.env", false), exit, LineEnds::Lf).expect("hint");
            assert!(found.starts_with("the shell emptied"), "{found}");
        }
        let elsewhere = Example::new("encrypt|x.yaml").redirected("/w/y.yaml", false);
        let appended = Example::new("encrypt|x.yaml").redirected("/w/x.yaml", true);
        let in_place = Example::new("encrypt|-i|x.yaml").redirected("/w/x.yaml", false);
        for example in [elsewhere, appended, in_place] {
            assert_eq!(hinted(&example, 0, LineEnds::Lf), None);
        }
    }
}
