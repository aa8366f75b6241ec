# Completion of trdr for fish, made from its commands: trdr completion fish | source

set -g __trdr_valued --wait --file --column --color --profile --output -o --fields --out --base-url --retries --timeout --max-cu --as --max-age --window --sort --token --user --limit --since --until --before --symbol --min-holdings --grep --via --lag --backfill --count --duration --checkpoint --min-units --min-reveals --coin --wallet --period --at --compare --by --field -f --input --port --seed --plan --rate --envelope --page --faults --replay --speed --data --theses --traders --units-used
set -g __trdr_paths 'thesis' 'launchpad' 'cache' 'auth' 'config' 'resolve' 'whois' 'pnl' 'thesis list' 'thesis tail' 'me' 'price' 'launchpad user' 'launchpad callouts' 'launchpad board' 'doctor' 'schema' 'completion' 'usage' 'cache stats' 'cache clear' 'auth login' 'auth status' 'auth switch' 'auth logout' 'config list' 'config get' 'config set' 'config unset' 'config path' 'api' 'launchpad tail' 'help' 'version' 'sandbox'

# The command that the line calls, and how many arguments stand behind it.
function __trdr_line
    set -l path
    set -l place 0
    set -l skip 0
    set -l flags 1
    for word in (commandline -opc)[2..-1]
        set -l longer (string join -- ' ' $path $word)
        if test $skip = 1
            set skip 0
        else if test $flags = 1 -a "$word" = --
            set flags 0
        else if test $flags = 1; and string match -q -- '-?*' $word
            contains -- $word $__trdr_valued; and set skip 1
        else if test $place = 0; and contains -- $longer $__trdr_paths
            set path $longer
        else
            set place (math $place + 1)
        end
    end
    printf '%s\n' "$path" $place
end

# Whether the line calls one of these commands.
function __trdr_at
    set -l line (__trdr_line)
    contains -- "$line[1]" $argv
end

# Whether it does, and is at an argument's place; the last of several goes on.
function __trdr_place
    set -l line (__trdr_line)
    test "$line[1]" = "$argv[1]"; or return
    test $line[2] = $argv[2]; or test "$argv[3]" = more -a $line[2] -gt $argv[2]
end

# Names of a kind that only this machine knows: profiles, handles.
function __trdr_known
    set -l words (commandline -opc)
    set -l more
    for at in (seq 2 (count $words))
        switch $words[$at]
            case --profile
                test $at -lt (count $words); and set -a more --profile $words[(math $at + 1)]
            case '--profile=*'
                set -a more --profile (string replace -- --profile= '' $words[$at])
            case --sandbox
                set -a more --sandbox
        end
    end
    $words[1] __complete $argv[1] (commandline -ct | string replace -r -- '^--[a-z-]+=' '') $more 2>/dev/null
end

complete -c trdr -f
complete -c trdr -n '__trdr_place \'\' 0' -a api -d 'Call any API endpoint and print the raw response'
complete -c trdr -n '__trdr_place \'\' 0' -a auth -d 'Manage keys and profiles'
complete -c trdr -n '__trdr_place \'\' 0' -a cache -d 'Manage cached answers'
complete -c trdr -n '__trdr_place \'\' 0' -a completion -d 'Print the completion script for a shell'
complete -c trdr -n '__trdr_place \'\' 0' -a config -d 'Manage settings'
complete -c trdr -n '__trdr_place \'\' 0' -a doctor -d 'Check settings, key, connection, limits and API changes'
complete -c trdr -n '__trdr_place \'\' 0' -a help -d 'Show help for a command or a topic'
complete -c trdr -n '__trdr_place \'\' 0' -a launchpad -d 'Look up launchpad accounts, callouts and the leaderboard'
complete -c trdr -n '__trdr_place \'\' 0' -a me -d 'Show plan, limits, usage and remaining allowance (free)'
complete -c trdr -n '__trdr_place \'\' 0' -a pnl -d 'Show traders\' cash flow, return, volume, trades and rank'
complete -c trdr -n '__trdr_place \'\' 0' -a price -d 'Show the price list in compute units (CU)'
complete -c trdr -n '__trdr_place \'\' 0' -a resolve -d 'Resolve a handle to its wallet, searching live if none is on record'
complete -c trdr -n '__trdr_place \'\' 0' -a sandbox -d 'Run the embedded service on localhost'
complete -c trdr -n '__trdr_place \'\' 0' -a schema -d 'Describe a command\'s records, flags and prices as JSON'
complete -c trdr -n '__trdr_place \'\' 0' -a thesis -d 'List or stream theses'
complete -c trdr -n '__trdr_place \'\' 0' -a usage -d 'Show what this machine has spent (from the local ledger)'
complete -c trdr -n '__trdr_place \'\' 0' -a version -d 'Print the version'
complete -c trdr -n '__trdr_place \'\' 0' -a whois -d 'Look up who is behind a handle, a wallet or a user id'
complete -c trdr -n '__trdr_place \'thesis\' 0' -a list -d 'List theses, newest first'
complete -c trdr -n '__trdr_place \'thesis\' 0' -a tail -d 'Stream theses as they are posted, each exactly once'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a board -d 'Show the top 100 launchpad traders by PnL'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a callouts -d 'List coins called out on the launchpad, newest first'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a tail -d 'Stream callouts as they are posted, each exactly once'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a user -d 'Look up the launchpad account of a wallet'
complete -c trdr -n '__trdr_place \'cache\' 0' -a clear -d 'Clear the cache for the current key'
complete -c trdr -n '__trdr_place \'cache\' 0' -a stats -d 'Show cache statistics'
complete -c trdr -n '__trdr_place \'auth\' 0' -a login -d 'Verify an API key and save it to a profile'
complete -c trdr -n '__trdr_place \'auth\' 0' -a logout -d 'Remove the key of a profile'
complete -c trdr -n '__trdr_place \'auth\' 0' -a status -d 'Show all profiles with base URL, masked key and their origin'
complete -c trdr -n '__trdr_place \'auth\' 0' -a switch -d 'Switch to another profile'
complete -c trdr -n '__trdr_place \'config\' 0' -a get -d 'Show the effective value of a setting'
complete -c trdr -n '__trdr_place \'config\' 0' -a list -d 'Show the effective settings'
complete -c trdr -n '__trdr_place \'config\' 0' -a path -d 'Print the path of the config file'
complete -c trdr -n '__trdr_place \'config\' 0' -a set -d 'Change a setting of a profile'
complete -c trdr -n '__trdr_place \'config\' 0' -a unset -d 'Reset a setting to its default'
complete -c trdr -n '__trdr_at \'resolve\'' -l direct -d 'skip the 100 CU lookup'
complete -c trdr -n '__trdr_at \'resolve\'' -l wait -x -d 'maximum wait for a live answer'
complete -c trdr -n '__trdr_at \'resolve\'' -l no-wait -d 'do not wait for a live answer'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'launchpad user\'' -l file -r -F -d 'read one subject per line from FILE (- for stdin)'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'launchpad user\'' -l column -x -d 'the input is CSV: use this column'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'launchpad user\'' -l strict -d 'exit 10 if any subject is missing or failed'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'help\' \'version\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l help -s h -d 'show help'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'help\' \'version\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l quiet -s q -d 'suppress notices on stderr'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'help\' \'version\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l debug -d 'trace requests on stderr (keys are masked)'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'help\' \'version\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l color -x -k -a 'auto always never' -d 'color in tables and messages'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'help\' \'version\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l profile -x -k -a '(__trdr_known profile)' -d 'use this profile'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'help\' \'version\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l sandbox -d 'use the embedded service: no key, no network, no cost'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l output -s o -x -k -a 'table ndjson json csv' -d 'output format'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l json -d 'same as -o json'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l fields -x -d 'print only these fields, in this order'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l out -r -F -d 'write to FILE; the extension sets the format (- for stdout)'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l utc -d 'show times in UTC'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l base-url -x -d 'base URL of the service'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l dry-run -d 'print the calls and their cost without sending them'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l retries -x -d 'retries after a transient failure'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l timeout -x -d 'timeout of each request'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l insecure-http -d 'allow plain HTTP to other machines'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l max-cu -x -d 'spend at most this many CU in this run'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l yes -s y -d 'skip the cost confirmation'
complete -c trdr -n '__trdr_at \'whois\'' -l as -x -k -a 'handle wallet id' -d 'treat every subject as this type'
complete -c trdr -n '__trdr_at \'whois\'' -l max-age -x -d 'maximum age of a cached answer'
complete -c trdr -n '__trdr_at \'whois\'' -l no-cache -d 'bypass the cache'
complete -c trdr -n '__trdr_at \'pnl\'' -l window -x -k -a '24h 7d 30d all' -d 'show only this window'
complete -c trdr -n '__trdr_at \'pnl\'' -l sort -x -k -a 'netUsd returnPct volumeUsd trades rank' -d 'sort by this column of the first window, best first'
complete -c trdr -n '__trdr_at \'pnl\'' -l resume -d 'with --out: resume an interrupted export'
complete -c trdr -n '__trdr_at \'thesis list\' \'thesis tail\'' -l token -x -k -a '(__trdr_known token)' -d 'only theses about this token'
complete -c trdr -n '__trdr_at \'thesis list\' \'thesis tail\'' -l user -x -k -a '(__trdr_known handle)' -d 'only theses by this author (handle or user id)'
complete -c trdr -n '__trdr_at \'thesis list\' \'launchpad callouts\'' -l limit -x -d 'maximum number of results'
complete -c trdr -n '__trdr_at \'thesis list\' \'launchpad callouts\'' -l all -d 'no limit on the number of results'
complete -c trdr -n '__trdr_at \'thesis list\'' -l since -x -d 'only theses posted since this time'
complete -c trdr -n '__trdr_at \'thesis list\'' -l until -x -d 'only theses posted before this time'
complete -c trdr -n '__trdr_at \'thesis list\'' -l before -x -d 'only theses older than the one with this id'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l symbol -x -d 'only theses about tokens with this symbol'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l min-holdings -x -d 'minimum value of the author\'s position in USD'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l dev-only -d 'only theses by the token\'s own dev'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l grep -x -d 'only theses that match; lower case matches any case'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l via -x -k -a 'auto ws poll' -d 'how to follow the feed'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l lag -x -d 'target delay when polling; longer is cheaper'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l backfill -x -d 'start with the last N posts'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l since -x -d 'start with posts since this time'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l count -x -d 'stop after N rows'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l duration -x -d 'stop after this time'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l checkpoint -r -F -d 'resume from this checkpoint file'
complete -c trdr -n '__trdr_at \'me\'' -l min-units -x -d 'exit 6 when fewer units are left, top-ups included'
complete -c trdr -n '__trdr_at \'me\'' -l min-reveals -x -d 'exit 6 when fewer wallet reveals are left'
complete -c trdr -n '__trdr_at \'launchpad callouts\' \'launchpad tail\'' -l coin -x -k -a '(__trdr_known token)' -d 'only this coin'
complete -c trdr -n '__trdr_at \'launchpad callouts\' \'launchpad tail\'' -l wallet -x -d 'only callouts by this wallet'
complete -c trdr -n '__trdr_at \'launchpad callouts\'' -l since -x -d 'only callouts posted since this time'
complete -c trdr -n '__trdr_at \'launchpad board\'' -l period -x -k -a 'daily weekly monthly' -d 'period of the leaderboard'
complete -c trdr -n '__trdr_at \'launchpad board\'' -l at -x -d 'show the latest snapshot at or before this time'
complete -c trdr -n '__trdr_at \'launchpad board\'' -l compare -x -d 'show what changed since this time'
complete -c trdr -n '__trdr_at \'doctor\'' -l ws -d 'also try the WebSocket (one minute, 20,000 CU)'
complete -c trdr -n '__trdr_at \'usage\'' -l since -x -d 'only calls since this time, or of this age (7d)'
complete -c trdr -n '__trdr_at \'usage\'' -l by -x -k -a 'command endpoint day profile' -d 'group by this'
complete -c trdr -n '__trdr_at \'usage\'' -l reconcile -d 'compare this month with the service (free)'
complete -c trdr -n '__trdr_at \'cache clear\'' -l all -d 'clear the cache for all keys and base URLs'
complete -c trdr -n '__trdr_at \'auth login\'' -l with-key -d 'read the key from stdin'
complete -c trdr -n '__trdr_at \'auth login\'' -l no-verify -d 'save the key without verifying it'
complete -c trdr -n '__trdr_at \'auth status\'' -l check -d 'verify each key with the service'
complete -c trdr -n '__trdr_at \'auth logout\'' -l forget -d 'remove the whole profile, settings included'
complete -c trdr -n '__trdr_at \'config list\'' -l origin -d 'show where each value comes from'
complete -c trdr -n '__trdr_at \'api\'' -l field -s f -x -d 'field of the query or of the JSON body'
complete -c trdr -n '__trdr_at \'api\'' -l input -r -F -d 'send FILE as the request body (- for stdin)'
complete -c trdr -n '__trdr_at \'api\'' -l include -s i -d 'print the status line and the headers'
complete -c trdr -n '__trdr_at \'api\'' -l paginate -d 'fetch all pages'
complete -c trdr -n '__trdr_at \'api\'' -l out -r -F -d 'write to FILE, which appears complete or not at all'
complete -c trdr -n '__trdr_at \'sandbox\'' -l port -x -d 'port to listen on (0 for any free port)'
complete -c trdr -n '__trdr_at \'sandbox\'' -l seed -x -d 'seed of the generated data'
complete -c trdr -n '__trdr_at \'sandbox\'' -l plan -x -k -a 'explore starter builder growth scale enterprise legacy' -d 'plan of the key'
complete -c trdr -n '__trdr_at \'sandbox\'' -l rate -x -d 'live posts per minute'
complete -c trdr -n '__trdr_at \'sandbox\'' -l envelope -x -k -a 'bare wrapped' -d 'shape of the responses'
complete -c trdr -n '__trdr_at \'sandbox\'' -l page -x -k -a 'full capped' -d 'whether page limits above 20 are honoured'
complete -c trdr -n '__trdr_at \'sandbox\'' -l faults -x -d 'faults to inject, and how often'
complete -c trdr -n '__trdr_at \'sandbox\'' -l replay -r -F -d 'replay a feed recorded by thesis tail (NDJSON)'
complete -c trdr -n '__trdr_at \'sandbox\'' -l speed -x -d 'speed of the replay'
complete -c trdr -n '__trdr_at \'sandbox\'' -l data -r -F -d 'serve the NDJSON files in this folder'
complete -c trdr -n '__trdr_at \'sandbox\'' -l theses -x -d 'number of generated theses'
complete -c trdr -n '__trdr_at \'sandbox\'' -l traders -x -d 'number of generated traders'
complete -c trdr -n '__trdr_at \'sandbox\'' -l socials -d 'include social accounts in user records'
complete -c trdr -n '__trdr_at \'sandbox\'' -l units-used -x -d 'units that the key has already used'
complete -c trdr -n '__trdr_at \'sandbox\'' -l unmetered -d 'never reject the key for quota'
complete -c trdr -n '__trdr_place \'resolve\' 0 more' -k -a '(__trdr_known handle)'
complete -c trdr -n '__trdr_place \'whois\' 0 more' -k -a '(__trdr_known handle)'
complete -c trdr -n '__trdr_place \'pnl\' 0 more' -k -a '(__trdr_known handle)'
complete -c trdr -n '__trdr_place \'price\' 0' -k -a 'user.handle user.wallet user.id user.resolve user.pnl users.pnl thesis.all thesis.token thesis.user thesis.userToken launchpad.user launchpad.callouts launchpad.callouts.coin launchpad.callouts.wallet launchpad.board me ws'
complete -c trdr -n '__trdr_place \'schema\' 0 more' -k -a 'resolve whois pnl thesis list tail me price launchpad user callouts board doctor schema completion usage cache stats clear auth login status switch logout config get set unset path api help version sandbox'
complete -c trdr -n '__trdr_place \'completion\' 0' -k -a 'bash zsh fish powershell'
complete -c trdr -n '__trdr_place \'auth switch\' 0' -k -a '(__trdr_known profile)'
complete -c trdr -n '__trdr_place \'auth logout\' 0' -k -a '(__trdr_known profile)'
complete -c trdr -n '__trdr_place \'config get\' 0' -k -a 'profile key baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress storePassword'
complete -c trdr -n '__trdr_place \'config set\' 0' -k -a 'baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress'
complete -c trdr -n '__trdr_place \'config unset\' 0' -k -a 'baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress'
complete -c trdr -n '__trdr_place \'api\' 0' -k -a 'GET POST'
