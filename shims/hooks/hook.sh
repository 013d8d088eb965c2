#!/bin/sh
# locked:hook @NAME@
# Written by `locked hooks install`, taken away by `locked hooks uninstall`. What stood here before is run first.
# Without locked on this machine: remove this file, and give @NAME@.locked-prev beside it, if it is there, its name back.
# @DIRECTORY@
hook=@NAME@
installed=@LOCKED@

# `locked hooks install` looks whether git runs this.
if [ -n "${LOCKED_HOOK_PROBE-}" ]; then
    printf 'locked:hook %s %s\n' "$hook" "$LOCKED_HOOK_PROBE"
    exit 0
fi

# pre-push is told what is pushed on its standard input: both of us read it.
input=
if [ "$hook" = pre-push ]; then
    input=$(cat)
    [ -z "$input" ] || input="$input
"
fi

previous=${0%/*}/$hook.locked-prev
if [ -f "$previous" ] && [ -x "$previous" ]; then
    printf '%s' "$input" | "$previous" "$@" || exit $?
fi

locked=$(command -v locked) || locked=
case $locked in /*) [ -x "$locked" ] || locked= ;; *) locked= ;; esac
[ -n "$locked" ] || locked=$installed
if [ -f "$locked" ] && [ -x "$locked" ]; then
    printf '%s' "$input" | "$locked" hooks run "$hook" -- "$@"
    exit $?
fi

# From here on there is no `locked` on this machine. A commit that touches no SOPS file is none of our business.
if [ -n "${LOCKED_BYPASS-}" ]; then
    printf 'locked: %s is let through without a check, bypassed (%s); locked is not here to record it\n' "$hook" "$LOCKED_BYPASS" >&2
    exit 0
fi

refuse() {
    printf 'BLOCKED: %s: it is SOPS by its content or its name, and locked is not here to check it\n' "$1" >&2
    printf 'why:   a hook of this repository proves such files, and who wrote them; %s is no program\n' "$installed" >&2
    printf 'retry: yes, after the next step\n' >&2
    if [ -t 2 ]; then
        printf "next:  install locked and run \`locked hooks install\`, or say why not: LOCKED_BYPASS='reason' git ...; \
or for good: rm \"\$(git rev-parse --git-path hooks/%s)\"\n" "$hook" >&2
    else
        printf "next:  install locked and run \`locked hooks install\`\n" >&2
    fi
    exit 73
}

# One line for each path that has SOPS values, before or after, or whose name says SOPS; git quotes what does not print.
paths() {
    git "$@" --name-only --no-renames --no-ext-diff --text -G'ENC\[AES256_GCM,' &&
        git "$@" --name-only --no-renames --no-ext-diff --diff-filter=AMT -- \
            ':(top,glob,icase)**/*.sops' ':(top,glob,icase)**/*.sops.*' ':(top,glob,exclude)**/.sops.yaml'
}
cannot_ask() {
    printf 'locked: %s could not ask git what changes; nothing is let through\n' "$hook" >&2
    exit 73
}
refuse_any() {
    found=$(printf '%s\n' "$1" | sed -e '/^$/d' | sed -e 1q)
    [ -z "$found" ] || refuse "$found"
}

case $hook in
pre-push)
    printf '%s' "$input" | while read -r _ new _ _; do
        case $new in
        *[!0]*)
            touched=$(paths log --no-show-signature --format= "$new" --not --remotes="${1-}") || cannot_ask
            refuse_any "$touched"
            ;;
        esac
    done || exit $?
    ;;
*)
    touched=$(paths diff --cached) || cannot_ask
    # What the other sides of a merge have so has been let through there.
    merging=$(git rev-parse --quiet --verify MERGE_HEAD) || merging=
    for other in $merging $(env | sed -n 's/^GITHEAD_\([0-9a-f]*\)=.*/\1/p'); do
        there=$(paths diff --cached "$other") || cannot_ask
        touched=$(printf '%s\n' "$touched" | grep -Fx -e "$there") || touched=
    done
    refuse_any "$touched"
    ;;
esac
exit 0
