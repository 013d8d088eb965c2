//! What is wrong with what is said of programs: how they are read, and what they start, write and tell a database.
#![forbid(unsafe_code)]

use super::{Fault, Sound, at, option_names, programs, subcommands};
use crate::rules::book::{Field, Launcher, Part, Program, SqlTeller, Template, Writer};

impl Sound for Program {
    fn fault(&self) -> Option<Fault> {
        let own = [("values", &self.values), ("attached", &self.attached), ("everywhere", &self.everywhere)];
        let commands = || {
            self.command.iter().find_map(|command| {
                let options = command.values.iter().chain(&command.attached).map(String::as_str);
                let wrong = option_names("command", options).or_else(|| subcommands(Some(&command.path)));
                wrong.map(|fault| Fault { key: "command", ..fault })
            })
        };
        programs("name", Some(&self.name))
            .or_else(|| own.into_iter().find_map(|(key, names)| option_names(key, names.iter().map(String::as_str))))
            .or_else(commands)
    }
}

impl Sound for Launcher {
    fn fault(&self) -> Option<Fault> {
        let lists = [("values", &self.values), ("attached", &self.attached)];
        let several = [
            ("option", &self.option),
            ("directory", &self.directory),
            ("script", &self.script),
            ("unless", &self.unless),
        ];
        programs("program", Some(&self.program))
            .or_else(|| subcommands(self.subcommand.as_ref()))
            .or_else(|| lists.into_iter().find_map(|(key, names)| option_names(key, names.iter().map(String::as_str))))
            .or_else(|| several.into_iter().find_map(|(key, names)| option_names(key, names.iter())))
            .or_else(|| self.of_forms())
    }
}

impl Launcher {
    /// What it starts has one form; of two the second would never be looked at.
    fn of_forms(&self) -> Option<Fault> {
        let forms = [
            ("shell", self.shell),
            ("inside", self.inside),
            ("host", self.host),
            ("copies", self.copies),
            ("reads", self.reads),
            ("each", self.each),
            ("joined", self.joined),
        ];
        let mut said = forms.into_iter().filter(|(_, said)| *said).map(|(key, _)| key);
        if let (Some(first), Some(second)) = (said.next(), said.next()) {
            return at(second, format!("what it starts has one form: {first} and {second} exclude each other"));
        }
        at("input", "input is about what goes to a host: it needs host as well").filter(|_| self.input && !self.host)
    }
}

impl Sound for Writer {
    fn fault(&self) -> Option<Fault> {
        programs("program", Some(&self.program))
            .or_else(|| subcommands(self.subcommand.as_ref()))
            .or_else(|| option_names("option", self.option.iter()))
            .or_else(|| option_names("unless", self.unless.iter()))
            .or_else(|| words("files", Some(&self.files)))
    }
}

impl Sound for SqlTeller {
    fn fault(&self) -> Option<Fault> {
        programs("program", Some(&self.program))
            .or_else(|| subcommands(self.subcommand.as_ref()))
            .or_else(|| option_names("unless", self.unless.iter()))
            .or_else(|| words("text", self.text.as_ref()))
            .or_else(|| words("file", self.file.as_ref()))
    }
}

/// A template of words rather than names: a gap and nothing else.
fn words(key: &'static str, template: Option<&Template>) -> Option<Fault> {
    let wrong = template.is_some_and(|template| {
        !matches!(template.parts(), [Part::Gap(field, _)] if !matches!(field, Field::Caught(_) | Field::Project))
    });
    at(key, "expected one gap, for example \"{1}\", \"{2..}\", \"{last}\" or \"{--output}\"").filter(|_| wrong)
}
