#!/bin/sh
# Installs `locked` with its man pages, completions and example settings, and writes down what it put where, so that
# uninstall.sh can take exactly that away. `install.sh --help` tells how.
set -eu
umask 022
# `cd` would look elsewhere for what has no / before it, and say so.
unset CDPATH
newline='
'
begin='# >>> locked, by install.sh --modify-path'
end='# <<< locked <<<'

main() {
    # Where this script lies, if it came from a file: `curl … | sh -s -- --from URL` has nothing beside it.
    script=$(readlink -f "$0" 2>/dev/null || echo "$0")
    root=
    if [ -f "$script" ] && [ -f "$(dirname "$script")/uninstall.sh" ]; then root=$(cd "$(dirname "$script")/.." && pwd -P); fi
    read_options "$@"
    # Without it nothing could be proved, and uninstall.sh would know none of our files.
    if ! command -v sha256sum >/dev/null 2>&1 && ! command -v shasum >/dev/null 2>&1; then
        give_up 69 'neither sha256sum nor shasum is here, which tell what a file is' 'install coreutils'
    fi
    stage=$(mktemp -d "${TMPDIR:-/tmp}/locked-install.XXXXXX" 2>/dev/null) ||
        give_up 73 "there is no room for a directory in ${TMPDIR:-/tmp}" 'name another in TMPDIR'
    made='' prepared=''
    trap leave EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    find_tree
    if ! version=$("$binary" --version 2>&1); then
        give_up 69 "the binary does not run on this machine: $version" 'build it here, from a checkout'
    fi
    wait_for_others
    share=$prefix/share
    manifest=$DESTDIR$share/locked/manifest
    read_manifest

    # First whether all of it can be, then everything beside its place, then the list, and only then each into its place.
    ask_for_folder
    whose_binary
    install_all check
    if [ "$modify_path" = yes ]; then each_start_file check_start_file; fi
    if [ -n "$DESTDIR" ]; then mkdir -p "$DESTDIR"; fi
    install_all prepare
    if [ -z "$DESTDIR" ] && ! "$(beside "$prefix/bin/locked")" --version >/dev/null 2>&1; then
        give_up 73 "what lies in $prefix/bin cannot be run (mounted noexec?); nothing is installed" 'choose another --prefix'
    fi
    if [ "$modify_path" = yes ]; then each_start_file prepare_start_file; fi
    if [ "$shims" = yes ]; then
        list_folder
        list_others
    fi
    list prefix - "$prefix"
    grep -v '^prefix ' "$stage/before" | cat - "$stage/manifest" >"$stage/both"
    put_manifest "$stage/both"
    made=
    install_all commit
    if [ -n "$moved" ]; then forget_the_name_before; fi
    if [ "$modify_path" = yes ]; then each_start_file put_block; fi
    forget_what_is_gone
    status=0
    if [ "$shims" = yes ]; then install_shims || status=$?; fi
    put_manifest "$stage/manifest"
    say "$version is in $DESTDIR$prefix/bin"
    if [ -z "$DESTDIR" ]; then tell_about_path; fi
    return "$status"
}

# One installation at a time on this machine: each lists what it has made, and reads what the others have. Where there is no
# flock(1) of util-linux, as on macOS and Alpine, they are not kept apart. Nothing that is started from here on outlives us
# and holds the lock.
wait_for_others() {
    if ! flock --version >/dev/null 2>&1; then return 0; fi
    exec 9</
    flock -w 120 9 || say 'another installation is still running; it is not waited for any longer'
}

# Whatever stopped us: what is not in its place yet goes; what is there is listed, so that it can be taken away.
leave() {
    status=$?
    trap - EXIT HUP INT TERM
    printf %s "$prepared" | while IFS= read -r new; do rm -f "$new"; done
    # The last that was made first.
    printf %s "$made" | while IFS= read -r directory; do rmdir "$directory" 2>/dev/null || true; done
    rm -rf "$stage"
    exit "$status"
}

help() {
    cat <<'HELP'
Installs `locked` with its man pages, completions and example settings, and writes down what it put where, so that
uninstall.sh can take exactly that away.

    install/install.sh                        from this checkout (cargo builds it), or from this unpacked archive
    install/install.sh --archive FILE         from a release archive; FILE.sha256 or SHA256SUMS beside it must agree
    install/install.sh --from URL             the same, fetched with its .sha256 by curl or wget
    install/install.sh --binary FILE          this binary, and everything else from this checkout

Where to: below ~/.local, unless
    --system           /usr/local, for everybody
    --prefix DIR       this directory; with DESTDIR in the environment below that one, for packages
And then, only when asked:
    --shims            puts shims before sops, docker and gh (`locked shims install`)
    --modify-path      puts the shims first on PATH, in the start files of your shells
    --shell NAME       only for this one of bash, zsh, fish, powershell (repeatable; ready: those that are here)
    --sha256 HEX       the archive has this digest, whatever the file beside it says
    --force            replaces files in its places that are somebody else's

An older installation is replaced, also while it runs. What cannot be is refused before anything is changed. Wants no root but
for --system.
HELP
}

read_options() {
    source=here archive='' from='' binary='' digest='' shells='' shims=no modify_path=no force=no
    prefix='' whole=no DESTDIR=${DESTDIR-}
    while [ $# -gt 0 ]; do
        case $1 in
        [-]-*=*)
            value=${1#*=} option=${1%%=*}
            shift
            set -- "$option" "$value" "$@"
            ;;
        esac
        case $1 in
        --archive | --from | --binary | --prefix | --shell | --sha256)
            if [ $# -lt 2 ] || [ -z "$2" ]; then give_up 64 "$1 wants a value" 'install/install.sh --help'; fi
            case $2 in
            *[[:cntrl:]]*) give_up 64 "the value of $1 has a newline or another control character" 'choose another name' ;;
            esac
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
        --force) force=yes ;;
        --shell)
            case $2 in
            bash | zsh | fish | powershell) shells="$shells $2" && shift ;;
            *) give_up 64 "--shell does not know $2" 'one of bash, zsh, fish, powershell' ;;
            esac
            ;;
        -h | --help) help && exit 0 ;;
        *) give_up 64 "there is no option $1" 'install/install.sh --help' ;;
        esac
        shift
    done
    if [ "$modify_path" = yes ] && { [ "$whole" = yes ] || [ -n "$DESTDIR" ]; }; then
        give_up 64 '--modify-path is about your own start files, and this is an installation for everybody' \
            "install first, then each user with --modify-path; or have a file in /etc/profile.d read ${prefix:-/usr/local}/share/locked/shell/bash.sh"
    fi
    if [ "$shims" = yes ] && [ -n "$DESTDIR" ]; then
        give_up 64 '--shims would make links on this machine, and DESTDIR is for another' 'locked shims install'
    fi
    if [ -n "$DESTDIR" ]; then DESTDIR=$(absolute "$DESTDIR"); fi
    choose_prefix
}

choose_prefix() {
    if [ -z "$prefix" ] || [ "$modify_path" = yes ]; then
        case ${HOME-} in
        /*) ;;
        *) give_up 64 'HOME is not set, or relative, and says where to' 'leave --modify-path out, and say --prefix DIR, or --system' ;;
        esac
        not_by_sudo
    fi
    if [ -z "$prefix" ]; then prefix=$(absolute "$HOME/.local"); fi
    case $prefix in
    *[[:cntrl:]]*) give_up 64 'a prefix with control characters cannot be listed' 'choose another --prefix' ;;
    *:*) give_up 64 "a prefix with : cannot be on PATH, which is divided there: $prefix" 'choose another --prefix' ;;
    /) prefix= ;;
    esac
}

# What root makes in a user's home is root's, and a start file of root's must name no folder of a user's.
not_by_sudo() {
    if [ -z "${SUDO_UID-}" ] || [ "$SUDO_UID" = 0 ] || [ "$(id -u)" != 0 ]; then return 0; fi
    # shellcheck disable=SC2012  # a number, whatever the name is
    if [ "$(ls -Lldn "$HOME" 2>/dev/null | awk '{ print $3 }')" = "$SUDO_UID" ]; then
        give_up 64 "by sudo, and $HOME is not root's home: its owner could not change what is installed there" \
            'install without sudo, or for everybody with --system'
    fi
    unset SUDO_UID SUDO_GID
}

# absolute PATH: without `.`, `..` and doubled slashes. Before `..`, a link that is there counts as the directory it leads to.
absolute() {
    case $1 in
    /*) rest=$1 ;;
    *) rest=$PWD/$1 ;;
    esac
    result=
    while [ -n "$rest" ]; do
        part=${rest%%/*}
        case $rest in
        */*) rest=${rest#*/} ;;
        *) rest= ;;
        esac
        case $part in
        '' | .) ;;
        ..)
            if [ -d "$result/." ]; then result=$(cd -P "$result/.." && pwd -P); else result=${result%/*}; fi
            result=${result%/}
            ;;
        *) result=$result/$part ;;
        esac
    done
    printf '%s\n' "${result:-/}"
}

# Sets `tree` (the layout of a checkout) and `binary`.
find_tree() {
    tree=$root
    case $source in
    archive) unpack ;;
    from) fetch && unpack ;;
    binary)
        if [ -z "$root" ]; then give_up 64 'beside this script lies nothing else to install' 'name a release by --archive FILE, or --from URL'; fi
        ;;
    here)
        if [ -z "$root" ]; then
            give_up 64 'there is neither a binary nor a source beside this script' 'name a release by --archive FILE, or --from URL'
        elif [ -f "$root/locked" ]; then
            binary=$root/locked
        elif [ -f "$root/Cargo.toml" ]; then
            build
        else
            give_up 64 "there is neither a binary nor a source beside $0" 'name a release by --archive FILE, or --from URL'
        fi
        ;;
    esac
    if [ ! -f "$binary" ]; then give_up 66 "there is no file $binary" 'install/install.sh --help'; fi
}

build() {
    PATH=$PATH:${CARGO_HOME:-${HOME-}/.cargo}/bin
    if ! command -v cargo >/dev/null 2>&1; then
        give_up 69 'cargo is missing, which builds it' \
            'install a Rust toolchain with rustup, or take a release by --archive FILE'
    fi
    say 'building (a first build takes some minutes)'
    # For this machine, whatever else is built for on it.
    if ! (cd "$root" && unset CARGO_BUILD_TARGET && cargo build --release --locked --bin locked </dev/null); then
        give_up 69 'cargo could not build it, see above; nothing is installed' 'take a release by --archive FILE'
    fi
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
    *) give_up 64 '--from wants an https:// address' 'name a file on this machine by --archive FILE' ;;
    esac
    archive=$stage/${from##*/}
    if [ "$archive" = "$stage/" ]; then give_up 64 "--from wants a file's address" 'https://…/locked-VERSION-TARGET.tar.gz'; fi
    say 'fetching the archive'
    download "$from" "$archive"
    if [ -z "$digest" ]; then download "$from.sha256" "$archive.sha256"; fi
}

# download URL FILE
download() {
    # What was asked for by https comes by https, wherever the server sends us.
    only='' https_only=''
    case $1 in
    https://*) only='=https' https_only=--https-only ;;
    esac
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --retry 3 --proto "${only:-=http,https}" \
            --proto-redir "${only:-=http,https}" --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        # shellcheck disable=SC2086  # a word or none
        wget --quiet --tries=3 $https_only --output-document="$2" "$1"
    else
        give_up 69 'neither curl nor wget is here' 'fetch the archive and its .sha256 yourself, and name it by --archive FILE'
    fi || give_up 69 "could not fetch ${1##*/}" 'check the address; or fetch it yourself, and name it by --archive FILE'
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
        wanted=
    fi
    if [ -z "$wanted" ]; then
        give_up 65 "nothing says what digest $name must have" "put $name.sha256 or SHA256SUMS with its name beside it, or say --sha256 HEX"
    fi
    if [ "$(digest_of "$archive")" != "$wanted" ]; then
        give_up 65 "$name is not what its digest says: it is incomplete, or somebody changed it" 'fetch it again'
    fi
    mkdir "$stage/tree"
    if ! tar -xzf "$archive" -C "$stage/tree"; then
        give_up 65 "$name could not be unpacked" 'locked-VERSION-TARGET.tar.gz is a release archive; is the disk full?'
    fi
    for tree in "$stage/tree"/*; do binary=$tree/locked; done
    if [ ! -f "$binary" ] || [ ! -f "$tree/install/uninstall.sh" ]; then
        give_up 65 "$name is no release archive of locked" 'locked-VERSION-TARGET.tar.gz is one'
    fi
}

# What lies there from before. Its directories, start files and shims are still ours.
read_manifest() {
    moved=
    : >"$stage/before"
    : >"$stage/manifest"
    : >"$stage/listed"
    if [ ! -f "$manifest" ]; then return 0; fi
    if ! cat "$manifest" >"$stage/before" 2>/dev/null; then give_up 77 "you may not read $manifest" "run this as its owner"; fi
    was=$(sed -n 's/^prefix - //p' "$stage/before" | head -n 1)
    # shellcheck disable=SC3013  # every sh that is in use knows it, and POSIX does since 2024
    if [ -z "$was" ] || [ "$was" = "$prefix" ]; then
        :
    elif [ "$DESTDIR$was" -ef "$DESTDIR$prefix/" ]; then
        # The name that it had then still leads here: it stands in start files, and stays.
        prefix=$was share=$was/share manifest=$DESTDIR$was/share/locked/manifest
    else
        # It was moved since: what the list says lies here.
        moved=$was
        LOCKED_WAS=$was LOCKED_IS=$prefix awk '
            BEGIN { was = ENVIRON["LOCKED_WAS"]; is = ENVIRON["LOCKED_IS"] }
            { path = $0; sub(/^[^ ]* [^ ]* /, "", path); kind = substr($0, 1, length($0) - length(path)) }
            path == was || index(path, was "/") == 1 { path = is substr(path, length(was) + 1) }
            { print kind path }' "$stage/before" >"$stage/rebased"
        mv "$stage/rebased" "$stage/before"
    fi
    sed -n 's/^file [^ ]* //p' "$stage/before" >"$stage/listed"
    grep -E '^(dir|block|shims|beside) ' "$stage/before" >"$stage/manifest" || true
}

# Where the shims are, as the program itself says; `usual_folder`: the same without what only this environment says. It goes on
# PATH.
ask_for_folder() {
    folder='' usual_folder=''
    if [ "$shims" = no ] && [ "$modify_path" = no ]; then return 0; fi
    if ! "$binary" shims path --help >/dev/null 2>&1; then
        if [ "$shims" = yes ]; then give_up 69 'this version of locked has no shims' 'leave --shims out'; fi
        return 0
    fi
    where=
    if [ "$whole" = yes ]; then where=--system; fi
    # shellcheck disable=SC2086  # a word or none
    folder=$("$binary" shims path $where && echo .) ||
        give_up 78 'locked names no folder for its shims' 'let LOCKED_SHIMS_DIR name an absolute directory, or unset it'
    usual_folder=$(unset LOCKED_SHIMS_DIR XDG_DATA_HOME && "$binary" shims path 2>/dev/null && echo .) || usual_folder=
    folder=${folder%"$newline".} usual_folder=${usual_folder%"$newline".}
    case $folder in
    *:*) give_up 64 "a folder with : cannot be on PATH, which is divided there: $folder" 'name another in LOCKED_SHIMS_DIR' ;;
    *[[:cntrl:]]*) give_up 64 'the folder of the shims has a newline or another control character' 'name another in LOCKED_SHIMS_DIR' ;;
    esac
    if [ "$shims" = yes ]; then room_for '' "$folder" 'name another folder in LOCKED_SHIMS_DIR'; fi
}

# Sets `known`: whether what lies in our places is an installation of locked, though no list says so.
whose_binary() {
    known=no
    placed=$DESTDIR$prefix/bin/locked
    if [ ! -f "$placed" ] || [ ! -x "$placed" ]; then return 0; fi
    limit=
    if command -v timeout >/dev/null 2>&1; then limit='timeout 10'; fi
    # shellcheck disable=SC2086  # words
    case $($limit "$placed" --version </dev/null 2>/dev/null || true) in
    'locked '[0-9]*) known=yes ;;
    esac
}

# install_all ACTION: on each file, its place and its mode.
install_all() {
    # First what takes all of it away again.
    "$1" "$tree/install/uninstall.sh" "$share/locked/uninstall.sh" 0755
    "$1" "$binary" "$prefix/bin/locked" 0755
    for page in "$tree"/install/man/*.[1-9]; do
        "$1" "$page" "$share/man/man${page##*.}/${page##*/}" 0644
    done
    "$1" "$tree/install/completions/locked.bash" "$share/bash-completion/completions/locked" 0644
    "$1" "$tree/install/completions/_locked" "$share/zsh/site-functions/_locked" 0644
    "$1" "$tree/install/completions/locked.fish" "$share/fish/vendor_completions.d/locked.fish" 0644
    for example in locked.toml locked.schema.json zones.toml; do
        "$1" "$tree/install/$example" "$share/doc/locked/examples/$example" 0644
    done
    "$1" "$tree/LICENSE" "$share/doc/locked/copyright" 0644
    for snippet in "$tree"/shims/shell/*; do
        "$1" "$snippet" "$share/locked/shell/${snippet##*/}" 0644
    done
}

# check FILE WHERE MODE: may it be put there?
check() {
    place=$DESTDIR$2
    if [ -d "$place" ]; then give_up 73 "there is a directory in the place of $place" 'move it away, and run this again'; fi
    room_for "$DESTDIR" "${2%/*}" 'choose another --prefix'
    if [ ! -e "$place" ] && [ ! -L "$place" ]; then return 0; fi
    case $2 in
    # What was put there may have been replaced since.
    "$prefix/bin/locked") grep -Fqx -e "file $(digest_of "$place") $2" "$stage/before" && return 0 ;;
    *) grep -Fqx -e "$2" "$stage/listed" && return 0 ;;
    esac
    if [ "$known" = yes ] || cmp -s "$1" "$place"; then return 0; fi
    if [ "$force" = yes ]; then
        say "somebody else's file is replaced: $place"
        return 0
    fi
    give_up 73 "somebody else's file is in the way, and stays: $place" 'choose another --prefix, or replace it: --force'
}

# room_for BELOW DIRECTORY REMEDY: can this directory be there, and be written?
room_for() {
    above=$1$2
    while [ ! -e "$above" ] && [ ! -L "$above" ]; do
        above=${above%/*}
        above=${above:-/}
    done
    if [ ! -d "$above" ]; then give_up 73 "there can be no $1$2: $above is not a directory" "move it away; or $3"; fi
    if [ ! -w "$above" ] || [ ! -x "$above" ]; then
        case $above/ in
        "${HOME-}"/*) give_up 77 "you may not write in $above" "make it yours; or $3" ;;
        *) give_up 77 "you may not write in $above" "the same by sudo; or $3" ;;
        esac
    fi
}

# prepare FILE WHERE MODE: it lies beside its place, so that nothing can be lacking any more.
prepare() {
    make_directory "$DESTDIR" "${2%/*}"
    new=$(beside "$2")
    tidy "${new%/*}"
    prepared=$prepared$new$newline
    if ! { cp "$1" "$new" && chmod "$3" "$new"; }; then
        give_up 73 "could not write $DESTDIR$2; nothing is installed" 'is the disk full?'
    fi
    list file "$(digest_of "$1")" "$2"
}

# commit FILE WHERE MODE: by renaming, so that there is always the old one or the new one, and one that runs goes on.
commit() {
    if ! mv -f "$(beside "$2")" "$DESTDIR$2"; then
        give_up 73 "could not put $DESTDIR$2 into its place; what is there already is listed, and this takes it away" \
            "sh '$tree/install/uninstall.sh' --prefix '$prefix'"
    fi
}

beside() { printf '%s\n' "$DESTDIR${1%/*}/locked-new.$$.${1##*/}"; }

# tidy DIRECTORY: of what installations that were killed have left beside its place.
tidy() {
    for litter in "$1"/locked-new.*; do
        maker=${litter##*/locked-new.} && maker=${maker%%.*}
        case $maker in
        '' | *[!0-9]* | "$$") ;;
        *) kill -0 "$maker" 2>/dev/null || rm -f "$litter" ;;
        esac
    done
}

# make_directory BELOW DIRECTORY: makes it, and remembers what was not there.
make_directory() {
    if [ -z "$2" ] || [ -d "$1$2" ]; then return 0; fi
    make_directory "$1" "${2%/*}"
    if ! mkdir "$1$2" 2>/dev/null && [ ! -d "$1$2" ]; then
        give_up 73 "could not make the directory $1$2; nothing is installed" 'is the disk full, or read-only?'
    fi
    made=$1$2$newline$made
    list dir - "$2"
}

list() { printf '%s %s %s\n' "$@" >>"$stage/manifest"; }

# Files of the installation before that this one does not have.
forget_what_is_gone() {
    sed -n 's/^file [^ ]* //p' "$stage/manifest" >"$stage/paths"
    while IFS= read -r line; do
        was=${line#* } && was=${was%% *}
        path=${line#* } && path=${path#* }
        case $line in
        'file '*)
            if [ -f "$DESTDIR$path" ] && ! grep -Fqx -e "$path" "$stage/paths" && [ "$(digest_of "$DESTDIR$path")" = "$was" ]; then
                rm -f "$DESTDIR$path"
            fi
            ;;
        esac
    done <"$stage/before"
}

# Of an installation that was moved: what start files say about where it was, unless another is there now.
forget_the_name_before() {
    if [ -e "$DESTDIR$moved/share/locked/manifest" ]; then return 0; fi
    sed -n 's/^block - //p' "$stage/before" >"$stage/blocks"
    while IFS= read -r start; do
        sh "$tree/install/uninstall.sh" --prefix "$moved" --block "$start" </dev/null || true
    done <"$stage/blocks"
}

# put_manifest FILE: another installation that runs at this moment has made directories that we found.
put_manifest() {
    { grep -E '^(dir|block|shims|beside) ' "$manifest" 2>/dev/null || true; } | LC_ALL=C sort -u "$1" - >"$stage/sorted"
    new=$DESTDIR$share/locked/locked-new.$$.manifest
    prepared=$prepared$new$newline
    if ! { cp "$stage/sorted" "$new" && chmod 0644 "$new" && mv -f "$new" "$manifest"; }; then
        give_up 73 "could not write $manifest" 'is the disk full?'
    fi
}

digest_of() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

# The folder is listed, and what has to be made for it: uninstall.sh may be called without what this environment says.
list_folder() {
    list shims - "$folder"
    above=$folder
    while [ ! -d "$above" ]; do
        list dir - "$above"
        above=${above%/*}
        above=${above:-/}
    done
}

# Another installation whose shims lead to us from now on: uninstall.sh lets them lead there again.
list_others() {
    for shim in "$folder"/*; do
        if [ ! -L "$shim" ] || [ ! -x "$shim" ]; then continue; fi
        to=$(readlink "$shim")
        case $to in
        "$prefix/bin/locked" | *[[:cntrl:]]*) ;;
        /*/bin/locked) list beside - "$to" ;;
        esac
    done
}

install_shims() {
    # What its start files say from now on is so already: else it would be told to do by hand.
    first=$PATH
    if [ "$modify_path" = yes ]; then first=$folder:$PATH; fi
    # shellcheck disable=SC2086  # a word or none
    PATH=$first "$prefix/bin/locked" shims install $where || return
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

# each_start_file ACTION: on each start file of these shells, and the lines that belong into it.
each_start_file() {
    settings=$HOME/.config
    case ${XDG_CONFIG_HOME-} in
    /*) settings=$XDG_CONFIG_HOME ;;
    esac
    for shell in $(shells); do
        case $shell in
        bash)
            lines=$(lines_for_sh bash.sh)
            # Of the three that it reads when it logs in, bash takes the first; everything else reads .profile.
            "$1" "$HOME/.bashrc" "$lines"
            "$1" "$HOME/.profile" "$lines"
            for login in .bash_profile .bash_login; do
                if [ -f "$HOME/$login" ] || [ -L "$HOME/$login" ]; then "$1" "$HOME/$login" "$lines"; fi
            done
            ;;
        zsh)
            lines=$(lines_for_sh zsh.sh)
            for start in .zshenv .zprofile .zshrc; do
                "$1" "${ZDOTDIR:-$HOME}/$start" "$lines"
            done
            ;;
        fish) "$1" "$settings/fish/conf.d/locked.fish" "$(lines_for_fish)" ;;
        powershell) "$1" "$settings/powershell/profile.ps1" "$(lines_for_powershell)" ;;
        esac
    done
}

# The values that a snippet is given: where `locked` is, where the shims of this account are, and, when this environment says
# another place for them, that: from now on these shells say it as well, so that `locked shims` and PATH mean the same folder.
lines_for_sh() {
    printf '%s\n' "locked_bin=$(quoted "$prefix/bin")"
    if [ -n "$usual_folder" ]; then printf '%s\n' "locked_shims=$(quoted "$usual_folder")"; fi
    if [ "$folder" != "$usual_folder" ]; then printf '%s\n' "locked_shims_dir=$(quoted "$folder")"; fi
    printf '%s\n' "if [ -r $(quoted "$share/locked/shell/$1") ]; then . $(quoted "$share/locked/shell/$1"); fi"
}

lines_for_fish() {
    printf '%s\n' "set -g locked_bin $(escaped "$prefix/bin")"
    if [ -n "$usual_folder" ]; then printf '%s\n' "set -g locked_shims $(escaped "$usual_folder")"; fi
    if [ "$folder" != "$usual_folder" ]; then printf '%s\n' "set -g locked_shims_dir $(escaped "$folder")"; fi
    snippet=$(escaped "$share/locked/shell/fish.fish")
    printf '%s\n' "test -r $snippet; and source $snippet"
}

lines_for_powershell() {
    printf '%s\n' "\$LockedBin = $(doubled "$prefix/bin")"
    if [ -n "$usual_folder" ]; then printf '%s\n' "\$LockedShims = $(doubled "$usual_folder")"; fi
    if [ "$folder" != "$usual_folder" ]; then printf '%s\n' "\$LockedShimsDir = $(doubled "$folder")"; fi
    snippet=$(doubled "$share/locked/shell/powershell.ps1")
    printf '%s\n' "if (Test-Path -LiteralPath $snippet) { . $snippet }"
}

# As one word of a shell.
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

# As one word of fish, in whose single quotes a backslash and a quote want a backslash.
escaped() { printf "'%s'" "$(printf %s "$1" | sed "s/[\\\\']/\\\\&/g")"; }

# As one word of PowerShell.
doubled() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }

# What uninstall.sh knows about start files.
start_file() { sh "$tree/install/uninstall.sh" --prefix "${prefix:-/}" "$@"; }

check_start_file() {
    fault=$(start_file --check "$1") || give_up "$?" "${fault%%"$newline"*}" "${fault#*"$newline"}"
    if [ ! -e "$1" ]; then room_for '' "${1%/*}" 'leave this shell out by --shell'; fi
}

prepare_start_file() {
    make_directory '' "${1%/*}"
    list block - "$1"
}

# put_block FILE LINES: at its end, once; our own lines of before go.
put_block() {
    if [ "$(start_file --lines "$1")" = "$2" ]; then return 0; fi
    start_file --block "$1" || give_up 73 "could not change $1" 'is it yours, and is there room?'
    how=
    if [ ! -e "$1" ]; then
        how=' (new file)'
    elif [ -n "$(tail -c 1 "$1")" ]; then
        how=' (no newline before)'
    fi
    if [ -e "$1" ]; then cat "$1" >"$stage/start"; fi
    # One write, so that a shell that starts now reads all of it or none.
    text=$(printf '%s%s, of %s\n%s\n%s' "$begin" "$how" "$prefix" "$2" "$end")
    if [ "$how" = ' (no newline before)' ]; then text=$newline$text; fi
    if ! { printf '%s\n' "$text" >>"$1"; } 2>/dev/null; then
        if [ "$how" = ' (new file)' ]; then rm -f "$1"; else cat "$stage/start" >"$1"; fi
        give_up 73 "could not write $1, which is as it was; the program is installed" 'make room, and run this again'
    fi
    say "put the shims first on PATH in $1"
}

# What is left to do, and what is asked for only.
tell_about_path() {
    case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) [ "$modify_path" = yes ] || say "$prefix/bin is not on PATH: export PATH=\"\$PATH\":$(quoted "$prefix/bin")" ;;
    esac
    if [ "$modify_path" = yes ]; then
        say 'open a new shell, or in those that are open: hash -r (zsh: rehash) after reading the start file again'
    elif [ "$whole" = no ]; then
        say 'to put shims first on PATH in your start files: install/install.sh --modify-path (or each by hand:'
        say "    . $(quoted "$share/locked/shell/bash.sh"))"
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
