//! Where an identity comes from, in words.
#![forbid(unsafe_code)]

use super::Source;

impl Source {
    /// What named the session.
    #[must_use]
    pub fn named_by(&self) -> String {
        match self {
            Self::Option => "--session".to_owned(),
            Self::LockedSession => "LOCKED_SESSION".to_owned(),
            Self::Variable(name) => name.clone(),
            Self::Anchor { pid, program } => format!("process {pid} ({program})"),
            Self::Unanchored => "nothing that lasts".to_owned(),
        }
    }

    /// Why that and nothing else.
    #[must_use]
    pub fn why(&self) -> &'static str {
        match self {
            Self::Option => "it was typed, and goes before everything else",
            Self::LockedSession => "it is set, and goes before every other variable",
            Self::Variable(_) => {
                "it is set, and none that goes before it is: --session, LOCKED_SESSION, the variables of [session] env and \
                 the ready ones, in their order"
            }
            Self::Anchor { .. } => {
                "no variable names a session; this is the nearest process above that is no launcher (sudo, env, make, …) and \
                 no shell, or a shell that a person sits at"
            }
            Self::Unanchored => {
                "no variable names a session, and above this command are only shells and launchers, up to cron, sshd, a \
                 terminal, the first process, or what took it in when its own shell had ended"
            }
        }
    }
}
