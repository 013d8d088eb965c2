# For fish, sourced from a file in conf.d: puts the folder of locked's shims before everything else on PATH, once, and the
# folder of `locked` itself (`locked_bin`, when the caller says it) at the end unless it is there.

if set -q locked_bin; and not contains -- "$locked_bin" $PATH
    set -gx PATH $PATH $locked_bin
end

# The folder as `locked shims` chooses it; a relative one would be another in every directory.
for locked_shims in "$LOCKED_SHIMS_DIR" $XDG_DATA_HOME/locked/shims $HOME/.local/share/locked/shims \
        /usr/local/lib/locked/shims
    if string match -q '/*' -- "$locked_shims"; and test -d "$locked_shims"
        set -l locked_rest
        for locked_dir in $PATH
            test "$locked_dir" = "$locked_shims"; or set -a locked_rest $locked_dir
        end
        set -gx PATH $locked_shims $locked_rest
        break
    end
end
set -e locked_bin
