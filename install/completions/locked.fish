# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_locked_global_optspecs
    string join \n r/resource= secret= operation= ttl= heartbeat= renew-deadline= grace= wait= n/no-wait N/dry-run keep no-canary conflict-exit-code= force reason= on-lost= report= session= store= advisory q/quiet v/verbose h/help V/version
end

function __fish_locked_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_locked_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_locked_using_subcommand
    set -l cmd (__fish_locked_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c locked -n "__fish_locked_needs_command" -s r -l resource -d 'Hold this resource too, for example server:bms-4 (repeatable)' -r
complete -c locked -n "__fish_locked_needs_command" -l secret -d 'Hold the rotation of this secret too, as rotation:NAME (repeatable)' -r
complete -c locked -n "__fish_locked_needs_command" -l operation -d 'What to call the work in `locked status`, instead of the program\'s name' -r
complete -c locked -n "__fish_locked_needs_command" -l ttl -d 'How long the lease lives without a renew [default: 30m]' -r
complete -c locked -n "__fish_locked_needs_command" -l heartbeat -d 'How often it is renewed [default: a sixth of the TTL, at most 60s]' -r
complete -c locked -n "__fish_locked_needs_command" -l renew-deadline -d 'When the program is stopped after the last successful renew [default: two thirds of the TTL]' -r
complete -c locked -n "__fish_locked_needs_command" -l grace -d 'How long a stopped program gets between TERM and KILL [default: a tenth of the TTL, at most 10s]' -r
complete -c locked -n "__fish_locked_needs_command" -l wait -d 'How long to wait for a lease that somebody else holds [default: 30s]' -r
complete -c locked -n "__fish_locked_needs_command" -l conflict-exit-code -d 'The exit status when somebody else holds it, instead of 75' -r
complete -c locked -n "__fish_locked_needs_command" -l reason -d 'Why it is forced, for the ledger' -r
complete -c locked -n "__fish_locked_needs_command" -l on-lost -d 'Run this with `sh -c` once when the lease was lost, with LOCKED_RESOURCES and LOCKED_LOST_CAUSE (deadline, gone, revoked, stopped-job, keeper-died) in its environment, for at most 30s' -r
complete -c locked -n "__fish_locked_needs_command" -l report -d 'Write how it went to this file, as JSON (mode 0600): what was decided and why, resources and tokens, times, exit, what became of the lease, what was found in the files, who was in the way' -r -F
complete -c locked -n "__fish_locked_needs_command" -l session -d 'The session that this command belongs to' -r
complete -c locked -n "__fish_locked_needs_command" -l store -d 'Where the leases live: embedded, sqlite:FILE, or a PostgreSQL server as libpq knows it (postgres://…, or key=value)' -r
complete -c locked -n "__fish_locked_needs_command" -s n -l no-wait -d 'Do not wait at all'
complete -c locked -n "__fish_locked_needs_command" -s N -l dry-run -d 'Say what would be locked, and run nothing'
complete -c locked -n "__fish_locked_needs_command" -l keep -d 'Keep resources named with -r when the program fails'
complete -c locked -n "__fish_locked_needs_command" -l no-canary -d 'Do not look at the result'
complete -c locked -n "__fish_locked_needs_command" -l force -d 'Run although the store cannot be reached, without a lease; needs --reason. Nothing else is forced: who holds it keeps it'
complete -c locked -n "__fish_locked_needs_command" -l advisory -d 'Hold session locks of the PostgreSQL server (pg_try_advisory_lock) instead of leases in its ledger: nothing is installed there, and nothing is remembered'
complete -c locked -n "__fish_locked_needs_command" -s q -l quiet -d 'Say nothing of our own'
complete -c locked -n "__fish_locked_needs_command" -s v -l verbose -d 'Say more'
complete -c locked -n "__fish_locked_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c locked -n "__fish_locked_needs_command" -s V -l version -d 'Print version'
complete -c locked -n "__fish_locked_needs_command" -f -a "run" -d 'Run a program, also one that is called like a verb'
complete -c locked -n "__fish_locked_needs_command" -f -a "explain" -d 'Show what a command line would lock, and run nothing'
complete -c locked -n "__fish_locked_needs_command" -f -a "status" -d 'Show live leases; exits 0 whether there are any or not'
complete -c locked -n "__fish_locked_needs_command" -f -a "history" -d 'Show ended leases, newest first'
complete -c locked -n "__fish_locked_needs_command" -f -a "acquire" -d 'Hold resources for this session over several commands'
complete -c locked -n "__fish_locked_needs_command" -f -a "renew" -d 'Give what this session holds a full TTL again'
complete -c locked -n "__fish_locked_needs_command" -f -a "release" -d 'Give back what this session holds'
complete -c locked -n "__fish_locked_needs_command" -f -a "check" -d 'Exit 0 when this session holds all of these, 77 when not'
complete -c locked -n "__fish_locked_needs_command" -f -a "restore" -d 'Bring a bad file back, or accept the one that is there'
complete -c locked -n "__fish_locked_needs_command" -f -a "steal" -d 'Take what somebody else holds: a person\'s word. Its command is stopped first, then this session holds it'
complete -c locked -n "__fish_locked_needs_command" -f -a "store" -d 'Look after the store: set it up, check it, prune it, move it'
complete -c locked -n "__fish_locked_needs_command" -f -a "config" -d 'Show what the settings are, and trust those of a repository'
complete -c locked -n "__fish_locked_needs_command" -f -a "shims" -d 'Stand in front of programs, so that nobody need type `locked`'
complete -c locked -n "__fish_locked_needs_command" -f -a "completions" -d 'Print completions for a shell'
complete -c locked -n "__fish_locked_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand run" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand explain" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand explain" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand status" -l stalled -d 'Only what was not renewed for so long' -r
complete -c locked -n "__fish_locked_using_subcommand status" -s w -l watch -d 'Look again and again until Ctrl-C: redrawn on a terminal, else anew whenever something has changed'
complete -c locked -n "__fish_locked_using_subcommand status" -l json -d 'As JSON; with --watch one line for each change'
complete -c locked -n "__fish_locked_using_subcommand status" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand history" -l since -d 'Only what ended within this time' -r
complete -c locked -n "__fish_locked_using_subcommand history" -l limit -d 'At most so many' -r
complete -c locked -n "__fish_locked_using_subcommand history" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand history" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand acquire" -l operation -d 'What the hold is for' -r
complete -c locked -n "__fish_locked_using_subcommand acquire" -l ttl -d 'How long it lives without a renew [default: 30m]' -r
complete -c locked -n "__fish_locked_using_subcommand acquire" -l wait -d 'How long to wait [default: 30s]' -r
complete -c locked -n "__fish_locked_using_subcommand acquire" -s n -l no-wait -d 'Do not wait at all'
complete -c locked -n "__fish_locked_using_subcommand acquire" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand acquire" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand renew" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand renew" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand release" -l as -d 'How the work ended' -r -f -a "completed\t''
failed\t''
human-action\t''"
complete -c locked -n "__fish_locked_using_subcommand release" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand release" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand check" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand check" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand restore" -l from -d 'Which version to bring back [default: the last proven copy, else the one before the write, else HEAD]' -r -f -a "proven\t''
before\t''
head\t''"
complete -c locked -n "__fish_locked_using_subcommand restore" -l accept -d 'The file that is there is right: check it, and end the quarantine'
complete -c locked -n "__fish_locked_using_subcommand restore" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand restore" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand steal" -l reason -d 'Why, for its holder and the ledger' -r
complete -c locked -n "__fish_locked_using_subcommand steal" -l approved-by -d 'Who said so. Without a terminal, where nobody can be asked, it must be said' -r
complete -c locked -n "__fish_locked_using_subcommand steal" -l ttl -d 'How long this session holds it without a renew [default: 30m]' -r
complete -c locked -n "__fish_locked_using_subcommand steal" -l wait -d 'How long to wait for its holder to stop [default: until its lease ends by itself]' -r
complete -c locked -n "__fish_locked_using_subcommand steal" -l now -d 'Do not wait for its holder to stop: two may be writing then'
complete -c locked -n "__fish_locked_using_subcommand steal" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand steal" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "init" -d 'Set the store up, or bring it to this version; does nothing where all is there'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "check" -d 'Exit 0 when the store is as it should be and this role may use it, 78 with the reasons when not'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "print-sql" -d 'Print the SQL that makes the PostgreSQL store, for who applies it by hand; asks no server'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "prune" -d 'Take old history out; never a live lease, a token\'s counter or the end of a file\'s chain of receipts'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "epoch" -d 'Make all further tokens greater than any that was given out, after a restored backup or a fail-over'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "move" -d 'Copy history, receipts and counters to another store; this one then grants nothing any more'
complete -c locked -n "__fish_locked_using_subcommand store; and not __fish_seen_subcommand_from init check print-sql prune epoch move help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from init" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from check" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from print-sql" -l schema -d 'For this schema, whatever the settings say' -r
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from print-sql" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from prune" -l older-than -d 'Only what ended longer ago (at least 1h)' -r
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from prune" -l keep -d 'Never the last so many of each resource' -r
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from prune" -l dry-run -d 'Only say how many'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from prune" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from epoch" -l above -d 'A token that was seen somewhere and that this store may not know' -r
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from epoch" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from epoch" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from move" -l to -d 'The other store: postgres://…, sqlite:FILE, embedded, or settings: the one that the files of settings name, whatever LOCKED_STORE says. A password is better left to those, to PGPASSWORD or to a password file' -r
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from move" -l via -d 'The way to the other store, if it leads through another machine: ssh://[USER@]HOST[:PORT]' -r
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from move" -l undo -d 'Let this store grant again after a move that cannot be finished. Only when nobody uses the other one'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from move" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from move" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "init" -d 'Set the store up, or bring it to this version; does nothing where all is there'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "check" -d 'Exit 0 when the store is as it should be and this role may use it, 78 with the reasons when not'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "print-sql" -d 'Print the SQL that makes the PostgreSQL store, for who applies it by hand; asks no server'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "prune" -d 'Take old history out; never a live lease, a token\'s counter or the end of a file\'s chain of receipts'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "epoch" -d 'Make all further tokens greater than any that was given out, after a restored backup or a fail-over'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "move" -d 'Copy history, receipts and counters to another store; this one then grants nothing any more'
complete -c locked -n "__fish_locked_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand config; and not __fish_seen_subcommand_from show rules trust help" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand config; and not __fish_seen_subcommand_from show rules trust help" -f -a "show" -d 'Show what counts here, and who says so: built in, a file with its line, a variable, an option'
complete -c locked -n "__fish_locked_using_subcommand config; and not __fish_seen_subcommand_from show rules trust help" -f -a "rules" -d 'Print the built-in rules, as you would write yours'
complete -c locked -n "__fish_locked_using_subcommand config; and not __fish_seen_subcommand_from show rules trust help" -f -a "trust" -d 'Trust what the .locked.toml of a repository says now; when it changes, it is untrusted again'
complete -c locked -n "__fish_locked_using_subcommand config; and not __fish_seen_subcommand_from show rules trust help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from rules" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from trust" -l list -d 'List what is trusted, in all repositories'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from trust" -l remove -d 'Take the trust back, for every content that this repository\'s file ever had'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from trust" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from trust" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show what counts here, and who says so: built in, a file with its line, a variable, an option'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "rules" -d 'Print the built-in rules, as you would write yours'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "trust" -d 'Trust what the .locked.toml of a repository says now; when it changes, it is untrusted again'
complete -c locked -n "__fish_locked_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -f -a "install" -d 'Stand in front of programs: sops, docker, docker-compose and gh, or those that are named'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -f -a "list" -d 'Show the shims, where they are found on PATH, and the programs behind them'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -f -a "remove" -d 'Take shims away; what is not ours stays'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -f -a "exec" -d 'Run a program exactly as its shim does'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -f -a "path" -d 'Print the folder of the shims, for the PATH of CI, mise and direnv'
complete -c locked -n "__fish_locked_using_subcommand shims; and not __fish_seen_subcommand_from install list remove exec path help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from install" -l dir -d 'In this folder [default: LOCKED_SHIMS_DIR, else ~/.local/share/locked/shims]' -r -F
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from install" -l all -d 'Also ssh, scp, sftp and rsync'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from install" -l from-rules -d 'Also every program that the rules name which count here'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from install" -l system -d 'In the folder of the whole machine, /usr/local/lib/locked/shims'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from install" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from list" -l dir -d 'In this folder [default: LOCKED_SHIMS_DIR, else ~/.local/share/locked/shims]' -r -F
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from list" -l system -d 'In the folder of the whole machine, /usr/local/lib/locked/shims'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from list" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from remove" -l dir -d 'In this folder [default: LOCKED_SHIMS_DIR, else ~/.local/share/locked/shims]' -r -F
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from remove" -l all -d 'Every shim in the folder'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from remove" -l system -d 'In the folder of the whole machine, /usr/local/lib/locked/shims'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from remove" -l json -d 'As JSON'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from exec" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from path" -l dir -d 'In this folder [default: LOCKED_SHIMS_DIR, else ~/.local/share/locked/shims]' -r -F
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from path" -l system -d 'In the folder of the whole machine, /usr/local/lib/locked/shims'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from help" -f -a "install" -d 'Stand in front of programs: sops, docker, docker-compose and gh, or those that are named'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the shims, where they are found on PATH, and the programs behind them'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Take shims away; what is not ours stays'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from help" -f -a "exec" -d 'Run a program exactly as its shim does'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print the folder of the shims, for the PATH of CI, mise and direnv'
complete -c locked -n "__fish_locked_using_subcommand shims; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand completions" -s h -l help -d 'Print help'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "run" -d 'Run a program, also one that is called like a verb'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "explain" -d 'Show what a command line would lock, and run nothing'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "status" -d 'Show live leases; exits 0 whether there are any or not'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "history" -d 'Show ended leases, newest first'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "acquire" -d 'Hold resources for this session over several commands'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "renew" -d 'Give what this session holds a full TTL again'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "release" -d 'Give back what this session holds'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "check" -d 'Exit 0 when this session holds all of these, 77 when not'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "restore" -d 'Bring a bad file back, or accept the one that is there'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "steal" -d 'Take what somebody else holds: a person\'s word. Its command is stopped first, then this session holds it'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "store" -d 'Look after the store: set it up, check it, prune it, move it'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "config" -d 'Show what the settings are, and trust those of a repository'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "shims" -d 'Stand in front of programs, so that nobody need type `locked`'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "completions" -d 'Print completions for a shell'
complete -c locked -n "__fish_locked_using_subcommand help; and not __fish_seen_subcommand_from run explain status history acquire renew release check restore steal store config shims completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "init" -d 'Set the store up, or bring it to this version; does nothing where all is there'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "check" -d 'Exit 0 when the store is as it should be and this role may use it, 78 with the reasons when not'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "print-sql" -d 'Print the SQL that makes the PostgreSQL store, for who applies it by hand; asks no server'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "prune" -d 'Take old history out; never a live lease, a token\'s counter or the end of a file\'s chain of receipts'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "epoch" -d 'Make all further tokens greater than any that was given out, after a restored backup or a fail-over'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "move" -d 'Copy history, receipts and counters to another store; this one then grants nothing any more'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Show what counts here, and who says so: built in, a file with its line, a variable, an option'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "rules" -d 'Print the built-in rules, as you would write yours'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "trust" -d 'Trust what the .locked.toml of a repository says now; when it changes, it is untrusted again'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from shims" -f -a "install" -d 'Stand in front of programs: sops, docker, docker-compose and gh, or those that are named'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from shims" -f -a "list" -d 'Show the shims, where they are found on PATH, and the programs behind them'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from shims" -f -a "remove" -d 'Take shims away; what is not ours stays'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from shims" -f -a "exec" -d 'Run a program exactly as its shim does'
complete -c locked -n "__fish_locked_using_subcommand help; and __fish_seen_subcommand_from shims" -f -a "path" -d 'Print the folder of the shims, for the PATH of CI, mise and direnv'
