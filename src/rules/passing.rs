//! Reads of programs that do other things as well: what a shell does by itself, programs that write only where they are told,
//! those of the packs, and what starts a read.
#![forbid(unsafe_code)]

use super::book::Book;
use super::decide::decide;
use super::grammar::Line;
use super::step::Step;
use super::{Command, reads::has};

/// What a shell does by itself, and what only waits: nothing of it reaches anybody else.
const BUILT_IN: &str = "\
    . : [ alias bg break cd chdir continue declare dirs disown echo eval exit export false fg float getopts hash \
    integer jobs let local logout mapfile popd printf pushd read readarray readonly return seq set shift shopt sleep \
    source test times trap true typeset ulimit umask unalias unset wait";

/// Programs that read where they are not told to write a file, by whatever built-in table says what they write.
const UNLESS_TOLD: &str = "awk base64 curl gawk mawk nawk sed sort wget xxd yq";

/// Programs that the rotation pack knows by what they change, with the words that read. aws has its verb in the second place,
/// others in one of the first.
const VERBS: [&str; 9] = ["aws", "az", "bao", "chamber", "doppler", "gcloud", "vault", "vc", "vercel"];
const MORE_VERBS: [&str; 7] = ["fly", "flyctl", "infisical", "oc", "op", "supabase", "wrangler"];
const READ: &str = "describe diff export-credentials get help history list lookup ls read show status version whoami";
const BEGIN_READ: [&str; 5] = ["batch-get-", "describe-", "get-", "head-", "list-"];
const WRITE: &str = "\
    add apply create delete deploy destroy disable enable import lock move patch pull push put remove rename \
    restart revoke rm rotate run set start stop unlock unset update upload write";

/// Whether the line only reads, so far as no rule must be asked for that.
pub(super) fn only_reads(step: &Step<'_>, line: &Line<'_>, touches: bool) -> bool {
    match step.name() {
        // An assignment, or a file that is opened: nothing runs.
        "" => step.name.is_empty(),
        name if has(BUILT_IN, name) => true,
        name if has(UNLESS_TOLD, name) => !touches && !sends(step),
        // What it starts is looked at by itself, and so is what it deletes.
        "find" => !touches && !step.args.iter().any(|word| FIND_ACTS.iter().any(|act| starts(word, act))),
        "psql" => line.is_on("-l|--list"),
        name if VERBS.contains(&name) || MORE_VERBS.contains(&name) => by_verb(name, line),
        _ => false,
    }
}

/// Expressions of find that do something.
const FIND_ACTS: [&str; 5] = ["-delete", "-exec", "-ok", "-fprint", "-fls"];

fn starts(word: &std::ffi::OsStr, with: &str) -> bool {
    word.as_encoded_bytes().starts_with(with.as_bytes())
}

/// Whether the words of curl or wget say that something goes there.
fn sends(step: &Step<'_>) -> bool {
    let is_client = matches!(step.name(), "curl" | "wget");
    let long = ["--data", "--form", "--json", "--request", "--upload", "--url-query", "--post", "--body", "--method"];
    let says = |word: &[u8]| match word {
        [b'-', b'-', ..] => long.iter().any(|option| word.starts_with(option.as_bytes())),
        [b'-', letters @ ..] => letters.iter().any(|letter| b"XdFTQ".contains(letter)),
        _ => false,
    };
    is_client && step.args.iter().any(|word| says(word.as_encoded_bytes()))
}

fn by_verb(name: &str, line: &Line<'_>) -> bool {
    let operands = line.operands.iter().filter_map(|word| word.to_str());
    let mut words = line.path.split(' ').filter(|word| !word.is_empty()).chain(operands);
    let reads = |word: &str| has(READ, word) || BEGIN_READ.iter().any(|begin| word.starts_with(begin));
    if name == "aws" {
        return words.nth(1).is_some_and(|verb| reads(verb) || verb == "ls");
    }
    words.take(4).find(|word| reads(word) || has(WRITE, word)).is_some_and(reads)
}

/// Marks what starts reads and nothing else (`doppler run -- sops -d F`), where a rule or a zone is heard that nobody has
/// vouched for.
pub(super) fn mark(steps: &mut [Step<'_>], book: &Book, command: &Command<'_>) {
    if !book.hears_strangers() {
        return;
    }
    let mut alone = vec![false; steps.len()];
    for at in (0..steps.len()).rev() {
        let depth = steps[at].under.len();
        // What it starts stands behind it, and deeper.
        let started = steps[at + 1..].iter().take_while(|step| step.under.len() > depth).count();
        steps[at].starts_reads = started > 0 && alone[at + 1..=at + started].iter().all(|alone| *alone);
        alone[at] = steps[at].starts_reads || decide(&steps[at], book, command).left_alone;
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::super::{Tables, classify};
    use super::*;

    /// Whether a line is held by a rule about all of its programs that came with a repository.
    fn is_taken(words: &[&str]) -> bool {
        let programs: Vec<String> = words.iter().flat_map(|word| word.split(' ')).map(|it| format!("{it:?}")).collect();
        let text = format!("[[rule]]\nname = \"z\"\nprogram = [{}]\nresource = \"x:y\"\n", programs.join(", "));
        let mut tables = Tables::read(&text).expect("a rule");
        tables.rule.iter_mut().for_each(|rule| rule.author = super::super::Author::Untrusted);
        let book = Book::with(tables, std::collections::BTreeMap::new());
        let args: Vec<OsString> = words[1..].iter().map(OsString::from).collect();
        let (cwd, env) = (Path::new("/w"), |_: &str| None);
        let command = Command { name: words[0].as_ref(), args: &args, cwd, env: &env, stdout: None, stdin: None };
        !classify(&command, &book).claims.is_empty()
    }

    #[test]
    fn a_stranger_s_rule_takes_no_read_away() {
        for line in [
            &["sh", "-c", "cd secrets && cat a"][..],
            &["sh", "-c", "export A=1; printf x; test -f y && true; [ -n x ]"],
            &["sh", "-c", "sort a | sed s/a/b/ | awk x | base64 | yq .a"],
            &["curl", "-fsS", "https://example.org"],
            &["find", ".", "-name", "x"],
            &["doppler", "run", "--", "sops", "-d", "x.yaml"],
            &["aws-vault", "exec", "prod", "--", "aws", "sts", "get-caller-identity"],
            &["mise", "exec", "--", "sh", "-c", "cat x | grep y"],
            &["vault", "kv", "get", "secret/x"],
            &["az", "keyvault", "secret", "show", "--name", "x"],
            &["vercel", "env", "ls"],
            &["psql", "-l"],
        ] {
            assert!(!is_taken(line), "{line:?}");
        }
        for line in [
            &["sed", "-i", "s/a/b/", "x"][..],
            &["curl", "-sXPOST", "https://example.org"],
            &["doppler", "run", "--", "deployctl"],
            &["doppler", "secrets", "set", "A=b"],
            &["vault", "kv", "put", "secret/x", "get"],
            &["aws", "s3", "rm", "list"],
            &["psql", "-c", "drop table x"],
            &["find", ".", "-name", "x", "-delete"],
        ] {
            assert!(is_taken(line), "{line:?}");
        }
    }
}
