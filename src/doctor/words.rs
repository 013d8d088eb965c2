//! A word may mean something before any PATH is looked at: an alias, a function of the shell, a place that it was told to
//! remember. The user's shell is asked what its files make of the names that have shims.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::run::Context;
use crate::terms::is_one_word;

use super::Finding;
use super::patient::Patient;
use super::probe::Answer;
use super::shells::shell;
use super::starts;

/// The name of the probe.
pub(super) const ID: &str = "path.words";
const BEGIN: &str = "<locked-word:";
const END: &str = ":word-locked>";

/// What a shell is given to say it, by its name; none for a shell that has other ways. The names are words.
pub(super) fn question(shell: &Path, tools: &[String]) -> Option<String> {
    let names = tools.iter().filter(|tool| is_one_word(tool)).cloned().collect::<Vec<_>>().join(" ");
    let says = |kind: &str, what: &str| {
        format!(r#"[ -n "{what}" ] && printf '\n<%s:%s:{kind}:%s:%s>\n' locked-word "$t" "{what}" word-locked"#)
    };
    let each = |parts: [String; 3]| format!("for t in {names}; do {}; done; exit", parts.join("; "));
    match shell.file_name()?.to_str()? {
        "bash" => Some(each([
            says("alias", "${BASH_ALIASES[$t]}"),
            says("function", "$(declare -f -- \"$t\")"),
            says("hashed", "$(hash -t -- \"$t\" 2>/dev/null)"),
        ])),
        "zsh" => Some(each([says("alias", "${aliases[$t]}"), says("function", "${functions[$t]}"), "true".to_owned()])),
        "fish" => Some(format!(
            "for t in {names}; if functions -q -- $t; printf '\\n<%s:%s:function:%s:%s>\\n' locked-word $t \
             (functions -- $t | string match -v -r '^(#|function )' | string collect) word-locked; end; end; exit"
        )),
        _ => None,
    }
}

/// The names that a shell is asked for.
pub(super) fn asked(context: &Context) -> Option<(PathBuf, String)> {
    let tools = super::shims::whole(context, &super::folder::of_shells(context));
    let shell = shell(context);
    question(&shell, &tools).filter(|_| !tools.is_empty()).map(|question| (shell, question))
}

/// What the shell's files say, and what the environment brings.
pub(super) fn look(patient: &Patient<'_>, tools: &[String], folder: &Path) -> Vec<Finding> {
    let exported = tools.iter().filter(|tool| {
        let function = patient.env(&format!("BASH_FUNC_{tool}%%"));
        function.is_some_and(|text| goes_past(tool, &text.to_string_lossy(), folder))
    });
    let mut found: Vec<Finding> = exported
        .map(|tool| {
            Finding::fault(
                "path.exported",
                format!("an exported function of bash stands for {tool} here, before its shim"),
            )
            .because("every bash that is started from here calls it, and no lease is taken")
            .remedy(format!("unset -f {tool}"))
        })
        .collect();
    let Some(Answer::Said(said)) = patient.probes.answer(ID) else { return found };
    let shell = shell(patient.context);
    let name = shell.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let past = words(&said).into_iter().filter(|word| past(word, folder));
    found.extend(past.map(|word| told(&word, &name, &place(patient, &name, word.tool))));
    found
}

/// A name, and what it means to the shell.
#[derive(Debug, PartialEq, Eq)]
struct Word<'a> {
    tool: &'a str,
    kind: &'a str,
    text: &'a str,
}

impl<'a> Word<'a> {
    /// `TOOL:KIND:TEXT`.
    fn read(part: &'a str) -> Option<Self> {
        let (tool, rest) = part.split_once(':')?;
        let (kind, text) = rest.split_once(':')?;
        Some(Self { tool, kind, text })
    }
}

/// What stands between our marks.
fn words(said: &str) -> Vec<Word<'_>> {
    let parts = said.split(BEGIN).skip(1).filter_map(|part| Some(part.split_once(END)?.0));
    parts.filter_map(Word::read).collect()
}

fn past(word: &Word<'_>, folder: &Path) -> bool {
    match word.kind {
        "hashed" => !Path::new(word.text.trim()).starts_with(folder),
        _ => goes_past(word.tool, word.text, folder),
    }
}

/// Whether what an alias or a function does for a tool misses its shim: it names the real one by a path, or something else
/// altogether. What calls the tool by its name comes to the shim, and `locked` needs none.
fn goes_past(tool: &str, text: &str, folder: &Path) -> bool {
    // Of a function what it does, not what it is called.
    let body = text.split_once('{').map_or(text, |(_, body)| body);
    let is_part = |c: char| c.is_alphanumeric() || "._/-~".contains(c);
    let words: Vec<&str> = body.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let is = |word: &&str, name: &str| Path::new(word).file_name().is_some_and(|last| last == name);
    let ours = |word: &&str| is(word, "locked") || Path::new(word).starts_with(folder);
    let by_path = words.iter().any(|word| word.contains('/') && is(word, tool) && !ours(word));
    !words.iter().any(ours) && (by_path || !words.contains(&tool))
}

/// The file of this shell's that may have it.
fn place(patient: &Patient<'_>, shell: &str, tool: &str) -> String {
    let own = format!("functions/{tool}.fish");
    match shell {
        "bash" => starts::in_home(".bashrc"),
        "zsh" => starts::zsh(patient, ".zshrc"),
        // fish loads a function from the file of its name, when it is called.
        _ if starts::has_fish(patient, &own) => starts::fish(patient, &own),
        _ => starts::fish(patient, "config.fish"),
    }
}

fn told(word: &Word<'_>, shell: &str, place: &str) -> Finding {
    let Word { tool, kind, text } = word;
    let (id, what) = match *kind {
        "alias" => {
            ("path.alias", format!("your {shell} has an alias for {tool}, which passes by its shim: {}", text.trim()))
        }
        "hashed" => ("path.hashed", format!("your {shell} remembers {} for {tool} from its start", text.trim())),
        _ => ("path.function", format!("your {shell} has a function for {tool}, which passes by its shim")),
    };
    Finding::warn(id, what)
        .because("what is typed there takes no lease, whatever PATH says")
        .remedy(format!("take it out of {place} or of what that reads, or let it say `locked {tool}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_to_the_shim_or_to_locked_is_nothing_to_tell() {
        let past = |text| goes_past("sops", text, Path::new("/shims"));
        for text in [
            "locked sops",
            "sops --verbose",
            "command sops",
            "sops () \n{ \n    locked sops \"$@\"\n}",
            "/shims/sops",
            "/opt/locked sops",
        ] {
            assert!(!past(text), "{text}");
        }
        for text in [
            "/usr/local/bin/sops",
            "command /usr/bin/sops",
            "podman",
            "sops () \n{ \n    /usr/bin/sops \"$@\"\n}",
            "~/bin/sops -v",
        ] {
            assert!(past(text), "{text}");
        }
    }

    #[test]
    fn a_word_stands_between_the_marks() {
        let said = "hello\n<locked-word:sops:alias:/a:b c:word-locked>\n<locked-word:gh:function:x\ny:word-locked><locked-word:odd";
        let word = |tool, kind, text| Word { tool, kind, text };
        assert_eq!(words(said), [word("sops", "alias", "/a:b c"), word("gh", "function", "x\ny")]);
    }
}
