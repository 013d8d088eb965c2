# For fish, sourced from a file in conf.d: puts the folder of locked's shims before everything else on PATH, once, and the
# folder of `locked` itself (`locked_bin`, when the caller says it) at the end unless it is there.

if set -q locked_bin; and not contains -- "$locked_bin" $PATH
    set -gx PATH $PATH $locked_bin
end

# The folder that `locked shims path` names, in the same order: what LOCKED_SHIMS_DIR says (`locked_shims_dir`: what it said when
# this was installed), XDG_DATA_HOME, and the account's home in the user database (`locked_shims`: the folder there), not HOME,
# which may be somebody else's.
if set -q locked_shims_dir; and test -z "$LOCKED_SHIMS_DIR"
    set -gx LOCKED_SHIMS_DIR $locked_shims_dir
end
if string match -q '/*' -- "$LOCKED_SHIMS_DIR"
    set -g locked_shims $LOCKED_SHIMS_DIR
else if string match -q '/*' -- "$XDG_DATA_HOME"
    set -g locked_shims (string trim --right --chars=/ -- $XDG_DATA_HOME)/locked/shims
else if not set -q locked_shims
    set -g locked_shims (id -un 2>/dev/null)
    if string match -qr '^[A-Za-z_][A-Za-z0-9._-]*$' -- "$locked_shims"
        set locked_shims (eval "echo ~$locked_shims")
    end
    # Where the database has none, HOME is all there is.
    string match -q '/*' -- "$locked_shims"; or set locked_shims $HOME
    set locked_shims (string trim --right --chars=/ -- "$locked_shims")/.local/share/locked/shims
end
# Else that for everybody. One with : would be two, and a relative one another in every directory.
for locked_dir in "$locked_shims" /usr/local/lib/locked/shims
    if string match -q '/*' -- "$locked_dir"; and not string match -q '*:*' -- "$locked_dir"; and test -d "$locked_dir"
        set -l locked_rest
        for locked_other in $PATH
            test "$locked_other" = "$locked_dir"; or set -a locked_rest $locked_other
        end
        set -gx PATH $locked_dir $locked_rest
        break
    end
end
set -e locked_bin
set -e locked_shims
set -e locked_shims_dir
