//! The real programs, past ourselves, and whether they are new enough. Each is asked for its version with nothing to read,
//! no network (`SOPS_DISABLE_VERSION_CHECK`, getsops/sops `version/version.go`) and a limit.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::run::{self, Context};
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;
use super::probe::{Answer, Probe};
use super::probes::{Job, environment};

/// So long a program may take to say its version.
const LIMIT: Duration = Duration::from_secs(2);

/// A program that is asked.
struct Tool {
    name: &'static str,
    /// What it must be at least; zeros: anything.
    least: (u32, u32),
    /// What it is for.
    need: &'static str,
}

const TOOLS: [Tool; 2] = [
    Tool {
        name: "sops",
        // The first with `sops set`, `sops unset` and `--output` as sub-commands' own.
        least: (3, 9),
        need: "it writes the files, and proves them after each write",
    },
    Tool { name: "git", least: (2, 0), need: "it says what a file's versions are" },
];

pub(super) fn jobs(context: &Context) -> Vec<(&'static str, Job)> {
    let job = |tool: &Tool| {
        let program = run::real(context, tool.name)?;
        let (mut env, cwd) = environment(context);
        env.push(("SOPS_DISABLE_VERSION_CHECK".into(), "1".into()));
        let probe = Probe { program, args: vec!["--version".into()], env, cwd, limit: LIMIT };
        Some((tool.name, Box::new(move || probe.ask(|_| false)) as Job))
    };
    TOOLS.iter().filter_map(job).collect()
}

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = TOOLS.iter().map(|tool| of_tool(patient, tool)).collect();
    if run::real(patient.context, "age-keygen").is_none() && patient.survey().has_age() {
        found.push(
            Finding::note("tools.age", "age is not on PATH")
                .because("sops does not need it; people who make a key do (age-keygen)")
                .remedy("install age"),
        );
    }
    found
}

fn of_tool(patient: &Patient<'_>, tool: &Tool) -> Finding {
    let Some(program) = run::real(patient.context, tool.name) else {
        return Finding::fault("tools.missing", format!("the real {} is not on PATH", tool.name))
            .because(tool.need)
            .remedy(format!("install {} {}.{} or newer", tool.name, tool.least.0, tool.least.1));
    };
    let answer = patient.probes.answer(tool.name).unwrap_or(Answer::NotRun("not asked".to_owned()));
    judged(tool, &program, &answer)
}

fn judged(tool: &Tool, program: &Path, answer: &Answer) -> Finding {
    let (name, place) = (tool.name, shell_quote(PathBuf::from(program).as_os_str().as_encoded_bytes()));
    let (major, minor) = tool.least;
    let said = match answer {
        Answer::Said(said) => said,
        Answer::Late => {
            return Finding::fault(
                "tools.hangs",
                format!("{place} --version gave no answer within {} s", LIMIT.as_secs()),
            )
            .because("a command that runs it would hang under its lease")
            .remedy(format!("see what `{place} --version` waits for"));
        }
        Answer::NotRun(why) => {
            return Finding::fault("tools.broken", format!("{place} cannot be run ({why})"))
                .because(tool.need)
                .remedy(format!("install {name} {major}.{minor} or newer"));
        }
    };
    match version(said) {
        Some(found) if found < (major, minor, 0) => {
            let (a, b, c) = found;
            Finding::fault("tools.old", format!("{place} is {name} {a}.{b}.{c}, older than {major}.{minor}"))
                .because("older versions read their command line otherwise, and lack what is relied on")
                .remedy(format!("install {name} {major}.{minor} or newer"))
        }
        Some((a, b, c)) => Finding::ok("tools.version", format!("{name} {a}.{b}.{c} ({place})")),
        None => Finding::warn("tools.unknown-version", format!("{place} does not say which {name} it is"))
            .because(format!("it must be {major}.{minor} or newer, and read its command line as {name} does"))
            .remedy(format!("{place} --version")),
    }
}

/// The first `N.N` or `N.N.N` of the first lines.
fn version(said: &str) -> Option<(u32, u32, u32)> {
    let words = said.lines().take(3).flat_map(str::split_whitespace);
    words.filter_map(number).next()
}

fn number(word: &str) -> Option<(u32, u32, u32)> {
    let digits = word.trim_start_matches(['v', '(']);
    let mut parts = digits.split(['.', '-', '+', ')', ',']);
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((major, minor, parts.next().and_then(|part| part.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_where_programs_say_them() {
        for (said, expected) in [
            ("sops 3.11.0 (latest)\n", Some((3, 11, 0))),
            ("sops 3.7.3 (latest: 3.11.0)", Some((3, 7, 3))),
            ("git version 2.47.3\n", Some((2, 47, 3))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39, 5))),
            ("v1.2.0-rc1", Some((1, 2, 0))),
            ("(devel)", None),
            ("", None),
            ("sops 3", None),
            ("99999999999.1", None),
        ] {
            assert_eq!(version(said), expected, "{said}");
        }
    }

    #[test]
    fn every_answer_has_its_finding() {
        let said = |text: &str| Answer::Said(text.to_owned());
        for (answer, id) in [
            (said("sops 3.9.0"), "tools.version"),
            (said("sops 3.8.1"), "tools.old"),
            (said("hello"), "tools.unknown-version"),
            (Answer::Late, "tools.hangs"),
            (Answer::NotRun("permission denied".to_owned()), "tools.broken"),
        ] {
            assert_eq!(judged(&TOOLS[0], Path::new("/usr/bin/sops"), &answer).id, id);
        }
    }
}
