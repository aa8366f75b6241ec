import {
  type CommandOutline,
  type FlagOutline,
  type Outline,
  type Slot,
  slotText,
  wordsUnder,
} from './outline.ts';

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Completion for fish. */
export function fishScript(outline: Outline): string {
  const { commands, groups, leading, valued } = outline;
  const paths = [...groups, ...commands].map(({ path }) => quoted(path));
  const groupNames = ['', ...groups.map(({ path }) => path)];
  return `# Completion of trdr for fish, made from its commands: trdr completion fish | source

set -g __trdr_valued ${valued.join(' ')}
set -g __trdr_paths ${paths.join(' ')}

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
    printf '%s\\n' "$path" $place
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
${groupNames.flatMap((group) => wordLines(outline, group)).join('\n')}
${flagLines([...commands, ...groupNames.map((path) => ({ path, flags: leading }))], outline).join('\n')}
${commands.flatMap((command) => argLines(command, outline)).join('\n')}
`;
}

const wordLines = (outline: Outline, group: string) =>
  wordsUnder(outline, group).map(
    ({ word, summary }) =>
      `complete -c trdr -n ${quoted(`__trdr_place ${quoted(group)} 0`)} -a ${word} -d ${quoted(summary)}`,
  );

/** What is the same in several commands is said once for all of them. */
function flagLines(commands: readonly Pick<CommandOutline, 'path' | 'flags'>[], outline: Outline): string[] {
  const byLine = new Map<string, string[]>();
  for (const { path, flags } of commands) {
    for (const flag of flags) {
      const line = flagLine(flag, outline);
      byLine.set(line, [...(byLine.get(line) ?? []), path]);
    }
  }
  return [...byLine].map(
    ([line, paths]) => `complete -c trdr -n ${quoted(`__trdr_at ${paths.map(quoted).join(' ')}`)} ${line}`,
  );
}

function flagLine({ names, help, slot }: FlagOutline, outline: Outline): string {
  const parts = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  return [...parts, ...(slot === undefined ? [] : [offer(slot, outline, true)]), `-d ${quoted(help)}`].join(
    ' ',
  );
}

function argLines({ path, args, variadic }: CommandOutline, outline: Outline): string[] {
  return args.flatMap((slot, index) => {
    const given = offer(slot, outline, false);
    const more = variadic && index === args.length - 1 ? ' more' : '';
    const place = `__trdr_place ${quoted(path)} ${index}${more}`;
    return given === '' ? [] : [`complete -c trdr -n ${quoted(place)} ${given}`];
  });
}

function offer(slot: Slot, outline: Outline, required: boolean): string {
  const text = slotText(slot, outline);
  if (text === '@file') return required ? '-r -F' : '-F';
  const words = text.startsWith('@') ? `(__trdr_known ${text.slice(1)})` : text;
  const list = words === '' ? '' : `-k -a ${quoted(words)}`;
  return [required ? '-x' : '', list].filter((part) => part !== '').join(' ');
}
