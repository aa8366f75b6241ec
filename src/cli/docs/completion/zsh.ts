import { type FlagOutline, type Outline, type Slot, slotText, wordsUnder } from './outline.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
/** Text within a specification, where a colon or a bracket would end it. */
const plain = (text: string) => text.replace(/[:[\]\\]/g, '\\$&');

/** Completion for zsh: for \`fpath\` as \`_trdr\`, or to be sourced. */
export function zshScript(outline: Outline): string {
  const { commands, groups, leading } = outline;
  const groupArms = groups.map(({ path }) => {
    const inner = wordsUnder(outline, path).map(
      ({ word }) => `        ${word}) _trdr_${name(`${path} ${word}`)} ;;`,
    );
    return `_trdr_${name(path)}() {
  local line state
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr ${path} command' words_${name(path)} ;;
    rest)
      case $line[1] in
${inner.join('\n')}
      esac
      ;;
  esac
}
`;
  });
  const top = wordsUnder(outline, '').map(({ word }) => `        ${word}) _trdr_${name(word)} ;;`);
  return `#compdef trdr
# Completion of trdr for zsh, made from its commands: source <(trdr completion zsh), or keep it as _trdr in fpath.

# Names of a kind that only this machine knows: profiles, handles.
_trdr_known() {
  local -a found
  found=(\${(f)"$("$self" __complete $1 "$PREFIX" $more 2>/dev/null)"})
  (( $#found )) && compadd -M 'm:{a-zA-Z}={A-Za-z}' -a found
}

${commands.map((command) => commandFunction(command, outline)).join('\n')}
${groupArms.join('\n')}
_trdr() {
  local self=$words[1] line state
  local -a more leading ${['', ...groups.map(({ path }) => path)].map(wordsName).join(' ')}
  typeset -A opt_args
  local at
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at] in
      --profile) (( at + 1 < CURRENT )) && more+=(--profile $words[at+1]) ;;
      --profile=*) more+=(--profile \${words[at]#*=}) ;;
      --sandbox) more+=(--sandbox) ;;
    esac
  done
  leading=(
${leading.flatMap((flag) => specs(flag, outline)).join('\n')}
  )
${['', ...groups.map(({ path }) => path)].map((path) => wordList(outline, path)).join('\n')}
  _arguments -C -S -A '-*' $leading '1: :->word' '*:: :->rest' && return
  case $state in
    word) _describe -t commands 'trdr command' words_ ;;
    rest)
      case $line[1] in
${top.join('\n')}
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _trdr ]]; then
  _trdr "$@"
else
  compdef _trdr trdr
fi
`;
}

const name = (path: string) => path.replaceAll(/[^a-z]/g, '_');
const wordsName = (path: string) => `words_${name(path)}`;

function wordList(outline: Outline, path: string): string {
  const rows = wordsUnder(outline, path).map(
    ({ word, summary }) => `    ${quoted(`${word}:${summary.replaceAll(':', '\\:')}`)}`,
  );
  return `  ${wordsName(path)}=(\n${rows.join('\n')}\n  )`;
}

function commandFunction({ path, flags, args, variadic }: Outline['commands'][number], outline: Outline) {
  const places = args.map((slot, index) => {
    const last = variadic && index === args.length - 1;
    return `    ${quoted(`${last ? '*' : index + 1}:${plain(slot.name)}:${action(slot, outline)}`)}`;
  });
  const all = [...flags.flatMap((flag) => specs(flag, outline)), ...places];
  return `_trdr_${name(path)}() {
  _arguments -S \\
${all.map((line) => `${line} \\`).join('\n')}
    && return
}
`;
}

/** A flag as specifications of \`_arguments\`: each name shuts the others out. */
function specs({ names, help, slot, repeatable }: FlagOutline, outline: Outline): string[] {
  const shut = repeatable ? '*' : `(${names.join(' ')})`;
  return names.map((each) => {
    const joined = slot === undefined ? '' : each.startsWith('--') ? '=' : '+';
    const value = slot === undefined ? '' : `:${plain(each.replace(/^-+/, ''))}:${action(slot, outline)}`;
    return `    ${quoted(`${shut}${each}${joined}[${plain(help)}]${value}`)}`;
  });
}

function action(slot: Slot, outline: Outline): string {
  const text = slotText(slot, outline);
  if (text === '@file') return '_files';
  if (text.startsWith('@')) return `{_trdr_known ${text.slice(1)}}`;
  return text === '' ? ' ' : `(${plain(text)})`;
}
