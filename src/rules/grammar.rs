//! A command line, read by the grammar of its program.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use super::argument::tail;
use super::book::{Program, Several};
use super::step::UNKNOWN;

/// Nobody bundles more options than there are letters; what is longer is something else.
const LONGEST_BUNDLE: usize = 128;

/// Nothing that a grammar knows has a longer name.
const LONGEST_NAME: usize = 256;

/// What Go's `strconv.ParseBool` takes for no.
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];

/// What a level knows of its options.
#[derive(Clone, Copy, Default)]
pub(super) struct Level<'b> {
    /// Options with a value.
    pub(super) values: &'b [String],
    /// Options with a value at every level.
    pub(super) everywhere: &'b [String],
    /// Options with an attached value.
    pub(super) attached: &'b [String],
    /// Options with digits attached.
    pub(super) digits: &'b [String],
    /// Options without a value.
    pub(super) switches: &'b [String],
    /// The same, at every level.
    pub(super) switches_everywhere: &'b [String],
    /// `-p=NAME` is `-p NAME`.
    pub(super) equals: bool,
    /// `-name` is one option.
    pub(super) single_dash: bool,
    /// The options end with this operand, and what follows are operands as they stand.
    pub(super) stop_at: Option<usize>,
    /// The first operand is a sub-command: there the level ends.
    pub(super) group: bool,
}

/// What an option is called. Compared without being read: a word of a mebibyte is longer than any name.
#[derive(Debug, Clone)]
enum Named<'a> {
    /// All names that the grammar has for it: `-p|--project-name`.
    Known(&'a str),
    /// As it was typed.
    Typed(Cow<'a, [u8]>),
}

impl Named<'_> {
    /// Whether it is one of these, written with their other names.
    fn is(&self, asked: &str) -> bool {
        match self {
            Self::Known(own) => own.split('|').any(|own| has_name(asked, own.as_bytes())),
            Self::Typed(own) => has_name(asked, own),
        }
    }
}

/// Whether this is one of an option's names (`-p|--project-name`).
fn has_name(names: &str, name: &[u8]) -> bool {
    names.split('|').any(|own| own.as_bytes() == name)
}

/// A line that was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Line<'a> {
    /// The sub-command's words, joined by a space.
    pub(super) path: String,
    /// Options in their order, each with its value if it has one.
    options: Vec<(Named<'a>, Option<Cow<'a, OsStr>>)>,
    /// What is neither.
    pub(super) operands: Vec<&'a OsStr>,
    /// Which of the operands may be the value of an option that nobody knows, by their numbers from 0.
    pub(super) doubtful: Vec<usize>,
    /// Where in the arguments each operand behind the sub-command stands.
    pub(super) places: Vec<usize>,
    /// A word that only run time knows stands where the sub-command is looked for; it is passed over.
    pub(super) is_unsure: bool,
    /// A word that may be the value of an option that nobody knows stands there; it is passed over.
    pub(super) is_guessed: bool,
    /// The line ends where a sub-command is still looked for.
    pub(super) is_cut: bool,
}

impl<'a> Line<'a> {
    /// How often an option is given, and with what; `"-p|--project-name"` asks for either.
    pub(super) fn given<'s>(&'s self, names: &str) -> impl DoubleEndedIterator<Item = Option<&'s OsStr>> {
        let given = self.options.iter().filter(move |(own, _)| own.is(names));
        given.map(|(_, value)| value.as_deref())
    }

    /// The values of an option.
    pub(super) fn values<'s>(&'s self, names: &str) -> impl DoubleEndedIterator<Item = &'s OsStr> {
        self.given(names).flatten()
    }

    /// The last value of an option.
    pub(super) fn value<'s>(&'s self, names: &str) -> Option<&'s OsStr> {
        self.values(names).next_back()
    }

    /// The line behind one of these sub-commands, if it has one. Of a program without a grammar for them the first operands
    /// are taken for it.
    pub(super) fn behind(&self, wanted: &Several) -> Option<Cow<'_, Self>> {
        if !self.path.is_empty() {
            return wanted.has(&self.path).then_some(Cow::Borrowed(self));
        }
        let begin = |line: &Self| wanted.iter().find_map(|words| line.beginning_with(words));
        // A word in front may be a value: without those in doubt the line may begin so as well.
        begin(self)
            .or_else(|| (!self.doubtful.is_empty()).then(|| begin(&self.without_doubtful())).flatten())
            .map(Cow::Owned)
    }

    /// The line behind these words, if its operands begin with them.
    fn beginning_with(&self, words: &str) -> Option<Self> {
        let count = words.split(' ').count();
        let begins = self.operands.len() >= count && words.split(' ').eq(self.operands[..count].iter().copied());
        begins.then(|| Self {
            path: words.to_owned(),
            operands: self.operands[count..].to_vec(),
            places: self.places[count..].to_vec(),
            doubtful: self.doubtful.iter().filter_map(|at| at.checked_sub(count)).collect(),
            ..self.clone()
        })
    }

    fn without_doubtful(&self) -> Self {
        let sure = |at: &usize| !self.doubtful.contains(at);
        Self {
            operands: (0..self.operands.len()).filter(sure).map(|at| self.operands[at]).collect(),
            places: (0..self.places.len()).filter(sure).map(|at| self.places[at]).collect(),
            doubtful: Vec::new(),
            is_guessed: true,
            ..self.clone()
        }
    }

    /// The operands that are no option's value, whatever an option is that nobody knows.
    pub(super) fn sure<'s>(&'s self) -> impl DoubleEndedIterator<Item = &'a OsStr> + use<'s, 'a> {
        let all = self.operands.iter().enumerate();
        all.filter(|(at, _)| !self.doubtful.contains(at)).map(|(_, word)| *word)
    }

    /// The line has options.
    pub(super) fn has_options(&self) -> bool {
        !self.options.is_empty()
    }

    /// The values of all options.
    pub(super) fn all_values(&self) -> impl Iterator<Item = &OsStr> {
        self.options.iter().filter_map(|(_, value)| value.as_deref())
    }

    /// Whether an option is given, and not as `--name=false`.
    pub(super) fn is_on(&self, names: &str) -> bool {
        let last = self.options.iter().rfind(|(own, _)| own.is(names));
        last.is_some_and(|(_, value)| value.as_deref().is_none_or(|value| !FALSE.iter().any(|no| value == *no)))
    }

    /// Whether an option is given, with whatever value.
    pub(super) fn is_given(&self, names: &str) -> bool {
        self.options.iter().any(|(own, _)| own.is(names))
    }

    /// Whether one of these is on.
    pub(super) fn is_any_on(&self, names: &Several) -> bool {
        names.iter().any(|names| self.is_on(names))
    }
}

/// Reads the arguments of a program. A program without a grammar has switches and operands.
pub(super) fn read<'a>(program: Option<&'a Program>, args: &'a [OsString]) -> Line<'a> {
    let mut line = Line::default();
    let Some(program) = program else {
        read_level(Level::default(), args, 0, &mut line);
        return line;
    };
    let top = Level {
        values: &program.values,
        everywhere: &program.everywhere,
        attached: &program.attached,
        digits: &program.digits,
        switches: &[],
        switches_everywhere: &program.switches,
        equals: program.equals,
        single_dash: program.single_dash,
        stop_at: program.stop_at,
        group: program.group,
    };
    let mut at = read_level(top, args, 0, &mut line);
    let mut level = top;
    let mut is_group = program.group;
    while is_group && let Some(word) = line.operands.pop() {
        // It may be the value of an option that nobody knows: then a sub-command that is known stands behind it.
        if !std::mem::take(&mut line.doubtful).is_empty() && !program.has_command(&line.path, word) {
            let mut later = Line { is_guessed: true, ..line.clone() };
            let behind = read_level(level, args, at, &mut later);
            if later.operands.last().is_some_and(|word| program.has_command(&line.path, word)) {
                (line, at) = (later, behind);
                continue;
            }
        }
        if !line.path.is_empty() {
            line.path.push(' ');
        }
        // No sub-command has a longer name.
        let short = Some(word).filter(|word| word.len() <= LONGEST_NAME);
        line.path.push_str(&short.map_or("…".into(), OsStr::to_string_lossy));
        let known = program.command.iter().find(|command| command.path.has(&line.path));
        is_group = known.is_some_and(|command| command.group);
        level = Level {
            values: known.map_or(&[], |command| &command.values),
            attached: known.map_or(&[], |command| &command.attached),
            switches: known.map_or(&[], |command| &command.switches),
            stop_at: known.and_then(|command| command.stop_at),
            group: is_group,
            ..top
        };
        at = read_level(level, args, at, &mut line);
    }
    line.is_cut = is_group;
    line
}

/// Reads one level from `at` on. Answers where it stopped: behind the operand that ended it, or at the end.
pub(super) fn read_level<'a>(level: Level<'a>, args: &'a [OsString], mut at: usize, line: &mut Line<'a>) -> usize {
    let mut options_open = true;
    // The word before is an option that nobody knows.
    let mut in_doubt = false;
    line.places.clear();
    while let Some(word) = args.get(at) {
        at += 1;
        let bytes = word.as_encoded_bytes();
        let doubtful = std::mem::take(&mut in_doubt);
        if options_open && bytes == b"--" {
            options_open = false;
        } else if level.group && bytes == [UNKNOWN] {
            // Options, mostly (`docker compose $FILES up`).
            line.is_unsure = true;
        } else if options_open && bytes.len() > 1 && bytes[0] == b'-' {
            (at, in_doubt) = read_option(level, args, at, line);
        } else {
            line.doubtful.extend(Some(line.operands.len()).filter(|_| doubtful));
            line.places.push(at - 1);
            line.operands.push(word);
            if level.group {
                return at;
            }
            if level.stop_at.is_some_and(|last| line.operands.len() >= last) {
                line.operands.extend(args[at..].iter().map(OsString::as_os_str));
                line.places.extend(at..args.len());
                return args.len();
            }
        }
    }
    at
}

/// Reads the option that stands before `at`, with its value. Answers what comes next, and whether nobody here knows if
/// that is its value.
fn read_option<'a>(level: Level<'a>, args: &'a [OsString], at: usize, line: &mut Line<'a>) -> (usize, bool) {
    let word = args[at - 1].as_os_str();
    let bytes = word.as_encoded_bytes();
    let next = || args.get(at).map(|value| Cow::Borrowed(value.as_os_str()));
    if bytes.starts_with(b"--") || level.single_dash {
        // No option has a longer name, so that what stands behind is not looked at.
        let equals = bytes.iter().take(LONGEST_NAME).position(|&byte| byte == b'=');
        let typed = &bytes[..equals.unwrap_or(bytes.len())];
        let name = level.named(Cow::Borrowed(typed));
        if let Some(equals) = equals {
            line.options.push((name, Some(tail(word, equals + 1))));
            return (at, false);
        }
        let takes = level.takes_value(typed);
        line.options.push((name, next().filter(|_| takes)));
        return (at + usize::from(takes), !level.knows(typed));
    }
    let mut next_place = 1;
    while next_place < bytes.len().min(LONGEST_BUNDLE) {
        let place = next_place;
        next_place += 1;
        // A name of one letter that is no letter (a byte of some other text) ends the bundle: nothing is cut in two.
        if !bytes[place].is_ascii() {
            break;
        }
        let short = [b'-', bytes[place]];
        let name = level.named(Cow::Owned(short.to_vec()));
        let rest = (place + 1 < bytes.len()).then(|| tail(word, place + 1));
        if level.equals && bytes.get(place + 1) == Some(&b'=') {
            line.options.push((name, Some(tail(word, place + 2))));
            return (at, false);
        }
        if level.takes_value(&short) {
            let attached = rest.is_some();
            line.options.push((name, rest.or_else(next)));
            return (at + usize::from(!attached), false);
        }
        if has(level.attached, &short) {
            line.options.push((name, rest));
            return (at, false);
        }
        if has(level.digits, &short) {
            next_place += digits(&bytes[next_place..]);
        }
        line.options.push((name, None));
    }
    // A number is a value that is attached, whatever the option (`-t5`).
    let last = bytes.last().filter(|last| last.is_ascii_alphabetic());
    (at, last.is_some_and(|&last| !level.knows(&[b'-', last])))
}

/// How many digits there are, hexadecimal ones behind an `x`.
fn digits(rest: &[u8]) -> usize {
    match rest {
        [b'x' | b'X', hexadecimal @ ..] => 1 + hexadecimal.iter().take_while(|byte| byte.is_ascii_hexdigit()).count(),
        decimal => decimal.iter().take_while(|byte| byte.is_ascii_digit()).count(),
    }
}

impl<'b> Level<'b> {
    fn takes_value(&self, name: &[u8]) -> bool {
        has(self.values, name) || has(self.everywhere, name)
    }

    /// Whether it is known what stands behind this option. A name that no option has is none (a word of a mebibyte).
    fn knows(&self, name: &[u8]) -> bool {
        let known = [self.values, self.everywhere, self.attached, self.switches, self.switches_everywhere];
        let always: [&[u8]; 3] = [b"--help", b"--version", b"-help"];
        name.len() > LONGEST_NAME || always.contains(&name) || known.into_iter().any(|names| has(names, name))
    }

    /// The option that is called so, by all of its names if the level knows them.
    fn named<'a>(&self, typed: Cow<'a, [u8]>) -> Named<'a>
    where
        'b: 'a,
    {
        let known = [self.values, self.everywhere, self.attached, self.switches, self.switches_everywhere];
        let mut all = known.into_iter().flatten();
        match all.find(|names| has_name(names, &typed)) {
            Some(names) => Named::Known(names),
            None => Named::Typed(typed),
        }
    }
}

fn has(options: &[String], name: &[u8]) -> bool {
    options.iter().any(|names| has_name(names, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(program: &str, line: &str) -> String {
        let program: Program = toml::from_str(program).expect("a grammar");
        let args: Vec<OsString> = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let line = read(Some(&program), &args);
        let name = |name: &Named<'_>| match name {
            Named::Known(names) => (*names).to_owned(),
            Named::Typed(typed) => String::from_utf8_lossy(typed).into_owned(),
        };
        let options = line.options.iter().map(|(named, value)| match value {
            Some(value) => format!("{}={}", name(named), value.display()),
            None => name(named),
        });
        let operands: Vec<_> = line.operands.iter().map(|word| word.display().to_string()).collect();
        format!("{}[{}]({})", line.path, options.collect::<Vec<_>>().join(" "), operands.join(" "))
    }

    #[test]
    fn lines_are_read_by_their_grammar() {
        let docker = r#"
            name = "docker"
            values = ["-H|--host", "--context"]
            group = true
            command = [
              { path = "compose", group = true, values = ["-p|--project-name", "-f|--file"] },
              { path = ["compose up", "compose start"], values = ["--scale", "-t"] },
              { path = "run", stop_at = 1 },
            ]"#;
        let ssh = r#"name = "ssh"
            values = ["-p", "-o", "-i"]
            stop_at = 2"#;
        let sed = r#"name = "sed"
            values = ["-e|--expression"]
            attached = ["-i"]"#;
        let go = r#"name = "go"
            values = ["-out"]
            single_dash = true"#;
        let perl = r#"name = "perl"
            values = ["-e"]
            digits = ["-0", "-l"]
            attached = ["-i"]"#;
        let table = [
            (perl, "-0777pi.bak -e x f", "[-0 -p -i=.bak -e=x](f)"),
            (perl, "-0xFFpe x f", "[-0 -p -e=x](f)"),
            (perl, "-lpi -l012ne x f", "[-l -p -i -l -n -e=x](f)"),
            (docker, "compose up -d", "compose up[-d]()"),
            (docker, "--context a compose -p b up web", "compose up[--context=a -p|--project-name=b](web)"),
            (
                docker,
                "-Htcp://x compose -fa --file=b up --scale w=2 -dt 5",
                "compose up[-H|--host=tcp://x -f|--file=a -f|--file=b --scale=w=2 -d -t=5]()",
            ),
            (docker, "ps -a", "ps[-a]()"),
            (docker, "compose", "compose[]()"),
            (docker, "compose -- up", "compose up[]()"),
            (docker, "", "[]()"),
            (docker, "restart -t x y", "restart[-t](x y)"),
            (ssh, "root@h -p 22 -o A=b rm -rf x", "[-p=22 -o=A=b](root@h rm -rf x)"),
            (ssh, "-p22 h", "[-p=22](h)"),
            (ssh, "-tt h -- rm -f", "[-t -t](h rm -f)"),
            (sed, "-ni.bak s/a/b/ f", "[-n -i=.bak](s/a/b/ f)"),
            (sed, "-i -e s/a/b/ f", "[-i -e|--expression=s/a/b/](f)"),
            (go, "-out f -v x", "[-out=f -v](x)"),
            (sed, "f -e", "[-e|--expression](f)"),
        ];
        for (program, line, expected) in table {
            assert_eq!(shown(program, line), expected, "{line}");
        }
    }

    #[test]
    fn the_last_of_several_counts_and_false_is_off() {
        let args: Vec<OsString> = ["-p", "a", "-p", "b", "--dry-run=false"].map(OsString::from).to_vec();
        let program = Program { values: vec!["-p|--project".to_owned()], ..Program::default() };
        let line = read(Some(&program), &args);
        assert_eq!(line.value("--project"), Some(OsStr::new("b")));
        assert!(!line.is_on("--dry-run") && line.is_on("-p"));
    }
}
