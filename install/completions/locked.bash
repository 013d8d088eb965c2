# bash completion for locked. What to offer `locked` itself is asked; behind a program's name the word is that program's, and
# its own completion answers.

_locked() {
    # bash takes words apart at : and =; what no space divides is one word again. `starts` says with which part it began.
    local rest=${COMP_LINE:0:COMP_POINT} part='' index=0 glued=0 last=0
    local -a words=() starts=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        glued=1
        case $rest in [[:space:]]*) glued=0 && rest=${rest#"${rest%%[![:space:]]*}"} ;; esac
        # The last goes as far as the cursor.
        if ((index == COMP_CWORD)); then part=$rest; else part=${COMP_WORDS[index]} && rest=${rest#"$part"}; fi
        if ((index > 0 && glued)); then
            words[last]+=$part
        else
            last=${#words[@]}
            words[last]=$part
            starts[last]=$index
        fi
    done
    COMPREPLY=()

    local program=${words[0]/#\~\//$HOME/} answer='' kind='' value=''
    type -P -- "$program" >/dev/null || program=locked
    answer=$("$program" completions bash -- "${words[@]:1}" 2>/dev/null) || return 0
    kind=${answer%%$'\n'*}
    case $kind in
    'command '*)
        _locked_command "${starts[${kind#command } + 1]}"
        return
        ;;
    esac
    # bash replaces only what stands behind the last : or =, and has that for the word itself where nothing is behind it yet.
    case $part in [:=]*) part='' ;; esac
    local before=${words[last]%"$part"}
    while IFS=$'\t' read -r value _; do
        if [[ ! $value || $value == "$kind" ]]; then continue; fi
        value=${value#"$before"}
        # Names of files bash quotes by itself.
        case $kind in *' files') ;; *) [[ ! $value ]] || printf -v value %q "$value" ;; esac
        COMPREPLY+=("$value")
    done <<<"$answer"
    case $kind in
    *' programs') _locked_more -c "${words[last]}" ;;
    *' files') compopt -o filenames 2>/dev/null; _locked_more -f "$part" ;;
    *) compopt +o default +o bashdefault 2>/dev/null ;;
    esac
    return 0
}

# _locked_more KIND WORD: bash's own offers, a line each.
_locked_more() {
    local value
    while IFS= read -r value; do
        if [[ $value && $1 == -c ]]; then printf -v value %q "$value"; fi
        if [[ $value ]]; then COMPREPLY+=("$value"); fi
    done < <(compgen "$1" -- "$2")
}

# _locked_command INDEX: completes as if the line began there.
_locked_command() {
    # Where bash-completion is, it does this, and loads what is not loaded yet.
    local offset=$1 helper
    for helper in _comp_command_offset _command_offset; do
        if declare -F "$helper" >/dev/null; then
            "$helper" "$offset"
            return
        fi
    done
    local word index
    for ((index = 0; index < offset; index++)); do
        word=${COMP_WORDS[index]}
        # What stands before the word is space.
        while [[ $COMP_LINE && $COMP_LINE != "$word"* ]]; do COMP_LINE=${COMP_LINE:1} && ((COMP_POINT--)); done
        COMP_LINE=${COMP_LINE#"$word"}
        ((COMP_POINT -= ${#word}))
    done
    while [[ $COMP_LINE == [[:space:]]* ]]; do COMP_LINE=${COMP_LINE:1} && ((COMP_POINT--)); done
    COMP_WORDS=("${COMP_WORDS[@]:offset}")
    ((COMP_CWORD -= offset))
    local name=${COMP_WORDS[0]##*/} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} how='' try
    for try in 1 2; do
        how=$(complete -p -- "$name" 2>/dev/null) || how=$(complete -p -D 2>/dev/null) || how=''
        case $how in
        *' -F '*)
            how=${how#*' -F '}
            "${how%% *}" "$name" "$current" "$previous"
            # 124: it has loaded a better one.
            (($? == 124 && try == 1)) || return 0
            ;;
        *) break ;;
        esac
    done
    case $how in
    # The other ways to say what to offer are compgen's own options.
    'complete '*)
        how=${how#complete } && how=${how% *}
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(eval "compgen $how -- \"\$current\"" 2>/dev/null)
        ;;
    *) compopt -o filenames 2>/dev/null; _locked_more -f "$current" ;;
    esac
    return 0
}

complete -o default -o bashdefault -F _locked locked
