//! A rule that only tests set: how a run follows a rule's terms is tried with rules that no program needs. It stands in
//! the variable [`VARIABLE`], written as rules are, and only builds that check their assertions read it.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;

use crate::terms::{ResourceName, parse_duration};

use super::{Canary, Classification, Command, Follow, Keep, Policy};

/// Where the rule stands.
const VARIABLE: &str = "LOCKED_TRIAL_RULE";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
struct Trial {
    program: String,
    #[serde(default)]
    resource: Vec<String>,
    #[serde(default)]
    remote: bool,
    ttl: Option<String>,
    wait: Option<String>,
    canary: Option<Proof>,
    keep: Option<String>,
    keep_for: Option<String>,
    hold_for: Option<String>,
    follow: Option<Workflow>,
    give_back: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Proof {
    Said(bool),
    Command(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workflow {
    workflow: String,
    repository: Option<String>,
}

/// The same, with what the rule adds when it is about this program.
pub(super) fn add(command: &Command<'_>, class: Classification) -> Classification {
    let text = (command.env)(VARIABLE).and_then(|text| text.into_string().ok());
    let rule = text.map(|text| toml::from_str::<Trial>(&text).expect("a test's own rule"));
    match rule.filter(|rule| command.name == rule.program.as_str()) {
        Some(rule) => join(class, &rule),
        None => class,
    }
}

fn join(class: Classification, rule: &Trial) -> Classification {
    let name = |text: &String| ResourceName::parse(text.as_bytes()).expect("a test's own resource");
    let canary = match &rule.canary {
        None | Some(Proof::Said(true)) => Canary::Ready,
        Some(Proof::Said(false)) => Canary::Off,
        Some(Proof::Command(words)) => Canary::Command(words.clone()),
    };
    let follow = rule
        .follow
        .as_ref()
        .map(|follow| Follow::Workflow { workflow: follow.workflow.clone(), repository: follow.repository.clone() });
    Classification {
        rule: class.rule.or(Some("trial")),
        resources: rule.resource.iter().map(name).collect(),
        remote: class.remote || rule.remote,
        policy: Policy {
            ttl: span(rule.ttl.as_deref()),
            wait: span(rule.wait.as_deref()),
            canary,
            keep: rule.keep.as_deref().map(keep),
            keep_for: span(rule.keep_for.as_deref()),
            hold_for: span(rule.hold_for.as_deref()),
            follow,
            give_back: span(rule.give_back.as_deref()),
        },
        ..class
    }
}

fn span(text: Option<&str>) -> Option<Duration> {
    text.map(|text| parse_duration(text).expect("a test's own duration"))
}

fn keep(text: &str) -> Keep {
    match text {
        "never" => Keep::Never,
        "changed" => Keep::Changed,
        "always" => Keep::Always,
        other => panic!("a test's own rule keeps {other}"),
    }
}
