//! A line command by command: for who must know which of its commands would lock something, and by which word each is called.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use super::step::{Caller, Step};
use super::{Book, Classification, Command, Stdout, one, passing, unfold};

/// One command of a line.
#[derive(Clone)]
pub struct Part {
    /// How it is called.
    pub caller: Caller,
    /// What starts it, the outermost first: the line that was typed, its shells and launchers.
    pub under: Vec<Caller>,
    /// What it alone would change.
    pub class: Classification,
    /// Its words behind the program.
    pub args: Vec<OsString>,
    /// Its directory.
    pub cwd: PathBuf,
    /// What it reads from standard input, where the line says it.
    pub input: Option<Rc<[u8]>>,
    /// Files of this machine that its shell opens for it before anybody else sees it, absolute.
    pub redirected: Vec<PathBuf>,
    /// The one of them that it prints to.
    pub stdout: Option<Stdout>,
}

/// Words and texts may be secrets: they are counted, not shown.
impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("caller", &self.caller).field("args", &self.args.len()).finish_non_exhaustive()
    }
}

/// Takes a line apart, by the same rules as [`classify`](super::classify). Launchers are parts of their own, which want
/// nothing.
#[must_use]
pub fn apart(command: &Command<'_>, book: &Book) -> Vec<Part> {
    let mut steps = unfold::unfold(Step::typed(command), book, command.env).steps;
    passing::mark(&mut steps, book, command);
    let part = |step: &Step<'_>| {
        let mut class = Classification::default();
        one(step, book, command, &mut HashSet::new(), &mut class);
        if class.operation.is_empty() {
            class.operation = step.shown();
        }
        // What another host or a container opens is none of this machine's.
        let here = || step.redirected.iter().filter(|_| step.host.is_none() && !step.inside);
        let stdout = here().rfind(|file| file.is_stdout);
        Part {
            caller: step.caller(),
            under: step.under.to_vec(),
            class,
            args: step.args.to_vec(),
            cwd: step.cwd.clone(),
            input: step.input.clone(),
            redirected: here().map(|file| step.path(&file.path)).collect(),
            stdout: stdout.map(|file| Stdout { path: step.path(&file.path), append: file.append }),
        }
    };
    steps.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::*;

    /// What locks, with the words above it; `!` where somebody else looks for the program.
    fn found(line: &str) -> Vec<String> {
        let args = [OsString::from("-c"), OsString::from(line)];
        let command = Command {
            name: OsStr::new("sh"),
            args: &args,
            cwd: Path::new("/w"),
            env: &|_| None,
            stdout: None,
            stdin: None,
        };
        let shown =
            |caller: &Caller| format!("{}{}", caller.word.to_string_lossy(), if caller.elsewhere { "!" } else { "" });
        let parts = apart(&command, &Book::new()).into_iter();
        parts
            .filter(|part| !part.class.writes.is_empty() || !part.class.claims.is_empty())
            .map(|part| part.under.iter().chain([&part.caller]).map(shown).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn each_command_that_locks_is_told_with_what_stands_above_it() {
        for (line, expected) in [
            ("sops set x.yaml '[\"A\"]' '1'", &["sh sops"][..]),
            ("cd s && /usr/bin/sops -e -i x.yaml; sops -d x.yaml", &["sh /usr/bin/sops"]),
            ("env A=1 timeout 5 sops rotate -i x.yaml", &["sh env timeout sops"]),
            ("sudo sops rotate -i x.yaml", &["sh sudo sops!"]),
            ("bash -c 'docker compose -p a up -d'", &["sh bash docker"]),
            ("find . -exec ./sops updatekeys -y x.yaml ';'", &["sh find ./sops"]),
            ("sops exec-env x.yaml 'docker compose -p a restart'", &["sh sops docker"]),
            ("locked sops set x.yaml '[\"A\"]' '1'", &[]),
            ("echo hello; sops -d x.yaml", &[]),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }
}
