# For sh and bash, sourced from a start file: puts the folder of locked's shims before everything else on PATH, once, and
# the folder of `locked` itself (`locked_bin`, when the caller says it) at the end unless it is there. Sourcing it again, after
# something else has put itself first, puts the shims first again.
# shellcheck shell=sh

_locked_on_path() {
    _locked_rest=:$PATH:
    while :; do
        case $_locked_rest in
        *":$1:"*) _locked_rest=${_locked_rest%%":$1:"*}:${_locked_rest#*":$1:"} ;;
        *) break ;;
        esac
    done
    _locked_rest=${_locked_rest#:} && _locked_rest=${_locked_rest%:}
    PATH=$1${_locked_rest:+:$_locked_rest}
}

case ":$PATH:" in
*":${locked_bin:=}:"*) ;;
*) if [ -n "$locked_bin" ]; then PATH=${PATH:+$PATH:}$locked_bin; fi ;;
esac

# The folder that `locked shims path` names, in the same order: what LOCKED_SHIMS_DIR says (`locked_shims_dir`: what it said when
# this was installed), XDG_DATA_HOME, and the account's home in the user database (`locked_shims`: the folder there), not HOME,
# which may be somebody else's.
if [ -n "${locked_shims_dir:-}" ] && [ -z "${LOCKED_SHIMS_DIR:-}" ]; then export LOCKED_SHIMS_DIR="$locked_shims_dir"; fi
_locked_home() {
    if [ -n "${locked_shims:-}" ]; then return 0; fi
    _locked_rest=$(id -un 2>/dev/null) || _locked_rest=
    case $_locked_rest in
    '' | [!A-Za-z_]* | *[!A-Za-z0-9._-]*) ;;
    *) eval "locked_shims=~$_locked_rest" ;;
    esac
    # Where the database has none, HOME is all there is.
    case ${locked_shims:-} in
    /*) ;;
    *) locked_shims=${HOME:-} ;;
    esac
    locked_shims=${locked_shims%/}/.local/share/locked/shims
}
case ${XDG_DATA_HOME:-} in
/*) locked_shims=${XDG_DATA_HOME%/}/locked/shims ;;
*) _locked_home ;;
esac
case ${LOCKED_SHIMS_DIR:-} in
/*) locked_shims=$LOCKED_SHIMS_DIR ;;
esac
# Else that for everybody. One with : would be two, and a relative one another in every directory.
for locked_shims in "$locked_shims" /usr/local/lib/locked/shims; do
    case $locked_shims in
    *:*) ;;
    /*)
        if [ -d "$locked_shims" ]; then
            _locked_on_path "$locked_shims"
            break
        fi
        ;;
    esac
done
export PATH
unset -f _locked_on_path _locked_home
unset _locked_rest locked_shims locked_shims_dir locked_bin
