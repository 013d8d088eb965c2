#!/bin/sh
# Takes away what install/install.sh put there, and nothing else: it reads the list that was written then. State, settings and
# secrets stay, and it says where they are.
#
#     uninstall.sh                  what was installed where this script lies, else below ~/.local
#     uninstall.sh --system         what was installed below /usr/local
#     uninstall.sh --prefix DIR     what was installed below DIR
#     uninstall.sh --block FILE     only takes the lines of that installation out of this start file
#
# A file that was changed since stays, and is named. What could not be taken away is named, stays on the list, and ends this
# with 73: once that is mended, run it again. With DESTDIR the same below that directory.
set -eu
# `cd` would look elsewhere for what has no / before it, and say so.
unset CDPATH
newline='
'

# Of the lines in start files. Behind it the first line says how to leave the file as it was, and whose they are.
begin='# >>> locked, by install.sh --modify-path'
end='# <<< locked <<<'

main() {
    prefix='' action='' file=''
    while [ $# -gt 0 ]; do
        case $1 in
        --system) prefix=/usr/local ;;
        # The last two are what install.sh asks before it changes a start file.
        --prefix | --block | --check | --lines)
            if [ $# -lt 2 ] || [ -z "$2" ]; then give_up 64 "$1 wants a value" 'uninstall.sh --prefix DIR'; fi
            if [ "$1" = --prefix ]; then prefix=$2; else action=$1 file=$2; fi
            shift
            ;;
        -h | --help) sed -n '2,/^set -eu/{s/^# //p;s/^#$//p;}' "$0" && return ;;
        *) give_up 64 "there is no option $1" 'uninstall.sh [--system | --prefix DIR]' ;;
        esac
        shift
    done
    choose_prefix
    owner=$prefix
    case $action in
    --block) take_out "$file" || exit 73 ;;
    --check) check "$file" ;;
    --lines) if [ -f "$file" ]; then scan lines "$file"; fi ;;
    *) uninstall ;;
    esac
}

uninstall() {
    manifest=${DESTDIR-}$prefix/share/locked/manifest
    if [ ! -r "$manifest" ]; then
        give_up 69 "nothing was installed below $prefix by install.sh (no $manifest)" 'uninstall.sh --prefix DIR'
    fi
    if [ ! -w "${manifest%/*}" ]; then give_up 77 "you may not write below $prefix" "sudo $0 --prefix '$prefix'"; fi
    if ! command -v sha256sum >/dev/null 2>&1 && ! command -v shasum >/dev/null 2>&1; then
        give_up 69 'neither sha256sum nor shasum is here, which tell whose a file is' 'install coreutils'
    fi
    # The list is read to its end before anything goes, the list itself among it.
    list=$(cat "$manifest") kept=''
    # How it was called then, whatever leads here now: so it stands in start files.
    owner=$(sed -n 's/^prefix - //p' "$manifest" | head -n 1)
    owner=${owner:-$prefix}

    # What calls the program goes before it: agents that call what is gone would be stopped at every step.
    remove_agents
    remove_shims
    each block take_out
    each file remove_file
    if [ -n "$kept" ]; then
        keep_list
        say "locked is gone from ${DESTDIR-}$prefix, but for what is named above; when that is put right, once more:"
        say "    $prefix/share/locked/uninstall.sh"
        exit 73
    fi
    rm -f "${manifest%/*}/uninstall.sh" "$manifest"
    list=$(printf '%s\n' "$list" | LC_ALL=C sort -r)
    each dir remove_directory
    # Of shims that somebody made by hand.
    if [ -n "${beside_shims-}" ]; then rmdir "$beside_shims" 2>/dev/null || true; fi
    say "locked is gone from ${DESTDIR-}$prefix"
    if [ -z "${DESTDIR-}" ]; then what_stays; fi
}

choose_prefix() {
    if [ -n "${DESTDIR-}" ]; then
        DESTDIR=$(cd "$DESTDIR" 2>/dev/null && pwd -P) || give_up 69 'DESTDIR is no directory' 'look at DESTDIR'
    fi
    here=$(cd "$(dirname "$0")" && pwd -P)
    case $prefix:$here in
    :*/share/locked) prefix=${here%/share/locked} && prefix=${prefix#"${DESTDIR-}"} && prefix=${prefix:-/} ;;
    :*)
        case ${HOME-} in
        /*) prefix=$HOME/.local ;;
        *) give_up 64 'HOME is not set, and says where' 'uninstall.sh --prefix DIR' ;;
        esac
        ;;
    esac
    case $prefix in
    /) prefix= ;;
    /*) prefix=${prefix%/} ;;
    *) prefix=$(cd -P "$prefix" 2>/dev/null && pwd -P) || give_up 69 "there is no such directory below $PWD" 'uninstall.sh --prefix DIR' ;;
    esac
}

# each KIND ACTION: for each entry of this kind in the list. An entry is a kind, a digest (- where there is none), a path; one
# below the prefix is meant below where the prefix is now. What an action cannot do is kept on the list.
each() {
    while IFS= read -r line; do
        case $line in
        "$1 "*) ;;
        *) continue ;;
        esac
        path=${line#* } && path=${path#* }
        listed=$path
        case $path in
        "$owner" | "$owner"/*) path=$prefix${path#"$owner"} ;;
        esac
        "$2" "${DESTDIR-}$path" || kept=$kept$line$newline
    done <<EOF
$list
EOF
}

# What is left to do, what does it, and where it lies.
keep_list() {
    new=${manifest%/*}/.new.$$
    {
        printf %s "$kept"
        printf '%s\n' "$list" | grep -E '^(prefix|dir) |^file [^ ]* .*/share/locked/uninstall\.sh$'
    } | LC_ALL=C sort -u >"$new"
    mv -f "$new" "$manifest"
}

# Hooks in the settings of this account's agents, if they call the program that goes. Those of a project are its own.
remove_agents() {
    if [ -n "${DESTDIR-}" ]; then return 0; fi
    told=$("$prefix/bin/locked" agents status --json 2>/dev/null) || return 0
    case $told in
    *"$(as_told "$prefix/bin/locked")"* | *"$(as_told "$owner/bin/locked")"*) ;;
    *) return 0 ;;
    esac
    if gone=$("$prefix/bin/locked" agents remove 2>&1); then
        printf '%s\n' "$gone" | while IFS= read -r line; do say "agents' hooks: $line"; done
    else
        say "hooks of agents call what is gone now; take out of their settings what names $prefix/bin/locked:"
        printf '%s\n' "$gone" | while IFS= read -r line; do say "    $line"; done
    fi
}

# This path as it stands in a line of a shell that stands in JSON.
as_told() {
    printf '%s\n' "$1" | sed -e "s/'/'\\\\''/g" -e 's/[\\"]/\\&/g'
}

# Shims that lead to a program that is gone would be tools that do not start. Those of another installation stay.
remove_shims() {
    if [ -n "${DESTDIR-}" ]; then return 0; fi
    binary=$prefix/bin/locked
    folders=$(
        each shims name
        "$binary" shims path 2>/dev/null || true
        echo /usr/local/lib/locked/shims
    )
    while IFS= read -r folder; do
        if [ -d "$folder" ]; then clear_folder "$folder"; fi
    done <<EOF
$(printf '%s\n' "$folders" | LC_ALL=C sort -u)
EOF
}

name() { printf '%s\n' "$1"; }

# clear_folder FOLDER: of our shims; the folder goes too when it is empty then, and nobody had it before us. Where another
# installation was told to have shims there, they are its own again.
clear_folder() {
    cleared=no inherited=no heir=$(heir_of "$1")
    for shim in "$1"/* "$1"/.locked-shim-*; do
        if [ ! -L "$shim" ] || ! leads_to_us "$shim"; then continue; fi
        case ${shim##*/} in
        .locked-shim-*) ;;
        *)
            if [ -n "$heir" ] && relink "$1" "$shim"; then
                inherited=yes
                continue
            fi
            ;;
        esac
        if ! rm -f "$shim" 2>/dev/null; then
            say "you may not take the shims out of $1, which lead to what is gone now"
            kept="${kept}shims - $1$newline"
            return 0
        fi
        cleared=yes
    done
    if [ "$inherited" = yes ]; then say "the shims in $1 lead to $heir now"; fi
    if [ "$cleared" = yes ]; then say "the shims in $1 are gone; in shells that are open, once: hash -r (zsh: rehash)"; fi
    case $newline$list$newline in
    *"${newline}dir - $1$newline"*) ;; # with the other directories
    *"${newline}shims - $1$newline"*) ;;
    *)
        if [ "$cleared" = yes ] && rmdir "$1" 2>/dev/null; then
            case $1 in
            */locked/shims) beside_shims=${1%/*} ;;
            esac
        fi
        ;;
    esac
}

# heir_of FOLDER: the program of another installation that is whole and has listed shims in this folder.
heir_of() {
    {
        each beside name
        command -v locked || true
        printf '%s\n' "${HOME-}/.local/bin/locked" /usr/local/bin/locked
    } | while IFS= read -r other; do
        case $other in
        /*/bin/locked) ;;
        *) continue ;;
        esac
        # shellcheck disable=SC3013  # every sh that is in use knows it, and POSIX does since 2024
        if [ "$other" -ef "$binary" ] || [ ! -x "$other" ]; then continue; fi
        if grep -Fqx -e "shims - $1" "${other%/bin/locked}/share/locked/manifest" 2>/dev/null; then
            printf '%s\n' "$other"
            break
        fi
    done
}

# relink FOLDER SHIM: in one step, so that the name is never missing.
relink() { ln -s "$heir" "$1/.locked-shim-$$-0" 2>/dev/null && mv -f "$1/.locked-shim-$$-0" "$2" 2>/dev/null; }

leads_to_us() {
    # shellcheck disable=SC3013  # every sh that is in use knows it, and POSIX does since 2024
    [ "$1" -ef "$binary" ] || [ "$(readlink "$1")" = "$owner/bin/locked" ]
}

remove_file() {
    case $1 in
    "${manifest%/*}/uninstall.sh") return 0 ;; # the last to go
    esac
    if [ ! -e "$1" ] && [ ! -L "$1" ]; then return 0; fi
    # An installation that was cut off has listed the older file and the newer.
    case $newline$list$newline in
    *"${newline}file $(digest_of "$1") $listed$newline"*)
        if rm -f "$1" 2>/dev/null; then return 0; fi
        say "you may not take it away: $1"
        return 1
        ;;
    esac
    say "it was changed since, and stays: $1"
}

remove_directory() {
    if rmdir "$1" 2>/dev/null || [ ! -d "$1" ] || [ -n "$(ls -A "$1" 2>/dev/null)" ]; then return 0; fi
    say "you may not take this away, and it is empty now: $1"
}

digest_of() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

# check FILE: whether lines can be put into this start file, and taken out again. If not: what is wrong, and on a line of its own
# what to do.
check() {
    physical=$(physical "$1")
    if [ -L "$1" ] && [ ! -e "$1" ]; then
        printf '%s\n' "$1 is a link to $physical, which is not there" 'make that file, or take the link away'
        return 73
    fi
    if [ ! -e "$1" ]; then return 0; fi
    if [ ! -f "$1" ]; then
        printf '%s\n' "$1 is not a file that lines could be put into" 'move it away, or choose shells by --shell'
        return 73
    fi
    if [ ! -r "$1" ] || [ ! -w "$1" ]; then
        printf '%s\n' "you may not read and write $1" "chmod u+rw it, or choose shells by --shell"
        return 77
    fi
    if has_nul "$1"; then
        printf '%s\n' "$1 has NUL bytes, and lines could not be taken out of it again" 'take them out, or choose shells by --shell'
        return 65
    fi
    damage=$(scan state "$1" | grep -v '^whole') || return 0
    tell_damage "$physical" "${damage%%"$newline"*}"
    return 65
}

# tell_damage FILE STATE: a line of what `scan state` says.
tell_damage() {
    line=${2##* }
    case $2 in
    open*) printf '%s\n' "$1:$line: the lines about locked that begin here have no end" "take them out by hand, or put \"$end\" behind them" ;;
    *) printf '%s\n' "$1:$line: the lines about locked that end here have no beginning" 'take them out by hand' ;;
    esac
}

# take_out FILE: our lines; what is left is, byte for byte, what was there without them.
take_out() {
    physical=$(physical "$1")
    # Whatever stands there now, our lines are gone.
    if [ ! -f "$physical" ]; then return 0; fi
    if [ ! -r "$physical" ]; then
        say "you may not read $physical: lines about locked may be in it"
        return 1
    fi
    if has_nul "$physical"; then
        if ! LC_ALL=C grep -aqF -e "$begin" "$physical"; then return 0; fi
        say "$physical has NUL bytes, and lines about locked, which do nothing any more; take them out by hand"
        return 1
    fi
    state=$(scan state "$physical")
    case $newline$state in
    *"${newline}whole"*)
        if ! without_our_lines; then
            say "you may not write $physical: lines about locked are in it, which do nothing any more"
            return 1
        fi
        lost=$(printf '%s\n' "$state" | grep '^open ours') || return 0
        ;;
    *) lost=$(printf '%s\n' "$state" | grep -e '^open ours' -e '^closed') || return 0 ;;
    esac
    fault=$(tell_damage "$physical" "${lost%%"$newline"*}")
    say "${fault%%"$newline"*}; ${fault#*"$newline"}"
    return 1
}

without_our_lines() {
    if [ ! -w "$physical" ]; then return 1; fi
    left=$(mktemp "$physical.XXXXXX" 2>/dev/null) || left=$(mktemp "${TMPDIR:-/tmp}/locked-uninstall.XXXXXX") || return 1
    # Whose it is, and who may read it.
    if ! cp -p "$physical" "$left" || ! scan rest "$physical" >"$left"; then
        rm -f "$left"
        return 1
    fi
    case $state in
    *"whole (new file) "*)
        if [ ! -s "$left" ] && rm -f "$physical" 2>/dev/null; then
            rm -f "$left"
            return 0
        fi
        ;;
    esac
    case $left:$(find "$physical" -prune -links +1 2>/dev/null) in
    "$physical".*:) mv -f "$left" "$physical" ;;
    *) cat "$left" >"$physical" && rm -f "$left" ;; # nobody may make a file beside it; or it has other names
    esac
}

# scan WHAT FILE: what is ours begins with a line that names us as owner (or nobody, and the next line does), and has an end
# before anything else begins. WHAT is
#   state  what is there: `whole (HOW) LINE`, ours, or damaged: `open ours LINE`, `open LINE`, `closed LINE`
#   lines  what stands in ours, between the first line and the last
#   rest   the file without ours
scan() {
    LOCKED_BEGIN=$begin LOCKED_END=$end LOCKED_OWNER=$owner LC_ALL=C awk -v what="$1" -v open="$(ends_open "$2")" '
        function how(text) {
            text = substr(text, length(begin) + 1)
            return match(text, /^ \((new file|no newline before)\)/) ? substr(text, 1, RLENGTH) : ""
        }
        function damaged(from) { if (what == "state") print "open" (ours[from] ? " ours " : " ") from }
        BEGIN { begin = ENVIRON["LOCKED_BEGIN"]; end = ENVIRON["LOCKED_END"]; owner = ENVIRON["LOCKED_OWNER"] }
        { line[NR] = $0; bare = $0; sub(/\r$/, "", bare) }
        index(bare, begin) == 1 {
            if (from) damaged(from)
            from = NR
            first[from] = 1
            name = substr(bare, length(begin) + length(how(bare)) + 1)
            ours[from] = name == ", of " owner
            nameless = index(name, ", of ") != 1
            next
        }
        from && nameless && NR == from + 1 { ours[from] = index(bare, owner "/bin") > 0 }
        index(bare, end) == 1 {
            if (from) last[from] = NR
            else if (what == "state") print "closed " NR
            from = 0
        }
        END {
            if (from) damaged(from)
            for (i = 1; i <= NR; i++) {
                if ((i in last) && ours[i]) {
                    if (what == "state") print "whole" how(line[i]) " " i
                    if (what == "lines") for (j = i + 1; j < last[i]; j++) print line[j]
                    carried = how(line[i])
                    joined = carried ~ /newline/
                    after = 0
                    i = last[i]
                } else if (what == "rest") {
                    # What follows at once is now what stands behind the file as it was.
                    if (carried && (i in first) && how(line[i]) == "")
                        line[i] = begin carried substr(line[i], length(begin) + 1)
                    carried = ""
                    if (count++) printf "\n"
                    printf "%s", line[i]
                    after = 1
                }
            }
            if (what == "rest" && count && open == "no" && !(joined && !after)) printf "\n"
        }' "$2"
}

# awk and shells take no NUL as a part of a line.
has_nul() { [ "$(LC_ALL=C tr -d '\000' <"$1" | wc -c)" -ne "$(wc -c <"$1")" ]; }

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
    # As the program chooses where its state is: not by HOME, which may be somebody else's.
    home=${HOME-} user=$(id -un 2>/dev/null || true)
    case $user in
    '' | [!A-Za-z_]* | *[!A-Za-z0-9._-]*) ;;
    *) eval "home=~$user" ;;
    esac
    for place in "${LOCKED_STATE_DIR:-${XDG_STATE_HOME:-$home/.local/state}/locked}" \
        "${XDG_CONFIG_HOME:-${HOME-}/.config}/locked" \
        /etc/locked /var/lib/locked; do
        if [ -d "$place" ]; then say "this stays, state or settings: $place"; fi
    done
    say "files named .locked.toml and git hooks in repositories stay; SOPS files and keys were never touched"
    say "without locked a hook lets through what is no SOPS file; to take one away, in its repository:"
    # shellcheck disable=SC2016  # for the reader's shell
    say '    for h in pre-commit pre-merge-commit pre-push; do f=$(git rev-parse --git-path hooks/$h); grep -q locked:hook "$f" && rm "$f"; done'
    say '    (what stood there before lies beside it, as NAME.locked-prev)'
}

say() { printf 'uninstall: %s\n' "$*" >&2; }

# give_up STATUS WHAT NEXT
give_up() {
    printf 'uninstall: %s\nnext:  %s\n' "$2" "$3" >&2
    exit "$1"
}

main "$@"
