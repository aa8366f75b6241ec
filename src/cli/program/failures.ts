import type { Command, Option } from 'commander';
import { type Failure, usageError } from '../../base/failure.ts';
import type { AnyCommand } from '../command.ts';
import { commandPaths } from '../tree.ts';

/** What a program, a group or a command knows of the line that it could not read. */
interface FailedLine extends Pick<Command, 'args' | 'commands' | 'options'> {
  /** The words of the command, such as `thesis list`. */
  readonly words: readonly string[];
  /** The first word that commander did not know, without the text after "=". */
  readonly unknownWord: string;
  readonly spec: AnyCommand | undefined;
}

/**
 * Words that users of other programs try, and the flags that are meant. The first one that the
 * command has is named.
 */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  '--limit': ['--count'],
  '--top': ['--limit', '--count'],
  '--count': ['--limit'],
  '-n': ['--limit', '--count'],
  '--interval': ['--lag', '--every'],
  '--csv': ['-o csv'],
  '--tsv': ['-o tsv'],
  '--ndjson': ['-o ndjson'],
  '--table': ['-o table'],
  '--markdown': ['-o markdown'],
  '--format': ['--output'],
  '--author': ['--user'],
  '--handle': ['--user'],
  '--file': ['--users', '--from'],
  '--from': ['--since'],
  '--to': ['--until'],
};

const withoutGroups =
  'read with --via store and a position of its own (--out or --checkpoint), or hand the posts of one follower to a queue with --exec';

/** The flags that a command no longer has, and what replaces each. */
const removedFlags: Readonly<Record<string, string>> = {
  'thesis tail --group': withoutGroups,
  'thesis tail --shared': withoutGroups,
  'verify --sample':
    'the certificate proves the lines; read the stretch again with "trdr thesis list --since T --until T --out FILE" and compare both files',
};

/**
 * What commander says about a line, in the words of trdr: it calls an option a flag, and adds what
 * to do.
 */
export function lineFailure(line: FailedLine, code: string, report: string): Failure {
  // Commander puts its suggestion on a line of its own, in parentheses.
  const [said = '', suggestion] = report.replace(/^error: /, '').split('\n');
  const words = said
    .replace(/(^|unknown |required |with )option '/g, "$1flag '")
    .replace(/\. Expected (.*)\.$/, ', expected $1');
  const hint = hints[code]?.(line) ?? suggestion?.replace(/^\(|\)$/g, '') ?? seeHelp(line);
  return usageError(words, hint);
}

const hints: Readonly<Record<string, (line: FailedLine) => string | undefined>> = {
  'commander.unknownOption': meantFlag,
  'commander.unknownCommand': meantCommand,
  'commander.optionMissingArgument': () => 'add the value after the flag',
  'commander.conflictingOption': () => 'use one of them',
  'commander.excessArguments': ({ spec }) => spec?.excess,
};

function meantFlag({ unknownWord, options, words }: FailedLine): string | undefined {
  const removed = removedFlags[[...words, unknownWord].join(' ')];
  if (removed !== undefined) return `it was removed: ${removed}`;
  const others = Object.hasOwn(otherNames, unknownWord) ? otherNames[unknownWord] : [];
  const names = options.flatMap(({ short, long }) => [short, long]);
  const meant = others?.find((flag) => names.includes(flag.split(' ')[0]));
  return meant && `Did you mean ${meant}?`;
}

/** Words for a command that other programs have. */
const otherCommands: Readonly<Record<string, string>> = {
  whoami: 'me',
  account: 'me',
  quota: 'me',
  lookup: 'whois',
  find: 'whois',
};

/** The commands of groups whose last word is the unknown one: `trdr tail` may mean two of them. */
function meantCommand({ words, args }: FailedLine): string | undefined {
  const [name = ''] = args;
  if (words.length === 0 && Object.hasOwn(otherCommands, name))
    return `Did you mean ${otherCommands[name]}?`;
  const near = commandPaths
    .filter((path) => path.endsWith(` ${name}`) && !path.startsWith(`${words.join(' ')} `))
    .map((path) => `"trdr ${path}"`);
  return near.length > 0 ? `Did you mean ${near.join(' or ')}?` : undefined;
}

export const givenTwice = ({ flags, long }: Option): Failure =>
  usageError(`flag '${flags}' is given twice`, `give ${long} once: it takes one value`);

/** The failure of a line that names no command, or only a group. */
export function commandNeeded({ words, commands }: FailedLine): Failure {
  if (words.length === 0) return usageError('missing command', 'see trdr --help');
  const names = commands.map((command) => command.name()).join(', ');
  const path = words.join(' ');
  return usageError(`"trdr ${path}" requires a subcommand: ${names}`, `see trdr ${path} --help`);
}

const seeHelp = ({ words }: FailedLine): string => `see ${['trdr', ...words].join(' ')} --help`;
