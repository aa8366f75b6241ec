import { stopText } from '../core/pages/read-pages.ts';
import { ceilingReached } from './failures.ts';
import type { Gap } from './notice.ts';
import type { Link } from './ports.ts';
import type { TailRow } from './post-row.ts';
import {
  type Filling,
  finish,
  mode,
  now,
  type Run,
  reportGap,
  skipNameless,
  type Walked,
} from './run.ts';
import { readFrame } from './socket/frame.ts';
import { openLink } from './state.ts';
import { usable } from './walk/walk.ts';

/** The maximum number of frames that are read from the queue at a time. */
const FRAMES = 512;
/** So many given-up walks in a row lead to a gap. */
const WALK_TRIES = 3;
/** A connection without frames is broken if a walk finds this many posts that it should have delivered. */
const MISSED_ROWS = 3;
/** Posts this close to the newest one may still arrive through the connection. */
const PROMPT_MS = 15_000;
/** A deep walk that reads more than this many steps of rows is made less often. */
const LONG_STEPS = 5;

/** Prints the next rows: of a finished walk first, then of frames. Returns whether there was anything to do. */
export async function printStep(run: Run): Promise<boolean> {
  const { writer, saver, walks } = run;
  if (writer.busy()) {
    saver?.step(true);
    closeIfBlocked(run);
    return false;
  }
  saver?.step(false);
  if (saver?.isHolding) {
    closeIfBlocked(run);
    return false;
  }
  run.blockedAt = undefined;
  // A command gets its last batch when the output ends.
  const isDrained = run.isDrained || run.ports.sink.delivered !== undefined;
  if (writer.closed || (run.left <= 0 && isDrained)) {
    finish(run, writer.closed ? 'reader' : 'count');
    return true;
  }
  if (run.left <= 0) {
    // Wait until the operating system has the last rows of --count, but pay for nothing meanwhile.
    run.isDrained = true;
    run.session.close();
    writer.drain();
    return true;
  }
  // Print nothing before the start of the run is on disk: after a crash, a run without it would start at the newest post.
  if (saver && !saver.isSafe && (walks.isPlaced || run.filling)) {
    if (walks.isPlaced && !saver.isSaving) saver.touch();
    return false;
  }
  return run.filling ? fillStep(run, run.filling) : printFrames(run);
}

export const printDue = ({ blockedAt, timing, saver, writer, session }: Run): number => {
  const isBlocked = blockedAt !== undefined && session.openedAt !== undefined;
  return Math.min(
    isBlocked ? blockedAt + timing.blockedMs : Number.POSITIVE_INFINITY,
    saver?.due(writer.isWriting) ?? Number.POSITIVE_INFINITY,
  );
};

/** Closes the WebSocket when the output has accepted no rows for long: the connection is charged by the minute. */
function closeIfBlocked(run: Run): void {
  run.blockedAt ??= now(run);
  if (run.session.openedAt !== undefined && now(run) >= run.blockedAt + run.timing.blockedMs)
    run.session.drop('blocked', 'the output accepts no rows');
}

/** Accepts a finished walk, and returns whether its rows are printed; if not, the walk is repeated. */
export function acceptWalk(run: Run, walked: Walked): boolean {
  const { known, walks } = run;
  if (walked.cut !== undefined && walked.cut !== 'unpaid') {
    // A shallow walk gives nothing up: a deep one follows.
    if (walked.depth === 'shallow') return false;
    walks.failures++;
    if (walks.failures < WALK_TRIES || walked.rows === 0) return false;
  }
  if (walked.depth === 'start') {
    known.start = walked.from;
    known.verified = walked.from;
    known.after = Math.max(walked.skippedTo ?? 0, walked.from ?? 0) || null;
  }
  walks.isPlaced = true;
  run.filling = { walked, left: walks.stack.size, printed: 0, missed: 0 };
  return true;
}

async function fillStep(run: Run, filling: Filling): Promise<boolean> {
  const { walked } = filling;
  const { known, walks, options } = run;
  const { start } = options;
  const out: TailRow[] = [];
  const earlier: TailRow[] = [];
  const rows = await walks.stack.take();
  for (const row of rows) {
    if (run.left <= 0) break;
    filling.left--;
    if (walked.depth === 'start') {
      // All rows were there before the run began. The newest ones may still be wanted.
      const wanted = start.kind === 'backfill' && filling.left < start.rows;
      const shown = start.kind === 'now' && filling.left < (start.recent ?? 0);
      if (wanted && (row.at === null || isWanted(run, row))) known.add(row);
      if (!(wanted || shown) || !isWanted(run, row)) continue;
      if (wanted) {
        out.push(row);
        run.left--;
      } else earlier.push(row);
      continue;
    }
    if (known.isDone(row)) continue;
    if (!isWanted(run, row)) {
      if (row.at === null) known.add(row);
      continue;
    }
    known.add(row);
    out.push(row);
    run.left--;
    if (isMissed(run, walked, row)) filling.missed++;
  }
  filling.printed += out.length;
  if (earlier.length > 0) run.writer.push(earlier, false);
  print(run, out);
  // While older rows come first, the feed is verified up to just before the oldest row that is left.
  const to = verifiedBy(run, walked);
  if (to !== null && run.left > 0) known.verify(Math.min(to, walks.stack.lowest - 1));
  if (rows.length > 0 && run.left > 0) return true;
  run.filling = undefined;
  if (run.left > 0) conclude(run, filling);
  run.saver?.touch();
  return true;
}

const isWanted = ({ options }: Run, row: TailRow): boolean => options.filter?.(row) ?? true;

function print(run: Run, rows: readonly TailRow[]): void {
  if (rows.length === 0) return;
  run.saver?.wrote(rows);
  run.writer.push(rows);
}

/** The post time up to which this walk verifies the feed; null if it verifies nothing. */
function verifiedBy({ known, timing }: Run, { depth, cut }: Walked): number | null {
  if (depth === 'shallow' || cut !== undefined || known.sigma === null) return null;
  return known.sigma - timing.latenessMs;
}

/** Whether an open WebSocket should have delivered the row of a page. */
function isMissed(run: Run, { times }: Walked, row: TailRow): boolean {
  const newest = times.find((at) => at !== null);
  if (row.at === null || newest === undefined || newest === null) return false;
  return row.at < newest - PROMPT_MS && (run.options.carries?.(row) ?? true);
}

function conclude(run: Run, { walked, printed, missed }: Filling): void {
  const { known, walks, session, notify } = run;
  const { cut, depth, startedAt, readAt } = walked;
  const isFirst = !walks.isStarted;
  const gap = gapOf(run, walked);
  if (gap) reportGap(run, gap);
  if (cut !== undefined && cut !== 'unpaid') {
    if (known.sigma !== null) known.verify(known.sigma - run.timing.latenessMs);
    const to = gap?.to ?? known.verified;
    if (gap && to !== null) known.addGap({ from: gap.from, to, why: stopText(cut) });
  }
  run.rate.learn(walked);
  if (!isFirst && mode(run) === 'ws') run.filled += printed;
  if (isFirst && depth !== 'start')
    notify({ kind: 'caughtUp', rows: printed, pages: walked.pages });
  const frames = run.frames;
  run.frames = 0;
  walks.isStarted = true;
  walks.printedAt = now(run);
  walks.failures = 0;
  if (walks.finale === 'walking') walks.finale = 'done';
  // If the run is already ending when its first walk completes, that walk is also the last one.
  if (isFirst && walks.finale === 'wanted') walks.finale = 'done';
  if (cut === 'unpaid') {
    run.neededCeiling = neededCeiling(run, walked);
    finish(run, 'failure', walked.failure ?? ceilingReached());
  }
  if (cut === 'unpaid' || depth === 'shallow') return;
  walks.verifiedAt = startedAt;
  if (cut === undefined) {
    walks.completeAt = startedAt;
    known.readAt = readAt;
  }
  walks.isLong = depth === 'deep' && walked.rows > LONG_STEPS * run.ports.source.sizes.step;
  const { state } = session;
  if (state.kind === 'live' && frames === 0 && state.link.held === 0 && missed >= MISSED_ROWS)
    session.drop('incomplete', 'pages contained posts that the WebSocket did not deliver');
}

/** The margin of an estimate: posts may be more frequent further back. */
const MARGIN = 1.2;
const ROUND_TO = 1_000;

/** The spending limit with which the walk would have reached what is verified; null if this cannot be estimated. */
function neededCeiling({ known, ports }: Run, { times, oldest, rows }: Walked): number | null {
  const { verified } = known;
  const newest = times.find((at) => at !== null) ?? null;
  if (verified === null || newest === null || oldest === null) return null;
  if (oldest <= verified || newest <= oldest) return null;
  const { stepCu, sizes } = ports.source;
  const rowsLeft = (rows * (oldest - verified)) / (newest - oldest);
  const stepsLeft = Math.ceil((rowsLeft * MARGIN + sizes.max) / sizes.step);
  return ROUND_TO * Math.ceil((ports.spent().atMost + stepsLeft * stepCu) / ROUND_TO);
}

/** The stretch that walks have given up. What was not read at the end of a run is reported by the engine. */
function gapOf({ known }: Run, { cut, oldest }: Walked): Gap | undefined {
  if (cut === undefined || cut === 'unpaid') return undefined;
  const from = known.verified ?? known.start;
  return oldest !== null && from !== null && oldest <= from
    ? undefined
    : { why: cut, from, to: oldest, open: false };
}

function printFrames(run: Run): boolean {
  const link = openLink(run.session.state);
  // Until the start of a new run is known, frames wait: they may be from before it.
  if (!link || !run.walks.isPlaced) return false;
  const taken = readFrames(run, link);
  run.frames += taken;
  return taken > 0;
}

function readFrames(run: Run, link: Link): number {
  const { known, options, ports } = run;
  const out: TailRow[] = [];
  const clock = ports.clock.now();
  let taken = 0;
  while (taken < FRAMES && run.left > 0) {
    const raw = link.next();
    if (!raw) break;
    taken++;
    const frame = readFrame(raw);
    run.session.heard(frame);
    if (frame.kind === 'nameless') skipNameless(run, [frame.record]);
    else if (frame.kind === 'unreadable') run.notify({ kind: 'frame', text: frame.why });
    else if (frame.kind === 'error') run.notify({ kind: 'frame', text: frame.text });
    if (frame.kind !== 'row' || run.left <= 0 || !(options.scope?.(frame.row) ?? true)) continue;
    const row = usable(frame.row, known.sigma, clock);
    const isLate = known.isLate(row);
    // With too many ids in memory, the post is left to the next walk.
    if (!isLate && (known.isDone(row) || known.isFull)) continue;
    if (!isWanted(run, row)) {
      if (row.at === null) known.add(row);
      continue;
    }
    if (isLate) {
      run.late++;
      known.addLate(row);
    } else known.add(row);
    out.push(row);
    run.left--;
  }
  print(run, out);
  return taken;
}
