# For zsh, sourced from a start file: puts the folder of locked's shims before everything else on PATH, once, and the folder
# of `locked` itself (`locked_bin`, when the caller says it) at the end unless it is there. It belongs into .zshenv, which every
# zsh reads; into .zprofile, because macOS' path_helper (in /etc/zprofile) puts its own folders first; and into .zshrc,
# because version managers put theirs first there.

# The folder that `locked shims path` names, in the same order: what LOCKED_SHIMS_DIR says (`locked_shims_dir`: what it said when
# this was installed), XDG_DATA_HOME, and the account's home in the user database (`locked_shims`: the folder there), not HOME,
# which may be somebody else's.
if [[ -n ${locked_shims_dir-} && -z ${LOCKED_SHIMS_DIR-} ]]; then export LOCKED_SHIMS_DIR=$locked_shims_dir; fi
() {
    emulate -L zsh
    setopt no_nomatch
    local dir home
    if [[ -n ${locked_bin-} && ${path[(Ie)$locked_bin]} -eq 0 ]]; then path+=("$locked_bin"); fi
    if [[ ${LOCKED_SHIMS_DIR-} == /* ]]; then
        dir=$LOCKED_SHIMS_DIR
    elif [[ ${XDG_DATA_HOME-} == /* ]]; then
        dir=${XDG_DATA_HOME%/}/locked/shims
    elif [[ -n ${locked_shims-} ]]; then
        dir=$locked_shims
    else
        if [[ ${USERNAME-} == [A-Za-z_]* ]]; then home=${~:-~$USERNAME}; fi
        # Where the database has none, HOME is all there is.
        if [[ ${home-} != /* ]]; then home=${HOME-}; fi
        dir=${home%/}/.local/share/locked/shims
    fi
    # Else that for everybody. One with : would be two, and a relative one another in every directory.
    for dir in "$dir" /usr/local/lib/locked/shims; do
        if [[ $dir == /* && $dir != *:* && -d $dir ]]; then
            path=("$dir" "${(@)path:#${(b)dir}}")
            break
        fi
    done
    # Completions of an installation below the home directory; they count when this comes before compinit.
    dir=${locked_bin:+${locked_bin:h}/share/zsh/site-functions}
    if [[ -n $dir && -d $dir && ${fpath[(Ie)$dir]} -eq 0 ]]; then fpath+=("$dir"); fi
}
export PATH
unset locked_bin locked_shims locked_shims_dir
