import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { AnyCommand } from '../command.ts';
import { commonOptions, everyCommonOption, type Globals } from './common.ts';
import { type GivenFlags, longName, type Option, type Options, shortName } from './option.ts';
import type { Value } from './values.ts';

/** The parsed words after a command's name: arguments, the command's own flags, and common flags. */
export interface Parsed {
  readonly args: readonly string[];
  readonly given: GivenFlags<Options>;
  readonly globals: Globals;
  /** The files that the line names. The path `-` stands for stdin. */
  readonly files: readonly NamedFile[];
}

interface NamedFile {
  readonly role: string;
  readonly path: string;
  /** The files that a run creates beside it; undefined if it is only read. */
  readonly writes?: Value<unknown>['writes'];
}

/** Common flags may precede each word of the command. The word after a flag that takes a value is not part of the command. */
export function findCommand(
  argv: readonly string[],
  paths: readonly string[],
): { path: string; rest: readonly string[]; wantsHelp: boolean } {
  if (versionFlags.includes(argv[0] ?? ''))
    return findCommand(['version', ...argv.slice(1)], paths);
  const isLeading = (path: string) => paths.some((known) => known.startsWith(`${path} `));
  const named = new Set<number>();
  let path = '';
  for (const token of tokensOf(Object.values(everyCommonOption), argv)) {
    if (token.kind === 'option-terminator') break;
    if (token.kind === 'option') continue;
    const longer = path === '' ? token.value : `${path} ${token.value}`;
    if (!paths.includes(longer) && !isLeading(longer)) {
      if (paths.includes(path)) break;
      throw unknownCommand(longer, paths);
    }
    path = longer;
    named.add(token.index);
    // Stop at a complete command: `launchpad user` has no subcommands, but `thesis` needs one.
    if (!isLeading(path)) break;
  }
  const rest = argv.filter((_, at) => !named.has(at));
  const end = rest.indexOf('--');
  const flags = end === -1 ? rest : rest.slice(0, end);
  return { path, rest, wantsHelp: flags.includes('--help') || flags.includes('-h') };
}

/** Another name of --user. */
const AUTHOR = /^--author(?==|$)/;

const versionFlags = ['--version', '-V', '-v'];

function unknownCommand(words: string, paths: readonly string[]) {
  const group = words.split(' ').slice(0, -1).join(' ');
  const firsts = paths.map((path) => path.split(' ')[0] ?? '');
  const near = didYouMean(words, [...paths, ...firsts], (name) => `"trdr ${name}"`);
  return usageError(
    `unknown command "${words}"`,
    near || `see trdr ${group === '' ? '' : `${group} `}--help`,
  );
}

/** Relative names of files are those in `folder`. In the folder of the process, they stay as the user wrote them. */
export function parseWords(command: AnyCommand, given: readonly string[], folder = ''): Parsed {
  const options = Object.values({ ...commonOptions(command.common), ...command.options });
  const words =
    'user' in command.options ? given.map((word) => word.replace(AUTHOR, '--user')) : given;
  const args: string[] = [];
  const texts = new Map<string, string[]>();
  for (const token of tokensOf(options, words)) {
    if (token.kind === 'positional') args.push(token.value);
    if (token.kind !== 'option') continue;
    const text = textOf(token, command, options);
    const { name } = token;
    // Of `--wait D` and `--no-wait`, the last one applies.
    texts.delete(name.startsWith('no-') ? name.slice(3) : `no-${name}`);
    texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  rejectContradiction(options, texts);
  checkCount(command, args);
  const files: NamedFile[] = [];
  const place = (name: string) => {
    const placed = resolve(folder, name);
    return name === '-' || placed === resolve(name) ? name : placed;
  };
  const read = (set: Options): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(set).map(([key, option]) => {
        const name = longName(option);
        const isReplaced = set !== command.options && Object.hasOwn(command.options, key);
        const { complete, writes } = option.value ?? {};
        const placed = (value: unknown): unknown => {
          if (complete !== 'file' || typeof value !== 'string') return value;
          const path = place(value);
          // For a file that is written, `-` is an output stream.
          if (!isReplaced && (path !== '-' || !writes))
            files.push({ role: `--${name}`, path, writes });
          return path;
        };
        const value = readValue(option, texts.get(name), isReplaced);
        return [key, Array.isArray(value) ? value.map(placed) : placed(value)];
      }),
    );
  const placedArgs = args.map((word, at) => {
    const { name = '', complete } = command.args[at] ?? command.args.at(-1) ?? {};
    const path = complete === 'file' ? place(word) : word;
    if (path === '-' || complete === 'file') files.push({ role: name, path });
    return path;
  });
  const globals = read(everyCommonOption) as unknown as Globals;
  return { args: placedArgs, globals, given: read(command.options) as GivenFlags<Options>, files };
}

type OptionList = readonly Option<unknown>[];

const tokensOf = (options: OptionList, words: readonly string[]) =>
  parseArgs({
    args: [...words],
    options: Object.fromEntries(
      options.map((option) => {
        const short = shortName(option);
        return [
          longName(option),
          { type: option.value ? 'string' : 'boolean', ...(short && { short }) },
        ];
      }),
    ),
    strict: false,
    tokens: true,
  }).tokens;

type FlagToken = Extract<ReturnType<typeof tokensOf>[number], { kind: 'option' }>;

/** The value of a flag, empty if it takes none. Errors do not print the text after an equals sign, which may be a key. */
function textOf(
  { name, rawName, value, inlineValue }: FlagToken,
  { path }: AnyCommand,
  options: OptionList,
): string {
  const option = options.find((each) => longName(each) === name);
  const help = `see trdr ${path} --help`;
  if (!option) {
    const names = options.map((each) => `--${longName(each)}`);
    const [flag = ''] = rawName.split('=', 1);
    throw usageError(`unknown flag ${flag} for "trdr ${path}"`, didYouMean(flag, names) || help);
  }
  if (!option.value) {
    if (value !== undefined) throw usageError(`${rawName} takes no value`, help);
    return '';
  }
  if (value === undefined)
    throw usageError(`${rawName} requires a value`, 'add the value after the flag');
  // With an empty variable, `--symbol $UNSET --dry-run` would otherwise take --dry-run as the symbol, and pay.
  const [flag = ''] = value.split('=', 1);
  const isFlag = options.some(
    (each) => flag === `--${longName(each)}` || flag === `-${shortName(each)}`,
  );
  if (isFlag && !inlineValue)
    throw usageError(
      `${rawName} requires a value`,
      `"${flag}" is a flag; if it is meant as the value, write --${longName(option)}=${value}`,
    );
  return value;
}

/** A value that only the command's own version of a common flag accepts does not apply to the common flag. */
function readValue(
  option: Option<unknown>,
  texts: readonly string[] | undefined,
  isReplaced: boolean,
) {
  const { value: kind, fallback, repeatable } = option;
  const last = texts?.at(-1);
  if (texts === undefined || last === undefined || last === kind?.absent) return fallback;
  if (!kind) return true;
  const one = (text: string) => {
    const value = kind.read(text);
    if (value !== undefined) return value;
    if (isReplaced) return fallback;
    const near = didYouMean(text, kind.choices ?? []);
    throw usageError(`invalid ${kind.noun} "${text}" for --${longName(option)}`, near || kind.hint);
  };
  if (!repeatable) return one(last);
  // Values of a fixed set contain no commas, so `7d,30d` means two values.
  return (kind.choices ? texts.flatMap((text) => text.split(',')) : texts).map(one);
}

/** If trdr ignored one of two contradicting flags, the run could cost more than the user expects. */
function rejectContradiction(options: OptionList, given: ReadonlyMap<string, unknown>): void {
  for (const option of options) {
    const name = longName(option);
    const other = given.has(name)
      ? option.excludes?.find((each) => given.has(each.slice(2)))
      : undefined;
    if (other !== undefined)
      throw usageError(`--${name} and ${other} cannot be combined`, 'use one of them');
  }
}

function checkCount(command: AnyCommand, words: readonly string[]): void {
  const { args, path } = command;
  // An optional argument can precede a required one: `api [METHOD] PATH`.
  const missing = args.filter(({ optional }) => !optional)[words.length];
  if (missing) {
    throw usageError(
      `"trdr ${path}" requires the argument ${missing.name.toUpperCase()}`,
      `see trdr ${path} --help`,
    );
  }
  if (words.length <= args.length || args.at(-1)?.variadic) return;
  throw usageError(
    args.length === 0
      ? `"trdr ${path}" takes no arguments`
      : `too many arguments for "trdr ${path}"`,
    command.excess ?? `see trdr ${path} --help`,
  );
}
