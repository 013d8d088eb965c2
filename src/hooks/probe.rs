//! Does git run our hook? A hook in the wrong directory, without its bit, or on a file system without programs looks as
//! if it were there. So git itself is asked to run it; the hook answers at once and does nothing else.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::place::Place;

/// What to say to the hook, and what it answers.
const WORD: &str = "here";

/// Whether git would run our hook, and if not why.
pub(super) fn runs(place: &Place, name: &str) -> Result<(), String> {
    let expected = format!("locked:hook {name} {WORD}");
    // git writes what a hook prints to its own standard error.
    let said = |output: &Output| {
        let both = [output.stdout.as_slice(), &output.stderr].concat();
        String::from_utf8_lossy(&both).lines().any(|line| line == expected)
    };
    let asked = probing(&mut place.git()).args(["hook", "run", "--ignore-missing", name]).output();
    match asked {
        Ok(output) if said(&output) => Ok(()),
        // Before 2.36 git has no such command: then at least the file must run.
        Ok(output) if !output.status.success() && knows_no_hook_command(&output) => by_itself(&place.hook(name), &said),
        Ok(_) => Err("it ran another one, or none".to_owned()),
        Err(error) => Err(format!("git cannot be started: {error}")),
    }
}

fn by_itself(hook: &Path, said: &dyn Fn(&Output) -> bool) -> Result<(), String> {
    match probing(&mut Command::new(hook)).output() {
        Ok(output) if said(&output) => Ok(()),
        Ok(_) => Err("it does not answer".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn probing(command: &mut Command) -> &mut Command {
    command.env("LOCKED_HOOK_PROBE", WORD).stdin(Stdio::null())
}

fn knows_no_hook_command(output: &Output) -> bool {
    String::from_utf8_lossy(&output.stderr).contains("is not a git command")
}
