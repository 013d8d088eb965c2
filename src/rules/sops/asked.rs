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
