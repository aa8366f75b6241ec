import type { CompletionSlot, FlagOutline, Outline } from './outline.ts';

interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** The words that can be inserted at the cursor, and how the shell uses them. */
interface Completion {
  readonly candidates: readonly Candidate[];
  /** `files`: the shell completes file names. `nospace`: more text may follow the candidate. */
  readonly directive?: 'files' | 'nospace';
}

/**
 * The flags --profile and --sandbox of the command line. They select the handles that are offered.
 */
interface LineContext {
  readonly profile: string | undefined;
  readonly sandbox: boolean;
}

type FindNames = (
  kind: 'profile' | 'handle',
  prefix: string,
  context: LineContext,
) => readonly string[];

const nothing: Completion = { candidates: [] };

/** Completes a command line: its text, or the words after `trdr`. The cursor is at its end. */
export function completeLine(
  outline: Outline,
  texts: string | readonly string[],
  findNames: FindNames,
): Completion {
  const words = typeof texts === 'string' ? splitLine(texts).slice(1) : texts;
  const line = readWords(outline, words.slice(0, -1));
  const current = words.at(-1) ?? '';

  function fill(slot: CompletionSlot | undefined, prefix: string, lead = ''): Completion {
    const { kind, choicesBy, list } = slot ?? {};
    if (slot === undefined) return nothing;
    if (kind === 'file') return { candidates: [], directive: 'files' };
    if (kind === 'profile' || kind === 'handle')
      return begins(findNames(kind, prefix, line.context).map(plain), '', lead);
    if (kind === 'command' || kind === 'help') {
      const topics = kind === 'help' && line.args.length === 0 ? outline.topics : [];
      const named = topics.map(({ name, summary }) => ({ word: name, about: summary }));
      return begins([...nextWords(outline, line.args.join(' ')), ...named], prefix);
    }
    const choices = choicesBy?.[line.args.at(-1) ?? ''] ?? slot.choices ?? [];
    // The values before the last comma are not offered again.
    const [, before = '', last = prefix] = (list && /^(.*,)?(.*)$/s.exec(prefix)) || [];
    const rest = choices.filter((choice) => !before.split(',').includes(choice));
    const values = begins(rest.map(plain), last, `${lead}${before}`);
    const isOpen = list || values.candidates.some(({ word }) => word.endsWith('/'));
    return isOpen ? { ...values, directive: 'nospace' } : values;
  }

  if (line.awaiting) return fill(line.awaiting.slot, current);
  if (line.flagsAllowed && current.startsWith('-') && current !== '-') {
    const [, name, prefix = ''] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? [];
    if (name !== undefined) return fill(flagNamed(line.flags, name)?.slot, prefix, `${name}=`);
  }
  if (line.flagsAllowed && current.startsWith('-')) return flagNames(line, current);
  if (!line.command)
    return line.args.length > 0 ? nothing : begins(nextWords(outline, line.path), current);
  const { args, variadic } = line.command;
  const at = line.args.length;
  const slot = args[at] ?? (variadic ? args.at(-1) : undefined);
  const own = fill(slot, current);
  // An optional argument may be omitted, so also offer the candidates of the next argument.
  const next = slot?.optional ? args[at + 1] : undefined;
  if (next === undefined) return own;
  const more = fill(next, current);
  return { ...own, ...more, candidates: [...own.candidates, ...more.candidates] };
}

/** What the words before the cursor say. */
interface WordsBefore {
  readonly path: string;
  readonly command: Outline['commands'][number] | undefined;
  readonly flags: readonly FlagOutline[];
  readonly flagsBefore: ReadonlySet<string>;
  readonly args: readonly string[];
  /** The flag whose value is at the cursor. */
  readonly awaiting: FlagOutline | undefined;
  readonly flagsAllowed: boolean;
  readonly context: LineContext;
}

function readWords(outline: Outline, words: readonly string[]): WordsBefore {
  const flagsBefore = new Set<string>();
  const args: string[] = [];
  let path = '';
  let awaiting: FlagOutline | undefined;
  let flagsAllowed = true;
  let profile: string | undefined;
  for (const word of words) {
    if (awaiting) {
      if (awaiting.names.includes('--profile')) profile = word;
      awaiting = undefined;
    } else if (flagsAllowed && word === '--') flagsAllowed = false;
    else if (flagsAllowed && word.startsWith('-') && word.length > 1) {
      const [name = '', value] = word.split('=', 2);
      const flag = flagNamed(flagsAt(outline, path), name);
      for (const alias of flag?.names ?? []) flagsBefore.add(alias);
      if (name === '--profile') profile = value;
      if (value === undefined && flag?.slot) awaiting = flag;
    } else if (args.length === 0 && isPath(outline, joined(path, word))) path = joined(path, word);
    else args.push(word);
  }
  const command = outline.commands.find((entry) => entry.path === path);
  const context = { profile, sandbox: flagsBefore.has('--sandbox') };
  return {
    path,
    command,
    flags: flagsAt(outline, path),
    flagsBefore,
    args,
    awaiting,
    flagsAllowed,
    context,
  };
}

const joined = (path: string, word: string) => (path === '' ? word : `${path} ${word}`);
const isPath = ({ commands, groups }: Outline, path: string) =>
  commands.some((command) => command.path === path) || groups.some(({ name }) => name === path);

/** The flags of a command; all common flags if `path` does not name a complete command. */
function flagsAt({ commands, common }: Outline, path: string): FlagOutline[] {
  const command = commands.find((entry) => entry.path === path);
  const groups = command ? command.common : (['output', 'service', 'money'] as const);
  const shared = [...groups.flatMap((group) => common[group]), ...common.always];
  const own = command?.flags ?? [];
  const isReplaced = ({ names }: FlagOutline) =>
    own.some((flag) => flag.names.some((name) => names.includes(name)));
  return [...own, ...shared.filter((flag) => !isReplaced(flag))];
}

const flagNamed = (flags: readonly FlagOutline[], name: string) =>
  flags.find(({ names }) => names.includes(name));

function flagNames({ flags, flagsBefore }: WordsBefore, current: string): Completion {
  const free = flags.filter(
    ({ names, repeatable }) => repeatable || !names.some((name) => flagsBefore.has(name)),
  );
  return begins(
    free.flatMap(({ names, help }) => names.map((word) => ({ word, about: help }))),
    current,
  );
}

/** The next words of the commands that begin with `path`. */
function nextWords({ commands, groups }: Outline, path: string): Candidate[] {
  const all = [...commands, ...groups.map(({ name, summary }) => ({ path: name, summary }))];
  const depth = path === '' ? 0 : path.split(' ').length;
  return all
    .filter((command) => path === '' || command.path.startsWith(`${path} `))
    .map((command) => ({ words: command.path.split(' '), about: command.summary }))
    .filter(({ words }) => words.length === depth + 1)
    .map(({ words, about }) => ({ word: words.at(-1) ?? '', about }))
    .sort((a, b) => (a.word < b.word ? -1 : 1));
}

const plain = (word: string): Candidate => ({ word, about: '' });

/**
 * The candidates that begin with a prefix. Each result starts with `lead`, the text before the
 * prefix.
 */
const begins = (candidates: readonly Candidate[], prefix: string, lead = ''): Completion => ({
  candidates: candidates
    .filter(({ word }) => word.startsWith(prefix))
    .map(({ word, about }) => ({ word: `${lead}${word}`, about })),
});

/**
 * Splits a command line up to the cursor as a shell does. After a space, the last word is empty.
 */
function splitLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"') word += line[++at] ?? '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${char === '\\' ? (line[++at] ?? '') : char}`;
  }
  return [...words, word ?? ''];
}
