import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Thesis } from '../../../src/contract/records/thesis.ts';
import { tradeBehind } from '../../../src/sandbox/world/generated/theses.ts';
import { seedOf } from '../../../src/sandbox/world/hash.ts';
import { createWorld } from '../../../src/sandbox/world/index.ts';
import type { ThesisFilter } from '../../../src/sandbox/world/types.ts';
import { first, historyOf, itemsOf, NOW, runs, userOf, walk } from './worlds.ts';

/** A thesis of the naive model, which sorts and filters the list of all theses for each page. */
interface Row {
  readonly id: string;
  readonly time: number;
  readonly order: number;
  readonly author: string | null;
  readonly token: string | null;
  until: number;
  gone: boolean;
}

/** Returns a function that creates the row of a thesis from the trade that the thesis explains. */
function rowsOf(history: ReturnType<typeof historyOf>, seed: number, theses: number) {
  const { traders, tokens, trades } = history;
  return (index: number, id: string): Row => {
    const trade = tradeBehind(seedOf(seed), theses, index);
    const trader = trades.trader(trade);
    const token = tokens.at(trades.token(trader, trades.slot(trade)));
    const told = { author: traders.id(trader), token: token.address, time: trades.time(trade) };
    return { id, order: index, ...told, until: 0, gone: false };
  };
}

function naive(
  rows: readonly Row[],
  filter: ThesisFilter,
  before: string | undefined,
  limit: number,
  now: number,
) {
  const sorted = rows
    .filter((row) => !row.gone && row.time <= now && row.until <= now)
    .sort((a, b) => b.time - a.time || b.order - a.order);
  const from = before === undefined ? 0 : sorted.findIndex((row) => row.id === before) + 1;
  if (before !== undefined && from === 0) return null;
  const rest = sorted
    .slice(from)
    .filter((row) => filter.userId === undefined || row.author === filter.userId)
    .filter((row) => filter.tokenAddress === undefined || row.token === filter.tokenAddress);
  return { ids: rest.slice(0, limit).map((row) => row.id), hasMore: rest.length > limit };
}

type Step =
  | {
      readonly kind: 'post' | 'remove' | 'withhold' | 'page' | 'wait';
      readonly a: number;
      readonly b: number;
    }
  | { readonly kind: 'add'; readonly a: number; readonly b: number; readonly tie: boolean };

const amount = fc.nat({ max: 1_000_000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('page' as const), a: amount, b: amount }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('post' as const, 'remove' as const, 'withhold' as const, 'wait' as const),
      a: amount,
      b: amount,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('add' as const), a: amount, b: amount, tie: fc.boolean() }),
  },
);

describe('a walk through the theses', () => {
  it('equals a naive model, with posts, ties, removals and late posts', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(step, { minLength: 20, maxLength: 80 }), (seed, steps) => {
        const theses = 240;
        const world = createWorld({ seed, now: NOW, theses });
        const history = historyOf(seed, theses);
        const rowOf = rowsOf(history, seed, theses);
        const given = walk((before) => world.theses.slice({}, before, 100, NOW));
        expect(given).toHaveLength(theses);
        const rows = given.map((thesis, place) => rowOf(theses - 1 - place, thesis.id));
        let posts = 0;
        let now = NOW;
        let order = theses;
        const some = (draw: number): Row => rows[draw % rows.length] ?? first(rows);
        for (const { kind, a, b, ...more } of steps) {
          if (kind === 'wait') now += a % 3 === 0 ? 0 : a % 5_000;
          else if (kind === 'post') {
            history.trades.next(now);
            rows.push({ ...rowOf(theses + posts, world.theses.post(now).id), order });
            posts++;
            order++;
          } else if (kind === 'add') {
            const like = some(a);
            const time = 'tie' in more && more.tie ? like.time : now - 3_000 + (b % 6_000);
            const id = `added-${order}`;
            world.theses.add(postOf(id, time, some(b).author, like.token));
            rows.push({ id, time, order, author: some(b).author, token: like.token, until: 0, gone: false });
            order++;
          } else if (kind === 'remove') {
            world.theses.remove(some(a).id);
            some(a).gone = true;
          } else if (kind === 'withhold') {
            const row = some(a);
            const until = now + (b % 4_000);
            world.theses.withhold(row.id, until);
            if (!row.gone) row.until = until;
          } else {
            const filter = filterOf(some(a), b);
            const before = a % 3 === 0 ? undefined : a % 17 === 1 ? 'unknown' : some(b).id;
            const limit = 1 + (b % 30);
            const slice = world.theses.slice(filter, before, limit, now);
            const got = slice && { ids: slice.items.map((item) => item.id), hasMore: slice.hasMore };
            expect(got).toEqual(naive(rows, filter, before, limit, now));
          }
        }
        expect(world.theses.count).toBe(rows.filter((row) => !row.gone).length);
        const all = walk((before) => world.theses.slice({}, before, 7, now + 10_000));
        expect(all.map((thesis) => thesis.id)).toEqual(naive(rows, {}, undefined, 1e9, now + 10_000)?.ids);
      }),
      runs(60),
    );
  });

  it('is complete and in order for the default world and each of its filtered feeds', () => {
    const world = createWorld({ seed: 7, now: NOW });
    const all = walk((before) => world.theses.slice({}, before, 100, NOW));
    expect(all).toHaveLength(20_000);
    expect(new Set(all.map((thesis) => thesis.id)).size).toBe(20_000);
    const times = all.flatMap((thesis) => thesis.platformCreatedAt ?? []);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(Math.max(...times)).toBeLessThanOrEqual(NOW);
    for (const handle of ['mira', 'solwolf', '0xmert', 'evil']) {
      const { id } = userOf(world, handle);
      const own = walk((before) => world.theses.slice({ userId: id }, before, 20, NOW));
      const ids = new Set(own.map((thesis) => thesis.id));
      const expected = all.filter((thesis) => ids.has(thesis.id));
      expect(own).toEqual(expected);
      const told = all.filter((thesis) => thesis.authorId === id);
      expect(told.every((thesis) => ids.has(thesis.id))).toBe(true);
      expect(own.every((thesis) => thesis.authorId === id || thesis.authorId === undefined)).toBe(true);
      const token = first(own).tokenAddress ?? '';
      const both = walk((before) => world.theses.slice({ userId: id, tokenAddress: token }, before, 3, NOW));
      expect(both).toEqual(own.filter((thesis) => thesis.tokenAddress === token));
      const about = walk((before) => world.theses.slice({ tokenAddress: token }, before, 20, NOW));
      expect(about).toEqual(all.filter((thesis) => thesis.tokenAddress === token));
    }
  });

  it('contains ties in one millisecond, once more than fit on two pages', () => {
    const world = createWorld({ seed: 1, now: NOW });
    const sizes = new Map<number, number>();
    for (const { platformCreatedAt } of walk((before) => world.theses.slice({}, before, 100, NOW))) {
      if (platformCreatedAt) sizes.set(platformCreatedAt, (sizes.get(platformCreatedAt) ?? 0) + 1);
    }
    const ties = [...sizes.values()].filter((size) => size > 1);
    expect(ties.length).toBeGreaterThan(50);
    expect(Math.max(...ties)).toBeGreaterThan(40);
  });

  it('accepts a cursor of another feed as a place in the complete order', () => {
    const world = createWorld({ seed: 3, now: NOW, theses: 2_000 });
    const all = walk((before) => world.theses.slice({}, before, 100, NOW));
    const { id } = userOf(world, 'mira');
    const own = walk((before) => world.theses.slice({ userId: id }, before, 100, NOW));
    const foreign = all.findIndex((thesis, place) => place > 300 && !own.some((one) => one.id === thesis.id));
    const below = new Set(all.slice(foreign + 1).map((thesis) => thesis.id));
    const next = itemsOf(world.theses.slice({ userId: id }, all[foreign]?.id, 10, NOW));
    expect(next).toEqual(own.filter((thesis) => below.has(thesis.id)).slice(0, 10));
  });

  it('rejects cursors of removed, withheld and future posts', () => {
    const world = createWorld({ seed: 4, now: NOW, theses: 300 });
    const [a, b] = itemsOf(world.theses.slice({}, undefined, 2, NOW));
    world.theses.remove(a?.id ?? '');
    world.theses.withhold(b?.id ?? '', NOW + 1_000);
    world.theses.add(postOf('tomorrow', NOW + 86_400_000, null, null));
    for (const id of [a?.id, b?.id, 'tomorrow', 'nothing']) {
      expect(world.theses.slice({}, id, 5, NOW)).toBeNull();
      expect(world.theses.slice({ userId: userOf(world, 'mira').id }, id, 5, NOW)).toBeNull();
    }
    expect(itemsOf(world.theses.slice({}, undefined, 1, NOW + 1_000))[0]?.id).toBe(b?.id);
    expect(world.theses.slice({}, b?.id, 5, NOW + 1_000)).not.toBeNull();
  });

  it('is empty for unknown authors and tokens', () => {
    const world = createWorld({ seed: 5, now: NOW, theses: 200 });
    const nobody = { userId: '00000000-0000-4000-a000-000000000000' };
    for (const filter of [nobody, { tokenAddress: 'nothing' }, { userId: userOf(world, 'quiet').id }]) {
      expect(world.theses.slice(filter, undefined, 20, NOW)).toEqual({ items: [], hasMore: false });
    }
    const empty = createWorld({ seed: 5, now: NOW, theses: 0 });
    expect(empty.theses.slice({}, undefined, 20, NOW)).toEqual({ items: [], hasMore: false });
  });
});

const postOf = (id: string, time: number, author: string | null, token: string | null): Thesis => ({
  id,
  platformCreatedAt: time,
  authorHandle: null,
  thesis: null,
  authorId: author,
  tokenAddress: token,
});

function filterOf(row: Row, draw: number): ThesisFilter {
  return {
    ...(draw % 2 && row.author !== null ? { userId: row.author } : {}),
    ...(draw % 3 === 0 && row.token !== null ? { tokenAddress: row.token } : {}),
  };
}
