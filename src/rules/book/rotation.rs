//! Rotations: where a secret is kept, so that nobody forgets its second consumer.
#![forbid(unsafe_code)]

use serde::Deserialize;

use crate::terms::ResourceName;

use super::template::Filter;

/// A secret and everything that has to learn of its new value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Rotation {
    /// Its name.
    pub secret: String,
    /// Files that hold it, from the root of the repository.
    pub files: Vec<String>,
    /// Workflows that bring it to where it is used.
    pub workflows: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    secret: String,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    workflows: Vec<String>,
}

impl TryFrom<Written> for Rotation {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { secret, files, workflows } = written;
        // A text with a '=' is more likely NAME=VALUE, and a name is shown everywhere.
        if secret.is_empty() || secret.contains('=') || secret.contains(char::is_whitespace) {
            return Err("secret is the name of a secret, without its value".to_owned());
        }
        if files.is_empty() && workflows.is_empty() {
            return Err("nothing holds this secret: a rotation needs files or workflows".to_owned());
        }
        for (kind, list) in [("file", &files), ("workflow", &workflows)] {
            if list.iter().any(String::is_empty) {
                return Err(format!("a {kind} of this secret has no name"));
            }
            if list.iter().enumerate().any(|(at, name)| list[..at].contains(name)) {
                return Err(format!("a {kind} of this secret is named twice"));
            }
        }
        Ok(Self { secret, files, workflows })
    }
}

impl Rotation {
    /// What is held while it is rotated.
    #[must_use]
    pub fn resource(&self) -> ResourceName {
        ResourceName::of("rotation", self.secret.as_bytes())
    }

    /// The workflows, by the names under which others hold them.
    pub fn workflow_names(&self) -> impl Iterator<Item = ResourceName> + '_ {
        let slug = |name: &String| Filter::Slug.on(name.as_bytes()).unwrap_or_else(|| name.clone().into_bytes());
        self.workflows.iter().map(move |name| ResourceName::of("workflow", &slug(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_names_a_secret_and_what_holds_it() {
        let good: Rotation = toml::from_str("secret = \"A_KEY\"\nfiles = [\"a.env.sops\"]").expect("a rotation");
        assert_eq!(good.resource().as_str(), "rotation:A_KEY");
        let named: Rotation =
            toml::from_str("secret = \"A\"\nworkflows = [\".github/workflows/Secrets Sync.yml\", \"b\"]").expect("one");
        let names: Vec<_> = named.workflow_names().map(|name| name.to_string()).collect();
        assert_eq!(names, ["workflow:secrets-sync", "workflow:b"]);
        let table = [
            "secret = \"A=hunter2\"\nfiles = [\"a\"]",
            "secret = \"\"\nfiles = [\"a\"]",
            "secret = \"A B\"\nfiles = [\"a\"]",
            "secret = \"A\"",
            "secret = \"A\"\nfiles = [\"a\", \"b\", \"a\"]",
            "secret = \"A\"\nworkflows = [\"\"]",
            "secret = \"A\"\nfile = [\"a\"]",
            "files = [\"a\"]",
        ];
        for text in table {
            let error = toml::from_str::<Rotation>(text).expect_err(text);
            assert!(!error.message().contains("hunter2"), "{error}");
        }
    }
}
