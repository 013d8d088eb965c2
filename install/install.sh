#!/bin/sh
# Installs `locked` with its man pages, completions and example settings, and writes down what it put where, so that
# uninstall.sh can take exactly that away.
#
#     install/install.sh                        from this checkout (cargo builds it), or from this unpacked archive
#     install/install.sh --archive FILE         from a release archive; FILE.sha256 or SHA256SUMS beside it must agree
#     install/install.sh --from URL             the same, fetched with its .sha256 by curl or wget
#     install/install.sh --binary FILE          this binary, and everything else from this checkout
#
# Where to: below ~/.local, unless
#     --system           /usr/local, for everybody
#     --prefix DIR       this directory; with DESTDIR in the environment below that one, for packages
# And then, only when asked:
#     --shims            puts shims before sops, docker and gh (`locked shims install`)
#     --modify-path      puts the shims first on PATH, in the start files of your shells
#     --shell NAME       only for this one of bash, zsh, fish, powershell (repeatable; ready: those that are here)
#     --sha256 HEX       the archive has this digest, whatever the file beside it says
#
# An older installation is replaced, also while it runs. What one that failed has put there is written down as well. Wants no root
# but for --system.
set -eu
umask 022
: "${HOME:?install: HOME is not set, and says where to}"
root=$(cd "$(dirname "$0")/.." && pwd -P)
begin='# >>> locked, by install.sh --modify-path'
end='# <<< locked <<<'

main() {
    read_options "$@"
    share=$prefix/share
    manifest=$DESTDIR$share/locked/manifest
    stage=$(mktemp -d "${TMPDIR:-/tmp}/locked-install.XXXXXX")
    trap leave EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    find_tree
    if ! version=$("$binary" --version 2>&1); then
        give_up 69 "the binary does not run on this machine: $version" 'build it here, from a checkout: install/install.sh'
    fi
    writable "$prefix"

    if [ -n "$DESTDIR" ]; then mkdir -p "$DESTDIR"; fi
    : >"$stage/manifest"
    keep_what_is_listed
    placing=yes
    install_all
    if [ "$modify_path" = yes ]; then modify_path; fi
    forget_what_is_gone
    put_manifest "$stage/manifest"
    placing=no
    say "$version is in $DESTDIR$prefix/bin"
    if [ "$shims" = yes ]; then install_shims; fi
    if [ -z "$DESTDIR" ]; then tell_about_path; fi
}

# Whatever stopped us: what lies there is listed, so that it can be taken away.
leave() {
    status=$?
    trap - EXIT
    if [ "$placing" = yes ] && [ -d "${manifest%/*}" ]; then
        cat "$stage/before" >>"$stage/manifest"
        put_manifest "$stage/manifest" || true
    fi
    rm -rf "$stage"
    exit "$status"
}

read_options() {
    source=here archive='' from='' binary='' digest='' shells='' shims=no modify_path=no
    prefix=$HOME/.local whole=no placing=no DESTDIR=${DESTDIR-}
    while [ $# -gt 0 ]; do
        case $1 in
        --archive | --from | --binary | --prefix | --shell | --sha256)
            if [ $# -lt 2 ] || [ -z "$2" ]; then give_up 64 "$1 wants a value" 'install/install.sh --help'; fi
            ;;
        esac
        case $1 in
        --archive) source=archive archive=$(absolute "$2") && shift ;;
        --from) source=from from=$2 && shift ;;
        --binary) source=binary binary=$(absolute "$2") && shift ;;
        --sha256) digest=$(printf %s "$2" | tr 'A-F' 'a-f') && shift ;;
        --prefix) prefix=$(absolute "$2") && shift ;;
        --system) prefix=/usr/local whole=yes ;;
        --shims) shims=yes ;;
        --modify-path) modify_path=yes ;;
        --shell)
            case $2 in
            bash | zsh | fish | powershell) shells="$shells $2" && shift ;;
            *) give_up 64 "--shell does not know $2" 'one of bash, zsh, fish, powershell' ;;
            esac
            ;;
        -h | --help) sed -n '2,/^set -eu/{s/^# //p;s/^#$//p;}' "$0" && exit 0 ;;
        *) give_up 64 "there is no option $1" 'install/install.sh --help' ;;
        esac
        shift
    done
    case $prefix in
    *[[:cntrl:]]*) give_up 64 'a prefix with control characters cannot be listed' 'choose another --prefix' ;;
    /) prefix= ;;
    */) prefix=${prefix%/} ;;
    esac
    if [ "$modify_path" = yes ] && { [ "$whole" = yes ] || [ -n "$DESTDIR" ]; }; then
        give_up 64 '--modify-path is about your own start files, and this is an installation for everybody' \
            "install first; then each user: install/install.sh --modify-path; or in /etc/profile.d: . $prefix/share/locked/shell/bash.sh"
    fi
    if [ "$shims" = yes ] && [ -n "$DESTDIR" ]; then
        give_up 64 '--shims would make links on this machine, and DESTDIR is for another' 'there: locked shims install'
    fi
}

absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

# Sets `tree` (the layout of a checkout) and `binary`.
find_tree() {
    tree=$root
    case $source in
    archive) unpack ;;
    from) fetch && unpack ;;
    binary) ;;
    here)
        if [ -f "$root/locked" ]; then
            binary=$root/locked
        elif [ -f "$root/Cargo.toml" ]; then
            build
        else
            give_up 64 "there is neither a binary nor a source beside $0" 'install.sh --archive FILE, or --from URL'
        fi
        ;;
    esac
    if [ ! -f "$binary" ]; then give_up 66 "there is no file $binary" 'install/install.sh --help'; fi
}

build() {
    PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
    if ! command -v cargo >/dev/null 2>&1; then
        give_up 69 'cargo is missing, which builds it' \
            'install a Rust toolchain with rustup; or take a release: install.sh --archive FILE'
    fi
    say 'building (a first build takes some minutes)'
    (cd "$root" && cargo build --release --locked --bin locked)
    # A relative target directory is meant from the checkout.
    binary=$(cd "$root" && cd "${CARGO_TARGET_DIR:-target}/release" && pwd -P)/locked
}

# Fetches into `archive`. What a server says of itself over a line that anybody may change proves nothing.
fetch() {
    case $from in
    https://*) ;;
    http://*)
        if [ -z "$digest" ]; then give_up 64 '--from http:// proves nothing by itself' 'use https://, or say --sha256 HEX'; fi
        ;;
    *) give_up 64 '--from wants an https:// address' 'a file on this machine: install.sh --archive FILE' ;;
    esac
    archive=$stage/${from##*/}
    say 'fetching the archive'
    download "$from" "$archive"
    if [ -z "$digest" ]; then download "$from.sha256" "$archive.sha256"; fi
}

# download URL FILE
download() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --tries=3 --output-document="$2" "$1"
    else
        give_up 69 'neither curl nor wget is here' 'fetch the archive and its .sha256 yourself: install.sh --archive FILE'
    fi || give_up 69 "could not fetch ${1##*/}" 'check the address; or fetch it yourself: install.sh --archive FILE'
}

# Proves the archive, then unpacks it.
unpack() {
    if [ ! -f "$archive" ]; then give_up 66 "there is no file $archive" 'install.sh --archive FILE'; fi
    name=${archive##*/}
    if [ -n "$digest" ]; then
        wanted=$digest
    elif [ -f "$archive.sha256" ]; then
        wanted=$(cut -d ' ' -f 1 <"$archive.sha256")
    elif [ -f "${archive%/*}/SHA256SUMS" ]; then
        wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name || $2 == "./" name { print $1 }' "${archive%/*}/SHA256SUMS")
    else
        give_up 65 "nothing says what digest $name must have" "put $name.sha256 beside it, or say --sha256 HEX"
    fi
    if [ "$(digest_of "$archive")" != "$wanted" ]; then
        give_up 65 "$name is not what its digest says: it is incomplete, or somebody changed it" 'fetch it again'
    fi
    mkdir "$stage/tree"
    tar -xzf "$archive" -C "$stage/tree"
    for tree in "$stage/tree"/*; do binary=$tree/locked; done
    if [ ! -f "$binary" ] || [ ! -f "$tree/install/uninstall.sh" ]; then
        give_up 65 "$name is no release archive of locked" 'locked-VERSION-TARGET.tar.gz is one'
    fi
}

# writable DIRECTORY: may it, or the nearest that is there above it, be written?
writable() {
    above=$DESTDIR$1
    while [ ! -d "$above" ]; do above=$(dirname "$above"); done
    if [ -w "$above" ]; then return 0; fi
    give_up 77 "you may not write in $above" "sudo $0 --binary '$binary' --prefix '$1'; or without root: install/install.sh"
}

# What lies there from before, its directories and start files, is still ours.
keep_what_is_listed() {
    if [ -f "$manifest" ]; then
        cp "$manifest" "$stage/before"
        grep -E '^(dir|block|conf) ' "$stage/before" >"$stage/manifest" || true
    else
        : >"$stage/before"
    fi
}

install_all() {
    # First what takes all of it away again.
    place "$tree/install/uninstall.sh" "$share/locked/uninstall.sh" 0755
    place "$binary" "$prefix/bin/locked" 0755
    for page in "$tree"/install/man/*.[1-9]; do
        place "$page" "$share/man/man${page##*.}/${page##*/}" 0644
    done
    place "$tree/install/completions/locked.bash" "$share/bash-completion/completions/locked" 0644
    place "$tree/install/completions/_locked" "$share/zsh/site-functions/_locked" 0644
    place "$tree/install/completions/locked.fish" "$share/fish/vendor_completions.d/locked.fish" 0644
    for example in locked.toml locked.schema.json zones.toml; do
        place "$tree/install/$example" "$share/doc/locked/examples/$example" 0644
    done
    place "$tree/LICENSE" "$share/doc/locked/copyright" 0644
    for snippet in "$tree"/shims/shell/*; do
        place "$snippet" "$share/locked/shell/${snippet##*/}" 0644
    done
}

# place FILE WHERE MODE: by renaming, so that there is always the old one or the new one, and one that runs goes on.
place() {
    make_directory "$(dirname "$2")"
    new=$DESTDIR$(dirname "$2")/.new.$$
    if [ -d "$DESTDIR$2" ]; then give_up 73 "there is a directory in the place of $DESTDIR$2" 'move it away, and run this again'; fi
    if ! { cp "$1" "$new" && chmod "$3" "$new" && mv -f "$new" "$DESTDIR$2"; }; then
        rm -f "$new"
        give_up 73 "could not write $DESTDIR$2" 'is the disk full?'
    fi
    list file "$(digest_of "$1")" "$2"
}

# Makes it, and remembers what was not there.
make_directory() {
    if [ -d "$DESTDIR$1" ]; then return 0; fi
    make_directory "$(dirname "$1")"
    mkdir "$DESTDIR$1"
    list dir - "$1"
}

list() { printf '%s %s %s\n' "$@" >>"$stage/manifest"; }

# Files of the installation before that this one does not have.
forget_what_is_gone() {
    sed -n 's/^file [^ ]* //p' "$stage/manifest" >"$stage/paths"
    while read -r kind was path; do
        if [ "$kind" = file ] && [ -f "$DESTDIR$path" ] && ! grep -Fqx -e "$path" "$stage/paths" &&
            [ "$(digest_of "$DESTDIR$path")" = "$was" ]; then
            rm -f "$DESTDIR$path"
        fi
    done <"$stage/before"
}

# put_manifest FILE
put_manifest() {
    LC_ALL=C sort -u "$1" >"$stage/sorted"
    new=$DESTDIR$share/locked/.new.$$
    cp "$stage/sorted" "$new" && chmod 0644 "$new" && mv -f "$new" "$manifest"
}

digest_of() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

install_shims() {
    if ! "$prefix/bin/locked" shims install --help >/dev/null 2>&1; then
        give_up 69 'this version of locked has no shims' 'leave --shims out'
    fi
    if [ "$whole" = yes ]; then "$prefix/bin/locked" shims install --system; else "$prefix/bin/locked" shims install; fi
    # A shell remembers where it found a program, and would go past the shims.
    # shellcheck disable=SC2016  # for the reader's shell
    say 'in shells that are open, once: hash -r (zsh: rehash)'
}

# The shells of this account: those that are here, and the one that it logs in with.
shells() {
    if [ -n "$shells" ]; then
        # shellcheck disable=SC2086  # words
        printf '%s\n' $shells | sort -u
        return
    fi
    for shell in bash zsh fish; do
        if [ "${SHELL##*/}" = "$shell" ] || command -v "$shell" >/dev/null 2>&1; then echo "$shell"; fi
    done
    if command -v pwsh >/dev/null 2>&1; then echo powershell; fi
}

modify_path() {
    for shell in $(shells); do
        case $shell in
        bash)
            # Of the three that it reads when it logs in, bash takes the first; everything else reads .profile.
            put_block "$HOME/.bashrc" "$(lines_for_sh bash.sh)"
            put_block "$HOME/.profile" "$(lines_for_sh bash.sh)"
            for login in .bash_profile .bash_login; do
                if [ -f "$HOME/$login" ]; then put_block "$HOME/$login" "$(lines_for_sh bash.sh)"; fi
            done
            ;;
        zsh)
            for start in .zshenv .zprofile .zshrc; do
                put_block "${ZDOTDIR:-$HOME}/$start" "$(lines_for_sh zsh.sh)"
            done
            ;;
        fish) put_conf "${XDG_CONFIG_HOME:-$HOME/.config}/fish/conf.d/locked.fish" ;;
        powershell)
            put_block "${XDG_CONFIG_HOME:-$HOME/.config}/powershell/profile.ps1" \
                "$(printf '%s\n' "\$LockedBin = $(doubled "$prefix/bin")" \
                    "if (Test-Path $(doubled "$share/locked/shell/powershell.ps1")) { . $(doubled "$share/locked/shell/powershell.ps1") }")"
            ;;
        esac
    done
}

lines_for_sh() {
    printf '%s\n' "locked_bin=$(quoted "$prefix/bin")" \
        "if [ -r $(quoted "$share/locked/shell/$1") ]; then . $(quoted "$share/locked/shell/$1"); fi"
}

# As one word of a shell.
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

# As one word of PowerShell.
doubled() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }

# put_block FILE LINES: at its end, once; the lines of an older installation go.
put_block() {
    list block - "$1"
    if [ -f "$1" ]; then
        there=$(awk -v begin="$begin" -v end="$end" \
            'index($0, begin) == 1 { inside = 1; next } index($0, end) == 1 { inside = 0 } inside' "$1")
        if [ "$there" = "$2" ]; then return 0; fi
        sh "$tree/install/uninstall.sh" --block "$1"
    fi
    how=
    if [ ! -e "$1" ]; then
        how=' (new file)'
        make_directory "$(dirname "$1")"
    elif [ -n "$(tail -c 1 "$1")" ]; then
        how=' (no newline before)'
    fi
    # One write, so that a shell that starts now reads all of it or none.
    text=$(printf '%s%s >>>\n%s\n%s' "$begin" "$how" "$2" "$end")
    if [ "$how" = ' (no newline before)' ]; then
        printf '\n%s\n' "$text" >>"$1"
    else
        printf '%s\n' "$text" >>"$1"
    fi || give_up 73 "could not write $1" 'is it yours?'
    say "put the shims first on PATH in $1"
}

# A file of its own.
put_conf() {
    make_directory "$(dirname "$1")"
    # In fish's single quotes a backslash and a quote want a backslash.
    word() { printf "'%s'" "$(printf %s "$1" | sed "s/[\\\\']/\\\\&/g")"; }
    snippet=$(word "$share/locked/shell/fish.fish")
    printf '%s\n' '# By install.sh --modify-path of locked; uninstall.sh takes this file away.' \
        "set -g locked_bin $(word "$prefix/bin")" "test -r $snippet; and source $snippet" >"$stage/conf"
    awk -v path="$1" '!($1 == "conf" && substr($0, length($1 $2) + 3) == path)' "$stage/manifest" >"$stage/others"
    if [ -f "$1" ] && ! cmp -s "$stage/conf" "$1" && cmp -s "$stage/others" "$stage/manifest"; then
        say "somebody else's file is in the way, and stays: $1"
        return 0
    fi
    mv "$stage/others" "$stage/manifest"
    list conf "$(digest_of "$stage/conf")" "$1"
    if [ -f "$1" ] && cmp -s "$stage/conf" "$1"; then return 0; fi
    cp "$stage/conf" "$1"
    say "put the shims first on PATH in $1"
}

# What is left to do, and what is asked for only.
tell_about_path() {
    case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) [ "$modify_path" = yes ] || say "$prefix/bin is not on PATH: export PATH=\"\$PATH:$prefix/bin\"" ;;
    esac
    if [ "$modify_path" = yes ]; then
        say 'open a new shell, or in those that are open: hash -r (zsh: rehash) after reading the start file again'
    elif [ "$whole" = no ]; then
        say 'to put shims first on PATH in your start files: install/install.sh --modify-path (or each by hand:'
        say "    . $share/locked/shell/bash.sh)"
    fi
    say "to take all of it away: $share/locked/uninstall.sh"
}

say() { printf 'install: %s\n' "$*" >&2; }

# give_up STATUS WHAT NEXT
give_up() {
    printf 'install: %s\nnext:  %s\n' "$2" "$3" >&2
    exit "$1"
}

main "$@"
