//! sops: what a command line of it would write. Facts: `cmd/sops/main.go` of sops 3.11, and runs of the real program.
#![forbid(unsafe_code)]

mod asked;
#[cfg(test)]
mod example;
mod hint;
mod request;
mod table;
mod writes;

use std::ffi::{OsStr, OsString};

pub use hint::{LineEnds, hint, types, types_for};

use self::request::{Act, Place, Request, request};
use super::urfave::{Line, parse};
use super::{Change, Classification, Command, Via, Write};
use crate::terms::{may_hold_a_secret, percent_encode};

/// Whether a program of this name is sops.
pub(super) fn is_sops(name: &OsStr) -> bool {
    name == "sops" || name == "sops.exe"
}

/// What a command line of sops would write.
pub(super) fn classify(command: &Command<'_>) -> Classification {
    let run = match parse(&table::SOPS, command.args, command.env) {
        Line::Runs(run) => run,
        Line::Shows => {
            return passes(
                "sops.help",
                "sops".to_owned(),
                "sops only shows help, its version or completions".to_owned(),
            );
        }
        Line::Refused(why) => return refused("sops".to_owned(), &why),
    };
    let words = operation(&run.path.join(" "), []);
    match request(run) {
        // Without operands: in a line that sops refuses, any of them may be a value in the wrong place.
        Err(why) => refused(words, &why),
        Ok(request) => answer(command, &request),
    }
}

/// What `exec-env` and `exec-file` give to a shell.
pub(super) fn started(args: &[OsString], env: &dyn Fn(&str) -> Option<OsString>) -> Option<Vec<u8>> {
    let Line::Runs(run) = parse(&table::SOPS, args, env) else { return None };
    let script = run.positionals.get(1).map(|script| script.as_encoded_bytes().to_vec());
    let request = request(run).ok()?;
    script.filter(|_| matches!(request.act, Act::ExecEnv | Act::ExecFile))
}

fn answer(command: &Command<'_>, request: &Request<'_>) -> Classification {
    let operation = described(request);
    let found = writes::writes(command, request);
    let any = !found.is_empty();
    let writes: Vec<Write> = found.into_iter().filter(|write| !is_configuration(write)).collect();
    if writes.is_empty() && any {
        return passes("sops.config", operation, "a .sops.yaml is configuration, not a secret".to_owned());
    }
    let decrypted = writes::decrypted(command, request);
    let words = request.act.words();
    let Some(first) = writes.first() else {
        let reason = match request.place {
            Place::Stdout => format!("sops {words} writes to standard output, not to a file that is shared"),
            _ => format!("sops {words} writes no file that is shared"),
        };
        return Classification { decrypted, ..passes("sops.read", operation, reason) };
    };
    Classification {
        decrypted,
        rule: Some(request.act.rule().to_owned()),
        known: true,
        reason: why(request.act, first),
        operation,
        writes,
        ..Classification::default()
    }
}

fn why(act: Act, write: &Write) -> String {
    let words = act.words();
    match (write.via, write.change) {
        (Via::InPlace, Change::DecryptInPlace) => {
            "sops decrypt replaces the ciphertext by plaintext in place".to_owned()
        }
        (Via::InPlace, Change::UpdateKeys) => "sops updatekeys rewrites every file whose keys differ".to_owned(),
        (Via::InPlace, _) => format!("sops {words} rewrites the file in place"),
        (Via::Output, _) if act == Act::ExecFile => {
            "sops exec-file writes plaintext outside of its own directory, by the .. in --filename".to_owned()
        }
        (Via::Output, _) => format!("sops {words} writes its result to the file after --output"),
        (Via::Stdout, _) => format!("the shell sends what sops {words} prints into a regular file"),
    }
}

fn is_configuration(write: &Write) -> bool {
    write.path.file_name().is_some_and(|name| name == ".sops.yaml")
}

/// What runs: the command and what it is about, never an option's value, an index, or a value.
fn described(request: &Request<'_>) -> String {
    match &request.place {
        Place::Output(path) => operation(request.act.words(), [path.as_os_str()]),
        _ => operation(request.act.words(), request.files.iter().map(|file| &**file)),
    }
}

fn operation<'a>(words: &str, targets: impl IntoIterator<Item = &'a OsStr>) -> String {
    let shown = |target: &OsStr| match target.as_encoded_bytes() {
        // No file has a longer name (PATH_MAX, limits.h), and what is none may be a value.
        word if word.len() > 4096 || may_hold_a_secret(word) => "…".to_owned(),
        word => percent_encode(word),
    };
    let targets = targets.into_iter().map(shown);
    let words = ["sops", words].into_iter().filter(|word| !word.is_empty()).map(str::to_owned);
    words.chain(targets).collect::<Vec<_>>().join(" ")
}

fn refused(operation: String, why: &dyn std::fmt::Display) -> Classification {
    passes("sops.refused", operation, format!("sops refuses this line and writes nothing: {why}"))
}

fn passes(rule: &'static str, operation: String, reason: String) -> Classification {
    Classification { rule: Some(rule.to_owned()), known: true, operation, reason, ..Classification::default() }
}

#[cfg(test)]
mod tests {
    use super::classify;
    use super::example::Example;

    #[test]
    fn the_operation_is_what_a_person_would_call_it() {
        let table = [
            ("set|secrets/monitoring.env.sops|[\"A\"]|\"hunter2-secret\"", "sops set secrets/monitoring.env.sops"),
            ("--set|[\"A\"] \"hunter2-secret\"|x", "sops set x"),
            ("x", "sops edit x"),
            ("-e|-i|x", "sops encrypt x"),
            ("encrypt|-i|--age|age1|x", "sops encrypt x"),
            ("encrypt|--output|o.env|plain", "sops encrypt o.env"),
            ("updatekeys|-y|a b|c%\u{7}", "sops updatekeys a%20b c%25%07"),
            ("groups|add|-f|x|-i", "sops groups add x"),
            ("decrypt|--extract|[\"A\"]|x", "sops decrypt x"),
            ("exec-env|x|psql --password=hunter2-secret", "sops exec-env x"),
            ("set|x|\"hunter2-secret\"", "sops set"),
            ("set|\"hunter2-secret\"|x|y", "sops set"),
            ("--zap=hunter2-secret|x", "sops"),
            ("keyservice", "sops keyservice"),
            ("edit|PASSWORD=hunter2-secret", "sops edit …"),
            ("encrypt|--output|https://u:hunter2-secret@h/x|y", "sops encrypt …"),
        ];
        for (line, expected) in table {
            let answer = Example::new(line).with(classify);
            assert_eq!(answer.operation, expected, "{line}");
            assert!(!format!("{} {}", answer.operation, answer.reason).contains("hunter2"), "{line}");
        }
    }

    #[test]
    fn the_reason_says_why_it_locks_or_passes() {
        let table = [
            ("decrypt|-i|x", "sops decrypt replaces the ciphertext by plaintext in place"),
            ("rotate|-i|x", "sops rotate rewrites the file in place"),
            ("encrypt|--output|o|x", "sops encrypt writes its result to the file after --output"),
            ("decrypt|x", "sops decrypt writes to standard output, not to a file that is shared"),
            ("exec-env|x|true", "sops exec-env writes no file that is shared"),
            ("./.sops.yaml", "a .sops.yaml is configuration, not a secret"),
            ("--help", "sops only shows help, its version or completions"),
            (
                "encrypt|-i|--output|o|x",
                "sops refuses this line and writes nothing: --in-place and --output exclude each other",
            ),
            (
                "set|x|[\"A\"]",
                "sops refuses this line and writes nothing: it has 2 operands, and set takes a file, an index and a value",
            ),
            ("-ei|x", "sops refuses this line and writes nothing: it has a flag that this command does not know"),
        ];
        for (line, expected) in table {
            assert_eq!(Example::new(line).with(classify).reason, expected, "{line}");
        }
        let redirected = Example::new("-e|x").redirected("/w/y", false).with(classify);
        assert_eq!(redirected.reason, "the shell sends what sops encrypt prints into a regular file");
    }
}
