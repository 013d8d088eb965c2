//! Where the built-in tables are, by program.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The names of all rules. Looked up by their lines: an untrusted file may have hundreds of names to compare, and to read
/// every table for that costs milliseconds.
pub(super) fn rules() -> &'static BTreeSet<&'static str> {
    static NAMES: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let of = |text: &'static str| {
        let rules = text.split("[[rule]]\n").skip(1);
        rules.filter_map(|rule| rule.strip_prefix("name = \"")?.split_once('"').map(|(name, _)| name))
    };
    NAMES.get_or_init(|| DIVISIONS.iter().flat_map(|division| of(division.text)).collect())
}

/// Whether this regular expression stands in the tables as it is: settings that were printed and changed have many of them.
pub(super) fn has_expression(text: &str) -> bool {
    static WRITTEN: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let of = |text: &'static str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.flat_map(|line| line.split('\'').skip(1).step_by(2))
    };
    WRITTEN.get_or_init(|| DIVISIONS.iter().flat_map(|division| of(division.text)).collect()).contains(text)
}

/// The words by which programs of a division are told what to do. A test holds them to the tables.
#[derive(Debug)]
pub(in crate::rules) struct Verbs {
    /// The last word of each sub-command that a table is about.
    pub(in crate::rules) acts: &'static [&'static str],
    /// Those behind which another one follows.
    pub(in crate::rules) groups: &'static [&'static str],
}

const OF_DOCKER: Verbs = Verbs {
    acts: &[
        "cp", "create", "deploy", "down", "exec", "kill", "pause", "remove", "rename", "restart", "rm", "rollback",
        "run", "scale", "start", "stop", "unpause", "up", "update", "watch",
    ],
    groups: &["compose", "container", "image", "network", "node", "service", "stack", "swarm", "system", "volume"],
};

const OF_GH: Verbs = Verbs { acts: &["api", "run"], groups: &["secret", "workflow"] };

/// A part of the built-in tables.
pub(super) struct Division {
    /// The programs that it is about.
    pub(super) programs: &'static [&'static str],
    /// The tables, in TOML: as they are printed, and as a user would write them.
    pub(super) text: &'static str,
    /// The same in JSON, which is read in a tenth of the time. A test holds it to the text.
    pub(super) quick: &'static str,
    /// Where each table is about sub-commands alone: their words.
    pub(super) verbs: Option<Verbs>,
    /// The pack that it is: it counts as a whole, where the settings switch it on.
    pub(super) pack: Option<&'static str>,
}

/// The division of what any program does on other hosts.
pub(super) const SERVER: usize = 0;

/// The division of the rotation pack; it has rules for any program.
pub(super) const ROTATION: usize = 11;

const _: () = assert!(DIVISIONS[ROTATION].pack.is_some(), "the division of the rotation pack");

/// Every division. A program stands in one.
pub(super) const DIVISIONS: [Division; 12] = [
    Division {
        programs: &[],
        text: include_str!("../built_in/server.toml"),
        quick: include_str!("../built_in/quick/server.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &[
            "systemctl",
            "service",
            "reboot",
            "shutdown",
            "poweroff",
            "halt",
            "init",
            "telinit",
            "rc-service",
            "supervisorctl",
            "pm2",
            "nginx",
            "apachectl",
            "killall",
            "pkill",
            "initctl",
            "sv",
            "monit",
            "invoke-rc.d",
            "apache2ctl",
            "apache2",
            "httpd",
            "pg_ctlcluster",
            "pg_ctl",
            "kill",
            "fuser",
            "openresty",
            "caddy",
            "snap",
            "git",
        ],
        text: include_str!("../built_in/services.toml"),
        quick: include_str!("../built_in/quick/services.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &["docker", "docker-compose", "podman", "podman-compose"],
        text: include_str!("../built_in/docker.toml"),
        quick: include_str!("../built_in/quick/docker.json"),
        verbs: Some(OF_DOCKER),
        pack: None,
    },
    Division {
        programs: &["gh"],
        text: include_str!("../built_in/gh.toml"),
        quick: include_str!("../built_in/quick/gh.json"),
        verbs: Some(OF_GH),
        pack: None,
    },
    Division {
        programs: &[
            "env",
            "sudo",
            "doas",
            "runuser",
            "su",
            "nice",
            "ionice",
            "chrt",
            "taskset",
            "timeout",
            "nohup",
            "setsid",
            "chronic",
            "torsocks",
            "systemd-cat",
            "caffeinate",
            "unbuffer",
            "eatmydata",
            "catchsegv",
            "busybox",
            "builtin",
            "command",
            "exec",
            "tini",
            "dumb-init",
            "time",
            "stdbuf",
            "xargs",
        ],
        text: include_str!("../built_in/wrappers.toml"),
        quick: include_str!("../built_in/quick/wrappers.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "and", "or", "not"],
        text: include_str!("../built_in/shells.toml"),
        quick: include_str!("../built_in/quick/shells.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &["ssh", "autossh"],
        text: include_str!("../built_in/ssh.toml"),
        quick: include_str!("../built_in/quick/ssh.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &["mosh", "sftp", "scp", "rsync", "tailscale", "gcloud", "pdsh", "pssh", "parallel-ssh"],
        text: include_str!("../built_in/hosts.toml"),
        quick: include_str!("../built_in/quick/hosts.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &[
            "sshpass",
            "systemd-inhibit",
            "gosu",
            "su-exec",
            "setuidgid",
            "script",
            "find",
            "prlimit",
            "setpriv",
            "flock",
            "faketime",
            "strace",
            "entr",
            "watchexec",
            "nodemon",
            "reflex",
            "onchange",
            "chokidar",
            "chokidar-cli",
            "proxychains",
            "proxychains4",
            "chroot",
            "unshare",
            "systemd-run",
            "ssh-agent",
            "xvfb-run",
            "direnv",
            "mise",
            "rtx",
            "asdf",
            "devbox",
            "op",
            "doppler",
            "infisical",
            "teller",
            "aws-vault",
            "chamber",
            "envchain",
            "dotenv",
            "dotenv-cli",
            "dotenvx",
            "uv",
            "uvx",
            "npx",
            "bunx",
            "pnpx",
            "bun",
            "watch",
            "parallel",
            "tmux",
            "screen",
            "at",
            "batch",
            "npm",
            "pnpm",
            "yarn",
            "poetry",
            "pipenv",
            "bundle",
            "nix",
            "sg",
            "pkexec",
            "run0",
            "conda",
            "mamba",
            "micromamba",
            "pixi",
            "hatch",
            "pdm",
            "rye",
            "pipx",
            "pyenv",
            "rbenv",
            "nodenv",
            "goenv",
            "saml2aws",
            "devenv",
            "nix-shell",
        ],
        text: include_str!("../built_in/launchers.toml"),
        quick: include_str!("../built_in/quick/launchers.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &[
            "tee",
            "sed",
            "gsed",
            "perl",
            "cp",
            "mv",
            "install",
            "ln",
            "rm",
            "unlink",
            "shred",
            "truncate",
            "touch",
            "dd",
            "vi",
            "vim",
            "vimdiff",
            "nvimdiff",
            "gvim",
            "nvim",
            "view",
            "nano",
            "pico",
            "emacs",
            "emacsclient",
            "ed",
            "ex",
            "micro",
            "hx",
            "helix",
            "code",
            "codium",
            "joe",
            "mcedit",
            "sponge",
            "patch",
            "yq",
            "crudini",
            "sudoedit",
            "put",
            "reput",
            "rename",
            "curl",
            "wget",
            "gawk",
            "awk",
            "age",
            "gpg",
            "openssl",
            "sort",
            "prettier",
            "ruby",
            "dos2unix",
            "unix2dos",
            "mac2unix",
            "xxd",
            "tar",
            "bsdtar",
            "gtar",
            "unzip",
            "aws",
            "gsutil",
            "rclone",
            "vercel",
            "vc",
        ],
        text: include_str!("../built_in/writers.toml"),
        quick: include_str!("../built_in/quick/writers.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &["psql", "kubectl", "oc", "crontab"],
        text: include_str!("../built_in/sql.toml"),
        quick: include_str!("../built_in/quick/sql.json"),
        verbs: None,
        pack: None,
    },
    Division {
        programs: &["mongosh", "mongo", "vault", "bao", "wrangler", "az", "fly", "flyctl", "supabase"],
        text: include_str!("../built_in/rotation.toml"),
        quick: include_str!("../built_in/quick/rotation.json"),
        verbs: None,
        pack: Some("rotation"),
    },
];
