//! sops' commands and flags, as `sops COMMAND --help` of 3.11 lists them (nothing was added up to 3.13).
#![forbid(unsafe_code)]

use crate::rules::urfave::{Flag, Level, number, switch, text};

const SERVICE: &[Flag] = &[
    switch(&["enable-local-keyservice"]).or_env("SOPS_ENABLE_LOCAL_KEYSERVICE"),
    text(&["keyservice"]).or_env("SOPS_KEYSERVICE"),
];
const ORDER: &[Flag] = &[text(&["decryption-order"]).or_env("SOPS_DECRYPTION_ORDER")];
const IN_PLACE: &[Flag] = &[switch(&["in-place", "i"])];
const OUTPUT: &[Flag] = &[text(&["output"]), text(&["filename-override"])];
const INPUT_TYPE: &[Flag] = &[text(&["input-type"])];
const TYPES: &[Flag] = &[text(&["input-type"]), text(&["output-type"])];
const CONTEXT: &[Flag] = &[text(&["encryption-context"])];
const THRESHOLD: &[Flag] = &[number(&["shamir-secret-sharing-threshold"])];
const IGNORE_MAC: &[Flag] = &[switch(&["ignore-mac"])];
const YES: &[Flag] = &[switch(&["yes", "y"])];

const KEYS: &[Flag] = &[
    text(&["kms", "k"]).or_env("SOPS_KMS_ARN"),
    text(&["aws-profile"]),
    text(&["gcp-kms"]).or_env("SOPS_GCP_KMS_IDS"),
    text(&["hckms"]).or_env("SOPS_HUAWEICLOUD_KMS_IDS"),
    text(&["azure-kv"]).or_env("SOPS_AZURE_KEYVAULT_URLS"),
    text(&["hc-vault-transit"]).or_env("SOPS_VAULT_URIS"),
    text(&["pgp", "p"]).or_env("SOPS_PGP_FP"),
    text(&["age", "a"]).or_env("SOPS_AGE_RECIPIENTS"),
];
/// `groups add` has no short names and reads no variables.
const GROUP_KEYS: &[Flag] = &[
    text(&["pgp"]),
    text(&["kms"]),
    text(&["aws-profile"]),
    text(&["gcp-kms"]),
    text(&["hckms"]),
    text(&["azure-kv"]),
    text(&["hc-vault-transit"]),
    text(&["age"]),
];
const CHANGED_KEYS: &[Flag] = &[
    text(&["add-gcp-kms"]),
    text(&["rm-gcp-kms"]),
    text(&["add-hckms"]),
    text(&["rm-hckms"]),
    text(&["add-azure-kv"]),
    text(&["rm-azure-kv"]),
    text(&["add-kms"]),
    text(&["rm-kms"]),
    text(&["add-hc-vault-transit"]),
    text(&["rm-hc-vault-transit"]),
    text(&["add-age"]),
    text(&["rm-age"]),
    text(&["add-pgp"]),
    text(&["rm-pgp"]),
];
const CHOICE: &[Flag] = &[
    text(&["unencrypted-suffix"]),
    text(&["encrypted-suffix"]),
    text(&["unencrypted-regex"]),
    text(&["encrypted-regex"]),
];
const ROOT: &[Flag] = &[
    switch(&["decrypt", "d"]),
    switch(&["encrypt", "e"]),
    switch(&["rotate", "r"]),
    switch(&["disable-version-check"]).or_env("SOPS_DISABLE_VERSION_CHECK"),
    switch(&["check-for-updates"]),
    text(&["extract"]),
    switch(&["show-master-keys", "s"]),
    switch(&["mac-only-encrypted"]),
    text(&["unencrypted-comment-regex"]),
    text(&["encrypted-comment-regex"]),
    text(&["config"]).or_env("SOPS_CONFIG"),
    text(&["set"]),
    number(&["indent"]),
    switch(&["verbose"]),
    switch(&["version", "v"]),
];
const EXEC: &[Flag] = &[switch(&["background"]), text(&["user"])];
const SET: &[Flag] = &[switch(&["value-file"]), switch(&["value-stdin"]), switch(&["idempotent"])];
const GROUP_FILE: &[Flag] = &[text(&["file", "f"])];

const fn command(names: &'static [&'static str], flags: &'static [&'static [Flag]]) -> Level {
    Level { names, flags, commands: &[], acts: true }
}

/// sops.
pub(super) static SOPS: Level = Level {
    names: &[],
    flags: &[ROOT, KEYS, CHANGED_KEYS, CHOICE, IN_PLACE, OUTPUT, TYPES, IGNORE_MAC, CONTEXT, THRESHOLD, ORDER, SERVICE],
    commands: &[
        // Its own commands print scripts and do nothing else.
        Level { names: &["completion"], flags: &[], commands: &[], acts: false },
        command(&["exec-env"], &[EXEC, &[switch(&["pristine"]), switch(&["same-process"])], ORDER, SERVICE]),
        command(&["exec-file"], &[EXEC, &[switch(&["no-fifo"]), text(&["filename"])], TYPES, ORDER, SERVICE]),
        command(
            &["publish"],
            &[YES, &[switch(&["omit-extensions"]), switch(&["recursive"]), switch(&["verbose"])], ORDER, SERVICE],
        ),
        command(
            &["keyservice"],
            &[&[text(&["network", "net"]), text(&["address", "addr"]), switch(&["prompt"]), switch(&["verbose"])]],
        ),
        command(&["filestatus"], &[INPUT_TYPE]),
        Level {
            names: &["groups"],
            flags: &[],
            commands: &[
                command(&["add"], &[GROUP_FILE, GROUP_KEYS, IN_PLACE, THRESHOLD, CONTEXT, SERVICE]),
                command(&["delete"], &[GROUP_FILE, IN_PLACE, THRESHOLD, SERVICE]),
            ],
            acts: false,
        },
        command(&["updatekeys"], &[YES, INPUT_TYPE, SERVICE]),
        command(&["decrypt"], &[IN_PLACE, &[text(&["extract"])], OUTPUT, TYPES, IGNORE_MAC, ORDER, SERVICE]),
        command(&["encrypt"], &[IN_PLACE, OUTPUT, KEYS, TYPES, CHOICE, CONTEXT, THRESHOLD, SERVICE]),
        command(&["rotate"], &[IN_PLACE, OUTPUT, TYPES, CONTEXT, CHANGED_KEYS, ORDER, SERVICE]),
        command(
            &["edit"],
            &[
                KEYS,
                TYPES,
                CHOICE,
                CONTEXT,
                THRESHOLD,
                &[switch(&["show-master-keys", "s"])],
                IGNORE_MAC,
                ORDER,
                SERVICE,
            ],
        ),
        command(&["set"], &[TYPES, SET, THRESHOLD, IGNORE_MAC, ORDER, SERVICE]),
        command(&["unset"], &[TYPES, THRESHOLD, IGNORE_MAC, ORDER, &[switch(&["idempotent"])], SERVICE]),
    ],
    acts: true,
};
