import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowNames } from '../../../src/contract/records/pnl.ts';
import { windowSpans } from '../../../src/sandbox/world/generated/window-numbers.ts';
import { createWorld } from '../../../src/sandbox/world/index.ts';
import type { World } from '../../../src/sandbox/world/types.ts';
import { historyOf, NOW, runs, userOf } from './worlds.ts';

const MINUTE = 60_000;
const refreshOf = (now: number) => Math.floor(now / MINUTE) * MINUTE;

/** Adds up the trades one by one, as the service description defines the numbers. */
function recount(seed: number, theses: number, world: World, at: number) {
  const { traders, trades } = historyOf(seed, theses);
  const holds = (index: number) => {
    const user = world.users.byId(traders.id(index));
    return user?.solanaAddress != null || user?.evmAddress != null;
  };
  return windowNames.map((name) => {
    const rows = Array.from({ length: traders.count }, (_, index) => {
      const row = { index, bought: 0, sold: 0, trades: 0, ever: 0 };
      for (let one = 0; one < trades.count; one++) {
        if (trades.trader(one) !== traders.owner(index) || trades.time(one) > at) continue;
        row.ever++;
        if (trades.time(one) <= at - windowSpans[name]) continue;
        row.trades++;
        if (trades.cents(one) > 0) row.bought += trades.cents(one);
        else row.sold -= trades.cents(one);
      }
      return row;
    }).filter((row) => row.ever > 0 && holds(row.index));
    const net = (row: { bought: number; sold: number }) => row.sold - row.bought;
    return new Map(
      rows.map((row) => [
        traders.id(row.index),
        {
          netUsd: net(row) / 100,
          returnPct: row.bought === 0 ? null : (net(row) / row.bought) * 100,
          volumeUsd: (row.bought + row.sold) / 100,
          trades: row.trades,
          rank: 1 + rows.filter((other) => net(other) > net(row)).length,
        },
      ]),
    );
  });
}

describe('trading numbers', () => {
  it('equal a naive recount of the trades, including tied ranks', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: -40 * 86_400_000, max: 30 * 86_400_000 }), (seed, shift) => {
        const theses = 400;
        const now = NOW + shift;
        const world = createWorld({ seed, now: NOW, theses });
        for (const handle of ['slowpoke', 'nowallet']) world.users.reveal(userOf(world, handle).id);
        const expected = recount(seed, theses, world, refreshOf(now));
        for (const handle of world.users.handles) {
          const { id } = userOf(world, handle);
          const windows = world.pnl(handle, now)?.windows;
          windowNames.forEach((name, place) => {
            expect(windows?.[name]).toEqual(expected[place]?.get(id) ?? null);
          });
        }
      }),
      runs(4),
    );
  });

  it('use competition ranking', () => {
    const world = createWorld({ seed: 1, now: NOW });
    const nets = world.users.handles.flatMap((handle) => world.pnl(handle, NOW)?.windows['24h'] ?? []);
    const ranks = nets.map((one) => one.rank).sort((a, b) => a - b);
    expect(new Set(ranks).size).toBeLessThan(ranks.length);
    for (const one of nets) {
      expect(one.rank).toBe(1 + nets.filter((other) => other.netUsd > one.netUsd).length);
    }
  });

  it('are null for users who never traded and for users without wallets', () => {
    const world = createWorld({ seed: 1, now: NOW });
    const none = { '24h': null, '7d': null, '30d': null, all: null };
    const quiet = world.pnl('quiet', NOW);
    expect(quiet?.windows).toEqual(none);
    expect(quiet?.wallet).not.toBeNull();
    const nowallet = world.pnl('nowallet', NOW);
    expect(nowallet).toMatchObject({ wallet: null, evmWallet: null, updatedAt: null, windows: none });
    expect(world.pnl('nobody-at-all', NOW)).toBeUndefined();
  });

  it('appear when a wallet is revealed', () => {
    const world = createWorld({ seed: 1, now: NOW });
    expect(world.pnl('slowpoke', NOW)?.windows.all).toBeNull();
    const user = world.users.reveal(userOf(world, 'slowpoke').id);
    const pnl = world.pnl('slowpoke', NOW);
    expect(pnl?.wallet).toBe(user.solanaAddress);
    expect(pnl?.windows.all?.trades).toBeGreaterThan(0);
  });

  it('are equal for two users who share their wallets', () => {
    const world = createWorld({ seed: 1, now: NOW });
    expect(world.pnl('mira_alt', NOW)?.windows).toEqual(world.pnl('mira', NOW)?.windows);
  });

  it('include the trade behind a live post after the next refresh', () => {
    const world = createWorld({ seed: 9, now: NOW });
    const before = world.pnl('mira', NOW + MINUTE)?.windows.all?.trades ?? 0;
    const { trades } = historyOf(9, 20_000);
    // Post exactly at the time of a refresh that was already computed.
    const full = refreshOf(NOW) + MINUTE;
    let own = 0;
    for (let post = 0; post < 300; post++) {
      world.theses.post(full);
      if (trades.trader(trades.next(full)) === 0) own++;
    }
    expect(own).toBeGreaterThan(0);
    expect(world.pnl('mira', NOW + MINUTE)?.windows.all?.trades).toBe(before + own);
  });

  it('have no return if nothing was bought', () => {
    const world = createWorld({ seed: 2, now: NOW });
    const sellers = world.users.handles
      .flatMap((handle) => world.pnl(handle, NOW)?.windows['24h'] ?? [])
      .filter((one) => one.returnPct === null && one.trades > 0);
    expect(sellers.length).toBeGreaterThan(0);
    for (const one of sellers) expect(one.netUsd).toBe(one.volumeUsd);
  });
});
