//! The age identity: is there one, is it for its owner alone, and does it open what is here.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::canary::Keys;
use crate::platform;
use crate::run;
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let (env, cwd) = (run::variables(patient.context), patient.context.invocation.cwd.clone());
    let files = Keys::files(&env, &cwd);
    let mut found: Vec<Finding> = files.iter().filter_map(|path| open_to_others(path)).collect();
    found.extend(missing_file(patient, &cwd));
    let keys = Keys::at_hand(&env, &cwd);
    let documents = patient.survey().age_documents();
    if documents.is_empty() {
        if found.is_empty() {
            found.push(Finding::ok("keys.nothing-to-open", "no SOPS file for age is here, so no identity is needed"));
        }
        return found;
    }
    let opened = documents.iter().filter(|document| keys.open(document)).count();
    found.push(match (opened, keys.count()) {
        (0, _) if !keys.all_known() => {
            Finding::note("keys.unknown", "the identities that were found open no file here; sops may reach others")
                .remedy("sops decrypt FILE")
        }
        (0, 0) => Finding::fault("keys.none", "no age identity is at hand, and the SOPS files here are for age")
            .because("nothing can be decrypted, and no write can be proven")
            .remedy("put the identity into ~/.config/sops/age/keys.txt, or name its file in SOPS_AGE_KEY_FILE"),
        (0, count) => Finding::fault(
            "keys.none-opens",
            format!("of {count} age identities none opens a SOPS file of this repository"),
        )
        .because("nothing can be decrypted, and no write can be proven")
        .remedy("let somebody who can add your public key to .sops.yaml and run `locked sops updatekeys FILE`"),
        (opened, _) => Finding::ok(
            "keys.open",
            format!("an age identity at hand opens {opened} of {} files that were tried", documents.len()),
        ),
    });
    found
}

fn open_to_others(path: &Path) -> Option<Finding> {
    let mode = platform::mode(&std::fs::metadata(path).ok()?) & 0o777;
    let shown = shell_quote(path.as_os_str().as_encoded_bytes());
    (mode & 0o077 != 0).then(|| {
        Finding::fault("keys.mode", format!("others may read the age identity in {shown} (mode {mode:o})"))
            .because("whoever has it reads every secret that is encrypted for it")
            .remedy(format!("chmod 600 {shown}"))
    })
}

/// A file that is named and is not there.
fn missing_file(patient: &Patient<'_>, cwd: &Path) -> Option<Finding> {
    let named = patient.env("SOPS_AGE_KEY_FILE")?;
    let shown = shell_quote(named.as_encoded_bytes());
    (!cwd.join(&named).exists()).then(|| {
        Finding::fault("keys.file", format!("SOPS_AGE_KEY_FILE names {shown}, which is not there"))
            .because("sops refuses to go on without it")
            .remedy("name the right file, or `unset SOPS_AGE_KEY_FILE`")
    })
}
