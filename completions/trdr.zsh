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
    '(--direct)--direct[post the resolve at once, without the cheap lookup]' \
    '(--wait)--wait=[how long to wait for an answer]:wait: ' \
    '(--no-wait)--no-wait[take what the service says at once]' \
    '(--file)--file=[read one subject a line from this file; - is stdin]:file:_files' \
    '(--column)--column=[the file is CSV\: take this column]:column: ' \
    '(--strict)--strict[exit 10 when any subject was missing or failed]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    '*:handle:{_trdr_known handle}' \
    && return
}

_trdr_whois() {
  _arguments -S \
    '(--as)--as=[take every subject for this]:as:(handle wallet id)' \
    '(--file)--file=[read one subject a line from this file; - is stdin]:file:_files' \
    '(--column)--column=[the file is CSV\: take this column]:column: ' \
    '(--strict)--strict[exit 10 when any subject was missing or failed]' \
    '(--max-age)--max-age=[how old a kept answer may be]:max-age: ' \
    '(--no-cache)--no-cache[neither use nor keep answers]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    '*:subject:{_trdr_known handle}' \
    && return
}

_trdr_pnl() {
  _arguments -S \
    '*--window=[show this window; may be given several times]:window:(24h 7d 30d all)' \
    '(--sort)--sort=[best first, by the first --window given, or all]:sort:(netUsd returnPct volumeUsd trades rank)' \
    '(--resume)--resume[with --out\: go on with an export that was interrupted]' \
    '(--file)--file=[read one subject a line from this file; - is stdin]:file:_files' \
    '(--column)--column=[the file is CSV\: take this column]:column: ' \
    '(--strict)--strict[exit 10 when any subject was missing or failed]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    '*:handle:{_trdr_known handle}' \
    && return
}

_trdr_thesis_list() {
  _arguments -S \
    '(--token)--token=[only about this token]:token:{_trdr_known token}' \
    '(--user)--user=[only by this author\: a handle or a user id]:user:{_trdr_known handle}' \
    '(--limit)--limit=[how many at the most]:limit: ' \
    '(--all)--all[all there are]' \
    '(--since)--since=[only those posted since then]:since: ' \
    '(--until)--until=[only those posted before then]:until: ' \
    '(--before)--before=[only those older than the thesis with this id]:before: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    && return
}

_trdr_thesis_tail() {
  _arguments -S \
    '*--token=[only about this token]:token:{_trdr_known token}' \
    '(--user)--user=[only by this author\: a handle or a user id]:user:{_trdr_known handle}' \
    '*--symbol=[only about tokens of this symbol]:symbol: ' \
    '(--min-holdings)--min-holdings=[only where the author'\''s position is at least this, USD]:min-holdings: ' \
    '(--dev-only)--dev-only[only by the token'\''s own dev]' \
    '(--grep)--grep=[only where the text matches; lower case matches any case]:grep: ' \
    '(--via)--via=[how the feed is followed]:via:(auto ws poll)' \
    '(--lag)--lag=[delay to aim at when polling\: longer is cheaper]:lag: ' \
    '(--backfill)--backfill=[begin with the newest N]:backfill: ' \
    '(--since)--since=[begin with what was posted since then]:since: ' \
    '(--count)--count=[end after N rows]:count: ' \
    '(--duration)--duration=[end after this long]:duration: ' \
    '(--checkpoint)--checkpoint=[go on where the run that wrote this file stopped]:checkpoint:_files' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    && return
}

_trdr_me() {
  _arguments -S \
    '(--min-units)--min-units=[exit 6 when fewer units are left, top-ups included]:min-units: ' \
    '(--min-reveals)--min-reveals=[exit 6 when fewer wallet reveals are left]:min-reveals: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    && return
}

_trdr_price() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '1:endpoint:(user.handle user.wallet user.id user.resolve user.pnl users.pnl thesis.all thesis.token thesis.user thesis.userToken launchpad.user launchpad.callouts launchpad.callouts.coin launchpad.callouts.wallet launchpad.board me ws)' \
    && return
}

_trdr_launchpad_user() {
  _arguments -S \
    '(--file)--file=[read one subject a line from this file; - is stdin]:file:_files' \
    '(--column)--column=[the file is CSV\: take this column]:column: ' \
    '(--strict)--strict[exit 10 when any subject was missing or failed]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    '*:wallet: ' \
    && return
}

_trdr_launchpad_callouts() {
  _arguments -S \
    '(--coin)--coin=[only this coin]:coin:{_trdr_known token}' \
    '(--wallet)--wallet=[only what this wallet called out]:wallet: ' \
    '(--limit)--limit=[how many at the most]:limit: ' \
    '(--all)--all[all there are]' \
    '(--since)--since=[only those posted since then]:since: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    && return
}

_trdr_launchpad_board() {
  _arguments -S \
    '(--period)--period=[how long the board reaches back]:period:(daily weekly monthly)' \
    '(--at)--at=[the latest snapshot at or before this time]:at: ' \
    '(--compare)--compare=[what changed since the snapshot of this time]:compare: ' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    && return
}

_trdr_doctor() {
  _arguments -S \
    '(--ws)--ws[also open the socket\: a minute of it, 20,000 CU]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    && return
}

_trdr_schema() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '*:command:(resolve whois pnl thesis list tail me price launchpad user callouts board doctor schema completion usage cache stats clear auth login status switch logout config get set unset path api sandbox)' \
    && return
}

_trdr_completion() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '1:shell:(bash zsh fish powershell)' \
    && return
}

_trdr_usage() {
  _arguments -S \
    '(--since)--since=[from this time on\: a time, or an age such as 7d]:since: ' \
    '(--by)--by=[what to sum by]:by:(command endpoint day profile)' \
    '(--reconcile)--reconcile[hold the sum of the month against the service; free]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    && return
}

_trdr_cache_stats() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    && return
}

_trdr_cache_clear() {
  _arguments -S \
    '(--all)--all[the answers of every base URL and key]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    && return
}

_trdr_auth_login() {
  _arguments -S \
    '(--with-key)--with-key[read the key from stdin]' \
    '(--no-verify)--no-verify[keep it without asking the service]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    && return
}

_trdr_auth_status() {
  _arguments -S \
    '(--check)--check[ask the service about each key]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    && return
}

_trdr_auth_switch() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '1:profile:{_trdr_known profile}' \
    && return
}

_trdr_auth_logout() {
  _arguments -S \
    '(--forget)--forget[remove the profile, with its base URL and settings]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '1:profile:{_trdr_known profile}' \
    && return
}

_trdr_config_list() {
  _arguments -S \
    '(--origin)--origin[show where each value comes from]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    && return
}

_trdr_config_get() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '1:key:(profile key baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp)' \
    && return
}

_trdr_config_set() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '1:key:(baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp)' \
    '2:value: ' \
    && return
}

_trdr_config_unset() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '1:key:(baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp)' \
    && return
}

_trdr_config_path() {
  _arguments -S \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    && return
}

_trdr_api() {
  _arguments -S \
    '*--field=[a field of the query, or of the JSON body]:field: ' \
    '*-f+[a field of the query, or of the JSON body]:f: ' \
    '(--input)--input=[send this file as the body; - is stdin]:input:_files' \
    '(--include -i)--include[print the status and the headers too]' \
    '(--include -i)-i[print the status and the headers too]' \
    '(--paginate)--paginate[go on to the last page]' \
    '(--out)--out=[write to this file, which appears whole or not at all; - is stdout]:out:_files' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    '1:method:(GET POST)' \
    '2:path: ' \
    && return
}

_trdr_launchpad_tail() {
  _arguments -S \
    '(--coin)--coin=[only this coin]:coin:{_trdr_known token}' \
    '(--wallet)--wallet=[only what this wallet calls out]:wallet: ' \
    '(--lag)--lag=[delay to aim at when polling\: longer is cheaper]:lag: ' \
    '(--backfill)--backfill=[begin with the newest N]:backfill: ' \
    '(--since)--since=[begin with what was posted since then]:since: ' \
    '(--count)--count=[end after N rows]:count: ' \
    '(--duration)--duration=[end after this long]:duration: ' \
    '(--checkpoint)--checkpoint=[go on where the run that wrote this file stopped]:checkpoint:_files' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
    '(--output -o)--output=[output format]:output:(table ndjson json csv)' \
    '(--output -o)-o+[output format]:o:(table ndjson json csv)' \
    '(--json)--json[same as -o json]' \
    '(--fields)--fields=[keep these fields, in this order]:fields: ' \
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files' \
    '(--utc)--utc[show times in UTC]' \
    '(--base-url)--base-url=[base URL of the service]:base-url: ' \
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]' \
    '(--retries)--retries=[tries after a failure that may pass]:retries: ' \
    '(--timeout)--timeout=[time for one request]:timeout: ' \
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]' \
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: ' \
    '(--yes -y)--yes[do not ask before a costly run]' \
    '(--yes -y)-y[do not ask before a costly run]' \
    && return
}

_trdr_sandbox() {
  _arguments -S \
    '(--port)--port=[port to listen on; 0 takes a free one]:port: ' \
    '(--seed)--seed=[seed of the world]:seed: ' \
    '(--plan)--plan=[plan of the key]:plan:(explore starter builder growth scale enterprise legacy)' \
    '(--rate)--rate=[live posts a minute]:rate: ' \
    '(--envelope)--envelope=[how answers stand]:envelope:(bare wrapped)' \
    '(--page)--page=[whether limits above 20 are honoured]:page:(full capped)' \
    '(--faults)--faults=[what goes wrong, and how often]:faults: ' \
    '(--replay)--replay=[play a recorded feed\: NDJSON as thesis tail prints it]:replay:_files' \
    '(--speed)--speed=[how fast the recording plays]:speed: ' \
    '(--data)--data=[serve the NDJSON files of this folder]:data:_files' \
    '(--theses)--theses=[theses in the made world]:theses: ' \
    '(--traders)--traders=[traders in the made world]:traders: ' \
    '(--socials)--socials[user records carry social links]' \
    '(--units-used)--units-used=[units the key has used already]:units-used: ' \
    '(--unmetered)--unmetered[the key is never refused for quota]' \
    '(--help -h)--help[show help]' \
    '(--help -h)-h[show help]' \
    '(--quiet -q)--quiet[no notices on stderr]' \
    '(--quiet -q)-q[no notices on stderr]' \
    '(--debug)--debug[trace requests on stderr, keys masked]' \
    '(--color)--color=[colour in tables and messages]:color:(auto always never)' \
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}' \
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]' \
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
    '(--quiet -q)--quiet[no notices on stderr]'
    '(--quiet -q)-q[no notices on stderr]'
    '(--debug)--debug[trace requests on stderr, keys masked]'
    '(--color)--color=[colour in tables and messages]:color:(auto always never)'
    '(--profile)--profile=[use this profile of the config file]:profile:{_trdr_known profile}'
    '(--sandbox)--sandbox[run against the embedded service\: no key, no set-up, no network]'
    '(--output -o)--output=[output format]:output:(table ndjson json csv)'
    '(--output -o)-o+[output format]:o:(table ndjson json csv)'
    '(--json)--json[same as -o json]'
    '(--fields)--fields=[keep these fields, in this order]:fields: '
    '(--out)--out=[write to this file, whose ending decides the format; - is stdout]:out:_files'
    '(--utc)--utc[show times in UTC]'
    '(--base-url)--base-url=[base URL of the service]:base-url: '
    '(--dry-run)--dry-run[print the requests and what they can cost; send nothing]'
    '(--retries)--retries=[tries after a failure that may pass]:retries: '
    '(--timeout)--timeout=[time for one request]:timeout: '
    '(--insecure-http)--insecure-http[allow plain http beyond this machine]'
    '(--max-cu)--max-cu=[hard ceiling\: no call is sent that could pass it]:max-cu: '
    '(--yes -y)--yes[do not ask before a costly run]'
    '(--yes -y)-y[do not ask before a costly run]'
  )
  words_=(
    'api:Any call of the service, its answer as it came'
    'auth:Keys and profiles'
    'cache:Answers kept on this machine'
    'completion:The completion script of a shell'
    'config:Settings'
    'doctor:Check settings, key, reach, clock and limits, and how the service has changed'
    'launchpad:The launchpad'
    'me:Your plan, limits and what is left of both meters; free'
    'pnl:Traders'\'' numbers\: cash flow, return, volume, trades, rank'
    'price:The price list, in compute units (CU)'
    'resolve:A handle'\''s wallet, looked for live where none is held'
    'sandbox:The embedded service, standing on loopback until it is stopped'
    'schema:JSON Schema of what a command prints, with its flags, prices and exit codes'
    'thesis:The feed of theses'
    'usage:What was spent from this machine, by the local ledger'
    'whois:Who is behind a handle, a wallet or a user id'
  )
  words_thesis=(
    'list:Theses, newest first'
    'tail:Theses as they are posted, each exactly once'
  )
  words_launchpad=(
    'board:The top 100 traders of the launchpad, by realized plus unrealized PnL'
    'callouts:Coins called out on the launchpad, newest first'
    'tail:Callouts as they are posted, each exactly once; by polls of 10 CU'
    'user:The launchpad account of a wallet'
  )
  words_cache=(
    'clear:Forget the answers kept for the key in use'
    'stats:What is kept of earlier answers'
  )
  words_auth=(
    'login:Keep a key in a profile, once the service has taken it'
    'logout:Forget the key of a profile'
    'status:Every profile\: base URL, masked key, live or test, and where each comes from'
    'switch:Use another profile from now on'
  )
  words_config=(
    'get:One setting as it counts in this place'
    'list:Every setting as it counts in this place'
    'path:Where the config file is, or would be'
    'set:Keep a setting in a profile'
    'unset:Forget a setting of a profile, so that its default counts again'
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
        launchpad) _trdr_launchpad ;;
        me) _trdr_me ;;
        pnl) _trdr_pnl ;;
        price) _trdr_price ;;
        resolve) _trdr_resolve ;;
        sandbox) _trdr_sandbox ;;
        schema) _trdr_schema ;;
        thesis) _trdr_thesis ;;
        usage) _trdr_usage ;;
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
