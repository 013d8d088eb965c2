//! Which workflows lock: `[gh]` of the settings in place of the built-in rules for them.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::{Rule, Tables};

/// The rules for these workflows, by globs of their names; they stand in the place of the built-in ones.
#[must_use]
pub fn workflow_rules(globs: &[String], hold_for: Duration, follow: bool) -> Vec<Rule> {
    let names = globs.iter().map(|glob| expression(glob)).collect::<Vec<_>>().join("|");
    // A name is what is left of a file's: `secrets-sync` for `.github/workflows/secrets-sync.yml`.
    let named = format!("(?<workflow>(?:{names})(?:\\.ya?ml)?)");
    let text = super::Book::division_of("gh").unwrap_or_default();
    let mut rules = Tables::read(text).unwrap_or_default().rule;
    for rule in &mut rules {
        let pattern = match rule.name.as_str() {
            "gh.dispatch" => format!(
                "(?i)^(?:https?://[^/]+/(?:api/v3/)?|/)?repos/[^/]+/[^/]+/actions/workflows/{named}/dispatches/?$"
            ),
            _ => format!("(?i)^(?:.*/)?{named}$"),
        };
        rule.matches = super::Expression::try_from(pattern).into_iter().collect();
        rule.hold_for = Some(super::Span(hold_for)).filter(|_| !hold_for.is_zero());
        rule.follow = follow;
    }
    rules
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
        assert_eq!(rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), ["gh.workflow", "gh.dispatch"]);
        assert!(
            rules.iter().all(|rule| rule.follow && rule.hold_for == Some(super::super::Span(Duration::from_secs(60))))
        );
        let fits = |name: &str| rules[0].matches[0].0.is_match(name.as_bytes());
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
}
