//! `find`: what it does with the files that it finds (`-exec`, `-delete`), and what it prints. Which they are only run time
//! knows; that their names fit `-name` the line says. Facts: find(1) of the GNU findutils.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::step::{Step, UNKNOWN, is_known, name_of, nowhere};

/// The expressions that start a program, which goes to the next `;`, or `+` behind `{}`.
const STARTS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// So many names of one line are told apart; what is beyond is taken together as something that only run time knows.
const MOST: usize = 256;

/// The commands that `find` starts, each once for every name that the line has for what is found.
pub(super) fn started<'a>(step: &Step<'a>) -> Vec<Step<'a>> {
    let found = found(&step.args);
    let mut commands = Vec::new();
    let mut rest = &*step.args;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        let (words, apart) = if word == "-delete" {
            (&["rm".into(), "{}".into()][..], false)
        } else if STARTS.iter().any(|start| word == start) {
            let ends = |at: usize| rest[at] == ";" || (rest[at] == "+" && at > 0 && rest[at - 1] == "{}");
            let end = (0..rest.len()).find(|&at| ends(at)).unwrap_or(rest.len());
            let (command, behind) = rest.split_at(end);
            rest = behind;
            (command, word.as_encoded_bytes().ends_with(b"dir"))
        } else {
            continue;
        };
        let started = found.iter().filter_map(|name| command(words, "{}", name, step));
        // Where the files lie, which is somewhere below.
        commands.extend(started.map(|step| if apart { Step { cwd: nowhere(), ..step } } else { step }));
    }
    commands
}

/// A command with a name in place of what stands for it.
pub(super) fn command<'a>(words: &[OsString], placeholder: &str, name: &OsStr, step: &Step<'a>) -> Option<Step<'a>> {
    let mut words = words.iter().map(|word| replaced(word, placeholder, name));
    let called = words.next()?;
    Some(Step {
        name: name_of(&called),
        called,
        args: words.collect(),
        redirected: Vec::new(),
        found: true,
        ..step.clone()
    })
}

fn replaced(word: &OsStr, placeholder: &str, name: &OsStr) -> OsString {
    match word.to_str() {
        Some(text) if !placeholder.is_empty() && text.contains(placeholder) => {
            let mut whole = OsString::new();
            for (at, piece) in text.split(placeholder).enumerate() {
                if at > 0 {
                    whole.push(name);
                }
                whole.push(piece);
            }
            whole
        }
        _ => word.to_owned(),
    }
}

/// What only run time knows.
pub(super) fn unknown() -> OsString {
    String::from(char::from(UNKNOWN)).into()
}

/// What `find` prints.
pub(super) fn names(args: &[OsString]) -> Vec<u8> {
    let end: &[u8] = if args.iter().any(|word| word == "-print0") { b"\0" } else { b"\n" };
    found(args).iter().flat_map(|name| [name.as_encoded_bytes(), end].concat()).collect()
}

/// The files that it finds, as far as the line names them: the only place where it looks, where that is a file's name,
/// else something by the names that are asked for.
fn found(args: &[OsString]) -> Vec<OsString> {
    let is_place = |word: &&OsString| !matches!(word.as_encoded_bytes().first(), Some(b'-' | b'(' | b'!'));
    let mut places = args.iter().take_while(is_place);
    if let (Some(place), None) = (places.next(), places.next())
        && std::path::Path::new(place).extension().is_some_and(|extension| !extension.is_empty())
    {
        return vec![place.clone()];
    }
    let is_asked = |at: usize| {
        let is_name = ["-name", "-iname", "-path", "-wholename", "-ipath"].iter().any(|name| args[at] == *name);
        is_name && !at.checked_sub(1).is_some_and(|before| args[before] == "!" || args[before] == "-not")
    };
    let asked = (0..args.len()).filter(|&at| is_asked(at)).filter_map(|at| args.get(at + 1));
    // A pattern's last star may stand for nothing.
    let both = asked.flat_map(|name| {
        let text = name.to_str().and_then(|name| name.strip_suffix('*')).filter(|rest| !rest.is_empty());
        std::iter::once(name.as_os_str()).chain(text.map(OsStr::new))
    });
    let mut names: Vec<OsString> = both.take(MOST).map(|name| joined(&unknown(), name)).collect();
    if names.is_empty() {
        names.push(unknown());
    }
    names
}

fn joined(place: &OsStr, name: &OsStr) -> OsString {
    let mut whole = place.to_owned();
    whole.push("/");
    whole.push(name);
    whole
}

/// Whether a file that is found may be one that is shared: its name is open, or has an ending that SOPS files and
/// environments have.
pub(super) fn may_be_shared(path: &std::path::Path) -> bool {
    if is_known(path.as_os_str()) {
        return false;
    }
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_open =
        |text: &[u8]| text.is_empty() || text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{' | &UNKNOWN));
    if name.starts_with(b".env") {
        return true;
    }
    match name.iter().rposition(|&byte| byte == b'.') {
        None => is_open(name),
        Some(dot) => {
            let ending = &name[dot + 1..];
            let known = ["yaml", "yml", "json", "env", "ini", "sops", "enc", "encrypted", "crypt", "age"];
            is_open(ending) || known.iter().any(|known| known.as_bytes() == ending)
        }
    }
}
