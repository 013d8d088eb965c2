# For zsh, sourced from a start file: puts the folder of locked's shims before everything else on PATH, once, and the folder
# of `locked` itself (`locked_bin`, when the caller says it) at the end unless it is there. It belongs into .zshenv, which every
# zsh reads; into .zprofile, because macOS' path_helper (in /etc/zprofile) puts its own folders first; and into .zshrc,
# because version managers put theirs first there.

() {
    emulate -L zsh
    local dir
    if [[ -n ${locked_bin-} && ${path[(Ie)$locked_bin]} -eq 0 ]]; then path+=("$locked_bin"); fi
    # The folder as `locked shims` chooses it; a relative one would be another in every directory.
    for dir in "${LOCKED_SHIMS_DIR-}" "${XDG_DATA_HOME:+$XDG_DATA_HOME/locked/shims}" \
        "${HOME-}/.local/share/locked/shims" /usr/local/lib/locked/shims; do
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
unset locked_bin
