//! Command lines of sops: first every main form once, then random ones, well-formed and bent.
#![forbid(unsafe_code)]

use super::random::Random;
use super::words::{CIPHER, ENVIRONMENT, FILENAME, INDEX, MAIN, OTHER, OUTPUT, PLAIN, POOL, VALUE};

/// One run: arguments, environment, and what surrounds it. `@` at the head of an argument or variable stands for the
/// directory of the run, `%A` and `%B` for the two recipients.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(&'static str, &'static str)>,
    pub(crate) editor: &'static str,
    /// The file that the shell would have sent standard output to.
    pub(crate) stdout: Option<&'static str>,
    pub(crate) append: bool,
    /// Standard input is a JSON string, not empty.
    pub(crate) stdin: bool,
}

/// The line with this number.
pub(crate) fn line(number: usize, random: &mut Random) -> Line {
    if let Some(main) = MAIN.get(number) {
        let stdout = main.rsplit_once("|>").map(|(_, file)| file);
        let args = main.split("|>").next().unwrap_or(main).split('|').map(str::to_owned).collect();
        return Line { args, editor: "change", stdout, stdin: true, ..Line::default() };
    }
    let mut args = if random.percent(15) { wild(random) } else { formed(random) };
    if random.percent(25) {
        bend(random, &mut args);
    }
    let env = if random.percent(12) { vec![random.pick(ENVIRONMENT)] } else { Vec::new() };
    let stdout = random.percent(12).then(|| random.pick(&["new.yaml", "e.yaml", "p.env", "sub/e.yaml"]));
    let editor = random.pick(&["change", "change", "change", "keep", "fail"]);
    Line { args, env, editor, stdout, append: random.percent(20), stdin: random.percent(30) }
}

fn wild(random: &mut Random) -> Vec<String> {
    (0..=random.below(6)).map(|_| (random.pick(POOL)).to_owned()).collect()
}

fn file(random: &mut Random, likely: &[&str]) -> String {
    let from = match random.below(10) {
        0 => random.pick(&[CIPHER, PLAIN]),
        1 => OTHER,
        _ => likely,
    };
    (random.pick(from)).to_owned()
}

/// A command with its flags and operands, each flag with its value in one piece.
fn formed(random: &mut Random) -> Vec<String> {
    let (mut head, mut flags, mut operands) = (Vec::new(), Vec::new(), Vec::new());
    match random.below(14) {
        0 | 1 => {
            head.push("encrypt".to_owned());
            destination(random, &mut flags);
            operands.push(file(random, PLAIN));
        }
        2 => {
            head.push("decrypt".to_owned());
            destination(random, &mut flags);
            operands.push(file(random, CIPHER));
        }
        3 => {
            head.push("rotate".to_owned());
            destination(random, &mut flags);
            if random.percent(30) {
                flags.push(valued(random, &["add-age", "rm-age"], "%B"));
            }
            operands.push(file(random, CIPHER));
        }
        4 => {
            head.push("edit".to_owned());
            operands.push(file(random, CIPHER));
            if random.percent(30) {
                flags.push(switch(random, &["show-master-keys", "s"]));
            }
        }
        5 | 6 => {
            head.push("set".to_owned());
            operands.extend([file(random, CIPHER), (random.pick(INDEX)).to_owned()]);
            if random.percent(25) {
                flags.push(switch(random, &["value-stdin", "value-file", "idempotent"]));
            }
            if random.percent(80) {
                operands.push((random.pick(VALUE)).to_owned());
            }
        }
        7 => {
            head.push("unset".to_owned());
            operands.extend([file(random, CIPHER), (random.pick(INDEX)).to_owned()]);
            if random.percent(30) {
                flags.push(switch(random, &["idempotent"]));
            }
        }
        8 => {
            head.push("updatekeys".to_owned());
            operands.extend((0..=random.below(3)).map(|_| file(random, CIPHER)).collect::<Vec<_>>());
            if random.percent(85) {
                flags.push(switch(random, &["yes", "y"]));
            }
        }
        9 => groups(random, &mut head, &mut flags, &mut operands),
        10 => {
            head.push((random.pick(&["exec-env", "exec-file", "filestatus", "publish"])).to_owned());
            operands.extend([file(random, CIPHER), "true".to_owned()]);
            if head[0] == "exec-file" {
                let name = random.pick(FILENAME);
                flags.push(valued(random, &["filename"], name));
                flags.push(switch(random, &["no-fifo"]));
            }
        }
        _ => older(random, &mut flags, &mut operands),
    }
    if random.percent(25) {
        flags.push(neutral(random));
    }
    let root = if head.is_empty() || random.percent(85) { Vec::new() } else { ignored_by_commands(random) };
    let tokens = if head.is_empty() { before(flags, operands) } else { placed(random, flags, operands) };
    root.into_iter().chain(head).chain(tokens).collect()
}

fn destination(random: &mut Random, flags: &mut Vec<Vec<String>>) {
    if random.percent(55) {
        flags.push(switch(random, &["in-place", "i"]));
    }
    if random.percent(25) {
        let output = random.pick(OUTPUT);
        flags.push(valued(random, &["output"], output));
    }
}

fn groups(random: &mut Random, head: &mut Vec<String>, flags: &mut Vec<Vec<String>>, operands: &mut Vec<String>) {
    let which = random.pick(&["add", "delete"]);
    head.extend(["groups".to_owned(), which.to_owned()]);
    let target = file(random, if which == "add" { CIPHER } else { &["two.yaml"] });
    flags.push(valued(random, &["file", "f"], &target));
    if random.percent(75) {
        flags.push(switch(random, &["in-place", "i"]));
    }
    if which == "add" {
        flags.push(valued(random, &["age"], "%B"));
    } else {
        operands.push(random.below(2).to_string());
    }
}

fn older(random: &mut Random, flags: &mut Vec<Vec<String>>, operands: &mut Vec<String>) {
    let mut likely = CIPHER;
    for _ in 0..random.below(3) {
        match random.below(4) {
            0 => {
                flags.push(switch(random, &["encrypt", "e"]));
                likely = PLAIN;
            }
            1 => flags.push(switch(random, &["decrypt", "d"])),
            2 => flags.push(switch(random, &["rotate", "r"])),
            _ => flags.push(valued(random, &["set"], "[\"A\"] \"9\"")),
        }
    }
    destination(random, flags);
    operands.push(file(random, likely));
    if random.percent(15) {
        operands.push((random.pick(&["-i", "--output=new.env", "e.yaml", "-d"])).to_owned());
    }
}

/// Flags that change nothing about what is written, or that the command does not know.
fn neutral(random: &mut Random) -> Vec<String> {
    match random.below(8) {
        0 => valued(random, &["input-type", "output-type"], "yaml"),
        1 => valued(random, &["input-type", "output-type"], "dotenv"),
        2 => valued(random, &["shamir-secret-sharing-threshold"], "2"),
        3 => switch(random, &["ignore-mac"]),
        4 => valued(random, &["filename-override"], "e.yaml"),
        5 => valued(random, &["age", "a"], "%A"),
        6 => valued(random, &["unencrypted-suffix", "encrypted-regex"], "b"),
        _ => switch(random, &["verbose", "enable-local-keyservice", "help", "zap"]),
    }
}

fn ignored_by_commands(random: &mut Random) -> Vec<String> {
    match random.below(5) {
        0 => vec!["-i".to_owned()],
        1 => valued(random, &["output"], "new.env"),
        2 => vec!["--".to_owned()],
        3 => valued(random, &["config"], ".sops.yaml"),
        _ => vec!["--verbose".to_owned()],
    }
}

fn dashes(random: &mut Random) -> &'static str {
    random.pick(&["-", "--", "--"])
}

fn switch(random: &mut Random, names: &[&str]) -> Vec<String> {
    let (dashes, name) = (dashes(random), random.pick(names));
    let value = match random.below(20) {
        0 => "=true",
        1 => "=F",
        2 => "=1",
        3 => "=maybe",
        _ => "",
    };
    vec![format!("{dashes}{name}{value}")]
}

fn valued(random: &mut Random, names: &[&str], value: &str) -> Vec<String> {
    let (dashes, name) = (dashes(random), random.pick(names));
    if random.percent(30) {
        vec![format!("{dashes}{name}={value}")]
    } else {
        vec![format!("{dashes}{name}"), value.to_owned()]
    }
}

fn before(flags: Vec<Vec<String>>, operands: Vec<String>) -> Vec<String> {
    flags.into_iter().flatten().chain(operands).collect()
}

/// Flags before the operands, behind them, or between.
fn placed(random: &mut Random, flags: Vec<Vec<String>>, operands: Vec<String>) -> Vec<String> {
    match random.below(10) {
        0..=4 => before(flags, operands),
        5 | 6 => operands.into_iter().chain(flags.into_iter().flatten()).collect(),
        _ => {
            let mut pieces: Vec<Vec<String>> = operands.into_iter().map(|operand| vec![operand]).collect();
            for flag in flags {
                let at = random.below(pieces.len() + 1);
                pieces.insert(at, flag);
            }
            pieces.concat()
        }
    }
}

/// One slip of the hand.
fn bend(random: &mut Random, args: &mut Vec<String>) {
    let at = random.below(args.len() + 1);
    let inside = at.min(args.len().saturating_sub(1));
    match random.below(6) {
        0 => args.insert(at, "--".to_owned()),
        1 | 2 => args.insert(at, (random.pick(POOL)).to_owned()),
        3 if !args.is_empty() => drop(args.remove(inside)),
        4 if !args.is_empty() => args.insert(at, args[inside].clone()),
        _ if args.len() > 1 => args.swap(inside, 0),
        _ => {}
    }
}
