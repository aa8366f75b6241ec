#compdef trdr
# Completion of trdr for zsh, made from its commands: source <(trdr completion zsh), or keep it as _trdr in fpath.

# Names of a kind that only this machine knows: profiles, handles.
_trdr_known() {
  local -a found
  found=(${(f)"$("$self" __complete $1 "$PREFIX" $more 2>/dev/null)"})
  (( $#found )) && compadd -M 'm:{a-zA-Z}={A-Za-z}' -a found
}

_trdr_resolve() {
  _arguments -S \
    '(--direct)--direct[skip the 100 CU lookup]' \
    '(--wait)--wait=[maximum wait for a live answer]:wait: ' \
    '(--no-wait)--no-wait[do not wait for a live answer]' \
    '(--file)--file=[read one subject per line from FILE (- for stdin)]:file:_files' \
    '(--column)--column=[the input is CSV\: use this column]:column: ' \
    '(--strict)--strict[exit 10 if any subject is missing or failed]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    '*:handle:{_trdr_known handle}' \
    && return
}

_trdr_whois() {
  _arguments -S \
    '(--as)--as=[treat every subject as this type]:as:(handle wallet id)' \
    '(--file)--file=[read one subject per line from FILE (- for stdin)]:file:_files' \
    '(--column)--column=[the input is CSV\: use this column]:column: ' \
    '(--strict)--strict[exit 10 if any subject is missing or failed]' \
    '(--max-age)--max-age=[maximum age of a cached answer]:max-age: ' \
    '(--no-cache)--no-cache[bypass the cache]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    '*:subject:{_trdr_known handle}' \
    && return
}

_trdr_pnl() {
  _arguments -S \
    '*--window=[show only this window]:window:(24h 7d 30d all)' \
    '(--sort)--sort=[sort by this column of the first window, best first]:sort:(netUsd returnPct volumeUsd trades rank)' \
    '(--resume)--resume[with --out\: resume an interrupted export]' \
    '(--file)--file=[read one subject per line from FILE (- for stdin)]:file:_files' \
    '(--column)--column=[the input is CSV\: use this column]:column: ' \
    '(--strict)--strict[exit 10 if any subject is missing or failed]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    '*:handle:{_trdr_known handle}' \
    && return
}

_trdr_thesis_list() {
  _arguments -S \
    '(--token)--token=[only theses about this token]:token:{_trdr_known token}' \
    '(--user)--user=[only theses by this author (handle or user id)]:user:{_trdr_known handle}' \
    '(--limit)--limit=[maximum number of results]:limit: ' \
    '(--all)--all[no limit on the number of results]' \
    '(--since)--since=[only theses posted since this time]:since: ' \
    '(--until)--until=[only theses posted before this time]:until: ' \
    '(--before)--before=[only theses older than the one with this id]:before: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    && return
}

_trdr_thesis_tail() {
  _arguments -S \
    '*--token=[only theses about this token]:token:{_trdr_known token}' \
    '(--user)--user=[only theses by this author (handle or user id)]:user:{_trdr_known handle}' \
    '*--symbol=[only theses about tokens with this symbol]:symbol: ' \
    '(--min-holdings)--min-holdings=[minimum value of the author'\''s position in USD]:min-holdings: ' \
    '(--dev-only)--dev-only[only theses by the token'\''s own dev]' \
    '(--grep)--grep=[only theses that match; lower case matches any case]:grep: ' \
    '(--via)--via=[how to follow the feed]:via:(auto ws poll)' \
    '(--lag)--lag=[target delay when polling; longer is cheaper]:lag: ' \
    '(--backfill)--backfill=[start with the last N posts]:backfill: ' \
    '(--since)--since=[start with posts since this time]:since: ' \
    '(--count)--count=[stop after N rows]:count: ' \
    '(--duration)--duration=[stop after this time]:duration: ' \
    '(--checkpoint)--checkpoint=[resume from this checkpoint file]:checkpoint:_files' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    && return
}

_trdr_me() {
  _arguments -S \
    '(--min-units)--min-units=[exit 6 when fewer units are left, top-ups included]:min-units: ' \
    '(--min-reveals)--min-reveals=[exit 6 when fewer wallet reveals are left]:min-reveals: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    && return
}

_trdr_price() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '1:endpoint:(user.handle user.wallet user.id user.resolve user.pnl users.pnl thesis.all thesis.token thesis.user thesis.userToken launchpad.user launchpad.callouts launchpad.callouts.coin launchpad.callouts.wallet launchpad.board me ws)' \
    && return
}

_trdr_launchpad_user() {
  _arguments -S \
    '(--file)--file=[read one subject per line from FILE (- for stdin)]:file:_files' \
    '(--column)--column=[the input is CSV\: use this column]:column: ' \
    '(--strict)--strict[exit 10 if any subject is missing or failed]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    '*:wallet: ' \
    && return
}

_trdr_launchpad_callouts() {
  _arguments -S \
    '(--coin)--coin=[only this coin]:coin:{_trdr_known token}' \
    '(--wallet)--wallet=[only callouts by this wallet]:wallet: ' \
    '(--limit)--limit=[maximum number of results]:limit: ' \
    '(--all)--all[no limit on the number of results]' \
    '(--since)--since=[only callouts posted since this time]:since: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    && return
}

_trdr_launchpad_board() {
  _arguments -S \
    '(--period)--period=[period of the leaderboard]:period:(daily weekly monthly)' \
    '(--at)--at=[show the latest snapshot at or before this time]:at: ' \
    '(--compare)--compare=[show what changed since this time]:compare: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    && return
}

_trdr_doctor() {
  _arguments -S \
    '(--ws)--ws[also try the WebSocket (one minute, 20,000 CU)]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    && return
}

_trdr_schema() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '*:command:(resolve whois pnl thesis list tail me price launchpad user callouts board doctor schema completion usage cache stats clear auth login status switch logout config get set unset path api help version sandbox)' \
    && return
}

_trdr_completion() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '1:shell:(bash zsh fish powershell)' \
    && return
}

_trdr_usage() {
  _arguments -S \
    '(--since)--since=[only calls since this time, or of this age (7d)]:since: ' \
    '(--by)--by=[group by this]:by:(command endpoint day profile)' \
    '(--reconcile)--reconcile[compare this month with the service (free)]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    && return
}

_trdr_cache_stats() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    && return
}

_trdr_cache_clear() {
  _arguments -S \
    '(--all)--all[clear the cache for all keys and base URLs]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    && return
}

_trdr_auth_login() {
  _arguments -S \
    '(--with-key)--with-key[read the key from stdin]' \
    '(--no-verify)--no-verify[save the key without verifying it]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    && return
}

_trdr_auth_status() {
  _arguments -S \
    '(--check)--check[verify each key with the service]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    && return
}

_trdr_auth_switch() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '1:profile:{_trdr_known profile}' \
    && return
}

_trdr_auth_logout() {
  _arguments -S \
    '(--forget)--forget[remove the whole profile, settings included]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '1:profile:{_trdr_known profile}' \
    && return
}

_trdr_config_list() {
  _arguments -S \
    '(--origin)--origin[show where each value comes from]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    && return
}

_trdr_config_get() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '1:key:(profile key baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress storePassword)' \
    && return
}

_trdr_config_set() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '1:key:(baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress)' \
    '2:value: ' \
    && return
}

_trdr_config_unset() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '1:key:(baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress)' \
    && return
}

_trdr_config_path() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    && return
}

_trdr_api() {
  _arguments -S \
    '*--field=[field of the query or of the JSON body]:field: ' \
    '*-f+[field of the query or of the JSON body]:f: ' \
    '(--input)--input=[send FILE as the request body (- for stdin)]:input:_files' \
    '(--include -i)--include[print the status line and the headers]' \
    '(--include -i)-i[print the status line and the headers]' \
    '(--paginate)--paginate[fetch all pages]' \
    '(--out)--out=[write to FILE, which appears complete or not at all]:out:_files' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    '1:method:(GET POST)' \
    '2:path: ' \
    && return
}

_trdr_launchpad_tail() {
  _arguments -S \
    '(--coin)--coin=[only this coin]:coin:{_trdr_known token}' \
    '(--wallet)--wallet=[only callouts by this wallet]:wallet: ' \
    '(--lag)--lag=[target delay when polling; longer is cheaper]:lag: ' \
    '(--backfill)--backfill=[start with the last N posts]:backfill: ' \
    '(--since)--since=[start with posts since this time]:since: ' \
    '(--count)--count=[stop after N rows]:count: ' \
    '(--duration)--duration=[stop after this time]:duration: ' \
    '(--checkpoint)--checkpoint=[resume from this checkpoint file]:checkpoint:_files' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[print only these fields, in this order]:fields: ' \
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the calls and their cost without sending them]' \
    '(--retries)--retries=[retries after a transient failure]:retries: ' \
    '(--timeout)--timeout=[timeout of each request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]' \
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: ' \
    '(--yes -y)--yes[skip the cost confirmation]' \
    '(--yes -y)-y[skip the cost confirmation]' \
    && return
}

_trdr_help() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    '*:topic: ' \
    && return
}

_trdr_version() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    && return
}

_trdr_sandbox() {
  _arguments -S \
    '(--port)--port=[port to listen on (0 for any free port)]:port: ' \
    '(--seed)--seed=[seed of the generated data]:seed: ' \
    '(--plan)--plan=[plan of the key]:plan:(explore starter builder growth scale enterprise legacy)' \
    '(--rate)--rate=[live posts per minute]:rate: ' \
    '(--envelope)--envelope=[shape of the responses]:envelope:(bare wrapped)' \
    '(--page)--page=[whether page limits above 20 are honoured]:page:(full capped)' \
    '(--faults)--faults=[faults to inject, and how often]:faults: ' \
    '(--replay)--replay=[replay a feed recorded by thesis tail (NDJSON)]:replay:_files' \
    '(--speed)--speed=[speed of the replay]:speed: ' \
    '(--data)--data=[serve the NDJSON files in this folder]:data:_files' \
    '(--theses)--theses=[number of generated theses]:theses: ' \
    '(--traders)--traders=[number of generated traders]:traders: ' \
    '(--socials)--socials[include social accounts in user records]' \
    '(--units-used)--units-used=[units that the key has already used]:units-used: ' \
    '(--unmetered)--unmetered[never reject the key for quota]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[suppress notices on stderr]' \
    '(--quiet -q)-q[suppress notices on stderr]' \
    '(--debug)--debug[trace requests on stderr (keys are masked)]' \
    '(--color)--color=[color in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]' \
    && return
}

_trdr_thesis() {
  local line state
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr thesis command' words_thesis ;;
    rest)
      case $line[1] in
        list) _trdr_thesis_list ;;
        tail) _trdr_thesis_tail ;;
      esac
      ;;
  esac
}

_trdr_launchpad() {
  local line state
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr launchpad command' words_launchpad ;;
    rest)
      case $line[1] in
        board) _trdr_launchpad_board ;;
        callouts) _trdr_launchpad_callouts ;;
        tail) _trdr_launchpad_tail ;;
        user) _trdr_launchpad_user ;;
      esac
      ;;
  esac
}

_trdr_cache() {
  local line state
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr cache command' words_cache ;;
    rest)
      case $line[1] in
        clear) _trdr_cache_clear ;;
        stats) _trdr_cache_stats ;;
      esac
      ;;
  esac
}

_trdr_auth() {
  local line state
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr auth command' words_auth ;;
    rest)
      case $line[1] in
        login) _trdr_auth_login ;;
        logout) _trdr_auth_logout ;;
        status) _trdr_auth_status ;;
        switch) _trdr_auth_switch ;;
      esac
      ;;
  esac
}

_trdr_config() {
  local line state
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr config command' words_config ;;
    rest)
      case $line[1] in
        get) _trdr_config_get ;;
        list) _trdr_config_list ;;
        path) _trdr_config_path ;;
        set) _trdr_config_set ;;
        unset) _trdr_config_unset ;;
      esac
      ;;
  esac
}

_trdr() {
  local self=$words[1] line state
  local -a more leading words_ words_thesis words_launchpad words_cache words_auth words_config
  typeset -A opt_args
  local at
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at] in
      --profile) (( at + 1 < CURRENT )) && more+=(--profile $words[at+1]) ;;
      --profile=*) more+=(--profile ${words[at]#*=}) ;;
      --sandbox) more+=(--sandbox) ;;
    esac
  done
  leading=(
    '(--help -h)--help[show help]'
    '(--help -h)-h[show help]'
    '(--quiet -q)--quiet[suppress notices on stderr]'
    '(--quiet -q)-q[suppress notices on stderr]'
    '(--debug)--debug[trace requests on stderr (keys are masked)]'
    '(--color)--color=[color in tables and messages]:color:(auto always never)'
    '(--profile)--profile=[use this profile]:profile:{_trdr_known profile}'
    '(--sandbox)--sandbox[use the embedded service\: no key, no network, no cost]'
    '(--output -o)--output=[output format]:output:(table ndjson json csv)'
    '(--output -o)-o+[output format]:o:(table ndjson json csv)'
    '(--json)--json[same as -o json]'
    '(--fields)--fields=[print only these fields, in this order]:fields: '
    '(--out)--out=[write to FILE; the extension sets the format (- for stdout)]:out:_files'
    '(--utc)--utc[show times in UTC]'
    '(--base-url)--base-url=[base URL of the service]:base-url: '
    '(--dry-run)--dry-run[print the calls and their cost without sending them]'
    '(--retries)--retries=[retries after a transient failure]:retries: '
    '(--timeout)--timeout=[timeout of each request]:timeout: '
    '(--insecure-http)--insecure-http[allow plain HTTP to other machines]'
    '(--max-cu)--max-cu=[spend at most this many CU in this run]:max-cu: '
    '(--yes -y)--yes[skip the cost confirmation]'
    '(--yes -y)-y[skip the cost confirmation]'
  )
  words_=(
    'api:Call any API endpoint and print the raw response'
    'auth:Manage keys and profiles'
    'cache:Manage cached answers'
    'completion:Print the completion script for a shell'
    'config:Manage settings'
    'doctor:Check settings, key, connection, limits and API changes'
    'help:Show help for a command or a topic'
    'launchpad:Look up launchpad accounts, callouts and the leaderboard'
    'me:Show plan, limits, usage and remaining allowance (free)'
    'pnl:Show traders'\'' cash flow, return, volume, trades and rank'
    'price:Show the price list in compute units (CU)'
    'resolve:Resolve a handle to its wallet, searching live if none is on record'
    'sandbox:Run the embedded service on localhost'
    'schema:Describe a command'\''s records, flags and prices as JSON'
    'thesis:List or stream theses'
    'usage:Show what this machine has spent (from the local ledger)'
    'version:Print the version'
    'whois:Look up who is behind a handle, a wallet or a user id'
  )
  words_thesis=(
    'list:List theses, newest first'
    'tail:Stream theses as they are posted, each exactly once'
  )
  words_launchpad=(
    'board:Show the top 100 launchpad traders by PnL'
    'callouts:List coins called out on the launchpad, newest first'
    'tail:Stream callouts as they are posted, each exactly once'
    'user:Look up the launchpad account of a wallet'
  )
  words_cache=(
    'clear:Clear the cache for the current key'
    'stats:Show cache statistics'
  )
  words_auth=(
    'login:Verify an API key and save it to a profile'
    'logout:Remove the key of a profile'
    'status:Show all profiles with base URL, masked key and their origin'
    'switch:Switch to another profile'
  )
  words_config=(
    'get:Show the effective value of a setting'
    'list:Show the effective settings'
    'path:Print the path of the config file'
    'set:Change a setting of a profile'
    'unset:Reset a setting to its default'
  )
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr command' words_ ;;
    rest)
      case $line[1] in
        api) _trdr_api ;;
        auth) _trdr_auth ;;
        cache) _trdr_cache ;;
        completion) _trdr_completion ;;
        config) _trdr_config ;;
        doctor) _trdr_doctor ;;
        help) _trdr_help ;;
        launchpad) _trdr_launchpad ;;
        me) _trdr_me ;;
        pnl) _trdr_pnl ;;
        price) _trdr_price ;;
        resolve) _trdr_resolve ;;
        sandbox) _trdr_sandbox ;;
        schema) _trdr_schema ;;
        thesis) _trdr_thesis ;;
        usage) _trdr_usage ;;
        version) _trdr_version ;;
        whois) _trdr_whois ;;
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _trdr ]]; then
  _trdr "$@"
else
  compdef _trdr trdr
fi
