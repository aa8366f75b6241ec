import { alwaysOptions, commonOptions, everyCommonOption } from '../../args/common.ts';
import { longName, type Option, type Options, shortName } from '../../args/option.ts';
import type { AnyCommand } from '../../command.ts';
import { groupSummary } from '../overview.ts';

/** What a word can be: one of some, or one of a kind that is found where the shell runs. */
export interface Slot {
  readonly choices: readonly string[];
  readonly kind: 'file' | 'profile' | 'handle' | 'token' | 'command' | undefined;
}

/** A flag as a shell sees it. */
export interface FlagOutline {
  /** Long and short, with their dashes. */
  readonly names: readonly string[];
  readonly help: string;
  /** Undefined for a switch. */
  readonly slot: Slot | undefined;
  readonly repeatable: boolean;
}

export interface CommandOutline {
  readonly path: string;
  readonly summary: string;
  readonly flags: readonly FlagOutline[];
  readonly args: readonly (Slot & { readonly name: string })[];
  /** The last argument may be given again and again. */
  readonly variadic: boolean;
}

/** Everything that completion scripts are made of. */
export interface Outline {
  readonly commands: readonly CommandOutline[];
  readonly groups: readonly { readonly path: string; readonly summary: string }[];
  /** Flags that may stand before the command. */
  readonly leading: readonly FlagOutline[];
  /** Names of all flags that take a value, in whatever command. */
  readonly valued: readonly string[];
}

/** The command tree as shells need it. */
export function outlineOf(commands: readonly AnyCommand[]): Outline {
  const outlined = commands.map(commandOutline);
  const groups = [...new Set(commands.flatMap(({ path }) => path.split(' ').slice(0, -1)))];
  const flags = [...outlined.flatMap((command) => command.flags), ...flagsOf(everyCommonOption)];
  const valued = namesOf(flags.filter(({ slot }) => slot !== undefined));
  const both = namesOf(flags.filter(({ slot }) => slot === undefined)).filter((name) =>
    valued.includes(name),
  );
  if (both.length > 0)
    throw new Error(`a switch in one command takes a value in another: ${both.join(', ')}`);
  return {
    commands: outlined,
    groups: groups.map((path) => ({ path, summary: groupSummary(path) })),
    leading: flagsOf({ ...alwaysOptions, ...everyCommonOption }),
    valued,
  };
}

const namesOf = (flags: readonly FlagOutline[]) => [...new Set(flags.flatMap(({ names }) => names))];

function commandOutline({ path, summary, options, common, args }: AnyCommand): CommandOutline {
  return {
    path,
    summary,
    flags: flagsOf({ ...options, ...commonOptions(common) }),
    args: args.map(({ name, choices = [], complete }) => ({ name, choices, kind: kindOf(complete) })),
    variadic: args.at(-1)?.variadic === true,
  };
}

const flagsOf = (options: Options): FlagOutline[] => Object.values(options).map(flagOutline);

function flagOutline(option: Option<unknown>): FlagOutline {
  const short = shortName(option);
  const { value } = option;
  return {
    names: [`--${longName(option)}`, ...(short === undefined ? [] : [`-${short}`])],
    help: option.help,
    slot: value && { choices: value.choices ?? [], kind: kindOf(value.complete) },
    repeatable: option.repeatable === true,
  };
}

/** A path of the service is nothing that a shell knows. */
const kindOf = (complete: AnyCommand['args'][number]['complete']) =>
  complete === 'path' ? undefined : complete;

/** The next words of a path: of the whole, or of a group. */
export function wordsUnder({ commands, groups }: Outline, path: string) {
  const depth = path === '' ? 0 : path.split(' ').length;
  const inside = [...commands, ...groups].filter((each) => path === '' || each.path.startsWith(`${path} `));
  return inside
    .filter((each) => each.path.split(' ').length === depth + 1)
    .map((each) => ({ word: each.path.split(' ').at(-1) ?? '', summary: each.summary }))
    .sort((a, b) => (a.word < b.word ? -1 : 1));
}

/** A slot as one word list: choices as they are, a kind as `@kind`, nothing where nobody knows. */
export function slotText({ choices, kind }: Slot, { commands }: Outline): string {
  if (choices.length > 0) return choices.join(' ');
  if (kind === 'command') return [...new Set(commands.flatMap(({ path }) => path.split(' ')))].join(' ');
  return kind === undefined ? '' : `@${kind}`;
}
