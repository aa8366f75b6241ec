import { countText, group, unitsText } from '../../base/units.ts';
import { stopText } from '../../core/pages/read-pages.ts';
import { lengthText, span } from '../../output/format/time.ts';
import { createNoticeLimit } from '../../output/notice-limit.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { HandoffHealth } from '../../tail/exec/delivery.ts';
import type { TailFacts } from '../../tail/health.ts';
import type {
  DownNotice,
  FallbackNotice,
  Gap,
  StartNotice,
  Stretched,
  Summary,
  TailNotice,
  TailStatus,
} from '../../tail/notice.ts';
import type { PostMark } from '../../tail/post-row.ts';
import { LONGEST_POLL_MS, type PollReason } from '../../tail/spend/stream-or-poll.ts';

/** Waits shorter than this are not reported. */
const QUIET_MS = 2_000;
export const perMinuteText = (cu: number): string => `${unitsText(Math.round(cu))}/min`;

/** The latest time that a Date can represent. */
const LATEST = 8.64e15;
/** A post time in ISO format; a time that a Date cannot represent is shown as a number. */
const iso = (at: number): string =>
  Math.abs(at) <= LATEST ? new Date(at).toISOString() : String(at);

/** A post, by its time, and by its id if that is known. */
export function placeText(mark: PostMark | null): string {
  if (mark === null) return 'the start of the feed';
  const time = mark.at === null ? 'a post without a time' : iso(mark.at);
  return mark.id === '' ? time : `${time} (${safeLine(mark.id)})`;
}

export function gapText({ from, to }: Pick<Gap, 'from' | 'to'>): string {
  const start = from === null ? 'the start of the feed' : iso(from);
  const end = to === null ? 'the end of this run' : iso(to);
  return `posts may be missing between ${start} and ${end}`;
}

/** What was not read, and why. What the next run will read is not a gap. */
function unreadText(gap: Gap): string {
  const why = safeLine(typeof gap.why === 'string' ? stopText(gap.why) : gap.why.failure);
  if (!gap.open) return `GAP: ${gapText(gap)}: ${why}`;
  const since = gap.from === null ? 'posts' : `posts since ${iso(gap.from)}`;
  const limit = gap.neededCeiling ? ` with --max-cu ${gap.neededCeiling}` : '';
  return `${since} were not all read: ${why}; the next run reads them${limit}`;
}

const starts = {
  now: '',
  backfill: ', starting with the backfill',
  since: ', starting at the time given',
  position: ', resuming where the last run stopped',
} as const;

function downText({ why, text }: DownNotice): string {
  const detail = safeLine(text);
  if (why === 'refused') return `cannot connect (${detail || why}); retrying`;
  return `connection lost (${why}${detail === '' ? '' : `: ${detail}`}); reconnecting`;
}

/** A notice of the tail as a line for stderr; undefined for a notice that is not printed. */
function tailText(notice: TailNotice): string | undefined {
  switch (notice.kind) {
    case 'start':
      return startText(notice);
    case 'nameless':
      return 'skipped a post without an id, because its repetitions could not be recognized';
    case 'caughtUp':
      return notice.rows > 0
        ? `caught up: ${countText(notice.rows, 'post')} from ${countText(notice.pages, 'page')}`
        : undefined;
    case 'down':
      return `${downText(notice)}${notice.waitMs < 1_000 ? '' : ` in ${span(notice.waitMs)}`}`;
    case 'fallback':
      return `falling back to ${pollingText(notice)}: ${whyText(notice)}`;
    case 'streamAgain':
      return streamAgainText(notice.why, notice.perMinute);
    case 'stretched':
      return pollingText(notice);
    case 'budget':
      return `waiting until ${untilText(notice.until)}: ${notice.reason}`;
    case 'renewed':
      return 'units are available again: continuing';
    case 'unstable':
      return `the connection failed ${notice.sessions} times in a row; each attempt may be charged`;
    case 'gap':
      return unreadText(notice);
    case 'wait':
      return notice.ms > QUIET_MS
        ? `waiting ${span(notice.ms)}: ${safeLine(notice.reason)}`
        : undefined;
    case 'frame':
      return `unexpected frame: ${safeLine(notice.text)}`;
    case 'end':
      return endText(notice.summary);
    default:
      return undefined;
  }
}

const whyText = ({ why, detail = pollReasons[why] }: FallbackNotice): string => safeLine(detail);

/** Budgets renew at UTC midnight. A wait ends at most 2 s later, but the text shows midnight. */
export function untilText(ms: number): string {
  const minute = new Date(Math.ceil((ms - 2_000) / 60_000) * 60_000).toISOString().slice(0, 16);
  return `${minute.replace('T', ' ')} UTC`;
}

/** What polling costs, and how often it reads where units are to last. */
interface Polling {
  readonly perMinute: number;
  readonly stretched: Stretched | undefined;
}

const pollingText = ({ stretched, perMinute }: Polling): string =>
  `polling${stretchedText(stretched)} (${perMinuteText(perMinute)})`;

function streamAgainText(why: PollReason, perMinute: number): string {
  const cause = why === 'budget' ? 'the budget covers' : 'the units of the key cover';
  return `${cause} streaming again: streaming over WebSocket (${perMinuteText(perMinute)})`;
}

function stretchedText(stretched: Stretched | undefined): string {
  if (stretched === undefined) return '';
  const every = ` every ${span(stretched.everyMs)}`;
  const until = untilText(stretched.until);
  // On a feed with very many posts, no interval saves enough: each post costs the same.
  return stretched.everyMs < LONGEST_POLL_MS
    ? `${every} so that the budget lasts until ${until}`
    : `${every}, the longest interval, although the budget may not last until ${until}`;
}

/** A polling interval: `every 10s`, `every 1m30s`. */
export const everyText = (ms: number): string => `every ${ms < 1_000 ? `${ms}ms` : lengthText(ms)}`;

function startText({
  mode,
  from,
  noFollow,
  lagMs,
  perMinute: cu,
  isLeast,
  why,
  stretched,
  other,
}: StartNotice): string {
  if (noFollow) return `reading all posts up to now${starts[from]}`;
  const every = everyText(lagMs);
  const priceOf = (units: number) => `${isLeast ? 'at least ' : ''}${perMinuteText(units)}`;
  if (mode === 'poll') {
    const because = why === undefined || obvious.has(why) ? '' : `: ${pollReasons[why]}`;
    const interval = stretched ? stretchedText(stretched) : ` ${every}`;
    const streaming =
      other !== null && why === 'cheaper' ? `; --via ws: ${priceOf(other.perMinute)}` : '';
    return `polling${interval} (${priceOf(cu)}${streaming})${because}${starts[from]}`;
  }
  const instead =
    other === null ? '' : ` (polling ${every} would cost ${priceOf(other.perMinute)})`;
  return `streaming over WebSocket: ${priceOf(cu)}${instead}${starts[from]}`;
}

/** The reasons to poll that the flags state, or that the line states otherwise. */
const obvious: ReadonlySet<PollReason> = new Set(['asked', 'cheaper']);

const pollReasons: Readonly<Record<PollReason, string>> = {
  asked: 'as requested',
  cheaper: 'polling costs less',
  plan: "the key's plan has no live feed",
  ceiling: 'the spending limit cannot cover another minute of streaming',
  budget: 'streaming would use up the budget before it renews',
  units: 'the units of the key, or the share for streaming (setting socketShare), are used up',
  socket: 'the connection failed three times in a row',
};

function endText(summary: Summary): string {
  const { rows, earlier, gaps, connections, spent, filled, late, nameless } = summary;
  const parts = [
    earlier === 0
      ? countText(rows, 'post')
      : `${countText(rows, 'new post')} after the first ${earlier}`,
    ...stagesText(summary),
    gaps.length === 0 ? 'no gaps' : countText(gaps.length, 'gap'),
    countText(Math.max(0, connections - 1), 'reconnect'),
    spentText(spent),
  ];
  if (filled > 0) parts.push(`${filled} found by polling`);
  if (late > 0) parts.push(`${late} came late`);
  if (nameless > 0) parts.push(`${nameless} skipped without an id`);
  if (spent.minutes) parts.push(`${unitsText(spent.minutes)} of socket minutes not confirmed`);
  return `stopped after ${lengthText(summary.durationMs)}: ${parts.join(', ')}; ${completeText(summary)}`;
}

/** What became of the posts with a confluence or a cooldown, as parts of a line. */
export const stagesText = ({
  printed,
  held,
}: Pick<Summary, 'printed' | 'held'>): readonly string[] => [
  ...(printed === null ? [] : [`${group(printed)} printed`]),
  ...(held > 0 ? [`${group(held)} held back`] : []),
];

/**
 * Up to when the feed is complete. No post time tells this of a feed without posts, but when it was
 * read does.
 */
function completeText({ verified, readAt, isUnseen }: Summary): string {
  if (isUnseen && readAt !== null) return `no posts yet, last read at ${secondText(readAt)}`;
  return verified === null ? 'nothing verified' : `complete up to ${secondText(verified)}`;
}

const secondText = (at: number): string => `${iso(at).slice(0, 19)}Z`;

/** What a run has cost so far, without the minute that it has in reserve. */
export const spentNow = ({ atMost, openMinutes = 0 }: TailFacts['spent']): number =>
  atMost - openMinutes;

const spentText = ({ cu, atMost }: Summary['spent']): string =>
  atMost > cu ? `${unitsText(atMost)} at most` : unitsText(cu);

/** How many posts were delivered, and when the last of them was posted. */
function deliveredText(
  { rows, lastPost }: Pick<TailFacts, 'rows' | 'lastPost'>,
  now: number,
): string {
  const posts = countText(rows, 'post');
  if (lastPost === null) return posts;
  return `${posts}, the last from ${span(Math.max(0, now - lastPost.at))} ago`;
}

export function statusText(status: TailStatus): string {
  const { waitsUntil, rate, gaps, filled, reconnects, spent } = status;
  const parts = [
    unitsText(spentNow(spent)),
    waitsUntil === null ? perMinuteText(status.perMinute) : '',
    stateWords(status),
    `${(rate * 60).toFixed(rate < 1 ? 1 : 0)} posts/min`,
    walkedText(status),
    gaps > 0 ? countText(gaps, 'gap') : '',
    filled > 0 ? `${filled} found by polling` : '',
    reconnects > 0 ? countText(reconnects, 'reconnect') : '',
  ];
  return joined(parts);
}

/** What a run does now, or what it waits for. `blocked`: why a file cannot be written. */
export function stateWords(
  {
    mode,
    ready,
    waitsUntil,
    failing,
  }: Pick<TailFacts, 'mode' | 'ready' | 'waitsUntil' | 'failing'>,
  blocked?: string,
): string {
  if (blocked !== undefined) return `waiting: ${blocked}`;
  const trouble = failing ? 'the service does not respond' : '';
  if (waitsUntil !== null)
    return joined([`waiting until ${untilText(waitsUntil)} for units`, trouble]);
  const isStarting = mode === 'waiting' && !ready;
  return joined([isStarting ? 'starting' : (modeWords[mode] ?? mode), trouble]);
}

/** Modes whose words differ from the status file. */
const modeWords: Readonly<Partial<Record<TailFacts['mode'], string>>> = { streaming: 'live' };

function walkedText({ walkedAgoMs, isUnseen }: TailStatus): string {
  if (walkedAgoMs === null) return '';
  const ago = `${span(walkedAgoMs)} ago`;
  return isUnseen ? `no posts yet, last read ${ago}` : `verified ${ago}`;
}

/** The problems of a handoff, for the heartbeat; empty if there are no problems. */
function handoffStateText(
  { pendingRows, oldestAt, deadRows, lastExit }: HandoffHealth,
  now: number,
): string {
  const age = oldestAt === null ? '' : `, the oldest from ${span(Math.max(0, now - oldestAt))} ago`;
  const parts = [
    pendingRows > 0 ? `${countText(pendingRows, 'post')} not acknowledged${age}` : '',
    lastExit !== null && lastExit !== 0 ? `the command failed with exit code ${lastExit}` : '',
    deadRows > 0 ? `${countText(deadRows, 'post')} in the dead-letter file` : '',
  ];
  return joined(parts);
}

/** The state of a run that follows a feed, in one line. */
export const feederText = (facts: TailFacts, now: number, ...own: readonly string[]): string =>
  joined([
    deliveredText(facts, now),
    ...own,
    facts.handoff ? handoffStateText(facts.handoff, now) : '',
  ]);

const joined = (parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join(' · ');

/** Notices that a failing service can cause without end. */
const repeatedNotices: ReadonlySet<TailNotice['kind']> = new Set<TailNotice['kind']>([
  'frame',
  'nameless',
  'down',
  'wait',
  'unstable',
  'caughtUp',
]);

/**
 * Formats the notices of a tail, and limits repeated ones. At the end, sums up those that were not
 * shown.
 */
export function createNoticeLines(mono: () => number): (notice: TailNotice) => string[] {
  const limit = createNoticeLimit(mono, repeatedNotices);
  return (notice) => {
    const text = tailText(notice);
    const shown = text === undefined ? undefined : limit.show(notice.kind, text);
    return [
      ...(notice.kind === 'end' ? limit.rest() : []),
      ...(shown === undefined ? [] : [shown]),
    ];
  };
}
