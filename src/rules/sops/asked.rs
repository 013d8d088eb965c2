//! What the options and the environment ask of the result, as the canary wants to know it.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::PathBuf;

use super::request::{Act, Request};
use crate::rules::argument::as_typed;
use crate::rules::urfave::Flags;
use crate::rules::{Asked, Command};

const OTHER_KEYS: [&str; 6] = ["kms", "pgp", "gcp-kms", "hckms", "azure-kv", "hc-vault-transit"];
const CHOICES: [&str; 6] = [
    "unencrypted-suffix",
    "encrypted-suffix",
    "unencrypted-regex",
    "encrypted-regex",
    "unencrypted-comment-regex",
    "encrypted-comment-regex",
];

/// Everything but the source, which depends on the target.
pub(super) fn asked(command: &Command<'_>, request: &Request<'_>) -> Asked {
    let flags = request.flags();
    let has = |name: &str| flags.text(name).is_some();
    // `edit` uses these for a file that it creates; the other commands have the flags at most for show.
    let chooses_keys = matches!(request.act, Act::Encrypt | Act::Edit | Act::GroupsAdd);
    let rotates = request.act == Act::Rotate;
    let others = |prefix: &str| OTHER_KEYS.iter().any(|kind| has(&format!("{prefix}{kind}")));
    Asked {
        age: chooses_keys.then(|| chosen_age(request.act, flags)).filter(|keys| !keys.is_empty()),
        other_keys: chooses_keys && others(""),
        add_age: if rotates { recipients(flags.text("add-age")) } else { Vec::new() },
        remove_age: if rotates { recipients(flags.text("rm-age")) } else { Vec::new() },
        changes_other_keys: rotates && (others("add-") || others("rm-")),
        config: request.config().map(|path| as_typed(command.cwd, path)),
        filename_override: flags.text("filename-override").map(PathBuf::from),
        input_type: shown(flags.text("input-type")),
        output_type: shown(flags.text("output-type")),
        source: None,
        partial: chooses_keys && CHOICES.iter().any(|choice| has(choice)),
    }
}

/// `groups add` takes `--age` several times; elsewhere the last one counts.
fn chosen_age(act: Act, flags: &Flags<'_>) -> Vec<String> {
    match act {
        Act::GroupsAdd => flags.list("age").flat_map(|keys| recipients(Some(keys))).collect(),
        _ => recipients(flags.text("age")),
    }
}

fn recipients(list: Option<&OsStr>) -> Vec<String> {
    let list = list.map(OsStr::to_string_lossy).unwrap_or_default();
    list.split(',').map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned).collect()
}

fn shown(value: Option<&OsStr>) -> Option<String> {
    value.map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use crate::rules::Asked;
    use crate::rules::sops::classify;
    use crate::rules::sops::example::Example;

    fn asked(example: &Example) -> Asked {
        example.with(|command| classify(command).writes.swap_remove(0).asked)
    }

    #[test]
    fn age_recipients_come_from_the_line_or_else_from_the_environment() {
        let keys = |list: &[&str]| Some(list.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
        let table = [
            ("encrypt|-i|x", None),
            ("encrypt|--age|a, b,|-i|x", keys(&["a", "b"])),
            ("encrypt|-a=a|-a=b|-i|x", keys(&["b"])),
            ("-e|-i|-a|a|x", keys(&["a"])),
            ("edit|--age=a|x", keys(&["a"])),
            ("groups|add|-f|x|--age|a|--age|b,c|-i", keys(&["a", "b", "c"])),
            ("rotate|-i|x", None),
            ("-r|-i|--age|a|x", None),
            ("set|x|[\"A\"]|1", None),
        ];
        for (line, expected) in table {
            assert_eq!(asked(&Example::new(line)).age, expected, "{line}");
        }
        let env = |line| asked(&Example::new(line).env("SOPS_AGE_RECIPIENTS", "e")).age;
        assert_eq!(env("encrypt|-i|x"), keys(&["e"]));
        assert_eq!(env("encrypt|-a|a|-i|x"), keys(&["a"]));
        assert_eq!(env("encrypt|-a=|-i|x"), None, "an empty option hides the variable");
        assert_eq!(env("rotate|-i|x"), None);
        assert_eq!(env("groups|add|-f|x|-i"), None, "groups reads no variable");
    }

    #[test]
    fn other_kinds_of_keys_are_seen_without_being_read() {
        for line in ["encrypt|--pgp|F|-i|x", "encrypt|-k|arn|-i|x", "-e|-i|--hckms=k|x", "edit|--hc-vault-transit|u|x"]
        {
            assert!(asked(&Example::new(line)).other_keys, "{line}");
        }
        assert!(asked(&Example::new("encrypt|-i|x").env("SOPS_VAULT_URIS", "u")).other_keys);
        assert!(!asked(&Example::new("encrypt|-i|--pgp=|--aws-profile|p|x")).other_keys);
    }

    #[test]
    fn rotate_says_whom_it_adds_and_removes() {
        let found = asked(&Example::new("rotate|-i|--add-age|a,b|--rm-age=c|x"));
        assert_eq!((found.add_age, found.remove_age), (vec!["a".into(), "b".into()], vec!["c".into()]));
        assert!(!found.changes_other_keys);
        assert!(asked(&Example::new("-r|-i|--rm-pgp|F|x")).changes_other_keys);
        assert_eq!(asked(&Example::new("--add-age|a|x")).add_age, [""; 0], "edit adds nobody");
    }

    #[cfg(unix)]
    #[test]
    fn configuration_types_and_source_are_carried_along() {
        let found = asked(&Example::new(
            "--config|c.yaml|encrypt|--filename-override|n.env|--input-type|dotenv|--output-type=json|--output|o|d/../s",
        ));
        assert_eq!(found.config.as_deref(), Some("/w/c.yaml".as_ref()));
        assert_eq!(found.filename_override.as_deref(), Some("n.env".as_ref()));
        assert_eq!((found.input_type.as_deref(), found.output_type.as_deref()), (Some("dotenv"), Some("json")));
        assert_eq!(found.source.as_deref(), Some("/w/s".as_ref()));
        let of_env = asked(&Example::new("encrypt|-i|x").env("SOPS_CONFIG", "/etc/s.yaml"));
        assert_eq!(of_env.config.as_deref(), Some("/etc/s.yaml".as_ref()));
        assert_eq!(of_env.source, None, "in place there is no other file");
        let piped = asked(&Example::new("encrypt|--filename-override|n|--output|o"));
        assert_eq!(piped.source, None, "standard input has no name");
        let redirected = asked(&Example::new("-e|s").redirected("/w/t", false));
        assert_eq!(redirected.source.as_deref(), Some("/w/s".as_ref()));
    }

    #[test]
    fn a_choice_of_values_makes_the_result_partial() {
        assert!(asked(&Example::new("encrypt|--encrypted-regex|^data$|-i|x")).partial);
        assert!(asked(&Example::new("-e|-i|--unencrypted-comment-regex|n|x")).partial);
        assert!(!asked(&Example::new("encrypt|--encrypted-regex=|-i|x")).partial);
    }
}
