//! Which engine the commands of a line talk to, where one of them has switched it for those behind it.
//!
//! Facts: docs.docker.com/reference/cli/docker/context/use (it sets the current context, which `DOCKER_HOST` and
//! `DOCKER_CONTEXT` go before); docker-machine and minikube print variables to be evaluated.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::set::Said;
use super::step::{Step, UNKNOWN};

/// What was switched so far.
#[derive(Default)]
pub(super) struct Engines {
    /// The context of docker.
    context: Option<OsString>,
    /// Variables come from a program that prints them.
    is_open: bool,
}

impl Engines {
    /// A command as it runs behind what was switched; none where that makes no difference.
    pub(super) fn on<'a>(&mut self, step: &Step<'a>) -> Option<Step<'a>> {
        if step.host.is_some() || step.inside {
            return None;
        }
        let words: Vec<&OsStr> = step.args.iter().take(3).map(OsString::as_os_str).collect();
        let is = |at: usize, word: &str| words.get(at).is_some_and(|own| *own == word);
        match step.name() {
            "docker" if is(0, "context") && is(1, "use") => {
                self.context = words.get(2).map(|&context| context.to_owned());
                None
            }
            "docker-machine" | "minikube" if is(0, "env") || is(0, "docker-env") => {
                self.is_open = true;
                None
            }
            "docker" | "docker-compose" => self.set(step),
            _ => None,
        }
    }

    fn set<'a>(&self, step: &Step<'a>) -> Option<Step<'a>> {
        let says = |name: &str| matches!(step.env.get(name), Said::Value(value) if !value.is_empty());
        let set = if self.is_open && !says("DOCKER_HOST") {
            ("DOCKER_HOST".into(), OsString::from(String::from(char::from(UNKNOWN))))
        } else if !says("DOCKER_CONTEXT") {
            ("DOCKER_CONTEXT".into(), self.context.clone()?)
        } else {
            return None;
        };
        Some(Step { env: step.env.and(vec![set]), ..step.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Book, Command, classify};
    use super::*;

    #[test]
    fn commands_talk_to_the_engine_that_was_switched_to_before_them() {
        let open = "\u{1a}";
        for (line, context, host) in [
            ("docker context use prod && docker restart web", Some("prod"), None),
            ("docker restart web; docker context use prod", None, None),
            ("docker context use a; docker context use b; docker-compose -p x down", Some("b"), None),
            ("docker context use prod; DOCKER_CONTEXT=dev docker restart web", Some("dev"), None),
            ("docker context inspect prod; docker restart web", None, None),
            ("ssh h docker context use prod; docker restart web", None, None),
            ("eval \"$(docker-machine env prod)\"; docker restart web", None, Some(open)),
            ("eval \"$(minikube docker-env)\"; DOCKER_HOST=tcp://h docker restart web", None, Some("tcp://h")),
        ] {
            let args = ["-c".into(), line.into()];
            let command = Command {
                name: OsStr::new("sh"),
                args: &args,
                cwd: Path::new("/w"),
                env: &|_| None,
                stdout: None,
                stdin: None,
            };
            let env = classify(&command, &Book::new()).claims.remove(0).engine.env;
            let said = |name: &str| match env.get(name) {
                Said::Value(value) => Some(value.to_str().expect("text").to_owned()),
                Said::Unset | Said::Nothing => None,
            };
            assert_eq!(said("DOCKER_CONTEXT").as_deref(), context, "{line}");
            assert_eq!(said("DOCKER_HOST").as_deref(), host, "{line}");
        }
    }
}
