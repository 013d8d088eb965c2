//! What a rule may do that came with a repository nobody has vouched for: it adds a name to what is held anyway, or holds
//! what nobody knows as a read.
//!
//! A name goes to the store, to others' boards and to messages. Such a rule could take it from any word of a line, a
//! variable or standard input, and so carry a secret there. So its names are fixed texts, or have gaps that another rule
//! fills on this very line in the same way.
#![forbid(unsafe_code)]

use std::borrow::Cow;

use super::Wants;
use crate::rules::book::{Book, Field, Part, Rule, Template};
use crate::rules::grammar::Line;
use crate::rules::reads;
use crate::rules::step::Step;

/// What is known of a line when such a rule is met.
pub(super) struct Untrusted<'a, 's> {
    step: &'a Step<'s>,
    /// There is nobody without trust, and nothing is looked at.
    idle: bool,
    /// It starts others, which are looked at by themselves.
    starts: bool,
    /// It is one of the programs or sub-commands that only read.
    reads: bool,
    /// A rule knows the program by its name.
    known: bool,
    /// The gaps of the rules that are about the line.
    gaps: Vec<Part>,
    /// Another rule is about it.
    decided: bool,
}

/// What is left of a rule.
pub(super) struct Cleared<'r> {
    /// The rule with those of its names that it may have; none without any.
    pub(super) rule: Option<Cow<'r, Rule>>,
    /// What it may not say.
    pub(super) note: Option<String>,
}

impl<'a, 's> Untrusted<'a, 's> {
    pub(super) fn of(step: &'a Step<'s>, line: &Line<'_>, book: &Book, wants: &Wants) -> Self {
        let idle = !book.hears_strangers();
        let rules = || book.rules(step.name(), step.host.is_some() && !step.inside);
        // What the shell opens for it is not its own doing.
        let opened = |path: &std::path::PathBuf| step.redirected.iter().any(|file| step.path(&file.path) == *path);
        let touches = || wants.touched.iter().any(|path| !opened(path) && !reads::is_device(path));
        Self {
            step,
            idle,
            starts: !idle && book.only_starts(step.name()),
            reads: !idle && (wants.reads || reads::only_reads(step, line, book, touches())),
            known: !idle && rules().any(|rule| reads::is_known_to(rule, step)),
            gaps: Vec::new(),
            decided: false,
        }
    }

    /// A rule of somebody else is about the line.
    pub(super) fn heard(&mut self, rule: &Rule) {
        if self.idle {
            return;
        }
        self.decided |= reads::is_known_to(rule, self.step);
        let templates = rule.resource.iter().chain(&rule.otherwise);
        let gaps = templates.flat_map(Template::parts).filter(|part| matches!(part, Part::Gap(..)));
        self.gaps.extend(gaps.cloned());
    }

    /// Whether nobody's rule but a stranger's would stop the line.
    pub(super) fn leaves_alone(&self, wants: &Wants) -> bool {
        self.reads || wants.reads || (self.known && !self.decided && !wants.unnamed)
    }

    /// Whether a rule that only adds has no say on this line: it takes no read away, nor what starts them. What a read's
    /// shell writes to a file it may be about, but for devices.
    pub(super) fn has_no_say(&self, rule: &Rule, wants: &Wants) -> bool {
        if !rule.adds_only() || wants.reads {
            return rule.adds_only();
        }
        let about = |path: &std::path::PathBuf| rule.is_about(path.as_os_str());
        let mut written = wants.touched.iter().filter(|path| about(path));
        let writes = written.any(|path| !reads::is_device(path));
        let sends = !self.step.sent.is_empty();
        (self.starts || self.leaves_alone(wants)) && (rule.writes.is_empty() || !(writes || sends))
    }

    /// The rule without the names that it may not make.
    pub(super) fn cleared<'r>(&self, rule: &'r Rule) -> Cleared<'r> {
        let mut foreign = rule.resource.iter().chain(&rule.otherwise).flat_map(Template::parts);
        let Some(Part::Gap(field, _)) = foreign.find(|part| !self.may_have(part)) else {
            return Cleared { rule: Some(Cow::Borrowed(rule)), note: None };
        };
        let note = format!(
            "the rule {} would name {field} by what stands in this line, and nobody has vouched for its file (locked config trust): it runs without that lease",
            rule.name
        );
        let is_good = |template: &Template| template.parts().iter().all(|part| self.may_have(part));
        let left = Rule {
            resource: rule.resource.only(is_good),
            otherwise: rule.otherwise.clone().filter(|template| is_good(template)),
            ..rule.clone()
        };
        let holds = left.resource.iter().next().is_some() || left.otherwise.is_some();
        Cleared { rule: holds.then_some(Cow::Owned(left)), note: Some(note) }
    }

    /// What a rule's own expressions catch is its own affair, whatever others call theirs; a host is named by how it is
    /// reached.
    fn may_have(&self, part: &Part) -> bool {
        match part {
            Part::Text(_) | Part::Gap(Field::Host, _) => true,
            Part::Gap(Field::Caught(_) | Field::Variable(_), _) => false,
            gap @ Part::Gap(..) => self.gaps.contains(gap),
        }
    }
}
