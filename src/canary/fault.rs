//! What can be wrong with a file, said in one sentence each, and the next step.
#![forbid(unsafe_code)]

use super::document::{Flaw, Format, Unreadable};
use super::names::Names;

/// What is wrong with a file. `Display` says it in one sentence without any value of the file; `advice` the next step.
/// (That `locked restore` brings the last proven version back is for the caller to say.)
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There was a file, and there is none now.
    #[error("the file is gone")]
    Missing,
    /// Nothing in it, or white space.
    #[error("the file is empty")]
    Empty,
    /// No SOPS metadata and no ciphertext.
    #[error("the file is plaintext, not SOPS")]
    Plaintext,
    /// Ciphertext without metadata: nobody can decrypt it.
    #[error("the values are encrypted, but the SOPS metadata is gone: the file was cut off")]
    CutOff,
    /// Left by a merge.
    #[error("there are conflict markers, the first at line {line}")]
    Conflict {
        /// Where, counted from one.
        line: usize,
    },
    /// A dotenv file with CRLF, which sops cannot read.
    #[error("it is a dotenv file with CRLF line ends (line {line}), which sops cannot read")]
    CarriageReturns {
        /// The first such line of the metadata, counted from one.
        line: usize,
    },
    /// It does not follow its format.
    #[error("the file is {0}")]
    Unreadable(Unreadable),
    /// The metadata lacks something that sops needs.
    #[error("the SOPS metadata is broken: {0}")]
    Metadata(Flaw),
    /// Another store wrote it than the one that it belongs to.
    #[error("the file was {before} and is {after} now")]
    FormatFlip {
        /// The format before the command.
        before: Format,
        /// The format now.
        after: Format,
    },
    /// Keys are gone that the command does not remove.
    #[error("keys are gone that the command does not remove: {0}")]
    KeysLost(Names),
    /// Not one key of before is left.
    #[error("all keys of before are gone: {0}")]
    AllKeysLost(Names),
    /// It has values, and all of them are in the open.
    #[error("it has SOPS metadata, but not one value is encrypted")]
    NothingEncrypted,
    /// Values are in the open that its own rules say are encrypted.
    #[error("values lie in the open that its own rules say are encrypted: {0}")]
    LaidOpen(Names),
    /// Another choice of what is encrypted than before, which no command makes.
    #[error("the rule that chooses what is encrypted ({0}) is not what it was")]
    RuleChanged(Names),
    /// SOPS inside SOPS.
    #[error("it was encrypted already: it is encrypted twice now")]
    DoubleEncryption,
    /// These can no longer decrypt it, although they should.
    #[error("recipients are missing that should be able to decrypt it: {0}")]
    RecipientsDropped(Names),
    /// These can decrypt it now, although nobody asked for that.
    #[error("recipients were added that nobody asked for: {0}")]
    RecipientsAdded(Names),
    /// It has the message authentication code of a version with other values.
    #[error("its values are not those that its message authentication code was made for: merged, or changed by hand")]
    Merged,
    /// It is sound, and undoes what somebody else has written: who, when and where.
    #[error("an older version was put over the newest one: {0}")]
    Older(String),
    /// The identity that opened it before opens it no more.
    #[error("the key at hand opened the file before and does not open it now: locked out")]
    LockedOut,
    /// The real sops cannot decrypt it.
    #[error("sops cannot decrypt it (exit {rc}): {}", meaning(*rc))]
    Undecryptable {
        /// The exit status of sops.
        rc: i32,
    },
}

/// What an exit status of `sops decrypt` stands for (getsops/sops `cmd/sops/codes/codes.go`, and measured).
fn meaning(rc: i32) -> &'static str {
    match rc {
        1 => "it is not a SOPS file that sops can parse",
        2 => "sops cannot read it, or gave up on it",
        4 => "its content cannot be written in its own format",
        25 => "a value does not decrypt",
        51 => "the message authentication code does not match the values",
        128 => "no key at hand opens it",
        _ => "see `sops decrypt` for its own words",
    }
}

impl Fault {
    /// The next step for a person; one line.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Missing | Self::Empty | Self::CutOff => "then the command can be run again",
            Self::Plaintext => "encrypt it again before anyone commits it",
            Self::Conflict { .. } => {
                "take one side whole (git checkout --ours or --theirs) and re-apply the other with `sops set`"
            }
            Self::CarriageReturns { .. } => {
                "convert the file to LF line ends (and set `eol=lf` for it in .gitattributes)"
            }
            Self::Unreadable(_) => "look at that line; two versions may have been written into each other",
            Self::Metadata(Flaw::NoRecipients) => {
                "the last key group was removed: without one nobody can decrypt the file"
            }
            Self::Metadata(Flaw::Twice) => "keep one copy of the content: it was written behind itself",
            Self::Metadata(_) | Self::RuleChanged(_) => {
                "do not edit the metadata by hand; take it from the last good version"
            }
            Self::FormatFlip { .. } => {
                "give both --input-type and --output-type, since the name alone does not tell sops the format"
            }
            Self::KeysLost(_) => {
                "someone else may have written the file at the same time: compare with the version before"
            }
            Self::AllKeysLost(_) => "if that is meant, accept the file; else take the version before",
            Self::NothingEncrypted => {
                "no key matches the rule that chooses what to encrypt (encrypted_regex and its kin): correct the rule"
            }
            Self::LaidOpen(_) => {
                "sops cannot decrypt it so: take the version before, and make the change with `sops set` or `sops edit`"
            }
            Self::DoubleEncryption => "use `sops edit` or `sops set` on a file that is encrypted already",
            Self::RecipientsDropped(_) | Self::RecipientsAdded(_) => {
                "compare the recipients with .sops.yaml and the options; `sops updatekeys` brings the file in line"
            }
            Self::Older(_) => "make the change again upon the newest version",
            Self::LockedOut => {
                "put your recipient back with a key that still opens the file, or take the version before"
            }
            Self::Merged => return Self::after_decrypt(51).to_owned(),
            Self::Undecryptable { rc } => return Self::after_decrypt(*rc).to_owned(),
        }
        .to_owned()
    }

    fn after_decrypt(rc: i32) -> &'static str {
        match rc {
            51 => {
                "after a merge take one side whole and re-apply the other with `sops set`; after an edit look for key \
                 names that sops keeps for itself (`sops`, `sops_…`, a leading `#`)"
            }
            25 => "a value was changed by hand, or a key was renamed outside sops: do it with `sops edit`",
            1 | 2 => {
                "the file was cut, merged, or has a key that sops keeps for itself (`sops`): compare with the version before"
            }
            4 => "the binary store needs its key `data`: take the version before",
            _ => "run `sops decrypt` on it to see why",
        }
    }
}
