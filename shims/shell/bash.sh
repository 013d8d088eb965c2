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

# The folder as `locked shims` chooses it; a relative one would be another in every directory.
for _locked_shims in "${LOCKED_SHIMS_DIR:-}" "${XDG_DATA_HOME:+$XDG_DATA_HOME/locked/shims}" \
    "${HOME:-}/.local/share/locked/shims" /usr/local/lib/locked/shims; do
    case $_locked_shims in
    *:*) ;;
    /*)
        if [ -d "$_locked_shims" ]; then
            _locked_on_path "$_locked_shims"
            break
        fi
        ;;
    esac
done
export PATH
unset -f _locked_on_path
unset _locked_rest _locked_shims locked_bin
