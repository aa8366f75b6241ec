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
/** Posts `t<from>` to `t<to>`, one every `everyMs`. */
const posts = (from: number, to: number, everyMs = S) =>
  Array.from({ length: to - from + 1 }, (_, i) => row(`t${from + i}`, everyMs * (from + i)));
const ids = (from: number, to: number) => posts(from, to).map(({ id }) => id);
const frameOf = ({ record }: TailRow) => Buffer.from(JSON.stringify({ type: 'thesis', data: record }));

interface Given {
  readonly start?: StartPoint;
  readonly count?: number;
  readonly heals?: boolean;
  readonly byFile?: boolean;
  readonly seenMax?: number;
  readonly scope?: (row: TailRow) => boolean;
  readonly sieve?: (row: TailRow) => boolean;
  readonly carries?: (row: TailRow) => boolean;
}
interface How {
  /** Pages after which nothing more can be paid, or after which no cursor is known. */
  readonly pages?: number;
  readonly cut?: 'ceiling' | 'cursor';
  readonly goOn?: boolean;
  readonly at?: number;
}

/** A flow over a feed that the test writes, and everything that came out of it. */
function flowing(given: Given = {}) {
  const out: string[] = [];
  const sink = {
    async write(rows: readonly TailRow[]) {
      out.push(...rows.map(({ id }) => id));
      return true;
    },
    flush: async () => true,
  };
  const outlet = createTailWriter(
    sink,
    () => {},
    () => 0,
  );
  const flow = createFlow({
    ...{ timing, outlet, seen: createSeen(Number.NEGATIVE_INFINITY, given.seenMax ?? 10_000) },
    start: given.start ?? { kind: 'now' },
    scope: given.scope ?? (() => true),
    sieve: given.sieve ?? (() => true),
    carries: given.carries ?? (() => true),
    count: given.count ?? Number.POSITIVE_INFINITY,
    ...{ heals: given.heals ?? false, byFile: given.byFile ?? false },
  });
  /** What the pages hold, newest first. */
  const held: TailRow[] = [];
  let feed: TailRow[] = [];
  const post = (...rows: readonly TailRow[]) => {
    held.push(...rows);
    const time = ({ at }: TailRow) => at ?? Number.POSITIVE_INFINITY;
    // Of those of one time, the one posted last is the newest.
    feed = held.toReversed().sort((a, b) => (time(a) === time(b) ? 0 : time(b) - time(a)));
  };
  const reads: string[] = [];

  const begin = async (depth: Depth, how: How = {}) => {
    const pile = createRowStack(undefined);
    let asked = 0;
    let served = 0;
    const walked = await walk({
      clock: { now: () => 0, mono: () => how.at ?? 0, sleep: async () => {} },
      random: () => 0,
      source: {
        async page({ before, limit }) {
          asked++;
          served = before === undefined ? 0 : served;
          const lost = how.cut === 'cursor' && served >= (how.pages ?? 0);
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
      ...{ sizer: createPollSizer({ step: 20, max: 20 }), pile, backoff: { firstMs: 1, maxMs: 1 }, tries: 1 },
      route: () => flow.route(depth),
      nameless: () => {},
      afford: () => how.cut !== 'ceiling' || asked < (how.pages ?? 0),
      ...{ paid() {}, lost() {}, wait() {} },
      signal: new AbortController().signal,
    });
    flow.fill(walked, pile, depth, how.goOn ?? how.cut !== 'ceiling');
  };
  const step = async (): Promise<Filled | undefined> => {
    const done = await flow.fillStep();
    await outlet.settled();
    outlet.busy();
    return done;
  };
  const walked = async (depth: Depth, how: How = {}): Promise<Filled> => {
    reads.length = 0;
    await begin(depth, how);
    for (;;) {
      const done = await step();
      if (done) return done;
    }
  };
  const told: string[] = [];
  const queue = createFrameQueue();
  const link: Link = {
    ...{ next: queue.next, held: 0, signs: 0, end: undefined, send() {}, close: () => undefined },
  };
  const frames = async (...rows: readonly (TailRow | string)[]): Promise<number> => {
    for (const each of rows) queue.push(typeof each === 'string' ? Buffer.from(each) : frameOf(each));
    const taken = flow.frames(link, (frame) => told.push('why' in frame ? frame.why : frame.kind));
    await outlet.settled();
    outlet.busy();
    return taken;
  };
  /** What came out since this was asked for last. */
  const came = () => out.splice(0);
  return { flow, post, walked, begin, step, frames, came, reads, told };
}

/** A flow that started on these posts, which are known, and stands at the newest. */
async function started(given: Given = {}, ...rows: readonly TailRow[]) {
  const all = flowing(given);
  all.post(...(rows.length > 0 ? rows : posts(1, 300)));
  await all.walked('start');
  all.came();
  return all;
}

describe('a start at this moment', () => {
  test('lets nothing out, and reads no further than it has to', async () => {
    const { flow, post, walked, came, reads } = flowing();
    expect(flow.watermark).toBeUndefined();
    post(...posts(1, 300));
    const done = await walked('start', { at: 77 });
    expect(came()).toEqual([]);
    expect(reads).toHaveLength(20);
    expect(done).toMatchObject({ rows: 0, fresh: 0, late: 0, missed: 0, gap: undefined, depth: 'start' });
    expect(flow.watermark).toEqual({ top: { id: 't300', at: 300 * S }, base: 298 * S });
    expect(flow.provenAt).toBe(77);
    expect(flow.seen.floor).toBe(300 * S);
  });

  test('is followed by what is posted after it, those in the same millisecond too, and by nothing older', async () => {
    const { post, walked, came } = await started({}, ...posts(1, 30), row('tie1', 30 * S));
    post(row('tie2', 30 * S), row('next', 31 * S), row('late', 30 * S - 1));
    await walked('deep');
    expect(came()).toEqual(['tie2', 'next']);
  });

  test('knows every post of the millisecond that it starts in', async () => {
    const ties = Array.from({ length: 50 }, (_, i) => row(`tie${i}`, 30 * S));
    const { walked, came } = await started({}, ...posts(1, 29), ...ties);
    await walked('deep');
    expect(came()).toEqual([]);
  });

  test('does not believe a post dated more than an hour ahead of the others', async () => {
    const ahead = await started({}, ...posts(1, 30), row('ahead', 29 * S + 3_600_001));
    expect(ahead.flow.seen.floor).toBe(30 * S);
    const near = await started({}, ...posts(1, 30), row('near', 29 * S + 3_600_000));
    expect(near.flow.seen.floor).toBe(29 * S + 3_600_000);
  });

  test('of an empty feed is followed by its first post', async () => {
    const { flow, post, walked, came } = flowing();
    await walked('start');
    expect(flow.watermark).toEqual({ top: null, base: null });
    post(...posts(1, 3));
    await walked('deep');
    expect(came()).toEqual(ids(1, 3));
    expect(flow.watermark).toMatchObject({ top: { id: 't3' } });
  });

  test('of a feed without times is followed by what stands above what is known', async () => {
    const timeless = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => row(`x${from + i}`, null));
    const { flow, post, walked, came, reads } = await started({}, ...timeless(1, 330));
    expect(flow.watermark).toEqual({ top: { id: 'x330', at: null }, base: null });
    post(...timeless(331, 340));
    await walked('deep');
    expect(came()).toEqual(timeless(331, 340).map(({ id }) => id));
    expect(reads).toHaveLength(20);
  });

  test('gives up looking for an older time after three hundred rows', async () => {
    const ties = Array.from({ length: 1_000 }, (_, i) => row(`tie${i}`, null));
    const { walked, post, reads } = flowing();
    post(...ties);
    await walked('start');
    expect(reads.length).toBe(320);
  });
});

describe('a backfill', () => {
  test('lets the newest rows out, oldest first, and nothing older ever', async () => {
    const { flow, post, walked, came, reads } = flowing({ start: { kind: 'backfill', rows: 25 } });
    post(...posts(1, 100));
    const done = await walked('start');
    expect(came()).toEqual(ids(76, 100));
    expect(done).toMatchObject({ rows: 25, fresh: 25, late: 0 });
    expect(reads).toHaveLength(40);
    expect(flow.seen.floor).toBe(76 * S);
    post(row('late', 76 * S - 1), row('mid', 80 * S + 1), ...posts(101, 101));
    await walked('deep');
    expect(came()).toEqual(['mid', 't101']);
  });

  test('does not let the posts that share its oldest time out afterwards', async () => {
    const ties = Array.from({ length: 10 }, (_, i) => row(`tie${i}`, 50 * S));
    const { post, walked, came } = flowing({ start: { kind: 'backfill', rows: 5 } });
    post(...ties);
    await walked('start');
    expect(came()).toEqual(['tie5', 'tie6', 'tie7', 'tie8', 'tie9']);
    await walked('deep');
    expect(came()).toEqual([]);
  });

  test('of no rows is a start at this moment', async () => {
    const { flow, post, walked, came } = flowing({ start: { kind: 'backfill', rows: 0 } });
    post(...posts(1, 30));
    await walked('start');
    expect(came()).toEqual([]);
    expect(flow.seen.floor).toBe(30 * S);
  });

  test('may be longer than the feed', async () => {
    const { post, walked, came } = flowing({ start: { kind: 'backfill', rows: 100 } });
    post(...posts(1, 30));
    await walked('start');
    expect(came()).toEqual(ids(1, 30));
    post(...posts(31, 32));
    await walked('deep');
    expect(came()).toEqual(['t31', 't32']);
  });
});

describe('a start in the past', () => {
  test('lets everything from that time on out, and nothing older', async () => {
    const { flow, post, walked, came, reads } = flowing({ start: { kind: 'since', at: 50 * S } });
    post(...posts(1, 100));
    const done = await walked('start');
    expect(came()).toEqual(ids(50, 100));
    expect(done.fresh).toBe(51);
    expect(reads).toHaveLength(60);
    expect(flow.seen.floor).toBe(50 * S);
    post(row('late', 50 * S), row('older', 50 * S - 1));
    await walked('deep');
    expect(came()).toEqual(['late']);
  });

  test('lets posts without a time out where they stand above it', async () => {
    const { post, walked, came } = flowing({ start: { kind: 'since', at: 50 * S } });
    post(row('x', null), ...posts(45, 52));
    await walked('start');
    expect(came()).toEqual(['t50', 't51', 't52', 'x']);
    await walked('deep');
    expect(came()).toEqual([]);
  });
});

describe('going on from an earlier run', () => {
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

  test('lets out what has not come out yet, late posts above its floor too', async () => {
    const { flow, post, walked, came, reads } = flowing({ start: resume });
    post(row('x', null), row('x2', null), ...posts(1, 210), row('below', 100 * S - 1));
    const done = await walked('start');
    expect(came()).toEqual(['t150', ...ids(201, 210), 'x2']);
    expect(done).toMatchObject({ rows: 12, fresh: 12, late: 1 });
    expect(flow.watermark).toMatchObject({ base: 208 * S });
    // Down to the floor, which is above the margin, and not to the end of the feed.
    expect(reads.length).toBeLessThan(140);
  });

  test('knows where it stands before anything was read', () => {
    const { flow } = flowing({ start: resume });
    expect(flow.watermark).toEqual(resume.watermark);
    expect(flow.seen.floor).toBe(100 * S);
  });
});

describe('a deep walk', () => {
  test('goes down to the margin, and lets late posts out', async () => {
    const { flow, post, walked, came, reads } = await started();
    post(...posts(301, 1_000));
    await walked('deep');
    expect(came()).toEqual(ids(301, 1_000));
    expect(flow.watermark).toEqual({ top: { id: 't1000', at: 1_000 * S }, base: 998 * S });
    post(row('late', 998 * S - MARGIN), row('later', 998 * S - MARGIN - 1), row('t1001', 1_001 * S));
    const done = await walked('deep');
    expect(came()).toEqual(['late', 't1001']);
    expect(done).toMatchObject({ rows: 2, fresh: 2, late: 1, worstMs: 3 * S + MARGIN });
    expect(reads.length).toBe(140);
  });

  test('lets out what no frame brought, and nothing that one did', async () => {
    const { frames, post, walked, came, flow } = await started();
    await frames(...posts(301, 303), ...posts(305, 306));
    expect(came()).toEqual(['t301', 't302', 't303', 't305', 't306']);
    expect(flow.watermark).toMatchObject({ top: { id: 't300' } });
    post(...posts(301, 306));
    expect(await walked('deep')).toMatchObject({ rows: 1, fresh: 1 });
    expect(came()).toEqual(['t304']);
    await frames(...posts(301, 306));
    expect(came()).toEqual([]);
  });

  test('does not end at a known id, nor at a post without a time', async () => {
    const { frames, post, walked, came } = await started();
    post(row('x', null), ...posts(301, 350));
    await frames(...posts(340, 350));
    came();
    await walked('deep');
    expect(came()).toEqual([...ids(301, 339), 'x']);
  });

  test('moves the watermark along with what came out of it', async () => {
    const { begin, step, post, flow, came } = await started();
    post(...posts(301, 1_500));
    await begin('deep');
    expect(flow.filling).toBe(true);
    expect(flow.watermark).toMatchObject({ base: 298 * S });
    expect(await step()).toBeUndefined();
    expect(came()).toHaveLength(500);
    expect(flow.watermark).toEqual({ top: { id: 't800', at: 800 * S }, base: 800 * S });
    await step();
    await step();
    // The newest times are not trusted before the walk is over.
    expect(flow.watermark).toMatchObject({ base: 1_300 * S });
    expect(await step()).toMatchObject({ fresh: 1_200 });
    expect(flow.watermark).toEqual({ top: { id: 't1500', at: 1_500 * S }, base: 1_498 * S });
    expect(flow.filling).toBe(false);
  });

  test('never moves the watermark back', async () => {
    const { post, walked, flow, begin, step } = await started();
    post(row('late', 300 * S - 500), ...posts(301, 400));
    await walked('deep');
    expect(flow.watermark).toMatchObject({ base: 398 * S });
    post(row('later', 390 * S + 1));
    await begin('deep');
    await step();
    expect(flow.watermark).toMatchObject({ base: 398 * S });
  });
});

describe('a shallow walk', () => {
  test('ends with the page of the first known id, and proves nothing', async () => {
    const { post, walked, came, flow, reads } = await started();
    const { watermark, provenAt } = flow;
    post(row('late', 300 * S + 1), ...posts(301, 340));
    await walked('deep', { at: 5 });
    came();
    const moved = flow.watermark;
    expect(moved).not.toEqual(watermark);
    expect(flow.provenAt).not.toBe(provenAt);
    post(row('mid', 330 * S + 1), ...posts(341, 345));
    await walked('shallow', { at: 9 });
    expect(reads).toHaveLength(20);
    expect(came()).toEqual(['mid', ...ids(341, 345)]);
    expect(flow.watermark).toEqual(moved);
    expect(flow.provenAt).toBe(5);
  });

  test('does not end at a known post without a time, which stands above all others for good', async () => {
    const timeless = Array.from({ length: 25 }, (_, i) => row(`x${i}`, null));
    const { post, walked, came, reads } = await started({}, ...posts(1, 100), ...timeless);
    post(...posts(101, 110));
    await walked('deep');
    came();
    post(...posts(111, 112));
    await walked('shallow');
    expect(came()).toEqual(['t111', 't112']);
    expect(reads).toHaveLength(40);
  });
});

describe('frames', () => {
  test('are emitted once, in their order, however old', async () => {
    const { frames, came } = await started();
    await frames(...posts(302, 302), ...posts(301, 301), ...posts(302, 302), row('x', null), row('x', null));
    expect(came()).toEqual(['t302', 't301', 'x']);
    await frames(row('old', 300 * S - 1), row('tie', 300 * S));
    expect(came()).toEqual(['old', 'tie']);
    await frames(row('old', 300 * S - 1));
    expect(came()).toEqual([]);
  });

  test('that are late wait for the third line of a file, whose position is read from its newest three', async () => {
    const { frames, came, flow, post, walked } = await started({ byFile: true });
    post(...posts(301, 302));
    await walked('deep');
    expect(came()).toEqual(['t301', 't302']);
    await frames(row('old', 5 * S));
    expect(came()).toEqual([]);
    await frames(...posts(303, 303));
    expect(came()).toEqual(['t303', 'old']);
    await frames(row('older', 4 * S));
    expect(came()).toEqual(['older']);
    flow.releaseAll();
    expect(came()).toEqual([]);
  });

  test('that the sieve holds back are known nevertheless', async () => {
    const sieve = ({ id }: TailRow) => id !== 't301';
    const { frames, post, walked, came, flow } = await started({ sieve });
    await frames(...posts(301, 302));
    expect(came()).toEqual(['t302']);
    expect(flow.seen.has('t301')).toBe(true);
    post(...posts(301, 303));
    expect(await walked('deep')).toMatchObject({ rows: 1, fresh: 1 });
    post(...posts(304, 304));
    expect(came()).toEqual(['t303']);
  });

  test('of another part of the feed are neither let out nor remembered', async () => {
    const { frames, flow, came } = await started({ scope: ({ id }) => id !== 't301' });
    await frames(...posts(301, 302));
    expect(came()).toEqual(['t302']);
    expect(flow.seen.has('t301')).toBe(false);
  });

  test('of any form are taken, and what is odd about them is told', async () => {
    const { frames, came, told } = await started();
    const odd = '{ "type": "thesis", "data": { "id": "odd", "platformCreatedAt": 301000 } }';
    const others = ['{"type":"ready","connectionId":"c"}', '{"type":"error","error":"no"}', 'x'];
    expect(await frames(odd, ...others)).toBe(4);
    expect(came()).toEqual(['odd']);
    expect(told).toEqual(['note', 'error', 'a frame that is not JSON']);
  });

  test('are taken five hundred or so at a time', async () => {
    const { frames, came } = await started();
    expect(await frames(...posts(301, 900))).toBe(512);
    expect(await frames()).toBe(88);
    expect(await frames()).toBe(0);
    expect(came()).toEqual(ids(301, 900));
  });
});

describe('a number of rows', () => {
  test('ends the frames', async () => {
    const { frames, came, flow } = await started({ count: 3 });
    await frames(...posts(301, 302));
    expect(flow.full).toBe(false);
    expect(await frames(...posts(303, 309))).toBe(1);
    expect(came()).toEqual(ids(301, 303));
    expect(flow.full).toBe(true);
    expect(await frames()).toBe(0);
  });

  test('ends a walk in its midst, which then proves nothing', async () => {
    const { post, begin, step, came, flow } = await started({ count: 3 });
    const { watermark } = flow;
    post(...posts(301, 310));
    await begin('deep');
    expect(await step()).toMatchObject({ rows: 3, gap: undefined });
    expect(came()).toEqual(ids(301, 303));
    expect(flow.full).toBe(true);
    expect(flow.filling).toBe(false);
    expect(flow.watermark).toEqual(watermark);
  });

  test('counts what passes the sieve', async () => {
    const { post, walked, came } = await started({ count: 2, sieve: ({ id }) => /[02468]$/.test(id) });
    post(...posts(301, 310));
    await walked('deep');
    expect(came()).toEqual(['t302', 't304']);
  });
});

describe('a walk that was cut short', () => {
  test('says the gap that a run leaves behind, and lets out what it read', async () => {
    const { post, walked, came, flow } = await started({}, ...posts(1, 300));
    post(...posts(301, 400));
    const { gap } = await walked('deep', { cut: 'cursor', pages: 2 });
    expect(came()).toEqual(ids(361, 400));
    expect(gap).toEqual({
      why: 'cursor',
      from: { id: 't300', at: 300 * S },
      lateFrom: 300 * S,
      to: { id: 't361', at: 361 * S },
      open: false,
    });
    // The run goes on from there, with the gap behind it.
    expect(flow.watermark).toMatchObject({ top: { id: 't400' }, base: 398 * S });
  });

  test('looks for late posts down to the margin', async () => {
    const { post, walked } = await started({}, ...posts(1, 300));
    post(...posts(301, 1_000));
    await walked('deep');
    post(...posts(1_001, 1_100));
    const { gap } = await walked('deep', { cut: 'cursor', pages: 2 });
    expect(gap).toMatchObject({ from: { id: 't1000' }, lateFrom: 998 * S - MARGIN });
  });

  test('leaves the watermark where it was if the run ends with it; a later run may heal the gap', async () => {
    for (const heals of [true, false]) {
      const { post, walked, came, flow } = await started({ heals });
      const { watermark, provenAt } = flow;
      post(...posts(301, 400));
      const { gap } = await walked('deep', { cut: 'ceiling', pages: 1, at: 99 });
      expect(came()).toEqual(ids(381, 400));
      expect(gap).toMatchObject({ why: 'ceiling', from: { id: 't300' }, to: { id: 't381' }, open: heals });
      expect(flow.watermark).toEqual(watermark);
      expect(flow.provenAt).toBe(provenAt);
    }
  });

  test('says no gap where the next walk will read it, or where nothing was read', async () => {
    const { post, walked } = await started({ heals: true });
    post(...posts(301, 400));
    expect((await walked('shallow', { cut: 'cursor', pages: 1 })).gap).toBeUndefined();
    expect((await walked('deep', { cut: 'ceiling', pages: 0 })).gap).toBeUndefined();
    post(...posts(401, 450));
    expect((await walked('shallow', { cut: 'ceiling', pages: 1 })).gap).toMatchObject({ open: true });
  });

  test('at the start knows no lower bound', async () => {
    const { flow, post, walked } = flowing({ start: { kind: 'since', at: 0 } });
    post(...posts(1, 100));
    const { gap } = await walked('start', { cut: 'cursor', pages: 1 });
    expect(gap).toMatchObject({ from: null, lateFrom: null, to: { id: 't81' } });
    expect(flow.watermark).toMatchObject({ top: { id: 't100' } });
  });

  test('does not move the watermark along', async () => {
    const { begin, step, post, flow } = await started();
    post(...posts(301, 1_500));
    await begin('deep', { cut: 'cursor', pages: 50 });
    await step();
    expect(flow.watermark).toMatchObject({ base: 298 * S });
  });
});

describe('rows that the socket missed', () => {
  test('are those of its own posted long before the newest, and after the last walk', async () => {
    const { post, walked } = await started({ carries: ({ id }) => id !== 't305' });
    post(...posts(301, 340), row('late', 300 * S - 1));
    // From t301 on, but t305, up to fifteen seconds before t340.
    expect(await walked('deep')).toMatchObject({ missed: 23, late: 0, rows: 40 });
    post(row('late', 339 * S), row('tie', 340 * S), row('x', null));
    expect(await walked('deep')).toMatchObject({ missed: 0, late: 1, worstMs: S });
  });

  test('are not counted where nothing was known before', async () => {
    const { post, walked } = flowing({ start: { kind: 'since', at: 0 } });
    post(...posts(1, 100));
    expect(await walked('start')).toMatchObject({ missed: 0, late: 0, worstMs: 0 });
  });
});

describe('an output that has to begin with what is proven', () => {
  test('holds its first frames back until they are released', async () => {
    const { frames, came, flow } = await started({ byFile: true, count: 3 });
    await frames(...posts(301, 302));
    expect(flow.heldBack).toBe(true);
    expect(came()).toEqual([]);
    await frames(...posts(303, 303));
    // The rows held back are still to be written.
    expect(flow.full).toBe(false);
    expect(came()).toEqual(['t303']);
  });

  test('lets them out in their order, once', async () => {
    const { frames, came, flow, step } = await started({ byFile: true });
    await frames(...posts(301, 302));
    flow.release();
    await step();
    expect(flow.heldBack).toBe(false);
    expect(came()).toEqual(['t301', 't302']);
    await frames(...posts(303, 303));
    flow.release();
    expect(came()).toEqual(['t303']);
    expect(flow.heldBack).toBe(false);
  });

  test('has its beginning where a walk let something out before', async () => {
    const { frames, post, walked, came, flow } = await started({ byFile: true });
    post(...posts(301, 301));
    await walked('deep');
    await frames(...posts(302, 302));
    expect(flow.heldBack).toBe(false);
    expect(came()).toEqual(['t301', 't302']);
  });

  test('waits for the first row that passes', async () => {
    const { frames, post, walked, flow } = await started({
      byFile: true,
      sieve: ({ id }) => id === 't303',
    });
    post(...posts(301, 301));
    await walked('deep');
    await frames(...posts(302, 302));
    expect(flow.heldBack).toBe(false);
    await frames(...posts(303, 303));
    expect(flow.heldBack).toBe(true);
  });
});

describe('more posts than can be remembered', () => {
  test('are let go of, which is said once, and walks go no further down than that', async () => {
    const { frames, flow, post, walked, came, reads } = await started({ seenMax: 200 });
    expect(flow.takeUnproven()).toBeUndefined();
    await frames(...posts(301, 400, S));
    expect(flow.takeUnproven()).toBeUndefined();
    await frames(...posts(401, 500, S));
    expect(flow.takeUnproven()).toEqual({
      from: { id: 't300', at: 300 * S },
      to: { id: '', at: 400 * S + 1 },
    });
    expect(flow.takeUnproven()).toBeUndefined();
    expect(flow.watermark).toEqual({ top: { id: '', at: 400 * S + 1 }, base: 400 * S + 1 + MARGIN });
    came();
    post(...posts(301, 500), row('mid', 450 * S + 1));
    await walked('deep');
    expect(came()).toEqual(['mid']);
    expect(reads.length).toBe(120);
  });
});
