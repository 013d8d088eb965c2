#!/bin/sh
# Takes away what install/install.sh put there, and nothing else: it reads the list that was written then. State, settings and
# secrets stay, and it says where they are.
#
#     uninstall.sh                  what was installed where this script lies, else below ~/.local
#     uninstall.sh --system         what was installed below /usr/local
#     uninstall.sh --prefix DIR     what was installed below DIR
#     uninstall.sh --block FILE     only takes the lines about locked out of this start file
#
# A file that was changed since stays, and is named. With DESTDIR the same below that directory.
set -eu
: "${HOME:?uninstall: HOME is not set, and says where}"

# Of the lines in start files; the rest of the first line says how to leave the file as it was.
begin='# >>> locked, by install.sh --modify-path'
end='# <<< locked <<<'

main() {
    prefix=
    while [ $# -gt 0 ]; do
        case $1 in
        --system) prefix=/usr/local ;;
        --prefix | --block)
            if [ $# -lt 2 ]; then give_up 64 "$1 wants a value" 'uninstall.sh --prefix DIR'; fi
            if [ "$1" = --block ]; then
                take_out "$2"
                return
            fi
            prefix=$2 && shift
            ;;
        -h | --help) sed -n '2,/^set -eu/{s/^# //p;s/^#$//p;}' "$0" && return ;;
        *) give_up 64 "there is no option $1" 'uninstall.sh [--system | --prefix DIR]' ;;
        esac
        shift
    done
    choose_prefix
    manifest=${DESTDIR-}$prefix/share/locked/manifest
    if [ ! -r "$manifest" ]; then
        give_up 69 "nothing was installed below $prefix by install.sh (no $manifest)" 'uninstall.sh --prefix DIR'
    fi
    if [ ! -w "${manifest%/*}" ]; then give_up 77 "you may not write below $prefix" "sudo $0 --prefix '$prefix'"; fi

    remove_shims
    # The list is read to its end before anything goes, the list itself among it.
    list=$(cat "$manifest")
    each block take_out
    each conf remove_file
    each file remove_file
    rm -f "$manifest"
    list=$(printf '%s\n' "$list" | LC_ALL=C sort -r)
    each dir remove_directory
    say "locked is gone from ${DESTDIR-}$prefix"
    if [ -z "${DESTDIR-}" ]; then what_stays; fi
}

choose_prefix() {
    here=$(cd "$(dirname "$0")" && pwd -P)
    case $prefix:$here in
    :*/share/locked) prefix=${here%/share/locked} && prefix=${prefix#"${DESTDIR-}"} ;;
    :*) prefix=$HOME/.local ;;
    esac
    case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
    esac
}

# each KIND ACTION: for each entry of this kind in the list. An entry is a kind, a digest (- where there is none), a path.
each() {
    printf '%s\n' "$list" | while read -r kind digest path; do
        if [ "$kind" = "$1" ]; then "$2" "${DESTDIR-}$path" "$digest"; fi
    done
}

# Shims that lead to a program that is gone would be tools that do not start. Those of another installation stay.
remove_shims() {
    if [ -n "${DESTDIR-}" ] || ! "$prefix/bin/locked" shims remove --help >/dev/null 2>&1; then return 0; fi
    for where in '' --system; do
        # shellcheck disable=SC2086  # a word or none
        shims=$("$prefix/bin/locked" shims path $where) || continue
        for shim in "$shims"/*; do
            if [ -L "$shim" ] && [ "$(inode "$shim")" = "$(inode "$prefix/bin/locked")" ]; then
                "$prefix/bin/locked" shims remove --all --dir "$shims" || say "the shims in $shims could not be removed"
                break
            fi
        done
    done
}

# Of what a link leads to.
# shellcheck disable=SC2012  # a number, whatever the name is
inode() { ls -Ldi "$1" 2>/dev/null | awk '{ print $1 }'; }

remove_file() {
    if [ ! -e "$1" ] && [ ! -L "$1" ]; then return 0; fi
    if [ "$(digest_of "$1")" = "$2" ]; then rm -f "$1"; else say "it was changed since, and stays: $1"; fi
}

remove_directory() { rmdir "$1" 2>/dev/null || true; }

digest_of() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

# take_out FILE: the lines about locked; what is left is, byte for byte, what was there without them.
take_out() {
    file=$(physical "$1")
    if [ ! -f "$file" ] || ! grep -Fq "$begin" "$file"; then return 0; fi
    if ! LC_ALL=C awk -v begin="$begin" -v end="$end" '
        index($0, begin) == 1 { if (inside) exit 1; inside = 1 }
        index($0, end) == 1 { inside = 0 }
        END { if (inside) exit 1 }' "$file"; then
        say "the lines about locked in $file have no end: take them out by hand, from \"$begin\""
        return 0
    fi
    left=$(mktemp "$file.XXXXXX")
    # Whose it is, and who may read it.
    cp -p "$file" "$left"
    LC_ALL=C awk -v begin="$begin" -v end="$end" -v open="$(ends_open "$file")" '
        index($0, begin) == 1 { inside = 1; joined = index($0, "(no newline before)"); next }
        inside { if (index($0, end) == 1) { inside = 0; after = 0 } next }
        { if (count++) printf "\n"; printf "%s", $0; after = 1 }
        END { if (count && open == "no" && !(joined && !after)) printf "\n" }' "$file" >"$left"
    if [ ! -s "$left" ] && grep -F "$begin" "$file" | grep -Fq '(new file)'; then
        rm -f "$left" "$file"
    else
        mv -f "$left" "$file"
    fi
}

# Does the last line lack its newline?
ends_open() { if [ -n "$(tail -c 1 "$1")" ]; then echo yes; else echo no; fi; }

# A start file may be a link into a repository of such files: what it leads to is changed, the link stays.
physical() {
    path=$1
    for _ in 1 2 3 4 5 6 7 8 9; do
        if [ ! -L "$path" ]; then break; fi
        to=$(readlink "$path")
        case $to in
        /*) path=$to ;;
        *) path=$(dirname "$path")/$to ;;
        esac
    done
    printf '%s\n' "$path"
}

# What is not the program's is not its to take away.
what_stays() {
    for place in "${LOCKED_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/locked}" "${XDG_CONFIG_HOME:-$HOME/.config}/locked" \
        /etc/locked /var/lib/locked; do
        if [ -d "$place" ]; then say "this stays, state or settings: $place"; fi
    done
    say "files named .locked.toml and git hooks in repositories stay; SOPS files and keys were never touched"
}

say() { printf 'uninstall: %s\n' "$*" >&2; }

# give_up STATUS WHAT NEXT
give_up() {
    printf 'uninstall: %s\nnext:  %s\n' "$2" "$3" >&2
    exit "$1"
}

main "$@"
