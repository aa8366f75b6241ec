import { createBackoff } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { rowsDownTo } from '../../core/pages/page-size.ts';
import { type ReadPage, readPages, stopCodeOf } from '../../core/pages/read-pages.ts';
import type { FeedPage } from '../ports.ts';
import { nthNewest, type TailRow } from '../post-row.ts';
import { type Depth, type Run, skipNameless, type Walked } from '../run.ts';

type Page = FeedPage & { readonly items: readonly TailRow[] };
type Read = ReadPage<TailRow, Page>;

const TRIES = 5;
/** So many verified posts in a row end a deep walk: a single one may have a wrong time. */
const PROOF_ROWS = 3;
/** So many known posts in a row end a walk of a feed without post times. */
const TIMELESS_ROWS = 20;
/** So many answers in a row must report the end of the feed. */
const ENDS = 3;
/** A new run reads at most so many rows to find three post times. */
const START_ROWS = 400;

/** A page, and when the request was sent that it answers: before that, it may have waited for hours. */
export interface RequestedPage {
  readonly page: FeedPage;
  /** By the monotonic clock, and by the clock of this machine. */
  readonly sentAt: number;
  readonly sentTime: number;
}

/** Reads pages from the newest one down, and keeps the rows that need delivery on the stack. */
export async function walk(
  run: Run,
  readPage: (before: string | undefined, limit: number) => Promise<RequestedPage>,
  /** Decides how far the walk reads, when its first page has arrived. */
  decideDepth: () => Depth,
): Promise<Walked> {
  const { known, timing, sizer, signal } = run;
  const { stack } = run.walks;
  const { clock, random } = run.ports;
  const { start } = run.options;
  const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, random);
  const backfill = start.kind === 'backfill' ? start.rows : 0;
  let depth: Depth | undefined;
  let startedAt = clock.mono();
  let readAt = clock.now();
  let pages = 0;
  let rows = 0;
  const startTimes: number[] = [];
  let older = 0;
  let knownRun = 0;
  let isAnyKnown = false;
  let oldest: number | null = null;
  const sigmaBefore = known.sigma;
  let newer = 0;
  let times: readonly (number | null)[] = [];
  let expected = 0;
  const wanted: TailRow[] = [];
  let backfillFrom: number | null = null;
  let skippedTo: number | null = null;

  const request = async (before: string | undefined, limit = 1) => {
    const { page, sentAt, sentTime } = await readPage(before, limit);
    if (rows === 0) {
      startedAt = sentAt;
      readAt = sentTime;
    }
    pages++;
    skipNameless(run, page.nameless ?? []);
    sizer.saw(page.rows.length + (page.nameless?.length ?? 0), page.hasMore);
    return { ...page, items: usableRows(page.rows, known.sigma, clock.now()) };
  };

  /** Whether the reported end of the feed is the end of the feed. */
  const isEnd = ({ ends }: Read): boolean => {
    if (older > 0) return true;
    // A feed of a user and a token may never have a post: to ask three times at each poll would triple its price.
    if (ends > 0 && rows === 0 && run.walks.isStarted && known.isUnseen) return true;
    if (ends < ENDS) return false;
    const { lowest, sigma } = known;
    // No older post is known that should be in the pages by now.
    const isComplete = lowest === null || (oldest !== null && oldest <= lowest);
    const isYoung =
      lowest !== null && lowest > (sigma ?? Number.POSITIVE_INFINITY) - timing.latenessMs;
    if (known.verified !== null) return isComplete || isYoung;
    return isAnyKnown || isYoung || known.isEmpty;
  };

  const read = ({ fresh }: Read): boolean => {
    if (!depth) depth = decideDepth();
    if (times.length === 0 || times.every((at) => at === null)) {
      times = fresh.map(({ at }) => at);
      const nth = known.start === null && known.verified === null ? 0 : 2;
      const sigma = depth === 'start' ? null : nthNewest(times, nth);
      if (sigma !== null) known.sigma = Math.max(known.sigma ?? sigma, sigma);
    }
    let done = false;
    for (const row of fresh) {
      rows++;
      // A post without a time that stands below verified ones is as old as they are.
      if (!(row.at === null && older >= PROOF_ROWS)) wanted.push(row);
      const isDone = known.isDone(row);
      // Whatever is there before the run begins is known, except for the backfill.
      if (depth === 'start' && rows > backfill) known.add(row);
      isAnyKnown ||= isDone;
      if (row.at === null ? !isDone : isBetween(sigmaBefore, row.at, known.sigma)) newer++;
      knownRun = isDone ? knownRun + 1 : 0;
      if (row.at === null) continue;
      if (depth === 'start') startTimes.push(row.at);
      if (rows <= backfill) backfillFrom = Math.min(backfillFrom ?? row.at, row.at);
      else skippedTo = Math.max(skippedTo ?? row.at, row.at);
      oldest = Math.min(oldest ?? row.at, row.at);
      if (depth === 'shallow' && isDone) done = true;
      if (known.verified === null) continue;
      older = row.at <= known.verified ? older + 1 : 0;
      if (older >= PROOF_ROWS) done = true;
    }
    if (depth === 'start')
      return (
        (rows >= backfill && startTimes.length >= PROOF_ROWS) ||
        rows >= Math.max(START_ROWS, backfill)
      );
    const isTimeless = known.verified === null && known.lowest === null && oldest === null;
    return done || (isTimeless && knownRun >= TIMELESS_ROWS);
  };

  const end = (cut: Walked['cut'], failure?: Failure): Walked => ({
    ...{ depth: depth ?? decideDepth(), cut, failure },
    startedAt,
    readAt,
    pages,
    rows,
    oldest,
    times,
    newer,
    coveredMs: (known.sigma ?? 0) - (sigmaBefore ?? known.sigma ?? 0),
    skippedTo,
    from: backfill > 0 ? backfillFrom && backfillFrom - 1 : nthNewest(startTimes, PROOF_ROWS - 1),
  });

  try {
    const feed = { page: request, idOf: ({ id }: TailRow) => id };
    const reading = { clock, signal, tries: TRIES, pauseMs: () => backoff.next(), doubtsEnd: true };
    const size = (isRepeated: boolean) => sizer.next(pages === 0 || isRepeated ? 1 : expected);
    for await (const page of readPages<TailRow, Page>(feed, reading, size)) {
      const isOver = read(page);
      await stack.push(wanted.splice(0).filter((row) => depth === 'start' || !known.isDone(row)));
      const isBottom = !page.page.hasMore && (depth === 'start' ? page.ends >= ENDS : isEnd(page));
      if (isOver || isBottom) break;
      if (page.fresh.length > 0) backoff.reset();
      const pageTimes = page.page.items.map(({ at }) => at);
      const isOpen = depth === 'start' || known.verified === null;
      expected = isOpen ? backfill - rows : rowsDownTo(known.verified ?? 0, pageTimes);
    }
    return end(undefined);
  } catch (error) {
    const stop = stopCodeOf(error);
    if (stop) return end(stop);
    if (error instanceof Failure && (error.kind === 'limit' || error.kind === 'quota'))
      return end('unpaid', error);
    throw error;
  }
}

const isBetween = (after: number | null, at: number, to: number | null): boolean =>
  after !== null && to !== null && at > after && at <= to;

const DAY = 86_400_000;

/** A post that is dated more than a day ahead counts as a post without a time. */
export const usable = (row: TailRow, sigma: number | null, now: number): TailRow =>
  isAhead(row, sigma, now) ? { id: row.id, at: null, record: row.record, raw: row.raw } : row;

/** If most posts of a page are that far ahead, the clock of this machine is wrong. */
function usableRows(
  rows: readonly TailRow[],
  sigma: number | null,
  now: number,
): readonly TailRow[] {
  const ahead = rows.filter((row) => isAhead(row, sigma, now)).length;
  return 2 * ahead > rows.length ? rows : rows.map((row) => usable(row, sigma, now));
}

const isAhead = ({ at }: TailRow, sigma: number | null, now: number) =>
  at !== null && at > Math.max(now, sigma ?? now) + DAY;
