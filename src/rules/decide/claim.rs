//! What a rule wants of a command that it is about.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::PathBuf;

use super::Wants;
use crate::rules::book::{Author, Field, Filter, Part, Rule, Template};
use crate::rules::followed::workflow;
use crate::rules::policy::HOLD_FOR;
use crate::rules::sent::Sending;
use crate::rules::step::is_known;
use crate::rules::wanted::{Claim, Filling, Wanted, compose, engine};
use crate::terms::{may_hold_a_secret, show_duration};

/// Takes down what a rule wants.
pub(super) fn claim(rule: &Rule, filling: &Filling<'_>, wants: &mut Wants) {
    let (step, line) = (filling.step, filling.line);
    let name = |template: &Template| filling.names(template);
    let otherwise = || rule.otherwise.as_ref().map(name).and_then(|names| names.into_iter().next());
    let mut found: Vec<Wanted> = Vec::new();
    if rule.resource.iter().any(|template| filling.is_doubtful(template)) || line.is_guessed {
        wants.doubtful = true;
        if rule.ask {
            wants.asks = true;
            return;
        }
    }
    for template in rule.resource.iter() {
        if template.has(&Field::Project) {
            found.push(Wanted::Project { compose: compose(step, line), otherwise: otherwise() });
        } else if is_stack(template) {
            let containers = filling.sure_words(template).into_iter();
            let (known, others): (Vec<_>, Vec<_>) = containers.partition(|name| is_known(name));
            wants.unnamed |= !others.is_empty() && step.host.is_none();
            let containers = known.into_iter().filter(|name| !may_hold_a_secret(name.as_encoded_bytes()));
            found.extend(containers.map(|container| Wanted::Stack { container: container.into_owned() }));
        } else {
            found.extend(name(template).into_iter().map(Wanted::Named));
        }
    }
    if found.is_empty() {
        found.extend(otherwise().map(Wanted::Named));
    }
    if rule.author != Author::BuiltIn && !rule.ask {
        let nothing = |template: &&Template| {
            !template.has(&Field::Project) && !is_stack(template) && filling.names(template).is_empty()
        };
        let has_other = rule.otherwise.is_some() && !found.is_empty();
        if !has_other && let Some(template) = rule.resource.iter().find(nothing) {
            wants.notes.push(unfilled(rule, template));
        }
    }
    if found.is_empty() {
        wants.asks |= rule.ask;
        let somewhere = step.host.as_ref().is_some_and(|host| !is_known(OsStr::new(host)));
        // `podman stop --all`: which they are only the engine knows.
        let by_options = line.operands.is_empty() && line.has_options();
        let told = rule.author != Author::BuiltIn;
        wants.unnamed |=
            !told && !rule.ask && (somewhere || by_options || line.operands.iter().any(|word| !is_known(word)));
        return;
    }
    let fits = |path: &&PathBuf| rule.is_about(path.as_os_str());
    let written: Vec<PathBuf> = wants.touched.iter().filter(fits).cloned().collect();
    let looks = !rule.writes.is_empty() && written.is_empty();
    let sending = looks.then(|| Sending::of(rule, &step.sent));
    let used = rule.uses.iter().flat_map(|template| filling.words(template));
    let used: Vec<PathBuf> =
        used.filter(|file| is_known(file) && **file != *"-").map(|file| step.path(&file)).collect();
    let claims = found.into_iter().map(|name| Claim {
        name,
        engine: engine(step, line),
        cwd: step.cwd.clone(),
        host: step.host.clone(),
        written: written.clone(),
        used: used.clone(),
        sending: sending.clone(),
    });
    wants.claims.extend(claims);
    wants.elsewhere |= rule.elsewhere;
    let mut policy = rule.policy();
    if line.is_any_on(&rule.detached) {
        policy.give_back = None;
    }
    if rule.follow {
        match workflow(step, line) {
            Ok(follow) => policy.follow.extend(follow),
            Err(why) => {
                let hold_for = policy.hold_for.unwrap_or(HOLD_FOR);
                policy.hold_for = Some(hold_for);
                let stays = show_duration(hold_for);
                wants
                    .notes
                    .push(format!("the run that this sets off is not followed ({why}); its lease stays for {stays}"));
            }
        }
    }
    wants.policy = Some(match wants.policy.take() {
        Some(before) => before.and(policy),
        None => policy,
    });
    if wants.rule.is_none() || wants.writes.is_empty() && wants.claims.len() <= rule.resource.iter().len() {
        wants.rule = Some(rule.name.clone());
        wants.reason = Some(format!("the rule {} names it", rule.name));
    }
}

/// A rule fits, and what it holds has no name here.
fn unfilled(rule: &Rule, template: &Template) -> String {
    let gaps = template.parts().iter().filter_map(|part| match part {
        Part::Gap(field, _) => Some(field.to_string()),
        Part::Text(_) => None,
    });
    let gaps = gaps.collect::<Vec<_>>().join(" and ");
    format!(
        "the rule {} is about this line, and no word of it can stand for {gaps}: it runs without that lease",
        rule.name
    )
}

fn is_stack(template: &Template) -> bool {
    template.parts().iter().any(|part| matches!(part, Part::Gap(_, filters) if filters.contains(&Filter::Stack)))
}
