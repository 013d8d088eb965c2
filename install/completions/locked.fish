# fish completion for locked. What to offer `locked` itself is asked; behind a program's name the word is that program's, and
# its own completion answers.

function __locked_complete
    set -l before (commandline -opc)
    set -l typing (commandline -ct)
    set -l program $before[1]
    type -q -- "$program"; or set program locked
    set -e before[1]
    set -l answer ($program completions fish -- $before "$typing" 2>/dev/null)
    switch "$answer[1]"
        case 'command *'
            set -l first (math (string replace 'command ' '' -- $answer[1]) + 1)
            complete -C (string join ' ' -- (string escape -- $before[$first..-1]) "$typing")
            return
        case '* programs'
            complete -C "$typing"
        case '* files'
            __fish_complete_path "$typing"
    end
    set -e answer[1]
    if set -q answer[1]
        printf '%s\n' $answer
    end
end

complete -c locked -f -a '(__locked_complete)'
