import { type FlagOutline, type Outline, slotText, wordsUnder } from './outline.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Completion for bash, from 3.2 on. */
export function bashScript(outline: Outline): string {
  const { commands, groups, leading, valued } = outline;
  const flagLines = commands.map(({ path, flags }) => arm(quoted(path), names(flags)));
  const groupLines = groups.map(({ path }) => arm(quoted(path), names(leading)));
  const wordLines = ['', ...groups.map(({ path }) => path)].map((path) =>
    arm(
      quoted(path),
      wordsUnder(outline, path)
        .map(({ word }) => word)
        .join(' '),
    ),
  );
  const argLines = commands.flatMap(({ path, args, variadic }) =>
    args.map((slot, index) => {
      const at =
        variadic && index === args.length - 1 ? `${quoted(`${path} `)}*` : quoted(`${path} ${index}`);
      return arm(at, slotText(slot, outline));
    }),
  );
  return `# Completion of trdr for bash, made from its commands: source <(trdr completion bash)

# The flags of a command or group; fails where there is none.
_trdr_flags() {
  case $1 in
    '') reply=${quoted(names(leading))} ;;
${[...groupLines, ...flagLines].join('\n')}
    *) return 1 ;;
  esac
}

# The words that may follow.
_trdr_words() {
  reply=
  case $1 in
${wordLines.join('\n')}
  esac
}

# What the argument at a place can be: words, or @ and a kind.
_trdr_arg() {
  reply=
  case "$1 $2" in
${argLines.join('\n')}
  esac
}

# What the value of a flag can be.
_trdr_value() {
  reply=
  case "$1 $2" in
${valueArms(outline).join('\n')}
  esac
}

_trdr_takes_value() {
  case $1 in
    ${valued.join(' | ')}) return 0 ;;
  esac
  return 1
}

# Offers what begins as the word does. Bash takes a word for begun anew behind = : and @.
_trdr_offer() {
  local kind=$1 word=$2 head=$3 found
  case $kind in
    @file)
      compopt -o filenames 2>/dev/null
      while IFS= read -r found; do COMPREPLY+=("$lead\${found#"$head"}"); done < <(compgen -f -- "$word")
      ;;
    @*)
      while IFS= read -r found; do COMPREPLY+=("$lead\${found#"$head"}"); done < <(
        "$self" __complete "\${kind#@}" "$word" \${more[@]+"\${more[@]}"} 2>/dev/null
      )
      ;;
    *)
      while IFS= read -r found; do COMPREPLY+=("$lead\${found#"$head"}"); done < <(compgen -W "$kind" -- "$word")
      ;;
  esac
}

_trdr() {
  local reply path= place=0 self=\${COMP_WORDS[0]/#\\~/$HOME} rest=$COMP_LINE word i flag= flags=1
  local words=() more=()
  COMPREPLY=()

  # Bash has taken words apart at = : and @; put them together again.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i > 0)) && [[ -n $word && $rest == "$word"* ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    rest=\${rest#*"$word"}
  done
  local last=$((\${#words[@]} - 1))
  local cur=\${words[last]} head=
  local breaks=\${COMP_WORDBREAKS//[^=:@]/} lead=
  [[ -n $breaks && $cur == *[$breaks]* ]] && head=\${cur%"\${cur##*[$breaks]}"}

  for ((i = 1; i < last; i++)); do
    word=\${words[i]}
    if [[ -n $flag ]]; then
      [[ $flag == --profile ]] && more+=(--profile "$word")
      flag=
    elif [[ $flags && $word == -- ]]; then
      flags=
    elif [[ $flags && $word == -?* ]]; then
      [[ $word == --sandbox ]] && more+=(--sandbox)
      [[ $word == --profile=* ]] && more+=(--profile "\${word#*=}")
      _trdr_takes_value "$word" && flag=$word
    elif ((place == 0)) && _trdr_flags "\${path:+$path }$word"; then
      path=\${path:+$path }$word
    else
      place=$((place + 1))
    fi
  done

  if [[ -n $flag ]]; then
    _trdr_value "$path" "$flag"
    _trdr_offer "$reply" "$cur" "$head"
  elif [[ $flags && $cur == --*=* ]]; then
    _trdr_value "$path" "\${cur%%=*}"
    [[ $breaks == *=* ]] || lead=\${cur%%=*}=
    _trdr_offer "$reply" "\${cur#*=}" "\${head#"\${cur%%=*}="}"
  elif [[ $flags && $cur == -* ]]; then
    _trdr_flags "$path" && _trdr_offer "$reply" "$cur" ''
  else
    _trdr_words "$path"
    if [[ -z $reply ]]; then _trdr_arg "$path" "$place"; elif ((place > 0)); then return; fi
    _trdr_offer "$reply" "$cur" "$head"
  fi
}

complete -F _trdr trdr
`;
}

const arm = (pattern: string, words: string) => `    ${pattern}) reply=${quoted(words)} ;;`;
const names = (flags: readonly FlagOutline[]) => flags.flatMap((flag) => flag.names).join(' ');

/** Flags that mean the same everywhere stand once. */
function valueArms(outline: Outline): string[] {
  const byName = new Map<string, Map<string, string[]>>();
  const add = (path: string, { names, slot }: FlagOutline) => {
    if (slot === undefined) return;
    for (const name of names) {
      const texts = byName.get(name) ?? new Map<string, string[]>();
      byName.set(name, texts);
      const text = slotText(slot, outline);
      texts.set(text, [...(texts.get(text) ?? []), path]);
    }
  };
  for (const flag of outline.leading) add('', flag);
  for (const { path, flags } of outline.commands) for (const flag of flags) add(path, flag);
  return [...byName].flatMap(([name, texts]) =>
    [...texts].flatMap(([text, paths]) => {
      if (text === '') return [];
      const everywhere = texts.size === 1;
      const pattern = everywhere
        ? `*${quoted(` ${name}`)}`
        : paths.map((path) => quoted(`${path} ${name}`)).join(' | ');
      return [arm(pattern, text)];
    }),
  );
}
