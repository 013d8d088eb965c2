//! The README and the playbooks against the program: commands, options, variables, exit statuses and files that it names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::world::World;

mod played;

/// Programs that they put behind `locked`; every other first word must be a verb of ours.
const PROGRAMS: [&str; 7] = ["sops", "true", "PROGRAM", "./deploy.sh", "./rotate.sh", "./script", "n8nctl"];

/// Our options that take a value, as the README uses them.
const WITH_VALUE: [&str; 8] = ["-r", "--resource", "--secret", "--issue", "--wait", "--ttl", "--report", "--reason"];

fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The help of `locked`, or of one of its verbs.
fn help(world: &World, verb: &[&str]) -> String {
    let output = world.locked().args(verb).arg("--help").output().expect("locked runs");
    assert!(output.status.success(), "locked {verb:?} --help: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Every command line in the README that starts with `locked`: those of fenced `sh` blocks and those in running text.
fn commands(readme: &str) -> Vec<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    let mut fence = None;
    for line in readme.lines() {
        match (line.strip_prefix("```"), fence) {
            (Some(kind), None) => fence = Some(kind),
            (Some(_), Some(_)) => fence = None,
            (None, Some("sh")) => lines.push(line.split(" #").next().expect("one part").to_owned()),
            (None, Some(_)) => {}
            (None, None) => lines.extend(line.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    assert!(fence.is_none(), "a fenced block is not closed");
    lines.iter().map(|line| words(line)).filter(|words| words.first().is_some_and(|first| first == "locked")).collect()
}

/// The words of a line; what stands in quotes is one.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for character in line.chars() {
        match quote {
            None if character.is_whitespace() => words.push(std::mem::take(&mut word)),
            Some(open) if open == character => quote = None,
            None if "'\"".contains(character) => quote = Some(character),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The rows of the README's first table with these column names, each as its cells.
fn table(readme: &str, header: &str) -> Vec<Vec<String>> {
    let rows = readme.lines().skip_while(|line| *line != header).skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.map(cells).collect()
}

/// `const NAME: i32 = 64;` → (64, "name"), with spaces for underscores.
fn exit_constants(source: &str) -> BTreeMap<i32, String> {
    let constant = |line: &str| {
        let (name, value) = line.trim().strip_prefix("pub const ")?.split_once(": i32 = ")?;
        Some((value.strip_suffix(';')?.parse().ok()?, name.to_lowercase().replace('_', " ")))
    };
    source.lines().filter_map(constant).collect()
}

/// Words such as `LOCKED_TTL` in a text.
fn variables(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_ascii_uppercase() && c != '_')
        .filter(|word| word.starts_with("LOCKED_") && word.len() > "LOCKED_".len())
        .map(str::to_owned)
        .collect()
}

fn sources(directory: &Path, into: &mut String) {
    for entry in std::fs::read_dir(directory).expect("src") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&std::fs::read_to_string(path).expect("source"));
        }
    }
}

/// A word stands in a help text as a whole: `--wait` is not found in `--wait-long`.
fn names(help: &str, word: &str) -> bool {
    help.split(|c: char| c.is_whitespace() || ",=[]<>()`".contains(c)).any(|found| found == word)
}

/// Where in a line the verb or the program stands; none where it has neither.
fn first_word(command: &[String]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = command.get(at).filter(|word| word.starts_with('-')) {
        at += if word == "--" || !WITH_VALUE.contains(&word.as_str()) { 1 } else { 2 };
    }
    (at < command.len()).then_some(at)
}

/// What `locked` itself has against a line: options that the verb does not have or that exclude each other, values that it does
/// not take. In running text not all of a line need stand there, and a word in capitals stands for another.
fn against(command: &[String]) -> Option<String> {
    // What a shell makes of the rest is not ours.
    let command = command.split(|word| ["|", "||", "&&", ">", ";"].contains(&word.as_str())).next()?;
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion, InvalidSubcommand, MissingRequiredArgument};
    let at = first_word(command)?;
    let capital = |sign: char| sign.is_ascii_uppercase() || "_:/#…".contains(sign);
    let stands_for_another = |word: &String| word.chars().all(capital);
    let is_program = PROGRAMS.contains(&command[at].as_str()) || command[..at].iter().any(|word| word == "--");
    let ours: Vec<&String> = command[..at].iter().filter(|word| *word != "--").collect();
    let run = "run".to_owned();
    let words: Vec<&String> = match is_program {
        true => ours.into_iter().chain([&run]).chain(&command[at..]).collect(),
        false => command.iter().collect(),
    };
    let error = locked::cli::definition().try_get_matches_from(words).err()?;
    let fine = [DisplayHelp, DisplayVersion, MissingRequiredArgument, InvalidSubcommand].contains(&error.kind());
    (!fine && !command.iter().any(stands_for_another)).then(|| error.to_string())
}

#[test]
fn a_line_that_locked_would_not_take_is_found() {
    let line = |text: &str| against(&words(text));
    for good in [
        "locked release R --as completed",
        "locked --secret API_KEY ./rotate.sh --any thing",
        "locked -r sops:monitoring -- ./script --x",
        "locked steal sops:monitoring --reason 'it hangs'",
        "locked acquire KIND:NAME --ttl D",
        "locked session begin",
        "locked acquire sops:a || exit",
    ] {
        assert_eq!(line(good), None, "{good}");
    }
    for wrong in [
        "locked release sops:a --as done",
        "locked acquire sops:a --ttl soon",
        "locked acquire monitoring",
        "locked release sops:a --duty --consumers-ok",
        "locked --ttl soon sops set x",
        "locked status --watch --format prometheus",
    ] {
        assert!(line(wrong).is_some(), "{wrong}");
    }
}

/// Each of these commands is one of `locked`, with the options that it shows, and taken as it stands.
fn exist(world: &World, found: Vec<Vec<String>>) {
    let top = help(world, &[]);
    for command in found {
        if let Some(why) = against(&command) {
            panic!("`{}`: {why}", command.join(" "));
        }
        let mut rest = command[1..].iter().map(String::as_str);
        while let Some(word) = rest.next() {
            if word == "--" {
                break;
            } else if word.starts_with('-') {
                assert!(names(&top, word), "`{}`: {word} is not in `locked --help`", command.join(" "));
                if WITH_VALUE.contains(&word) {
                    rest.next();
                }
            } else if PROGRAMS.contains(&word) {
                break;
            } else {
                assert!(names(&top, word), "`{}`: {word} is no verb of `locked --help`", command.join(" "));
                if word != "help" {
                    // A group's options are those of its verb.
                    let group = locked::cli::definition().find_subcommand(word).is_some_and(|it| it.has_subcommands());
                    let below: Vec<&str> = rest.by_ref().take(usize::from(group)).collect();
                    let own = help(world, &[&[word][..], &below].concat());
                    for option in rest.by_ref().take_while(|word| *word != "--").filter(|word| word.starts_with('-')) {
                        assert!(names(&own, option), "`{}`: {option} is not in its help", command.join(" "));
                    }
                }
                break;
            }
        }
    }
}

#[test]
fn every_command_of_the_readme_exists_with_its_options() {
    let found = commands(&read("README.md"));
    assert!(found.len() > 15, "the README shows commands: {found:?}");
    exist(&World::new(), found);
}

/// Steps in a list are indented, their fences too.
#[test]
fn every_command_of_the_playbooks_exists_with_its_options() {
    let directory = std::fs::read_dir(repository("install/playbooks")).expect("playbooks");
    let mut books: Vec<_> = directory.map(|entry| entry.expect("entry").path()).collect();
    books.sort();
    assert!(books.len() >= 5, "{books:?}");
    let world = World::new();
    for book in books {
        let text = std::fs::read_to_string(&book).expect("a playbook");
        let flat: Vec<&str> = text.lines().map(str::trim_start).collect();
        let found = commands(&flat.join("\n"));
        assert!(found.len() > 4, "{}: {found:?}", book.display());
        exist(&world, found);
    }
}

#[test]
fn the_table_of_exit_statuses_is_the_one_of_the_source() {
    let told: BTreeMap<i32, String> = table(&read("README.md"), "| status | name | what happened |")
        .into_iter()
        .map(|row| (row[0].parse().expect("a number"), row[1].clone()))
        .collect();
    assert_eq!(told, exit_constants(&read("src/exit.rs")));
}

#[test]
fn every_option_and_variable_of_the_settings_table_exists() {
    let top = help(&World::new(), &[]);
    let rows = table(&read("README.md"), "| variable | option | ready value | what it is |");
    assert!(!rows.is_empty(), "the settings table was found");
    for option in rows.iter().map(|row| row[1].trim_matches('`')).filter(|option| !option.is_empty()) {
        assert!(names(&top, option), "{option} is not in `locked --help`");
    }
    let mut known = top;
    sources(&repository("src"), &mut known);
    sources(&repository("tests"), &mut known);
    known.push_str(&read(".ci/run"));
    let known = variables(&known);
    for variable in variables(&read("README.md")) {
        assert!(known.contains(&variable), "{variable} occurs nowhere in src, tests or the gate");
    }
}

#[test]
fn every_file_that_the_readme_names_exists() {
    let readme = read("README.md");
    let linked = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = linked.filter(|link| !link.starts_with('#') && !link.contains("://"));
    let typed = readme.split(['`', '\n', ' ']).filter(|word| {
        ["install/", "tests/", ".ci/"].iter().any(|room| word.starts_with(room)) && !word.ends_with('/')
    });
    let files: BTreeSet<&str> = local.chain(typed).collect();
    assert!(files.contains("install/quickstart") && files.contains("install/test"), "{files:?}");
    for file in files {
        assert!(repository(file).is_file(), "{file} does not exist");
    }
}

#[test]
fn no_number_is_left_open_in_the_readme() {
    assert!(!read("README.md").contains("@@"), "a measured number has not been filled in");
}

/// A claim that nobody would notice to have become false is none.
#[test]
fn every_test_that_the_security_notes_name_exists() {
    let notes = read("SECURITY.md");
    let rows = table(&notes, "| claim | test |");
    assert!(rows.len() > 10, "{rows:?}");
    let mut tests = String::new();
    sources(&repository("src"), &mut tests);
    sources(&repository("tests"), &mut tests);
    for row in rows {
        let named: Vec<&str> = row[1].split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "nothing backs: {}", row[0]);
        for name in named {
            let is_test = tests.contains(&format!("#[test]\nfn {name}()"))
                || tests.contains(&format!("#[test]\n    fn {name}()"));
            assert!(is_test, "`{name}` of SECURITY.md is no test");
        }
    }
}
