import { quoted } from '../../base/shell-word.ts';
import type { WalkOptions } from '../../core/pages/walk.ts';
import { agentOf } from '../agent.ts';
import type { ListInput } from '../args/list-flags.ts';
import type { Io } from '../io.ts';
import { continueList } from '../run/continue-command.ts';

/** What a list has read so far. */
export interface ListState {
  /** The place from which another run continues. */
  next: string | undefined;
  /** Whether there may be posts below that place. */
  hasMore: boolean;
  /** The number of posts that pass the filters. */
  matches: number;
  /** How many of them are certainly the newest ones. */
  sure: number;
  /** The time of the last post that passed; null if it has none. */
  oldest: number | null;
  /** Whether the list stopped because page after page had no match. */
  isGivenUp: boolean;
}

type ListRange = Pick<WalkOptions, 'since' | 'until'>;

/** A longer place, which is that of many feeds, does not help on a terminal. */
const LONGEST_PLACE = 160;

/** What the limit of a list has left out, and how to get it; undefined if nothing is known of. */
export function leftOutText(
  io: Io,
  flags: ListInput,
  [one, many = `${one}s`]: readonly [one: string, many?: string],
  state: ListState,
  range: ListRange,
): string | undefined {
  const { rows, best, countBy, isForAgent } = flags;
  const agent = agentOf(io.env);
  if (isForAgent && best !== undefined && state.matches > best)
    return `printed ${best} of ${state.matches} rows, because an agent reads them (${agent}); for more, add --limit N or --all`;
  if (state.matches !== rows || !state.hasMore) return undefined;
  if (isForAgent) {
    const line = continueList(io, undefined, continuation(state.next, range));
    return `stopped at ${rows} rows, because an agent reads them (${agent}); continue with: ${line}; for more at once, add --limit N or --all`;
  }
  if (countBy !== undefined)
    return `counted only the newest ${rows} ${many}, because no range is given; to count more, add --since 24h or --all`;
  if (range.since !== undefined) return cutText(state.oldest);
  // A script knows its limit, and a reader that stops early wants to hear nothing.
  if (agent === undefined && io.stderr.isTTY !== true) return undefined;
  const place = quoted(state.next ?? '');
  const isShort = agent !== undefined || place.length <= LONGEST_PLACE;
  return `more ${many} exist: ${isShort ? `--before ${place}` : 'raise --limit'}`;
}

/** The list was cut at `oldest`, the time of its last post. */
function cutText(oldest: number | null): string {
  const when = new Date(oldest ?? Number.NaN);
  const at = Number.isNaN(when.getTime()) ? '' : ` at ${when.toISOString()}`;
  return `--limit ended the list${at}, before --since; to read the whole range, omit --limit`;
}

/**
 * The command line that continues a list that failed. Posts that were printed where newer ones may
 * be missing do not count.
 */
export function lineAfterFailure(
  io: Io,
  out: string | undefined,
  { rows }: ListInput,
  { next, sure }: ListState,
  range: ListRange,
): string {
  const limit = rows === undefined ? {} : { '--limit': String(rows - sure), '--top': undefined };
  return continueList(io, out, { ...continuation(next, range), ...limit });
}

/**
 * The flags that continue a list. An age such as 2h would refer to a later time, so they state the
 * time.
 */
function continuation(
  before: string | undefined,
  { since, until }: ListRange,
): Record<string, string | undefined> {
  return {
    '--before': before,
    ...(since !== undefined && { '--since': new Date(since).toISOString() }),
    ...(until !== undefined && { '--until': new Date(until).toISOString() }),
  };
}
