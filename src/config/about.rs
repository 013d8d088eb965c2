//! What each key is for, in words for people: `locked init` and the man page of settings say it.
#![forbid(unsafe_code)]

use super::Key;
use super::key::Untrusted;

impl Key {
    /// What it says, in one sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.words().0
    }

    /// TOML that sets it: with its ready value where it has one, else with an example.
    #[must_use]
    pub fn example(self) -> String {
        match self.ready() {
            Some(ready) => format!("{} = {}", self.name(), ready.toml()),
            None => self.words().1.to_owned(),
        }
    }

    /// What a repository's file may do with it before somebody trusts it.
    #[must_use]
    pub fn before_trust(self) -> &'static str {
        match (self, self.untrusted()) {
            (Self::Scope, _) => "another than origin's stops every write",
            (_, Untrusted::Checked) => "anything but url_env stops every write",
            (_, Untrusted::More) => "only longer, stricter or more",
            (_, Untrusted::Added) => "only new ones",
            (_, Untrusted::Nothing) => "does not count",
            (_, Untrusted::Never) => "never counts, trusted or not",
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Scope => (
                "The name of this repository in the names of resources, instead of its origin's: for forks and mirrors.",
                "scope = \"github.com/acme/infra\"",
            ),
            Self::Store => (
                "Where leases live, instead of in a file of your account: url_env (a variable has the address), url, or \
                 url_sops = { file, key }.",
                "store = { url_env = \"DATABASE_URL\" }",
            ),
            Self::Wait => ("How long to wait in line.", ""),
            Self::Ttl => ("How long a lease lives without a sign of life; the next three follow from it.", ""),
            Self::Heartbeat => ("How often a lease is renewed.", "heartbeat = \"60s\""),
            Self::RenewDeadline => ("When the program is stopped without an answer.", "renew_deadline = \"20m\""),
            Self::Grace => ("How long a program has from TERM to KILL.", "grace = \"10s\""),
            Self::UnknownBase => {
                ("What is done about a file that was changed outside of locked: allow, warn, refuse.", "")
            }
            Self::RemoteHold => {
                ("How long others are kept out by what may still be running elsewhere.", "remote_hold = \"30m\"")
            }
            Self::StoppedMax => ("How long a stopped job (Ctrl-Z) is renewed.", "stopped_max = \"30m\""),
            Self::MaxHold => ("How long an open edit, or a lease that is kept alive, may last.", ""),
            Self::KeepFor => {
                ("How long a lease stays with its session after a failure where no file tells what changed.", "")
            }
            Self::Canary => ("Is the result of a write looked at?", ""),
            Self::SessionEnv => ("Variables that tell your agents apart.", "session.env = [\"MY_AGENT_ID\"]"),
            Self::TrustRepositories => (
                "Repositories whose file counts as if you had trusted it; in a file of your own only.",
                "trust.repositories = [\"github.com/acme/*\"]",
            ),
            Self::Hosts => ("Other names of hosts, so that each has one.", "hosts = { prod = \"web-1.example.org\" }"),
            Self::SshAsk => ("May ssh be asked which host a name means?", ""),
            Self::GhWorkflows => ("Workflows that lock when gh starts them.", ""),
            Self::GhHoldFor => ("How long their lease stays then.", ""),
            Self::GhFollow => ("Is their end waited for?", ""),
            Self::Packs => ("Packs of built-in rules that are off until they are named.", "packs = [\"rotation\"]"),
            Self::Rule => (
                "Which commands, and what is held for them; locked config rules prints those that are built in.",
                "[[rule]]\nname = \"n8n\"\nprogram = \"n8nctl\"\nsubcommand = [\"deploy\", \"restart\"]\n\
                 resource = \"container:n8n\"",
            ),
            Self::Program => (
                "How the options of a program are read.",
                "[[program]]\nname = \"n8nctl\"\ngroup = true\nvalues = [\"-e|--environment\"]",
            ),
            Self::Launcher => {
                ("What starts another program.", "[[launcher]]\nprogram = \"with-vault\"\nvalues = [\"-p|--profile\"]")
            }
            Self::Writer => ("What writes files.", "[[writer]]\nprogram = \"render\"\nfiles = \"{2..}\""),
            Self::Sql => ("What is told SQL.", "[[sql]]\nprogram = \"pgrun\"\ntext = \"{-c}\"\nfile = \"{-f}\""),
            Self::Zone => (
                "What one at a time may change, whatever program does it.",
                "[[zone]]\nname = \"DB_GRANTS\"\npaths = [\"**/04_grants.sql\"]\nsql = ['(?i)\\b(grant|revoke)\\b']",
            ),
            Self::Safe => ("Writing these wants nothing.", "[[safe]]\npaths = [\"/opt/tools/**\"]"),
            Self::Rotation => (
                "A secret that lives in several places.",
                "[[rotation]]\nsecret = \"MONGODB_URI\"\nfiles = [\"secrets/platform.env.sops\"]\nworkflows = [\"secrets-sync\"]",
            ),
        }
    }
}
