# Completion of trdr for fish, made from its commands: trdr completion fish | source

set -g __trdr_valued --wait --file --column --color --profile --output -o --fields --out --base-url --retries --timeout --max-cu --as --max-age --window --sort --token --user --limit --since --until --before --symbol --min-holdings --grep --via --lag --backfill --count --duration --checkpoint --min-units --min-reveals --coin --wallet --period --at --compare --by --field -f --input --port --seed --plan --rate --envelope --page --faults --replay --speed --data --theses --traders --units-used
set -g __trdr_paths 'thesis' 'launchpad' 'cache' 'auth' 'config' 'resolve' 'whois' 'pnl' 'thesis list' 'thesis tail' 'me' 'price' 'launchpad user' 'launchpad callouts' 'launchpad board' 'doctor' 'schema' 'completion' 'usage' 'cache stats' 'cache clear' 'auth login' 'auth status' 'auth switch' 'auth logout' 'config list' 'config get' 'config set' 'config unset' 'config path' 'api' 'launchpad tail' 'sandbox'

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
complete -c trdr -n '__trdr_place \'\' 0' -a api -d 'Any call of the service, its answer as it came'
complete -c trdr -n '__trdr_place \'\' 0' -a auth -d 'Keys and profiles'
complete -c trdr -n '__trdr_place \'\' 0' -a cache -d 'Answers kept on this machine'
complete -c trdr -n '__trdr_place \'\' 0' -a completion -d 'The completion script of a shell'
complete -c trdr -n '__trdr_place \'\' 0' -a config -d 'Settings'
complete -c trdr -n '__trdr_place \'\' 0' -a doctor -d 'Check settings, key, reach, clock and limits, and how the service has changed'
complete -c trdr -n '__trdr_place \'\' 0' -a launchpad -d 'The launchpad'
complete -c trdr -n '__trdr_place \'\' 0' -a me -d 'Your plan, limits and what is left of both meters; free'
complete -c trdr -n '__trdr_place \'\' 0' -a pnl -d 'Traders\' numbers: cash flow, return, volume, trades, rank'
complete -c trdr -n '__trdr_place \'\' 0' -a price -d 'The price list, in compute units (CU)'
complete -c trdr -n '__trdr_place \'\' 0' -a resolve -d 'A handle\'s wallet, looked for live where none is held'
complete -c trdr -n '__trdr_place \'\' 0' -a sandbox -d 'The embedded service, standing on loopback until it is stopped'
complete -c trdr -n '__trdr_place \'\' 0' -a schema -d 'JSON Schema of what a command prints, with its flags, prices and exit codes'
complete -c trdr -n '__trdr_place \'\' 0' -a thesis -d 'The feed of theses'
complete -c trdr -n '__trdr_place \'\' 0' -a usage -d 'What was spent from this machine, by the local ledger'
complete -c trdr -n '__trdr_place \'\' 0' -a whois -d 'Who is behind a handle, a wallet or a user id'
complete -c trdr -n '__trdr_place \'thesis\' 0' -a list -d 'Theses, newest first'
complete -c trdr -n '__trdr_place \'thesis\' 0' -a tail -d 'Theses as they are posted, each exactly once'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a board -d 'The top 100 traders of the launchpad, by realized plus unrealized PnL'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a callouts -d 'Coins called out on the launchpad, newest first'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a tail -d 'Callouts as they are posted, each exactly once; by polls of 10 CU'
complete -c trdr -n '__trdr_place \'launchpad\' 0' -a user -d 'The launchpad account of a wallet'
complete -c trdr -n '__trdr_place \'cache\' 0' -a clear -d 'Forget the answers kept for the key in use'
complete -c trdr -n '__trdr_place \'cache\' 0' -a stats -d 'What is kept of earlier answers'
complete -c trdr -n '__trdr_place \'auth\' 0' -a login -d 'Keep a key in a profile, once the service has taken it'
complete -c trdr -n '__trdr_place \'auth\' 0' -a logout -d 'Forget the key of a profile'
complete -c trdr -n '__trdr_place \'auth\' 0' -a status -d 'Every profile: base URL, masked key, live or test, and where each comes from'
complete -c trdr -n '__trdr_place \'auth\' 0' -a switch -d 'Use another profile from now on'
complete -c trdr -n '__trdr_place \'config\' 0' -a get -d 'One setting as it counts in this place'
complete -c trdr -n '__trdr_place \'config\' 0' -a list -d 'Every setting as it counts in this place'
complete -c trdr -n '__trdr_place \'config\' 0' -a path -d 'Where the config file is, or would be'
complete -c trdr -n '__trdr_place \'config\' 0' -a set -d 'Keep a setting in a profile'
complete -c trdr -n '__trdr_place \'config\' 0' -a unset -d 'Forget a setting of a profile, so that its default counts again'
complete -c trdr -n '__trdr_at \'resolve\'' -l direct -d 'post the resolve at once, without the cheap lookup'
complete -c trdr -n '__trdr_at \'resolve\'' -l wait -x -d 'how long to wait for an answer'
complete -c trdr -n '__trdr_at \'resolve\'' -l no-wait -d 'take what the service says at once'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'launchpad user\'' -l file -r -F -d 'read one subject a line from this file; - is stdin'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'launchpad user\'' -l column -x -d 'the file is CSV: take this column'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'launchpad user\'' -l strict -d 'exit 10 when any subject was missing or failed'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l help -s h -d 'show help'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l quiet -s q -d 'no notices on stderr'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l debug -d 'trace requests on stderr, keys masked'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l color -x -k -a 'auto always never' -d 'colour in tables and messages'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l profile -x -k -a '(__trdr_known profile)' -d 'use this profile of the config file'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'completion\' \'usage\' \'cache stats\' \'cache clear\' \'auth login\' \'auth status\' \'auth switch\' \'auth logout\' \'config list\' \'config get\' \'config set\' \'config unset\' \'config path\' \'api\' \'launchpad tail\' \'sandbox\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l sandbox -d 'run against the embedded service: no key, no set-up, no network'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l output -s o -x -k -a 'table ndjson json csv' -d 'output format'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l json -d 'same as -o json'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l fields -x -d 'keep these fields, in this order'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l out -r -F -d 'write to this file, whose ending decides the format; - is stdout'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'price\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'schema\' \'usage\' \'cache stats\' \'auth status\' \'config list\' \'config get\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l utc -d 'show times in UTC'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l base-url -x -d 'base URL of the service'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l dry-run -d 'print the requests and what they can cost; send nothing'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l retries -x -d 'tries after a failure that may pass'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l timeout -x -d 'time for one request'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'me\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'usage\' \'auth login\' \'auth status\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l insecure-http -d 'allow plain http beyond this machine'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l max-cu -x -d 'hard ceiling: no call is sent that could pass it'
complete -c trdr -n '__trdr_at \'resolve\' \'whois\' \'pnl\' \'thesis list\' \'thesis tail\' \'launchpad user\' \'launchpad callouts\' \'launchpad board\' \'doctor\' \'api\' \'launchpad tail\' \'\' \'thesis\' \'launchpad\' \'cache\' \'auth\' \'config\'' -l yes -s y -d 'do not ask before a costly run'
complete -c trdr -n '__trdr_at \'whois\'' -l as -x -k -a 'handle wallet id' -d 'take every subject for this'
complete -c trdr -n '__trdr_at \'whois\'' -l max-age -x -d 'how old a kept answer may be'
complete -c trdr -n '__trdr_at \'whois\'' -l no-cache -d 'neither use nor keep answers'
complete -c trdr -n '__trdr_at \'pnl\'' -l window -x -k -a '24h 7d 30d all' -d 'show this window; may be given several times'
complete -c trdr -n '__trdr_at \'pnl\'' -l sort -x -k -a 'netUsd returnPct volumeUsd trades rank' -d 'best first, by the first --window given, or all'
complete -c trdr -n '__trdr_at \'pnl\'' -l resume -d 'with --out: go on with an export that was interrupted'
complete -c trdr -n '__trdr_at \'thesis list\' \'thesis tail\'' -l token -x -k -a '(__trdr_known token)' -d 'only about this token'
complete -c trdr -n '__trdr_at \'thesis list\' \'thesis tail\'' -l user -x -k -a '(__trdr_known handle)' -d 'only by this author: a handle or a user id'
complete -c trdr -n '__trdr_at \'thesis list\' \'launchpad callouts\'' -l limit -x -d 'how many at the most'
complete -c trdr -n '__trdr_at \'thesis list\' \'launchpad callouts\'' -l all -d 'all there are'
complete -c trdr -n '__trdr_at \'thesis list\' \'launchpad callouts\'' -l since -x -d 'only those posted since then'
complete -c trdr -n '__trdr_at \'thesis list\'' -l until -x -d 'only those posted before then'
complete -c trdr -n '__trdr_at \'thesis list\'' -l before -x -d 'only those older than the thesis with this id'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l symbol -x -d 'only about tokens of this symbol'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l min-holdings -x -d 'only where the author\'s position is at least this, USD'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l dev-only -d 'only by the token\'s own dev'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l grep -x -d 'only where the text matches; lower case matches any case'
complete -c trdr -n '__trdr_at \'thesis tail\'' -l via -x -k -a 'auto ws poll' -d 'how the feed is followed'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l lag -x -d 'delay to aim at when polling: longer is cheaper'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l backfill -x -d 'begin with the newest N'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l since -x -d 'begin with what was posted since then'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l count -x -d 'end after N rows'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l duration -x -d 'end after this long'
complete -c trdr -n '__trdr_at \'thesis tail\' \'launchpad tail\'' -l checkpoint -r -F -d 'go on where the run that wrote this file stopped'
complete -c trdr -n '__trdr_at \'me\'' -l min-units -x -d 'exit 6 when fewer units are left, top-ups included'
complete -c trdr -n '__trdr_at \'me\'' -l min-reveals -x -d 'exit 6 when fewer wallet reveals are left'
complete -c trdr -n '__trdr_at \'launchpad callouts\' \'launchpad tail\'' -l coin -x -k -a '(__trdr_known token)' -d 'only this coin'
complete -c trdr -n '__trdr_at \'launchpad callouts\'' -l wallet -x -d 'only what this wallet called out'
complete -c trdr -n '__trdr_at \'launchpad board\'' -l period -x -k -a 'daily weekly monthly' -d 'how long the board reaches back'
complete -c trdr -n '__trdr_at \'launchpad board\'' -l at -x -d 'the latest snapshot at or before this time'
complete -c trdr -n '__trdr_at \'launchpad board\'' -l compare -x -d 'what changed since the snapshot of this time'
complete -c trdr -n '__trdr_at \'doctor\'' -l ws -d 'also open the socket: a minute of it, 20,000 CU'
complete -c trdr -n '__trdr_at \'usage\'' -l since -x -d 'from this time on: a time, or an age such as 7d'
complete -c trdr -n '__trdr_at \'usage\'' -l by -x -k -a 'command endpoint day profile' -d 'what to sum by'
complete -c trdr -n '__trdr_at \'usage\'' -l reconcile -d 'hold the sum of the month against the service; free'
complete -c trdr -n '__trdr_at \'cache clear\'' -l all -d 'the answers of every base URL and key'
complete -c trdr -n '__trdr_at \'auth login\'' -l with-key -d 'read the key from stdin'
complete -c trdr -n '__trdr_at \'auth login\'' -l no-verify -d 'keep it without asking the service'
complete -c trdr -n '__trdr_at \'auth status\'' -l check -d 'ask the service about each key'
complete -c trdr -n '__trdr_at \'auth logout\'' -l forget -d 'remove the profile, with its base URL and settings'
complete -c trdr -n '__trdr_at \'config list\'' -l origin -d 'show where each value comes from'
complete -c trdr -n '__trdr_at \'api\'' -l field -s f -x -d 'a field of the query, or of the JSON body'
complete -c trdr -n '__trdr_at \'api\'' -l input -r -F -d 'send this file as the body; - is stdin'
complete -c trdr -n '__trdr_at \'api\'' -l include -s i -d 'print the status and the headers too'
complete -c trdr -n '__trdr_at \'api\'' -l paginate -d 'go on to the last page'
complete -c trdr -n '__trdr_at \'api\'' -l out -r -F -d 'write to this file, which appears whole or not at all; - is stdout'
complete -c trdr -n '__trdr_at \'launchpad tail\'' -l wallet -x -d 'only what this wallet calls out'
complete -c trdr -n '__trdr_at \'sandbox\'' -l port -x -d 'port to listen on; 0 takes a free one'
complete -c trdr -n '__trdr_at \'sandbox\'' -l seed -x -d 'seed of the world'
complete -c trdr -n '__trdr_at \'sandbox\'' -l plan -x -k -a 'explore starter builder growth scale enterprise legacy' -d 'plan of the key'
complete -c trdr -n '__trdr_at \'sandbox\'' -l rate -x -d 'live posts a minute'
complete -c trdr -n '__trdr_at \'sandbox\'' -l envelope -x -k -a 'bare wrapped' -d 'how answers stand'
complete -c trdr -n '__trdr_at \'sandbox\'' -l page -x -k -a 'full capped' -d 'whether limits above 20 are honoured'
complete -c trdr -n '__trdr_at \'sandbox\'' -l faults -x -d 'what goes wrong, and how often'
complete -c trdr -n '__trdr_at \'sandbox\'' -l replay -r -F -d 'play a recorded feed: NDJSON as thesis tail prints it'
complete -c trdr -n '__trdr_at \'sandbox\'' -l speed -x -d 'how fast the recording plays'
complete -c trdr -n '__trdr_at \'sandbox\'' -l data -r -F -d 'serve the NDJSON files of this folder'
complete -c trdr -n '__trdr_at \'sandbox\'' -l theses -x -d 'theses in the made world'
complete -c trdr -n '__trdr_at \'sandbox\'' -l traders -x -d 'traders in the made world'
complete -c trdr -n '__trdr_at \'sandbox\'' -l socials -d 'user records carry social links'
complete -c trdr -n '__trdr_at \'sandbox\'' -l units-used -x -d 'units the key has used already'
complete -c trdr -n '__trdr_at \'sandbox\'' -l unmetered -d 'the key is never refused for quota'
complete -c trdr -n '__trdr_place \'resolve\' 0 more' -k -a '(__trdr_known handle)'
complete -c trdr -n '__trdr_place \'whois\' 0 more' -k -a '(__trdr_known handle)'
complete -c trdr -n '__trdr_place \'pnl\' 0 more' -k -a '(__trdr_known handle)'
complete -c trdr -n '__trdr_place \'price\' 0' -k -a 'user.handle user.wallet user.id user.resolve user.pnl users.pnl thesis.all thesis.token thesis.user thesis.userToken launchpad.user launchpad.callouts launchpad.callouts.coin launchpad.callouts.wallet launchpad.board me ws'
complete -c trdr -n '__trdr_place \'schema\' 0 more' -k -a 'resolve whois pnl thesis list tail me price launchpad user callouts board doctor schema completion usage cache stats clear auth login status switch logout config get set unset path api sandbox'
complete -c trdr -n '__trdr_place \'completion\' 0' -k -a 'bash zsh fish powershell'
complete -c trdr -n '__trdr_place \'auth switch\' 0' -k -a '(__trdr_known profile)'
complete -c trdr -n '__trdr_place \'auth logout\' 0' -k -a '(__trdr_known profile)'
complete -c trdr -n '__trdr_place \'config get\' 0' -k -a 'profile key baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp'
complete -c trdr -n '__trdr_place \'config set\' 0' -k -a 'baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp'
complete -c trdr -n '__trdr_place \'config unset\' 0' -k -a 'baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp'
complete -c trdr -n '__trdr_place \'api\' 0' -k -a 'GET POST'
