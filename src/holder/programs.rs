//! Programs whose part is known. Groups of names, parted by spaces; a version at a name's end need not be listed.
#![forbid(unsafe_code)]

/// Run command lines; an identity only when a person sits at one.
pub(super) const SHELLS: &[&str] = &[
    "sh bash rbash dash ash hush zsh ksh mksh lksh oksh loksh pdksh yash posh fish csh tcsh rc es elvish",
    "nu osh oils-for-unix pwsh powershell cmd",
];

/// Run scripts of a language. They are actors, since agents often are scripts, unless the script is a known launcher.
pub(super) const INTERPRETERS: &[&str] =
    &["python pypy node nodejs bun deno ruby perl java php lua luajit tclsh expect Rscript julia guile", "beam.smp"];

/// Start another program for somebody else.
pub(super) const LAUNCHERS: &[&str] = &[
    "locked",
    // Other users and other surroundings.
    "sudo sudo-rs doas su su-rs runuser run0 pkexec setpriv gosu su-exec env chroot unshare nsenter bwrap",
    "firejail fakeroot proot systemd-inhibit dbus-run-session ssh-agent",
    // Other conditions.
    "nice ionice chrt taskset nohup timeout stdbuf setsid setarch prlimit time flock script unbuffer",
    "rlwrap strace ltrace perf hyperfine watch entr watchexec caffeinate",
    // Many at once.
    "xargs find fd fdfind parallel concurrently",
    // Tasks and builds.
    "make gmake bmake ninja just task go-task rake tox nox invoke cargo go turbo nx nodemon foreman",
    "overmind process-compose",
    // Package managers' runners and version managers.
    "npm npx pnpm pnpx pnpm-exec yarn yarnpkg corepack cross-env dotenv dotenvx uv uvx poetry pipenv pdm",
    "hatch bundle bundler direnv mise rtx asdf volta devbox devenv nix nix-shell pixi conda micromamba",
    // Those that bring secrets along.
    "sops op doppler aws-vault chamber teller infisical envchain summon vaultenv",
    // git runs hooks and aliases.
    "git pre-commit prek lefthook husky lint-staged",
    // Windows: other users and other surroundings, a console's other half, links to programs.
    "gsudo runas wsl wslhost conhost openconsole start shim winpty mintty-shim",
];

/// Have many sessions below them.
pub(super) const HOSTS: &[&str] = &[
    // First processes and supervisors.
    "init systemd upstart runit runsvdir runsv s6-svscan s6-supervise supervisord openrc-init",
    "supervise-daemon start-stop-daemon launchd tini tini-static docker-init catatonit dumb-init",
    "containerd-shim containerd-shim-runc-v2 conmon dockerd runc crun lxc-start podman",
    // Clocks.
    "cron crond anacron fcron cronie atd supercronic",
    // Doors.
    "sshd sshd-session dropbear mosh-server etserver telnetd in.telnetd inetd xinetd login getty agetty",
    "mingetty ttyd gotty",
    // Terminals.
    "tmux screen SCREEN terminator guake zellij dtach abduco gnome-terminal-server kgx ptyxis",
    "ptyxis-agent konsole yakuake alacritty kitty wezterm wezterm-gui wezterm-mux-server xterm uxterm",
    "urxvt urxvtd rxvt st foot footclient ghostty tilix terminology xfce4-terminal lxterminal",
    "mate-terminal qterminal",
    // Desktops.
    "gnome-shell gnome-session-binary plasmashell kwin_wayland kwin_x11 sway i3 Hyprland xfce4-session",
    "Xorg gdm-session-worker sddm-helper lightdm",
    // Windows: the first processes, services, desktops, terminals.
    "wininit winlogon userinit services svchost taskhostw taskeng explorer sihost runtimebroker",
    "windowsterminal mintty conemu conemu64 conemuc conemuc64 wineboot winedevice",
    // Runners that serve many jobs at once.
    "gitlab-runner buildkite-agent act_runner forgejo-runner woodpecker-agent Runner.Listener",
    "runner.listener",
];
