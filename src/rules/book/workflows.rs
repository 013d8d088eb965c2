//! Which workflows lock: `[gh]` of the settings in place of the built-in rules for them.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::{Expression, Rule};

/// The rules for these workflows, by globs of their names; they stand in the place of the built-in ones.
#[must_use]
pub fn workflow_rules(globs: &[String], hold_for: Duration, follow: bool) -> Vec<Rule> {
    let mut rules = super::Book::new().division("gh").map(|tables| tables.rule.clone()).unwrap_or_default();
    for rule in &mut rules {
        // A rule without expressions is about every workflow; of none there is no rule.
        rule.enabled = !globs.is_empty();
        rule.hold_for = Some(super::Span(hold_for)).filter(|_| !hold_for.is_zero());
        rule.follow = follow;
        if rule.name == "gh.dispatch.event" {
            rule.text = globs.iter().filter_map(|glob| named("^event_type=", glob, "$")).collect();
            continue;
        }
        let (before, behind) = match rule.name.as_str() {
            "gh.dispatch" => {
                ("^(?:https?://[^/]+/(?:api/v3/)?|/)?repos/[^/]+/[^/]+/actions/workflows/", "/dispatches/?$")
            }
            _ => ("^(?:.*/)?", "$"),
        };
        rule.matches = globs.iter().filter_map(|glob| named(before, glob, behind)).collect();
    }
    rules
}

/// What finds the names that fit a glob. Each has an expression of its own: of many in one, the size would grow beyond what
/// is built. What is too large all the same finds every name, since too much held is better than too little.
fn named(before: &str, glob: &str, behind: &str) -> Option<Expression> {
    // A name is what is left of a file's: `secrets-sync` for `.github/workflows/secrets-sync.yml`.
    let whole = |name: &str| format!("(?i){before}(?<workflow>{name}(?:\\.ya?ml)?){behind}");
    let found = Expression::try_from(whole(&expression(glob)));
    let found = found.ok().filter(Expression::is_built);
    found.or_else(|| Expression::try_from(whole("[^/]*")).ok())
}

/// A glob over a name as a regular expression: `*` and `?` are the only signs, since names have spaces and brackets.
fn expression(glob: &str) -> String {
    let sign = |sign: char| match sign {
        '*' => "[^/]*".to_owned(),
        '?' => "[^/]".to_owned(),
        other => regex::escape(other.encode_utf8(&mut [0; 4])),
    };
    glob.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_say_which_workflows_lock() {
        let rules = workflow_rules(&["deploy*".to_owned(), "a.b".to_owned()], Duration::from_secs(60), true);
        assert_eq!(
            rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(),
            ["gh.workflow", "gh.dispatch", "gh.dispatch.event"]
        );
        assert!(
            rules.iter().all(|rule| rule.follow && rule.hold_for == Some(super::super::Span(Duration::from_secs(60))))
        );
        let fits = |name: &str| rules[0].matches.iter().any(|expression| expression.fits(name.as_bytes()));
        for (name, expected) in [
            ("deploy.yml", true),
            (".github/workflows/Deploy-all.yaml", true),
            ("a.b", true),
            ("axb", false),
            ("secrets.yml", false),
            ("re-deploy.yml", false),
        ] {
            assert_eq!(fits(name), expected, "{name}");
        }
    }

    #[test]
    fn many_workflows_and_long_names_are_found_as_well() {
        let many: Vec<String> = (0..200).map(|at| format!("{at}-{}", "x".repeat(240))).collect();
        let long = ["*?".repeat(127), "\u{17f}".repeat(255), "*".repeat(255)].concat();
        for globs in [many.as_slice(), &[many.concat()], &[long]] {
            let globs = [globs, &["deploy".to_owned()]].concat();
            let rules = workflow_rules(&globs, Duration::ZERO, false);
            let found =
                |rule: &Rule| if rule.name == "gh.dispatch.event" { rule.text.len() } else { rule.matches.len() };
            assert!(rules.iter().all(|rule| rule.enabled && found(rule) == globs.len()));
            assert!(rules[0].matches.iter().any(|expression| expression.fits(b"Deploy.yml")));
        }
        assert!(workflow_rules(&[], Duration::ZERO, false).iter().all(|rule| !rule.enabled));
    }
}
