#!/bin/sh
# The names of the old PowerShell helper, in a POSIX shell, over `locked`.
#
#   . env-lock.sh
#   Acquire-EnvLock -Resource sops:monitoring -Operation credential-rotation
#   Update-EnvLockHeartbeat -Resource sops:monitoring
#   Get-EnvLocks
#   Release-EnvLock -Resource sops:monitoring
#
# A shell whose functions cannot have a dash in their names (dash, for one) calls `env_lock NAME …`, or runs this file:
#
#   sh env-lock.sh Acquire-EnvLock -Resource sops:monitoring
#
# The status is that of `locked`: 75 when somebody else holds it, 77 when this session does not, 69 when the store cannot
# be reached. LOCKED names another program than the `locked` on PATH. No -SessionId is needed: every command of one agent
# or terminal is one session, and LOCKED_SESSION or P24_ENV_LOCK_SESSION_ID pins one.

# In a subshell, so that nothing of it stays in the caller's.
env_lock() (
    name=${1-}
    [ "$#" -gt 0 ] && shift
    resource='' operation='' session='' ttl=''
    while [ "$#" -gt 0 ]; do
        case $1 in
            -[Rr]esource | -[Oo]peration | -[Ss]ession[Ii]d | -[Tt]tl[Mm]inutes)
                if [ "$#" -lt 2 ]; then
                    printf '%s: %s needs a value\n' "$name" "$1" >&2
                    exit 64
                fi
                ;;
            *)
                printf '%s: %s is not known here\n' "$name" "$1" >&2
                exit 64
                ;;
        esac
        case $1 in
            -[Rr]*) resource=$2 ;;
            -[Oo]*) operation=$2 ;;
            -[Ss]*) session=$2 ;;
            *) ttl=${2}m ;;
        esac
        shift 2
    done
    if [ "$name" != Get-EnvLocks ] && [ -z "$resource" ]; then
        printf '%s: -Resource is missing, for example -Resource sops:monitoring\n' "$name" >&2
        exit 64
    fi
    set --
    [ -n "$session" ] && set -- --session "$session"
    case $name in
        Acquire-EnvLock)
            set -- "$@" acquire --operation "${operation:-env-lock}"
            [ -n "$ttl" ] && set -- "$@" --ttl "$ttl"
            set -- "$@" "$resource"
            ;;
        Release-EnvLock) set -- "$@" release "$resource" ;;
        Update-EnvLockHeartbeat) set -- "$@" renew "$resource" ;;
        Get-EnvLocks)
            set -- "$@" status
            [ -n "$resource" ] && set -- "$@" "$resource"
            ;;
        *)
            printf '%s is not one of Acquire-EnvLock, Release-EnvLock, Get-EnvLocks, Update-EnvLockHeartbeat\n' "${name:-nothing}" >&2
            exit 64
            ;;
    esac
    exec "${LOCKED:-locked}" "$@"
)

# Where a function may have a dash in its name it has the helper's own.
if (eval 'env-lock() { :; }') 2>/dev/null; then
    eval '
        Acquire-EnvLock() { env_lock Acquire-EnvLock "$@"; }
        Release-EnvLock() { env_lock Release-EnvLock "$@"; }
        Get-EnvLocks() { env_lock Get-EnvLocks "$@"; }
        Update-EnvLockHeartbeat() { env_lock Update-EnvLockHeartbeat "$@"; }
    '
fi

# Run, not sourced. zsh calls a file that it sources by its name, too, and says so elsewhere.
case ${ZSH_EVAL_CONTEXT-}:${0##*/} in
    *file*:*) ;;
    *:env-lock.sh | *:env-lock) env_lock "$@" ;;
esac
