import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { boardPeriods } from '../../../src/contract/records/launchpad.ts';
import { createWorld } from '../../../src/sandbox/world/index.ts';
import { first, itemsOf, NOW, userOf, walk } from './worlds.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const world = createWorld({ seed: 21, now: NOW });
const { launchpad } = world;
const all = walk((before) => launchpad.callouts({}, before, NOW));

describe('callouts', () => {
  it('come in pages of 25, newest first, without duplicates', () => {
    expect(itemsOf(launchpad.callouts({}, undefined, NOW))).toHaveLength(25);
    expect(all).toHaveLength(2_000);
    expect(new Set(all.map((callout) => callout.id)).size).toBe(2_000);
    const times = all.flatMap((callout) => callout.createdAt ?? []);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(new Set(times).size).toBeLessThan(times.length - 30);
    expect(launchpad.callouts({}, 'unknown', NOW)).toBeNull();
  });

  it('are filtered by coin or by wallet', () => {
    for (const { coinMint, wallet } of all.slice(0, 20)) {
      const coin = walk((before) => launchpad.callouts({ coin: coinMint }, before, NOW));
      expect(coin).toEqual(all.filter((callout) => callout.coinMint === coinMint));
      const own = walk((before) => launchpad.callouts({ wallet }, before, NOW));
      expect(own).toEqual(all.filter((callout) => callout.wallet === wallet));
    }
    expect(launchpad.callouts({ coin: 'nothing' }, undefined, NOW)).toEqual({ items: [], hasMore: false });
  });

  it('have a best multiple that never falls below the current one', () => {
    for (const days of [0, 1, 9, 30]) {
      const later = walk((before) => launchpad.callouts({}, before, NOW + days * DAY));
      later.forEach((callout, place) => {
        if (callout.multiple === null) return;
        expect(callout.maxMultiplier).toBeGreaterThanOrEqual(callout.multiple);
        expect(callout.maxMultiplier).toBeGreaterThanOrEqual(all[place]?.maxMultiplier ?? 0);
        expect(callout.calledOutAtMcap).toBeGreaterThan(0);
        expect(callout.calledOutAtMcap).toBe(all[place]?.calledOutAtMcap);
      });
    }
  });

  it('posted live are first in all their feeds', () => {
    const live = createWorld({ seed: 21, now: NOW }).launchpad;
    for (let call = 0; call < 60; call++) {
      const callout = live.postCallout(NOW + call);
      const { coinMint: coin, wallet } = callout;
      for (const filter of [{}, { coin }, { wallet }]) {
        expect(itemsOf(live.callouts(filter, undefined, NOW + call))[0]).toEqual(callout);
      }
    }
    expect(walk((before) => live.callouts({}, before, NOW + 60))).toHaveLength(2_060);
  });
});

describe('launchpad accounts', () => {
  it('exist for every callout and every entry of a board', () => {
    const wallets = new Set(all.map((callout) => callout.wallet));
    for (const entry of launchpad.board('weekly', NOW).entries) wallets.add(entry.wallet);
    for (const wallet of wallets) {
      expect(base58.decode(wallet)).toHaveLength(32);
      expect(launchpad.user(wallet)?.wallet).toBe(wallet);
    }
    for (const callout of all) {
      const { username, isLaunchpadUser } = launchpad.user(callout.wallet) ?? {};
      expect(callout.userName).toBe(username);
      expect(isLaunchpadUser).not.toBe(false);
    }
  });

  it('share some wallets with traders of the platform', () => {
    const mira = launchpad.user(userOf(world, 'mira').solanaAddress ?? '');
    expect(mira?.username).toBe('mira');
    expect(launchpad.user('nobody')).toBeUndefined();
  });

  it('include wallets without an account', () => {
    const entries = boardPeriods.flatMap((period) => launchpad.board(period, NOW).entries);
    const users = entries.map((entry) => launchpad.user(entry.wallet));
    const strangers = users.filter((user) => user?.isLaunchpadUser === false);
    expect(strangers.length).toBeGreaterThan(0);
    for (const user of strangers) expect(user).toMatchObject({ username: null, groupBadges: [] });
  });
});

describe('leaderboards', () => {
  const steps = { daily: HOUR, weekly: 6 * HOUR, monthly: DAY } as const;

  it('are the latest snapshot at or before a time', () => {
    for (const period of boardPeriods) {
      const board = launchpad.board(period, NOW);
      const captured = board.capturedAt ?? 0;
      expect(NOW - captured).toBeLessThan(steps[period]);
      expect(captured).toBeLessThanOrEqual(NOW);
      expect(launchpad.board(period, captured)).toEqual(board);
      expect(launchpad.board(period, captured + steps[period] - 1)).toEqual(board);
      expect(launchpad.board(period, captured - 1).capturedAt).toBe(captured - steps[period]);
      expect(launchpad.board(period, NOW - 150 * DAY).count).toBe(100);
      const none = { period, capturedAt: null, count: 0, entries: [] };
      expect(launchpad.board(period, NOW - 400 * DAY)).toEqual(none);
      expect(launchpad.board(period, Number.NaN)).toEqual(none);
    }
  });

  it('rank the top 100 by realized plus unrealized profit', () => {
    for (const period of boardPeriods) {
      const { count, entries } = launchpad.board(period, NOW - 3 * DAY);
      expect([count, entries.length]).toEqual([100, 100]);
      expect(entries.map((entry) => entry.rank)).toEqual(entries.map((_, place) => place + 1));
      expect(new Set(entries.map((entry) => entry.wallet)).size).toBe(100);
      const sums = entries.map((entry) => (entry.realizedPnlUsd ?? 0) + (entry.unrealizedPnlUsd ?? 0));
      expect(sums).toEqual(sums.toSorted((a, b) => b - a));
      entries.forEach((entry, place) => {
        expect(entry.pnlUsd).toBeCloseTo(sums[place] ?? 0, 2);
      });
    }
  });

  it('change gradually between snapshots', () => {
    for (const period of boardPeriods) {
      const before = launchpad.board(period, NOW - 3 * steps[period]).entries;
      const after = launchpad.board(period, NOW).entries;
      const ranks = new Map(before.map((entry) => [entry.wallet, entry.rank]));
      const stayed = after.filter((entry) => ranks.has(entry.wallet));
      expect(stayed.length).toBeGreaterThan(50);
      expect(stayed.length).toBeLessThan(100);
      expect(stayed.filter((entry) => ranks.get(entry.wallet) !== entry.rank).length).toBeGreaterThan(10);
    }
    expect(first(launchpad.board('daily', NOW).entries).rank).toBe(1);
  });
});
