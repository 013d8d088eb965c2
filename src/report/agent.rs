//! Refusals for who writes files without a program, and for commands that nobody would take a lease for.
#![forbid(unsafe_code)]

use crate::store::LeaseView;
use crate::terms::Resource;

use super::Refusal;

/// What a tool that is not sops would do to a SOPS file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByHand {
    /// Change what is encrypted.
    Ciphertext,
    /// Write where ciphertext belongs, without the lease.
    Unheld,
    /// Take the file away, without the lease.
    Removed,
}

/// A tool that is not sops would write a SOPS file. `file` can be pasted; `types` are the options by which sops knows its
/// format, with a space before them, where the name does not tell it.
#[must_use]
pub fn by_hand(how: ByHand, file: &str, resource: &Resource, types: &str, holder: Option<&LeaseView>) -> Refusal {
    let not_ours = match holder {
        Some(lease) => format!("{resource} is held by {} ({}), {}", lease.session, lease.label, lease.operation),
        None => format!("this session holds no lease of {resource}"),
    };
    let (what, why, next) = match how {
        ByHand::Ciphertext => (
            format!("{file} is encrypted, and this would change it without sops"),
            format!(
                "sops opens no file that another program has changed; {resource} is the lease on it; nothing was written"
            ),
            format!(
                "`locked sops set{types} {file} '[\"KEY\"]' '\"value\"'`; for more: `locked sops decrypt -i{types} {file}`, edit it, \
                 `locked sops encrypt -i{types} {file}`"
            ),
        ),
        ByHand::Unheld => (
            format!("{file} is to be a SOPS file, and this would write plaintext into it without its lease"),
            format!("{not_ours}; nothing was written"),
            format!(
                "`locked acquire {resource}`, write it, `locked sops encrypt -i{types} {file}`, `locked release {resource}`"
            ),
        ),
        ByHand::Removed => (
            format!("{file} is a SOPS file, and this would remove it without its lease"),
            format!("{not_ours}; nothing was written"),
            format!("`locked acquire {resource}`, remove it, `locked release {resource}`"),
        ),
    };
    Refusal { word: "REFUSED", what, why, retry: "yes, after the next step".to_owned(), next }
}

/// The file was left bad by a write, whoever made that.
#[must_use]
pub fn left_bad(file: &str, lease: &LeaseView) -> Refusal {
    Refusal {
        word: "QUARANTINED",
        what: format!("{file}: {}", lease.reason.as_deref().unwrap_or("a write left it bad")),
        why: format!("{} stays closed until it is sound again; nothing was written", lease.resource),
        retry: "no, restore it first".to_owned(),
        next: format!("locked restore {file}"),
    }
}

/// A command writes what only run time knows, and nothing stands in front of it that would take the lease then.
#[must_use]
pub fn nameless(operation: &str, line: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("what {operation} writes only run time knows, and nothing would take the lease on it then"),
        why: "called like this, no shim of locked stands in front of it; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: begun(line),
    }
}

/// What follows in the line may be a secret, and is not repeated.
fn begun(line: &str) -> String {
    format!("begin the command with `{line}`, the rest of it as it was")
}

/// The shell would open a SOPS file for a command, and which one only run time knows.
#[must_use]
pub fn opened_blindly() -> Refusal {
    Refusal {
        word: "REFUSED",
        what: "the shell would write into a SOPS file whose name only run time knows".to_owned(),
        why: "a redirection is done before locked could take the lease; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: "name the file in the line itself, or let sops write it: `locked sops encrypt --output FILE`".to_owned(),
    }
}

/// A command would lock something, and nothing stands in front of it that would take the lease. `operation` has no values
/// of arguments, and `line` is the beginning of the line as it should be.
#[must_use]
pub fn unseen(operation: &str, resources: &[Resource], line: &str) -> Refusal {
    let wanted = resources.iter().map(|resource| resource.name.to_string()).collect::<Vec<_>>().join(" ");
    Refusal {
        word: "REFUSED",
        what: format!("{operation} needs the lease {wanted}, and nothing would take it"),
        why: "called like this, no shim of locked stands in front of it; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: begun(line),
    }
}
