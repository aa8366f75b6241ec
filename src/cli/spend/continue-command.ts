import { join, parse, resolve } from 'node:path';
import { Failure, type FailureKind, withHint } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { unitsText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { WalkFilter, WalkOptions } from '../../core/pages/walk.ts';
import type { Context } from '../context.ts';

const PLAIN = /^[\w@%+=:,./-]+$/;

const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** This command line with flags set to the values in `changes`; undefined removes a flag. */
export function commandWith(
  argv: readonly string[],
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const names = Object.keys(changes);
  const kept: string[] = [];
  let end: readonly string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      end = argv.slice(at);
      break;
    }
    if (names.includes(word)) at++;
    else if (!names.some((name) => word.startsWith(name.startsWith('--') ? `${name}=` : name)))
      kept.push(word);
  }
  const added = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  return ['trdr', ...kept, ...added, ...end].map(quoted).join(' ');
}

/** Writes to another file, because this run has written its paid rows to the original file. */
export const continueList = (
  { io, globals: { out } }: Pick<Context, 'io' | 'globals'>,
  changes: Readonly<Record<string, string | undefined>>,
): string =>
  commandWith(io.argv, { ...changes, ...(out !== undefined && { '--out': nextPart(io.cwd, out) }) });

/** `rows-part2.csv` after `rows.csv`, or the next number that is free. Pipes and devices keep their name. */
function nextPart(cwd: string, out: string): string {
  const there = (file: string) => statsOf(resolve(cwd, file));
  if (out === '-' || there(out)?.isFile() === false) return out;
  const { dir, name, ext } = parse(out);
  const [, base = name, part = '1'] = /^(.+)-part(\d{1,4})$/.exec(name) ?? [];
  for (let number = Number(part) + 1; ; number++) {
    const file = join(dir, `${base}-part${number}${ext}`);
    if (there(file) === undefined) return file;
  }
}

const passing: readonly FailureKind[] = ['auth', 'forbidden', 'quota', 'limit', 'rate', 'service', 'network'];

/** Adds the command that continues a list whose earlier pages were paid for. */
export function hintToContinue(error: unknown, command: () => string): unknown {
  if (!(error instanceof Failure)) return error;
  const { kind, code, hint } = error;
  if (!passing.includes(kind) && code !== 'BAD_ANSWER') return error;
  const before = hint === undefined ? '' : `${hint}; ${kind === 'limit' ? '' : 'then '}`;
  return withHint(error, `${before}continue with: ${command()}`);
}

interface ListPosition {
  readonly filter: Pick<WalkFilter<Sent>, 'matches' | 'onPage'>;
  /** If a page fails after others were read, adds the command that continues the list to the failure. */
  follow<T>(rows: AsyncIterable<T>): AsyncGenerator<T, void, void>;
}

export function createListPosition(
  context: Pick<Context, 'io' | 'globals'>,
  { limit, since, before }: Pick<WalkOptions, 'limit' | 'since' | 'before'>,
  matches: (record: Sent) => boolean,
): ListPosition {
  let next = before;
  let found = 0;
  const command = () =>
    continueList(context, {
      '--before': next,
      // Write absolute times, because an age such as 2h would refer to a later time when the list continues.
      ...(since !== undefined && { '--since': new Date(since).toISOString() }),
      ...(limit !== undefined && { '--limit': String(limit - found) }),
    });
  return {
    filter: {
      matches(record) {
        if (!matches(record)) return false;
        found++;
        return true;
      },
      onPage(cursor) {
        next = cursor;
      },
    },
    async *follow(rows) {
      try {
        yield* rows;
      } catch (error) {
        throw next === before ? error : hintToContinue(error, command);
      }
    },
  };
}

/** The number of consecutive pages without a match after which a list with a limit stops. */
const MAX_PAGES_WITHOUT_MATCH = 20;

/** Stops a list of at most N rows after too many pages in a row without a match, and tells the user how to continue. */
export const giveUp = (context: Context): Pick<WalkFilter<unknown>, 'maxPages' | 'onGiveUp'> => ({
  maxPages: MAX_PAGES_WITHOUT_MATCH,
  onGiveUp: (pages, before) =>
    context.notice(
      `stopped after ${pages} pages in a row without a match (${unitsText(context.spent)}); there are more pages: continue with --before ${before}, or use --all`,
    ),
});
