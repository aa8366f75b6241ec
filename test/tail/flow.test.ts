import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { createFlow, type Filled } from '../../src/tail/flow.ts';
import { createTailWriter } from '../../src/tail/output/writer.ts';
import type { Link } from '../../src/tail/ports.ts';
import type { TailRow } from '../../src/tail/row.ts';
import { createSeen } from '../../src/tail/seen/seen.ts';
import { createFrameQueue } from '../../src/tail/socket/frame-queue.ts';
import { createPollSizer } from '../../src/tail/spend/pace.ts';
import { timing } from '../../src/tail/timing.ts';
import type { Depth, Resume, StartPoint } from '../../src/tail/walk/bounds.ts';
import { createRowStack } from '../../src/tail/walk/row-stack.ts';
import { walk } from '../../src/tail/walk/walk.ts';

const S = 1_000;
const MARGIN = timing.marginMs;
const row = (id: string, at: number | null): TailRow => ({
  id,
  at,
  record: { id, platformCreatedAt: at },
  raw: null,
});
/** Posts `t<from>` to `t<to>`, one per `everyMs`. */
const posts = (from: number, to: number, everyMs = S) =>
  Array.from({ length: to - from + 1 }, (_, i) => row(`t${from + i}`, everyMs * (from + i)));
const ids = (from: number, to: number) => posts(from, to).map(({ id }) => id);
const frameOf = ({ record }: TailRow) => Buffer.from(JSON.stringify({ type: 'thesis', data: record }));

interface Given {
  readonly start?: StartPoint;
  readonly count?: number;
  readonly saves?: boolean;
  readonly byFile?: boolean;
  readonly seenMax?: number;
  readonly scope?: (row: TailRow) => boolean;
  readonly filter?: (row: TailRow) => boolean;
  readonly carries?: (row: TailRow) => boolean;
}
interface WalkOptions {
  /** The number of pages before the walk is cut. */
  readonly pages?: number;
  readonly cut?: 'ceiling' | 'cursor';
  readonly continues?: boolean;
  readonly at?: number;
}

/** A flow over a feed that the test writes, with its output. */
function createTestFlow(given: Given = {}) {
  const out: string[] = [];
  const sink = {
    async write(rows: readonly TailRow[]) {
      out.push(...rows.map(({ id }) => id));
      return true;
    },
    flush: async () => true,
  };
  const writer = createTailWriter(
    sink,
    () => {},
    () => 0,
  );
  const flow = createFlow({
    ...{ timing, writer, seen: createSeen(Number.NEGATIVE_INFINITY, given.seenMax ?? 10_000) },
    start: given.start ?? { kind: 'now' },
    scope: given.scope ?? (() => true),
    filter: given.filter ?? (() => true),
    carries: given.carries ?? (() => true),
    count: given.count ?? Number.POSITIVE_INFINITY,
    ...{ saves: given.saves ?? false, byFile: given.byFile ?? false },
  });
  /** All posts, in the order in which they were posted. */
  const posted: TailRow[] = [];
  let feed: TailRow[] = [];
  const post = (...rows: readonly TailRow[]) => {
    posted.push(...rows);
    const time = ({ at }: TailRow) => at ?? Number.POSITIVE_INFINITY;
    // Of posts with the same time, the one posted last is the newest.
    feed = posted.toReversed().sort((a, b) => (time(a) === time(b) ? 0 : time(b) - time(a)));
  };
  const reads: string[] = [];

  const begin = async (depth: Depth, options: WalkOptions = {}) => {
    const stack = createRowStack(undefined);
    let asked = 0;
    let served = 0;
    const walked = await walk({
      clock: { now: () => 0, mono: () => options.at ?? 0, sleep: async () => {} },
      random: () => 0,
      source: {
        async page({ before, limit }) {
          asked++;
          served = before === undefined ? 0 : served;
          const lost = options.cut === 'cursor' && served >= (options.pages ?? 0);
          if (before !== undefined && lost) throw new Failure('usage', 'unknown', { code: 'X' });
          served++;
          const place = before === undefined ? 0 : feed.findIndex(({ id }) => id === before) + 1;
          const rows = feed.slice(place, place + limit);
          reads.push(...rows.map(({ id }) => id));
          const hasMore = place + limit < feed.length;
          return { rows, hasMore, nextBefore: hasMore ? (rows.at(-1)?.id ?? null) : null, cu: 200 };
        },
        price: () => 200,
        sizes: { step: 20, max: 20 },
      },
      ...{
        sizer: createPollSizer({ step: 20, max: 20 }),
        stack,
        backoff: { firstMs: 1, maxMs: 1 },
        tries: () => 1,
      },
      route: () => flow.route(depth),
      nameless: () => {},
      afford: () => options.cut !== 'ceiling' || asked < (options.pages ?? 0),
      ...{ paid() {}, lost() {}, wait() {} },
      signal: new AbortController().signal,
    });
    flow.fill(walked, stack, depth, options.continues ?? options.cut !== 'ceiling');
  };
  const step = async (): Promise<Filled | undefined> => {
    const done = await flow.fillStep();
    await writer.settled();
    writer.busy();
    return done;
  };
  const walked = async (depth: Depth, options: WalkOptions = {}): Promise<Filled> => {
    reads.length = 0;
    await begin(depth, options);
    for (;;) {
      const done = await step();
      if (done) return done;
    }
  };
  const notes: string[] = [];
  const queue = createFrameQueue();
  const link: Link = {
    ...{ next: queue.next, held: 0, signs: 0, end: undefined, send() {}, close: () => undefined },
  };
  const frames = async (...rows: readonly (TailRow | string)[]): Promise<number> => {
    for (const each of rows) queue.push(typeof each === 'string' ? Buffer.from(each) : frameOf(each));
    const taken = flow.frames(link, (frame) => notes.push('why' in frame ? frame.why : frame.kind));
    await writer.settled();
    writer.busy();
    return taken;
  };
  /** The rows written since the last call. */
  const output = () => out.splice(0);
  return { flow, post, walked, begin, step, frames, output, reads, notes };
}

/** A flow that has started at the newest of these posts. */
async function started(given: Given = {}, ...rows: readonly TailRow[]) {
  const all = createTestFlow(given);
  all.post(...(rows.length > 0 ? rows : posts(1, 300)));
  await all.walked('start');
  all.output();
  return all;
}

describe('the posts before a start', () => {
  const filter = ({ id }: TailRow) => id !== 't99';

  test('are shown if requested, oldest first, filtered, and cost no second page', async () => {
    const start = { kind: 'now', recent: 3 } as const;
    const { flow, post, walked, output, reads } = createTestFlow({ start, filter, count: 1 });
    post(...posts(1, 100));
    await walked('start');
    expect([output(), reads.length]).toEqual([['t97', 't98', 't100'], 20]);
    expect(flow.full).toBe(false);
    post(...posts(101, 102));
    await walked('deep');
    expect([output(), flow.full]).toEqual([['t101'], true]);
  });

  test('are not shown otherwise', async () => {
    const { post, walked, output } = createTestFlow({ filter });
    post(...posts(1, 100));
    await walked('start');
    expect(output()).toEqual([]);
  });
});

describe('a start at the present', () => {
  test('writes nothing and reads one page', async () => {
    const { flow, post, walked, output, reads } = createTestFlow();
    expect(flow.watermark).toBeUndefined();
    post(...posts(1, 300));
    const done = await walked('start', { at: 77 });
    expect(output()).toEqual([]);
    expect(reads).toHaveLength(20);
    expect(done).toMatchObject({ rows: 0, fresh: 0, late: 0, missed: 0, gap: undefined, depth: 'start' });
    expect(flow.watermark).toEqual({ top: { id: 't300', at: 300 * S }, base: 298 * S });
    expect(flow.verifiedAt).toBe(77);
    expect(flow.seen.floor).toBe(300 * S);
  });

  test('is followed by newer posts, including those of the same millisecond, and by no older ones', async () => {
    const { post, walked, output } = await started({}, ...posts(1, 30), row('tie1', 30 * S));
    post(row('tie2', 30 * S), row('next', 31 * S), row('late', 30 * S - 1));
    await walked('deep');
    expect(output()).toEqual(['tie2', 'next']);
  });

  test('treats all posts of its millisecond as known', async () => {
    const ties = Array.from({ length: 50 }, (_, i) => row(`tie${i}`, 30 * S));
    const { walked, output } = await started({}, ...posts(1, 29), ...ties);
    await walked('deep');
    expect(output()).toEqual([]);
  });

  test('ignores the time of a post dated more than an hour ahead of the others', async () => {
    const ahead = await started({}, ...posts(1, 30), row('ahead', 29 * S + 3_600_001));
    expect(ahead.flow.seen.floor).toBe(30 * S);
    const near = await started({}, ...posts(1, 30), row('near', 29 * S + 3_600_000));
    expect(near.flow.seen.floor).toBe(29 * S + 3_600_000);
  });

  test('in an empty feed is followed by the first post', async () => {
    const { flow, post, walked, output } = createTestFlow();
    await walked('start');
    expect(flow.watermark).toEqual({ top: null, base: null });
    post(...posts(1, 3));
    await walked('deep');
    expect(output()).toEqual(ids(1, 3));
    expect(flow.watermark).toMatchObject({ top: { id: 't3' } });
  });

  test('in a feed without times is followed by the posts above the known ones', async () => {
    const timeless = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => row(`x${from + i}`, null));
    const { flow, post, walked, output, reads } = await started({}, ...timeless(1, 330));
    expect(flow.watermark).toEqual({ top: { id: 'x330', at: null }, base: null });
    post(...timeless(331, 340));
    await walked('deep');
    expect(output()).toEqual(timeless(331, 340).map(({ id }) => id));
    expect(reads).toHaveLength(20);
  });

  test('stops looking for an older time after three hundred rows', async () => {
    const ties = Array.from({ length: 1_000 }, (_, i) => row(`tie${i}`, null));
    const { walked, post, reads } = createTestFlow();
    post(...ties);
    await walked('start');
    expect(reads.length).toBe(320);
  });
});

describe('a backfill', () => {
  test('writes the newest rows, oldest first, and never an older one', async () => {
    const { flow, post, walked, output, reads } = createTestFlow({ start: { kind: 'backfill', rows: 25 } });
    post(...posts(1, 100));
    const done = await walked('start');
    expect(output()).toEqual(ids(76, 100));
    expect(done).toMatchObject({ rows: 25, fresh: 25, late: 0 });
    expect(reads).toHaveLength(40);
    expect(flow.seen.floor).toBe(76 * S);
    post(row('late', 76 * S - 1), row('mid', 80 * S + 1), ...posts(101, 101));
    await walked('deep');
    expect(output()).toEqual(['mid', 't101']);
  });

  test('does not write other posts of its oldest millisecond later', async () => {
    const ties = Array.from({ length: 10 }, (_, i) => row(`tie${i}`, 50 * S));
    const { post, walked, output } = createTestFlow({ start: { kind: 'backfill', rows: 5 } });
    post(...ties);
    await walked('start');
    expect(output()).toEqual(['tie5', 'tie6', 'tie7', 'tie8', 'tie9']);
    await walked('deep');
    expect(output()).toEqual([]);
  });

  test('of 0 rows is a start at the present', async () => {
    const { flow, post, walked, output } = createTestFlow({ start: { kind: 'backfill', rows: 0 } });
    post(...posts(1, 30));
    await walked('start');
    expect(output()).toEqual([]);
    expect(flow.seen.floor).toBe(30 * S);
  });

  test('may be longer than the feed', async () => {
    const { post, walked, output } = createTestFlow({ start: { kind: 'backfill', rows: 100 } });
    post(...posts(1, 30));
    await walked('start');
    expect(output()).toEqual(ids(1, 30));
    post(...posts(31, 32));
    await walked('deep');
    expect(output()).toEqual(['t31', 't32']);
  });
});

describe('a start in the past', () => {
  test('writes everything since that time, and nothing older', async () => {
    const { flow, post, walked, output, reads } = createTestFlow({ start: { kind: 'since', at: 50 * S } });
    post(...posts(1, 100));
    const done = await walked('start');
    expect(output()).toEqual(ids(50, 100));
    expect(done.fresh).toBe(51);
    expect(reads).toHaveLength(60);
    expect(flow.seen.floor).toBe(50 * S);
    post(row('late', 50 * S), row('older', 50 * S - 1));
    await walked('deep');
    expect(output()).toEqual(['late']);
  });

  test('writes posts without a time that are above the start in the pages', async () => {
    const { post, walked, output } = createTestFlow({ start: { kind: 'since', at: 50 * S } });
    post(row('x', null), ...posts(45, 52));
    await walked('start');
    expect(output()).toEqual(['t50', 't51', 't52', 'x']);
    await walked('deep');
    expect(output()).toEqual([]);
  });
});

describe('a resumed run', () => {
  const resume: Resume = {
    kind: 'checkpoint',
    watermark: { top: { id: 't200', at: 200 * S }, base: 200 * S },
    floor: 100 * S,
    known: [
      ...posts(100, 200)
        .filter(({ id }) => id !== 't150')
        .map(({ id, at }) => [id, at] as const),
      ['x', null],
    ],
  };

  test('writes what was not written yet, including late posts above its floor', async () => {
    const { flow, post, walked, output, reads } = createTestFlow({ start: resume });
    post(row('x', null), row('x2', null), ...posts(1, 210), row('below', 100 * S - 1));
    const done = await walked('start');
    expect(output()).toEqual(['t150', ...ids(201, 210), 'x2']);
    expect(done).toMatchObject({ rows: 12, fresh: 12, late: 1 });
    expect(flow.watermark).toMatchObject({ base: 208 * S });
    // The walk ends at the floor, because the floor is newer than the oldest time within the margin.
    expect(reads.length).toBeLessThan(140);
  });
});

describe('a deep walk', () => {
  test('reads down to the margin, and writes late posts', async () => {
    const { flow, post, walked, output, reads } = await started();
    post(...posts(301, 1_000));
    await walked('deep');
    expect(output()).toEqual(ids(301, 1_000));
    expect(flow.watermark).toEqual({ top: { id: 't1000', at: 1_000 * S }, base: 998 * S });
    post(row('late', 998 * S - MARGIN), row('later', 998 * S - MARGIN - 1), row('t1001', 1_001 * S));
    const done = await walked('deep');
    expect(output()).toEqual(['late', 't1001']);
    expect(done).toMatchObject({ rows: 2, fresh: 2, late: 1, worstMs: 3 * S + MARGIN });
    expect(reads.length).toBe(140);
  });

  test('writes only posts that no frame delivered', async () => {
    const { frames, post, walked, output, flow } = await started();
    await frames(...posts(301, 303), ...posts(305, 306));
    expect(output()).toEqual(['t301', 't302', 't303', 't305', 't306']);
    expect(flow.watermark).toMatchObject({ top: { id: 't300' } });
    post(...posts(301, 306));
    expect(await walked('deep')).toMatchObject({ rows: 1, fresh: 1 });
    expect(output()).toEqual(['t304']);
    await frames(...posts(301, 306));
    expect(output()).toEqual([]);
  });

  test('does not end at a known id or at a post without a time', async () => {
    const { frames, post, walked, output } = await started();
    post(row('x', null), ...posts(301, 350));
    await frames(...posts(340, 350));
    output();
    await walked('deep');
    expect(output()).toEqual([...ids(301, 339), 'x']);
  });
});

describe('a shallow walk', () => {
  test('ends with the page of the first known id, and verifies nothing', async () => {
    const { post, walked, output, flow, reads } = await started();
    const { watermark, verifiedAt } = flow;
    post(row('late', 300 * S + 1), ...posts(301, 340));
    await walked('deep', { at: 5 });
    output();
    const moved = flow.watermark;
    expect(moved).not.toEqual(watermark);
    expect(flow.verifiedAt).not.toBe(verifiedAt);
    post(row('mid', 330 * S + 1), ...posts(341, 345));
    await walked('shallow', { at: 9 });
    expect(reads).toHaveLength(20);
    expect(output()).toEqual(['mid', ...ids(341, 345)]);
    expect(flow.watermark).toEqual(moved);
    expect(flow.verifiedAt).toBe(5);
  });

  test('does not end at a known post without a time, because pages always list it first', async () => {
    const timeless = Array.from({ length: 25 }, (_, i) => row(`x${i}`, null));
    const { post, walked, output, reads } = await started({}, ...posts(1, 100), ...timeless);
    post(...posts(101, 110));
    await walked('deep');
    output();
    post(...posts(111, 112));
    await walked('shallow');
    expect(output()).toEqual(['t111', 't112']);
    expect(reads).toHaveLength(40);
  });
});

describe('frames', () => {
  test('are written once, in order of arrival, whatever their age', async () => {
    const { frames, output } = await started();
    await frames(...posts(302, 302), ...posts(301, 301), ...posts(302, 302), row('x', null), row('x', null));
    expect(output()).toEqual(['t302', 't301', 'x']);
    await frames(row('old', 300 * S - 1), row('tie', 300 * S));
    expect(output()).toEqual(['old', 'tie']);
    await frames(row('old', 300 * S - 1));
    expect(output()).toEqual([]);
  });

  test('that are late wait until the output file has three lines, from which a resumed run gets its position', async () => {
    const { frames, output, flow, post, walked } = await started({ byFile: true });
    post(...posts(301, 302));
    await walked('deep');
    expect(output()).toEqual(['t301', 't302']);
    await frames(row('old', 5 * S));
    expect(output()).toEqual([]);
    await frames(...posts(303, 303));
    expect(output()).toEqual(['t303', 'old']);
    await frames(row('older', 4 * S));
    expect(output()).toEqual(['older']);
    flow.releaseAll();
    expect(output()).toEqual([]);
  });

  test('that do not pass the filter are remembered', async () => {
    const filter = ({ id }: TailRow) => id !== 't301';
    const { frames, post, walked, output, flow } = await started({ filter });
    await frames(...posts(301, 302));
    expect(output()).toEqual(['t302']);
    expect(flow.seen.has('t301')).toBe(true);
    post(...posts(301, 303));
    expect(await walked('deep')).toMatchObject({ rows: 1, fresh: 1 });
    post(...posts(304, 304));
    expect(output()).toEqual(['t303']);
  });

  test('outside the scope are neither written nor remembered', async () => {
    const { frames, flow, output } = await started({ scope: ({ id }) => id !== 't301' });
    await frames(...posts(301, 302));
    expect(output()).toEqual(['t302']);
    expect(flow.seen.has('t301')).toBe(false);
  });

  test('are read in any format, and problems are reported', async () => {
    const { frames, output, notes } = await started();
    const odd = '{ "type": "thesis", "data": { "id": "odd", "platformCreatedAt": 301000 } }';
    const others = ['{"type":"ready","connectionId":"c"}', '{"type":"error","error":"no"}', 'x'];
    expect(await frames(odd, ...others)).toBe(4);
    expect(output()).toEqual(['odd']);
    expect(notes).toEqual(['note', 'error', 'a frame that is not JSON']);
  });

  test('are processed in batches of 512', async () => {
    const { frames, output } = await started();
    expect(await frames(...posts(301, 900))).toBe(512);
    expect(await frames()).toBe(88);
    expect(await frames()).toBe(0);
    expect(output()).toEqual(ids(301, 900));
  });
});

describe('--count', () => {
  test('ends the reading of frames', async () => {
    const { frames, output, flow } = await started({ count: 3 });
    await frames(...posts(301, 302));
    expect(flow.full).toBe(false);
    expect(await frames(...posts(303, 309))).toBe(1);
    expect(output()).toEqual(ids(301, 303));
    expect(flow.full).toBe(true);
    expect(await frames()).toBe(0);
  });

  test('ends a walk early, which then verifies nothing', async () => {
    const { post, begin, step, output, flow } = await started({ count: 3 });
    const { watermark } = flow;
    post(...posts(301, 310));
    await begin('deep');
    expect(await step()).toMatchObject({ rows: 3, gap: undefined });
    expect(output()).toEqual(ids(301, 303));
    expect(flow.full).toBe(true);
    expect(flow.filling).toBe(false);
    expect(flow.watermark).toEqual(watermark);
  });

  test('counts rows that pass the filter', async () => {
    const { post, walked, output } = await started({ count: 2, filter: ({ id }) => /[02468]$/.test(id) });
    post(...posts(301, 310));
    await walked('deep');
    expect(output()).toEqual(['t302', 't304']);
  });
});

describe('an interrupted walk', () => {
  test('reports the gap, and writes what it read', async () => {
    const { post, walked, output, flow } = await started({}, ...posts(1, 300));
    post(...posts(301, 400));
    const { gap } = await walked('deep', { cut: 'cursor', pages: 2 });
    expect(output()).toEqual(ids(361, 400));
    expect(gap).toEqual({
      why: 'cursor',
      from: { id: 't300', at: 300 * S },
      lateFrom: 300 * S,
      to: { id: 't361', at: 361 * S },
      open: false,
    });
    // The run continues above the gap.
    expect(flow.watermark).toMatchObject({ top: { id: 't400' }, base: 398 * S });
  });

  test('reports a gap of late posts down to the margin', async () => {
    const { post, walked } = await started({}, ...posts(1, 300));
    post(...posts(301, 1_000));
    await walked('deep');
    post(...posts(1_001, 1_100));
    const { gap } = await walked('deep', { cut: 'cursor', pages: 2 });
    expect(gap).toMatchObject({ from: { id: 't1000' }, lateFrom: 998 * S - MARGIN });
  });

  test('does not move the watermark at the end of a run, so that a resumed run can fill the gap', async () => {
    for (const saves of [true, false]) {
      const { post, walked, output, flow } = await started({ saves });
      const { watermark, verifiedAt } = flow;
      post(...posts(301, 400));
      const { gap } = await walked('deep', { cut: 'ceiling', pages: 1, at: 99 });
      expect(output()).toEqual(ids(381, 400));
      expect(gap).toMatchObject({ why: 'ceiling', from: { id: 't300' }, to: { id: 't381' }, open: saves });
      expect(flow.watermark).toEqual(watermark);
      expect(flow.verifiedAt).toBe(verifiedAt);
    }
  });

  test('reports no gap if the next walk will read it or if nothing was read', async () => {
    const { post, walked } = await started({ saves: true });
    post(...posts(301, 400));
    expect((await walked('shallow', { cut: 'cursor', pages: 1 })).gap).toBeUndefined();
    expect((await walked('deep', { cut: 'ceiling', pages: 0 })).gap).toBeUndefined();
    post(...posts(401, 450));
    expect((await walked('shallow', { cut: 'ceiling', pages: 1 })).gap).toMatchObject({ open: true });
  });

  test('at the start reports a gap without a lower bound', async () => {
    const { flow, post, walked } = createTestFlow({ start: { kind: 'since', at: 0 } });
    post(...posts(1, 100));
    const { gap } = await walked('start', { cut: 'cursor', pages: 1 });
    expect(gap).toMatchObject({ from: null, lateFrom: null, to: { id: 't81' } });
    expect(flow.watermark).toMatchObject({ top: { id: 't100' } });
  });
});

describe('rows that the socket missed', () => {
  test('are posts since the last walk that the socket should have delivered by now', async () => {
    const { post, walked } = await started({ carries: ({ id }) => id !== 't305' });
    post(...posts(301, 340), row('late', 300 * S - 1));
    // The missed posts are those from t301 to 15 s before t340, except t305.
    expect(await walked('deep')).toMatchObject({ missed: 23, late: 0, rows: 40 });
    post(row('late', 339 * S), row('tie', 340 * S), row('x', null));
    expect(await walked('deep')).toMatchObject({ missed: 0, late: 1, worstMs: S });
  });

  test('are not counted at the start', async () => {
    const { post, walked } = createTestFlow({ start: { kind: 'since', at: 0 } });
    post(...posts(1, 100));
    expect(await walked('start')).toMatchObject({ missed: 0, late: 0, worstMs: 0 });
  });
});

describe('an output file that must start with verified rows', () => {
  test('holds back its first frames until they are released', async () => {
    const { frames, output, flow } = await started({ byFile: true, count: 3 });
    await frames(...posts(301, 302));
    expect(flow.heldBack).toBe(true);
    expect(output()).toEqual([]);
    await frames(...posts(303, 303));
    // The rows held back are not written yet.
    expect(flow.full).toBe(false);
    expect(output()).toEqual(['t303']);
  });

  test('writes the held frames once, in order', async () => {
    const { frames, output, flow, step } = await started({ byFile: true });
    await frames(...posts(301, 302));
    flow.release();
    await step();
    expect(flow.heldBack).toBe(false);
    expect(output()).toEqual(['t301', 't302']);
    await frames(...posts(303, 303));
    flow.release();
    expect(output()).toEqual(['t303']);
    expect(flow.heldBack).toBe(false);
  });

  test('does not hold back frames after a walk has written rows', async () => {
    const { frames, post, walked, output, flow } = await started({ byFile: true });
    post(...posts(301, 301));
    await walked('deep');
    await frames(...posts(302, 302));
    expect(flow.heldBack).toBe(false);
    expect(output()).toEqual(['t301', 't302']);
  });

  test('holds back frames only from the first row that passes the filter', async () => {
    const { frames, post, walked, flow } = await started({
      byFile: true,
      filter: ({ id }) => id === 't303',
    });
    post(...posts(301, 301));
    await walked('deep');
    await frames(...posts(302, 302));
    expect(flow.heldBack).toBe(false);
    await frames(...posts(303, 303));
    expect(flow.heldBack).toBe(true);
  });
});

describe('more ids than can be remembered', () => {
  test('are forgotten, which is reported once, and walks read no further back', async () => {
    const { frames, flow, post, walked, output, reads } = await started({ seenMax: 200 });
    expect(flow.takeUnverified()).toBeUndefined();
    await frames(...posts(301, 400, S));
    expect(flow.takeUnverified()).toBeUndefined();
    await frames(...posts(401, 500, S));
    expect(flow.takeUnverified()).toEqual({
      from: { id: 't300', at: 300 * S },
      to: { id: '', at: 399 * S + 1 },
    });
    expect(flow.takeUnverified()).toBeUndefined();
    expect(flow.watermark).toEqual({ top: { id: '', at: 399 * S + 1 }, base: 399 * S + 1 + MARGIN });
    output();
    post(...posts(301, 500), row('mid', 450 * S + 1));
    await walked('deep');
    expect(output()).toEqual(['mid']);
    expect(reads.length).toBe(120);
  });
});
