//! Completions in the shells themselves: ours, and behind a program's name the program's own.
#![forbid(unsafe_code)]

use std::net::TcpListener;
use std::path::Path;

use super::place::checkout;
use crate::run::stage::{in_front, silent};
use crate::world::World;

/// What is typed, and what is offered there, each sorted. `faketool` has a completion of its own.
const CASES: [(&str, &[&str]); 10] = [
    ("locked rele", &["release"]),
    ("locked faketool al", &["alpha"]),
    ("locked -r server:x --ttl=5s faketool ", &["alpha", "beta"]),
    ("locked -- faketool be", &["beta"]),
    ("locked -n run faketool be", &["beta"]),
    ("locked explain --json faketool al", &["alpha"]),
    ("locked release --as fai", &["failed"]),
    ("locked --renew-d", &["--renew-deadline"]),
    ("locked config show gh.fo", &["gh.follow"]),
    ("locked run faketo", &["faketool"]),
];

/// These tests are about what is offered, on however busy a machine.
const WITHIN: (&str, &str) = ("LOCKED_COMPLETE_WITHIN", "10s");

/// A world in whose PATH our binary and `faketool` stand, and in which `sops:held` is held.
fn world() -> (World, std::ffi::OsString) {
    let world = World::new();
    let tools = world.script("faketool", "exit 0");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_locked"), tools.join("locked")).expect("linked");
    silent(world.locked_as(1).args(["acquire", "sops:held"]));
    (world, in_front(&tools))
}

/// Drives the function as readline does: words divided at spaces, and at : and = as well.
const BASH: &str = r#"
ask() {
    COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=()
    local rest=$1 part
    while [[ $rest =~ ^[[:space:]]*([:=]+|[^[:space:]:=]+) ]]; do
        COMP_WORDS+=("${BASH_REMATCH[1]}") rest=${rest:${#BASH_REMATCH[0]}}
    done
    if [[ $1 == *[[:space:]:=] ]]; then COMP_WORDS+=(''); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _locked locked "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
}
"#;

fn in_bash(world: &World, path: &Path, line: &str, before: &str) -> Vec<String> {
    let script = format!(
        "{before}\n. '{}'\n{BASH}\n_fake() {{ COMPREPLY=($(compgen -W 'alpha beta' -- \"$2\")); }}\n\
         complete -F _fake faketool\nask \"$1\"",
        checkout("install/completions/locked.bash").display()
    );
    let said = silent(
        world.command("bash").args(["--norc", "-c", &script, "bash", line]).env("PATH", path).env(WITHIN.0, WITHIN.1),
    );
    sorted(said.lines())
}

fn sorted<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn bash_completes_with_and_without_the_library_of_completions() {
    let (world, path) = world();
    for before in ["", ". /usr/share/bash-completion/bash_completion"] {
        for (line, offered) in CASES {
            assert_eq!(in_bash(&world, path.as_ref(), line, before), offered, "{line} ({before})");
        }
        // Only what stands behind the last : is replaced.
        assert_eq!(in_bash(&world, path.as_ref(), "locked release sops:", before), ["held"]);
        assert_eq!(in_bash(&world, path.as_ref(), "locked --resource=sops:h", before), ["held"]);
    }
    // A completion of words, and none at all: files.
    let words = "complete -W 'one two' faketool2";
    assert_eq!(in_bash(&world, path.as_ref(), "locked faketool2 t", words), ["two"]);
    assert_eq!(in_bash(&world, path.as_ref(), "locked faketool3 /etc/host", ""), sorted_files("/etc", "host"));
    assert_eq!(in_bash(&world, path.as_ref(), "locked --report /etc/host", ""), sorted_files("/etc", "host"));
}

fn sorted_files(directory: &str, start: &str) -> Vec<String> {
    let all = std::fs::read_dir(directory).expect("directory").map(|entry| entry.expect("entry").path());
    let mut found: Vec<String> = all
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
        .map(|path| path.display().to_string())
        .collect();
    found.sort();
    found
}

#[test]
fn fish_completes() {
    let (world, path) = world();
    let script = format!(
        "source '{}'\ncomplete -c faketool -f -a 'alpha beta'\ncomplete -C $argv[1]",
        checkout("install/completions/locked.fish").display()
    );
    let ask = |line: &str| {
        let said = silent(
            world.command("fish").args(["--no-config", "-c", &script, line]).env("PATH", &path).env(WITHIN.0, WITHIN.1),
        );
        sorted(said.lines().map(|line| line.split('\t').next().expect("a value")))
    };
    for (line, offered) in CASES {
        assert_eq!(ask(line), offered, "{line}");
    }
    assert_eq!(ask("locked release sops:"), ["sops:held"]);
    assert_eq!(ask("locked -r sops:h"), ["sops:held"]);
}

/// On a terminal of its own: types the line and Tab, then a key that shows what the line has become.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1= PROMPT_EOL_MARK= fpath=('${(q)1}' $fpath); autoload -Uz compinit; compinit -u -D
_fake() { compadd alpha beta }; compdef _fake faketool; bindkey "^I" complete-word
show() { print -r -- "<""<$BUFFER>>" }; zle -N show; bindkey "^T" show; echo RE""ADY'
zpty -r z line '*READY*'
for typed in "${@:2}"; do
    zpty -w -n z $'\C-u'"$typed"$'\t\C-t'
    zpty -r z line '*<<*>>*'
    line=${line##*<<}
    print -r -- "${line%%>>*}"
done
zpty -d z
"#;

#[test]
fn zsh_completes() {
    let (world, path) = world();
    // One offer each, so that the line itself shows it.
    let mut lines: Vec<(&str, &str)> =
        CASES.iter().filter(|(_, offered)| offered.len() == 1).map(|(line, offered)| (*line, offered[0])).collect();
    lines.extend([("locked release sops:h", "sops:held"), ("locked -r sops:h", "sops:held")]);
    let mut command = world.command("zsh");
    command.env(WITHIN.0, WITHIN.1);
    command.args(["-f", "-c", ZSH, "zsh"]).arg(checkout("install/completions")).env("PATH", &path);
    let said = silent(command.args(lines.iter().map(|(line, _)| line)));
    let become_: Vec<&str> = said.lines().map(str::trim_end).collect();
    let wanted: Vec<String> = lines
        .iter()
        .map(|(line, offered)| format!("{}{offered}", &line[..line.rfind(' ').expect("a space") + 1]))
        .collect();
    assert_eq!(become_, wanted);
}

/// Whatever a name is, what is put into the line is one word, and means nothing to the shell.
#[test]
fn an_offer_is_quoted_as_the_shell_needs_it() {
    let (world, _) = world();
    let odd = world.script("locked", "printf 'offers nothing\\nserver:$(touch pwned)\\thelp\\n'");
    let path = in_front(&odd);
    assert_eq!(in_bash(&world, path.as_ref(), "locked release server:", ""), [r"\$\(touch\ pwned\)"]);
    let mut command = world.command("zsh");
    command.args(["-f", "-c", ZSH, "zsh"]).arg(checkout("install/completions")).env("PATH", &path);
    let line = silent(command.arg("locked release s"));
    assert_eq!(line.trim(), r"locked release server:\$\(touch\ pwned\)");
    let script =
        format!("source '{}'\ncomplete -C 'locked release s'", checkout("install/completions/locked.fish").display());
    // fish quotes what it inserts; what it offers is the word itself, whole.
    let offered = silent(world.command("fish").args(["--no-config", "-c", &script]).env("PATH", &path));
    assert_eq!(offered.trim(), "server:$(touch pwned)\thelp");
}

/// Settings that nobody could follow name nothing, whoever wrote them.
#[test]
fn what_is_no_name_of_a_zone_is_not_offered() {
    let world = World::new();
    world.git(&world.work(), &["init", "-q"]);
    for (name, offered) in [("DB", "offers nothing\nzone:DB\n"), ("Z$(touch${IFS}x)", "offers nothing\n")] {
        let text = format!("[[zone]]\nname = \"{name}\"\ncommands = [\"x\"]\n");
        std::fs::write(world.work().join(".locked.toml"), text).expect("written");
        assert_eq!(silent(world.locked().args(["completions", "bash", "--", "-r", ""])), offered, "{name}");
    }
}

/// A server that takes the call and never says a word: its names are left out, those of the settings are not.
#[test]
fn a_store_that_does_not_answer_holds_nobody_up() {
    let world = World::new();
    let dead = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = dead.local_addr().expect("bound").port();
    world.git(&world.work(), &["init", "-q"]);
    std::fs::write(
        world.work().join(".locked.toml"),
        "[[zone]]\nname = \"DB\"\ncommands = [\"x\"]\n[[rotation]]\nsecret = \"S\"\nfiles = [\"f\"]\n",
    )
    .expect("written");
    let ask = |words: &[&str], store: &str| {
        let mut command = world.locked();
        silent(command.args(["completions", "bash", "--"]).args(words).env("LOCKED_STORE", store))
    };
    silent(world.locked_as(1).args(["acquire", "sops:held"]));
    let known = "offers nothing\nrotation:S\nzone:DB\n";
    assert_eq!(ask(&["-r", ""], &format!("postgres://u@127.0.0.1:{port}/db")), known);
    // It was called, and holds the line still: nobody has waited for it.
    let (mut line, _) = dead.accept().expect("the store was called");
    line.set_nonblocking(true).expect("set");
    std::io::Write::write_all(&mut line, b"late").ok();
    assert_eq!(ask(&["-r", ""], "postgres://u@127.0.0.1:1/db"), known, "nobody listens");
    assert_eq!(ask(&["-r", ""], "nonsense:"), known);
    assert_eq!(ask(&["release", ""], &format!("postgres://u@127.0.0.1:{port}/db")), "offers nothing\n");
    let mut patient = world.locked();
    patient.args(["completions", "bash", "--", "-r", ""]).env(WITHIN.0, WITHIN.1);
    assert_eq!(silent(&mut patient), "offers nothing\nrotation:S\nsops:held\nzone:DB\n");
    // Nothing is made by asking.
    let fresh = World::new();
    std::fs::remove_dir(fresh.state()).expect("removed");
    assert_eq!(silent(fresh.locked().args(["completions", "zsh", "--", "-r", ""])), "offers nothing\n");
    assert!(!fresh.state().exists());
}

/// bash on a terminal of its own, in which the line is typed: readline says what stands before the cursor, and puts what is
/// offered there. Control-T prints the line as it has become.
const TYPED: &str = r#"
zmodload zsh/zpty
zpty b bash --noprofile --norc -i
zpty -w b 'PS1= PS2=; bind "set enable-bracketed-paste off"; show() { printf "<""<%s>>" "$READLINE_LINE"; }; bind -x "\"\\C-t\": show"; '"$1"'; . '${(q)2}'; echo RE""ADY'
zpty -r b line '*READY*'
for typed in "${@:3}"; do
    zpty -w -n b $'\C-u'"$typed"$'\t\C-t'
    zpty -r b line '*<<*>>*'
    line=${line##*<<}
    print -r -- "${line%%>>*}"
done
zpty -d b
"#;

#[test]
fn what_is_typed_in_bash_becomes_the_name_once() {
    let (world, path) = world();
    let lines =
        ["locked check sops:", "locked check sops:h", "locked check so", "locked --resource=", "locked -r sops:"];
    let become_ = [
        "locked check sops:held",
        "locked check sops:held",
        "locked check sops:held",
        "locked --resource=sops:held",
        "locked -r sops:held",
    ];
    for before in [":", ". /usr/share/bash-completion/bash_completion"] {
        let mut command = world.command("zsh");
        command.args(["-f", "-c", TYPED, "zsh", before]).arg(checkout("install/completions/locked.bash"));
        let said = silent(command.args(lines).env("PATH", &path).env(WITHIN.0, WITHIN.1).env("TERM", "xterm"));
        assert_eq!(said.lines().map(str::trim_end).collect::<Vec<_>>(), become_, "{before}");
    }
}
