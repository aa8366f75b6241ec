# Completion of trdr for bash, made from its commands: source <(trdr completion bash)

# The flags of a command or group; fails where there is none.
_trdr_flags() {
  case $1 in
    '') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'thesis') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'launchpad') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'cache') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'auth') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'config') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'resolve') reply='--direct --wait --no-wait --file --column --strict --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'whois') reply='--as --file --column --strict --max-age --no-cache --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'pnl') reply='--window --sort --resume --file --column --strict --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'thesis list') reply='--token --user --limit --all --since --until --before --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'thesis tail') reply='--token --user --symbol --min-holdings --dev-only --grep --via --lag --backfill --since --count --duration --checkpoint --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'me') reply='--min-units --min-reveals --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http' ;;
    'price') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc' ;;
    'launchpad user') reply='--file --column --strict --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'launchpad callouts') reply='--coin --wallet --limit --all --since --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'launchpad board') reply='--period --at --compare --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'doctor') reply='--ws --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'schema') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc' ;;
    'completion') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'usage') reply='--since --by --reconcile --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http' ;;
    'cache stats') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc' ;;
    'cache clear') reply='--all --help -h --quiet -q --debug --color --profile --sandbox' ;;
    'auth login') reply='--with-key --no-verify --help -h --quiet -q --debug --color --profile --sandbox --base-url --dry-run --retries --timeout --insecure-http' ;;
    'auth status') reply='--check --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http' ;;
    'auth switch') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'auth logout') reply='--forget --help -h --quiet -q --debug --color --profile --sandbox' ;;
    'config list') reply='--origin --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc' ;;
    'config get') reply='--help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc' ;;
    'config set') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'config unset') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'config path') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'api') reply='--field -f --input --include -i --paginate --out --help -h --quiet -q --debug --color --profile --sandbox --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'launchpad tail') reply='--coin --wallet --lag --backfill --since --count --duration --checkpoint --help -h --quiet -q --debug --color --profile --sandbox --output -o --json --fields --out --utc --base-url --dry-run --retries --timeout --insecure-http --max-cu --yes -y' ;;
    'help') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'version') reply='--help -h --quiet -q --debug --color --profile --sandbox' ;;
    'sandbox') reply='--port --seed --plan --rate --envelope --page --faults --replay --speed --data --theses --traders --socials --units-used --unmetered --help -h --quiet -q --debug --color --profile --sandbox' ;;
    *) return 1 ;;
  esac
}

# The words that may follow.
_trdr_words() {
  reply=
  case $1 in
    '') reply='api auth cache completion config doctor help launchpad me pnl price resolve sandbox schema thesis usage version whois' ;;
    'thesis') reply='list tail' ;;
    'launchpad') reply='board callouts tail user' ;;
    'cache') reply='clear stats' ;;
    'auth') reply='login logout status switch' ;;
    'config') reply='get list path set unset' ;;
  esac
}

# What the argument at a place can be: words, or @ and a kind.
_trdr_arg() {
  reply=
  case "$1 $2" in
    'resolve '*) reply='@handle' ;;
    'whois '*) reply='@handle' ;;
    'pnl '*) reply='@handle' ;;
    'price 0') reply='user.handle user.wallet user.id user.resolve user.pnl users.pnl thesis.all thesis.token thesis.user thesis.userToken launchpad.user launchpad.callouts launchpad.callouts.coin launchpad.callouts.wallet launchpad.board me ws' ;;
    'launchpad user '*) reply='' ;;
    'schema '*) reply='resolve whois pnl thesis list tail me price launchpad user callouts board doctor schema completion usage cache stats clear auth login status switch logout config get set unset path api help version sandbox' ;;
    'completion 0') reply='bash zsh fish powershell' ;;
    'auth switch 0') reply='@profile' ;;
    'auth logout 0') reply='@profile' ;;
    'config get 0') reply='profile key baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress storePassword' ;;
    'config set 0') reply='baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress' ;;
    'config set 1') reply='' ;;
    'config unset 0') reply='baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress' ;;
    'api 0') reply='GET POST' ;;
    'api 1') reply='' ;;
    'help '*) reply='' ;;
  esac
}

# What the value of a flag can be.
_trdr_value() {
  reply=
  case "$1 $2" in
    *' --color') reply='auto always never' ;;
    *' --profile') reply='@profile' ;;
    *' --output') reply='table ndjson json csv' ;;
    *' -o') reply='table ndjson json csv' ;;
    *' --out') reply='@file' ;;
    *' --file') reply='@file' ;;
    *' --as') reply='handle wallet id' ;;
    *' --window') reply='24h 7d 30d all' ;;
    *' --sort') reply='netUsd returnPct volumeUsd trades rank' ;;
    *' --token') reply='@token' ;;
    *' --user') reply='@handle' ;;
    *' --via') reply='auto ws poll' ;;
    *' --checkpoint') reply='@file' ;;
    *' --coin') reply='@token' ;;
    *' --period') reply='daily weekly monthly' ;;
    *' --by') reply='command endpoint day profile' ;;
    *' --input') reply='@file' ;;
    *' --plan') reply='explore starter builder growth scale enterprise legacy' ;;
    *' --envelope') reply='bare wrapped' ;;
    *' --page') reply='full capped' ;;
    *' --replay') reply='@file' ;;
    *' --data') reply='@file' ;;
  esac
}

_trdr_takes_value() {
  case $1 in
    --wait | --file | --column | --color | --profile | --output | -o | --fields | --out | --base-url | --retries | --timeout | --max-cu | --as | --max-age | --window | --sort | --token | --user | --limit | --since | --until | --before | --symbol | --min-holdings | --grep | --via | --lag | --backfill | --count | --duration | --checkpoint | --min-units | --min-reveals | --coin | --wallet | --period | --at | --compare | --by | --field | -f | --input | --port | --seed | --plan | --rate | --envelope | --page | --faults | --replay | --speed | --data | --theses | --traders | --units-used) return 0 ;;
  esac
  return 1
}

# Offers what begins as the word does. Bash takes a word for begun anew behind = : and @.
_trdr_offer() {
  local kind=$1 word=$2 head=$3 found
  case $kind in
    @file)
      compopt -o filenames 2>/dev/null
      while IFS= read -r found; do COMPREPLY+=("$lead${found#"$head"}"); done < <(compgen -f -- "$word")
      ;;
    @*)
      while IFS= read -r found; do COMPREPLY+=("$lead${found#"$head"}"); done < <(
        "$self" __complete "${kind#@}" "$word" ${more[@]+"${more[@]}"} 2>/dev/null
      )
      ;;
    *)
      while IFS= read -r found; do COMPREPLY+=("$lead${found#"$head"}"); done < <(compgen -W "$kind" -- "$word")
      ;;
  esac
}

_trdr() {
  local reply path= place=0 self=${COMP_WORDS[0]/#\~/$HOME} rest=$COMP_LINE word i flag= flags=1
  local words=() more=()
  COMPREPLY=()

  # Bash has taken words apart at = : and @; put them together again.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 0)) && [[ -n $word && $rest == "$word"* ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    rest=${rest#*"$word"}
  done
  local last=$((${#words[@]} - 1))
  local cur=${words[last]} head=
  local breaks=${COMP_WORDBREAKS//[^=:@]/} lead=
  [[ -n $breaks && $cur == *[$breaks]* ]] && head=${cur%"${cur##*[$breaks]}"}

  for ((i = 1; i < last; i++)); do
    word=${words[i]}
    if [[ -n $flag ]]; then
      [[ $flag == --profile ]] && more+=(--profile "$word")
      flag=
    elif [[ $flags && $word == -- ]]; then
      flags=
    elif [[ $flags && $word == -?* ]]; then
      [[ $word == --sandbox ]] && more+=(--sandbox)
      [[ $word == --profile=* ]] && more+=(--profile "${word#*=}")
      _trdr_takes_value "$word" && flag=$word
    elif ((place == 0)) && _trdr_flags "${path:+$path }$word"; then
      path=${path:+$path }$word
    else
      place=$((place + 1))
    fi
  done

  if [[ -n $flag ]]; then
    _trdr_value "$path" "$flag"
    _trdr_offer "$reply" "$cur" "$head"
  elif [[ $flags && $cur == --*=* ]]; then
    _trdr_value "$path" "${cur%%=*}"
    [[ $breaks == *=* ]] || lead=${cur%%=*}=
    _trdr_offer "$reply" "${cur#*=}" "${head#"${cur%%=*}="}"
  elif [[ $flags && $cur == -* ]]; then
    _trdr_flags "$path" && _trdr_offer "$reply" "$cur" ''
  else
    _trdr_words "$path"
    if [[ -z $reply ]]; then _trdr_arg "$path" "$place"; elif ((place > 0)); then return; fi
    _trdr_offer "$reply" "$cur" "$head"
  fi
}

complete -F _trdr trdr
