//! Differential test of [`locked::shell`]: a generator makes scripts, the real dash and bash run them where nothing but a
//! recorder can be run, and no program may be run, in no directory, and no file may appear, that was not predicted.
//!
//! `LOCKED_SHELL=5000` runs more scripts than the usual 60, `LOCKED_SHELL_SEED=7` other ones.
#![cfg(unix)]
#![forbid(unsafe_code)]

mod generator;
mod prediction;
mod yard;

use locked::shell::{Surroundings, parse_in};

use self::generator::script;
use self::prediction::{Fit, created, ran};
use self::yard::{PARAMETERS, Yard};
use crate::differential::random::Random;
use crate::world::ends::left_out;

const USUAL: usize = 60;

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn dash_runs_no_program_and_creates_no_file_that_was_not_predicted() {
    compare("dash", false);
}

#[test]
fn bash_runs_no_program_and_creates_no_file_that_was_not_predicted() {
    compare("bash", true);
}

fn compare(shell: &str, bash: bool) {
    let (count, seed) = (number("LOCKED_SHELL", USUAL), number("LOCKED_SHELL_SEED", 1));
    println!("{shell}: {count} scripts, LOCKED_SHELL_SEED={seed}");
    let Some(yard) = Yard::new(shell) else {
        return left_out("shell", "this shell is not installed");
    };
    let (mut wrong, mut exact, mut partly, mut files) = (Vec::new(), 0, 0, 0);
    for at in 0..count {
        let script = script(bash, &mut Random::new(seed as u64, at as u64));
        let run = yard.run(&script);
        let surroundings = Surroundings {
            variables: yard.variables().into_iter().collect(),
            parameters: Some(PARAMETERS.map(|text| text.as_bytes().to_vec()).into()),
            unknown: None,
            ..Surroundings::default()
        };
        let found = parse_in(script.as_bytes(), &surroundings);
        if !found.complete {
            wrong.push(format!("#{at} was not understood\n{script}"));
        }
        for call in &run.calls {
            match ran(&found, call, run.a_cd_may_have_failed) {
                Fit::Exact => exact += 1,
                Fit::Partly => partly += 1,
                Fit::None => wrong.push(format!("#{at} ran {call:?}\n{script}")),
            }
        }
        for file in &run.files {
            files += 1;
            if !created(&found, file, run.a_cd_may_have_failed) {
                wrong.push(format!("#{at} created {}\n{script}", file.display()));
            }
        }
        if let Some(why) = run.refused {
            wrong.push(format!("#{at} was refused, so the generator is wrong: {why}\n{script}"));
        }
    }
    println!("{shell}: {exact} calls predicted exactly, {partly} partly, {files} files");
    // The shortest ones say most.
    wrong.sort_by_key(String::len);
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n---\n"));
    // So that the test cannot pass by comparing nothing.
    assert!(exact > count && exact > partly && files > count / 4, "too little was compared");
}
