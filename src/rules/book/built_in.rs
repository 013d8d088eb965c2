//! Where the built-in tables are, by program.
#![forbid(unsafe_code)]

/// A part of the built-in tables.
pub(super) struct Division {
    /// The programs that it is about.
    pub(super) programs: &'static [&'static str],
    /// The tables, in TOML.
    pub(super) text: &'static str,
}

/// The division of what runs on other hosts; it has rules for any program.
pub(super) const SERVER: usize = 0;

/// Every division. A program stands in one.
pub(super) const DIVISIONS: [Division; 5] = [
    Division {
        programs: &["systemctl", "service", "reboot", "shutdown", "poweroff", "halt", "init", "telinit", "rc-service",
            "supervisorctl", "pm2", "nginx", "apachectl", "killall", "pkill", "initctl", "sv", "monit"],
        text: include_str!("../built_in/server.toml"),
    },
    Division { programs: &["docker", "docker-compose", "podman", "podman-compose"], text: include_str!("../built_in/docker.toml") },
    Division { programs: &["gh"], text: include_str!("../built_in/gh.toml") },
    Division {
        programs: &["env", "sudo", "doas", "su", "runuser", "nice", "ionice", "chrt", "taskset", "timeout", "nohup", "stdbuf", "time", "setsid",
            "command", "exec", "builtin", "direnv", "mise", "op", "doppler", "aws-vault", "chamber", "infisical", "teller", "uv", "uvx", "npx", "npm", "pnpm", "yarn",
            "poetry", "pipenv", "bundle", "flock", "chroot", "unshare", "systemd-run", "strace", "caffeinate", "xvfb-run", "ssh-agent",
            "dotenv", "envchain", "unbuffer", "busybox", "sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "ssh", "scp", "sftp", "rsync", "xargs", "setpriv", "prlimit", "eatmydata", "faketime", "catchsegv", "nix-shell", "asdf", "rtx", "devbox", "tini", "dumb-init"],
        text: include_str!("../built_in/launchers.toml"),
    },
    Division {
        programs: &["tee", "sed", "gsed", "perl", "cp", "mv", "install", "ln", "rm", "unlink", "shred", "truncate", "touch", "dd", "vi", "vim", "nvim", "view", "nano", "pico", "emacs",
            "emacsclient", "ed", "ex", "micro", "hx", "helix", "code", "joe", "mcedit", "sponge", "patch", "yq", "crudini", "put", "reput", "rename", "curl", "wget", "gawk", "awk", "age", "gpg", "openssl"],
        text: include_str!("../built_in/writers.toml"),
    },
];
