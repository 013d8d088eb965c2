//! What is wrong with a rule.
#![forbid(unsafe_code)]

use super::{Fault, Sound, at, is_variable, option_names, programs, subcommands, ttl, variables, whole};
use crate::rules::book::{Field, Part, Rule, Template};
use crate::terms::{ResourceName, percent_encode};

impl Sound for Rule {
    fn fault(&self) -> Option<Fault> {
        let shows = !self.name.trim().is_empty()
            && percent_encode(self.name.replace(' ', "_").as_bytes()).len() == self.name.len();
        if !shows {
            return at("name", "the name of a rule is shown to people: letters and signs that print, without '%'");
        }
        let holds = self.resource.iter().next().is_some() || self.otherwise.is_some() || self.ask;
        if self.enabled && !holds {
            return at("resource", "this rule holds nothing: it needs resource, or enabled = false");
        }
        let globs = [("args", &self.args), ("remote", &self.remote), ("writes", &self.writes)];
        let options = [("option", &self.option), ("unless", &self.unless), ("detached", &self.detached)];
        programs("program", self.program.as_ref())
            .or_else(|| subcommands(self.subcommand.as_ref()))
            .or_else(|| self.of_reads())
            .or_else(|| options.into_iter().find_map(|(key, options)| option_names(key, options.iter())))
            .or_else(|| globs.into_iter().find_map(|(key, globs)| whole(key, globs.iter().map(|glob| glob.as_str()))))
            .or_else(|| variables(&self.env))
            .or_else(|| self.resource.iter().find_map(|template| self.names("resource", template)))
            .or_else(|| self.otherwise.as_ref().and_then(|template| self.names("otherwise", template)))
            .or_else(|| ttl(self.ttl.map(|span| span.0)))
            .or_else(|| {
                let idle = !self.detached.is_empty() && self.give_back.is_none();
                at("detached", "detached says when give_back does not count: it needs give_back as well")
                    .filter(|_| idle)
            })
    }
}

/// What sops reads with.
const READS: [&str; 5] = ["decrypt", "exec-env", "exec-file", "filestatus", "keyservice"];

impl Rule {
    fn of_reads(&self) -> Option<Fault> {
        let sops = self.program.as_ref().is_some_and(|program| program.iter().all(|name| name == "sops"));
        let reads = self.subcommand.as_ref().is_some_and(|words| words.iter().all(|words| READS.contains(&words)));
        let never = sops && reads && self.writes.is_empty() && self.enabled;
        at(
            "subcommand",
            "sops reads always pass, so this rule would never hold anything; a [[zone]] with reads = true can",
        )
        .filter(|_| never)
    }

    /// Whether a template can come to a resource, with whatever fills its gaps.
    fn names(&self, key: &'static str, template: &Template) -> Option<Fault> {
        let mut text = String::new();
        for part in template.parts() {
            match part {
                Part::Text(own) => text.push_str(own),
                Part::Gap(field, _) => {
                    text.push('x');
                    if let Some(fault) = self.fills(key, field) {
                        return Some(fault);
                    }
                }
            }
        }
        let is_name = ResourceName::parse(text.as_bytes()).is_ok();
        at(key, "no resource, expected kind:name, for example \"server:{host}\"; a kind has the letters a to z, digits, '-' and '_'")
            .filter(|_| !is_name)
    }

    fn fills(&self, key: &'static str, field: &Field) -> Option<Fault> {
        match field {
            Field::Caught(name) => {
                let by_manifests = name == "secret" && !self.manifests.is_empty();
                let caught =
                    by_manifests || self.matches.iter().chain(&self.text).any(|expression| expression.catches(name));
                at(key, "a gap that nothing fills: no expression of match or text has a group of this name, (?<name>…)")
                    .filter(|_| !caught)
            }
            Field::Variable(name) => at(key, "{env:NAME} needs the name of a variable").filter(|_| !is_variable(name)),
            _ => None,
        }
    }
}
