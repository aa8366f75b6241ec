import { span } from '../../output/format/time.ts';
import type { Gap, Summary, TailNotice, TailStatus } from '../../tail/notice.ts';
import type { PostMark } from '../../tail/row.ts';
import type { PollReason } from '../../tail/spend/socket-share.ts';
import { unitsText } from '../spend/estimate.ts';

/** Shorter waits are nobody's business. */
const QUIET_MS = 2_000;
const ways = { ws: 'the socket', poll: 'polls' } as const;
const perMinute = (cu: number) => `${unitsText(Math.round(cu))} a minute`;
const many = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

/** A place of the feed: its time, and its id for whoever wants to look. */
const place = (mark: PostMark | null): string =>
  mark === null
    ? 'the start of the feed'
    : `${mark.at === null ? 'no time' : new Date(mark.at).toISOString()} (${mark.id})`;

const gapText = ({ why, from, lateFrom, to }: Gap): string =>
  why === 'failing'
    ? `posts may be missing between ${from === null ? 'the start of this run' : place(from)} and its end`
    : from === null && lateFrom !== null
      ? `posts that turned up late may be missing between ${new Date(lateFrom).toISOString()} and ${place(to)}`
      : `posts may be missing between ${place(from)} and ${place(to)}`;

const cuts: Readonly<Record<Gap['why'], string>> = {
  ceiling: 'the ceiling of this run was reached',
  quota: 'the units ran out',
  cursor: 'the service lost the place of the walk',
  stuck: 'the pages led nowhere',
  denied: 'the service said that nothing older exists, though it does',
  failing: 'the service failed until the end',
};

const starts = {
  now: 'from now on',
  backfill: 'with what was asked for first',
  since: 'from the time asked for',
  checkpoint: 'from the checkpoint',
  file: 'from the end of the file',
} as const;

/** What the tail tells, as a line for stderr; undefined for what only a trace shows. */
export function tailText(notice: TailNotice): string | undefined {
  switch (notice.kind) {
    case 'start': {
      const other =
        notice.other === null
          ? ''
          : `; ${ways[notice.other.way]} would cost ${perMinute(notice.other.perMinute)}`;
      const lag = notice.way === 'poll' ? `, aiming at ${span(notice.lagMs)} of delay` : '';
      return `tailing by ${ways[notice.way]} ${starts[notice.from]}: ${perMinute(notice.perMinute)}${lag}${other}`;
    }
    case 'caughtUp':
      return notice.rows > 0
        ? `caught up: ${many(notice.rows, 'row')} from ${many(notice.pages, 'page')}`
        : undefined;
    case 'down':
      return `the socket is down (${notice.why}${notice.text === '' ? '' : `: ${notice.text}`}); connecting again in ${span(notice.waitMs)}`;
    case 'fallback':
      return `going on by polls: ${pollReasons[notice.why]}; ${perMinute(notice.perMinute)}`;
    case 'unstable':
      return `the socket has ended ${notice.sessions} times within a minute each: every start is billed, ${unitsText(notice.cuAtMost)} so far at the most`;
    case 'gap':
      return `GAP: ${gapText(notice)}: ${cuts[notice.why]}`;
    case 'unproven':
      return `posts came too fast to check for lost ones between ${place(notice.from)} and ${place(notice.to)}`;
    case 'wait':
      return notice.ms > QUIET_MS ? `waiting ${span(notice.ms)}: ${notice.reason}` : undefined;
    case 'frame':
      return `the service said: ${notice.text}`;
    case 'end':
      return endText(notice.summary);
    default:
      return undefined;
  }
}

const pollReasons: Readonly<Record<PollReason, string>> = {
  asked: 'as asked',
  noSocket: 'this feed has no socket',
  plan: "the key's plan has no live feed",
  refused: 'the service refused the socket',
  rejected: 'the service rejected the subscription',
  ceiling: 'the ceiling can hold no further minute of the socket',
  allowance: 'the units left can hold no further minute of the socket',
  share: 'the socket has used its share of the units left',
  unstable: 'the socket broke again and again within its first minute',
};

/** The last line of a run. */
function endText({ rows: count, gaps, connections, spent, filled, late }: Summary): string {
  const parts = [
    many(count, 'row'),
    gaps.length === 0 ? 'no gaps' : many(gaps.length, 'gap'),
    many(Math.max(0, connections - 1), 'reconnect'),
    spentText(spent),
  ];
  if (filled > 0) parts.push(`${filled} filled in`);
  if (late > 0) parts.push(`${late} late`);
  return `end: ${parts.join(', ')}`;
}

const spentText = ({ least, most }: Summary['spent']): string =>
  most > least ? `${unitsText(most)} at most` : unitsText(most);

/** The line that stands below a live feed. */
export function statusText(status: TailStatus): string {
  const { way, connected, rate, gaps, filled, connections, spent, provenAgoMs } = status;
  const parts = [
    way === 'ws' ? (connected ? 'live' : 'connecting') : 'polling',
    `${(rate * 60).toFixed(rate < 1 ? 1 : 0)} posts/min`,
    provenAgoMs === null ? '' : `complete ${span(provenAgoMs)} ago`,
    gaps > 0 ? many(gaps, 'gap') : '',
    filled > 0 ? `${filled} filled` : '',
    connections > 1 ? many(connections - 1, 'reconnect') : '',
    perMinute(status.perMinute),
    `${unitsText(spent.most)} in all`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
