//! Rotations: where a secret is kept, so that nobody forgets its second consumer.
#![forbid(unsafe_code)]

use serde::Deserialize;

use crate::terms::ResourceName;

use super::template::Filter;

/// A secret and everything that has to learn of its new value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Its name.
    pub secret: String,
    /// Files that hold it, from the root of the repository.
    #[serde(default)]
    pub files: Vec<String>,
    /// Workflows that bring it to where it is used.
    #[serde(default)]
    pub workflows: Vec<String>,
    /// It came with a repository that nobody has vouched for: its files are those of that repository.
    #[serde(skip)]
    pub adds_only: bool,
}

impl Rotation {
    /// What is held while it is rotated.
    #[must_use]
    pub fn resource(&self) -> ResourceName {
        ResourceName::of("rotation", self.secret.as_bytes())
    }

    /// The workflows, by the names under which others hold them. `file_of` says which file has a display name, if one has.
    pub fn workflow_names<'a>(
        &'a self,
        file_of: &'a dyn Fn(&str) -> Option<String>,
    ) -> impl Iterator<Item = ResourceName> + 'a {
        let slug = |name: &str| Filter::Slug.on(name.as_bytes()).unwrap_or_else(|| name.to_owned().into_bytes());
        let held = move |name: &String| slug(&file_of(name).unwrap_or_else(|| name.clone()));
        self.workflows.iter().map(move |name| ResourceName::of("workflow", &held(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sound as _;
    use super::*;

    #[test]
    fn a_rotation_names_a_secret_and_what_holds_it() {
        let good: Rotation = toml::from_str("secret = \"A_KEY\"\nfiles = [\"a.env.sops\"]").expect("a rotation");
        assert_eq!(good.resource().as_str(), "rotation:A_KEY");
        let named: Rotation =
            toml::from_str("secret = \"A\"\nworkflows = [\".github/workflows/Secrets Sync.yml\", \"b\"]").expect("one");
        let names: Vec<_> = named.workflow_names(&|_| None).map(|name| name.to_string()).collect();
        assert_eq!(names, ["workflow:secrets-sync", "workflow:b"]);
        let file_of = |name: &str| (name == "b").then(|| "sync-b.yaml".to_owned());
        let names: Vec<_> = named.workflow_names(&file_of).map(|name| name.to_string()).collect();
        assert_eq!(names, ["workflow:secrets-sync", "workflow:sync-b"], "one workflow by whichever of its names");
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
            let read = toml::from_str::<Rotation>(text).map_err(|error| error.message().to_owned());
            let error = read.map_or_else(Some, |rotation| rotation.fault().map(|fault| fault.what)).expect(text);
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
