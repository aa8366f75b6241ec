import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Board, boardPeriods, Callout, LaunchpadUser } from '../../../src/contract/records/launchpad.ts';
import { Pnl, windowNames } from '../../../src/contract/records/pnl.ts';
import { Thesis, ThesisFrameData } from '../../../src/contract/records/thesis.ts';
import { User } from '../../../src/contract/records/user.ts';
import { fixedTraders } from '../../../src/sandbox/world/generated/fixed-traders.ts';
import { generateRecords } from '../../../src/sandbox/world/generated/index.ts';
import type { WorldRecords } from '../../../src/sandbox/world/records.ts';
import { first, NOW, runs, userOf, walk, worldOf } from './worlds.ts';

const DAY = 86_400_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const seeds = fc.integer({ min: 0, max: 2 ** 31 });

const everything = ({ users, unverified, numbers, theses, accounts, callouts, boards }: WorldRecords) =>
  JSON.stringify([users, [...unverified], numbers(), theses(), accounts(), callouts(), boards()]);

/** Whether a mixed-case address has its EIP-55 checksum, by an independent implementation. */
function hasChecksum(address: string): boolean {
  const digits = address.slice(2);
  const sum = Buffer.from(keccak_256(new TextEncoder().encode(digits.toLowerCase()))).toString('hex');
  return [...digits].every((digit, at) => {
    const isUpper = Number.parseInt(sum.charAt(at), 16) >= 8;
    return digit === (isUpper ? digit.toUpperCase() : digit.toLowerCase());
  });
}

describe('generated records', () => {
  it('are identical for the same seed and time, and differ for another seed', () => {
    fc.assert(
      fc.property(seeds, fc.nat({ max: 300 }), fc.boolean(), (seed, theses, socials) => {
        const size = { theses, socials, traders: 60 };
        const text = everything(generateRecords(seed, NOW, size));
        expect(everything(generateRecords(seed, NOW, size))).toBe(text);
        expect(everything(generateRecords(seed + 1, NOW, size))).not.toBe(text);
      }),
      runs(8),
    );
  });

  it('are valid, with valid ids and addresses', () => {
    fc.assert(
      fc.property(seeds, fc.boolean(), (seed, socials) => {
        const { users, unverified, numbers, theses, accounts, callouts, boards } = generateRecords(
          seed,
          NOW,
          { socials, theses: 500 },
        );
        for (const user of users) {
          expect(User.parse(user)).toEqual(user);
          expect(user.id).toMatch(UUID);
          expect('socials' in user).toBe(socials);
        }
        expect(new Set(users.map(({ id }) => id)).size).toBe(users.length);
        expect(new Set(users.map(({ handle }) => handle.toLowerCase())).size).toBe(users.length);
        for (const { solanaAddress, evmAddress } of [...users, ...unverified.values()]) {
          if (solanaAddress !== null) expect(base58.decode(solanaAddress)).toHaveLength(32);
          if (evmAddress === null) continue;
          expect(evmAddress).toMatch(/^0x[0-9a-fA-F]{40}$/);
          expect(evmAddress === evmAddress.toLowerCase() || hasChecksum(evmAddress)).toBe(true);
        }
        for (const pnl of numbers()) Pnl.parse(pnl);
        for (const thesis of theses()) Thesis.parse(thesis);
        for (const account of accounts()) LaunchpadUser.parse(account);
        for (const callout of callouts()) Callout.parse(callout);
        for (const board of boards()) Board.parse(board);
      }),
      runs(4),
    );
  });

  it('have windows that nest, and ranks that agree with the cash flow', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const numbers = generateRecords(seed, NOW).numbers();
        const traded = numbers.filter(({ windows }) => windows.all !== null);
        expect(traded.length).toBeGreaterThan(200);
        for (const { windows, wallet, evmWallet, updatedAt } of numbers) {
          if (wallet === null && evmWallet === null) expect([windows.all, updatedAt]).toEqual([null, null]);
          const nested = windowNames.flatMap((name) => windows[name] ?? []);
          expect([0, windowNames.length]).toContain(nested.length);
          for (const [at, window] of nested.entries()) {
            const shorter = nested[at - 1];
            expect(window.trades).toBeGreaterThanOrEqual(shorter?.trades ?? 0);
            expect(window.volumeUsd).toBeGreaterThanOrEqual(shorter?.volumeUsd ?? 0);
            expect(window.volumeUsd).toBeGreaterThanOrEqual(Math.abs(window.netUsd));
            expect(window.volumeUsd > 0).toBe(window.trades > 0);
            if (window.returnPct) expect(Math.sign(window.returnPct)).toBe(Math.sign(window.netUsd));
          }
        }
        for (const name of windowNames) {
          const rows = traded.flatMap(({ windows }) => windows[name] ?? []);
          for (const { rank, netUsd } of rows) {
            expect(rank).toBe(1 + rows.filter((other) => other.netUsd > netUsd).length);
          }
        }
      }),
      runs(3),
    );
  });

  it('have theses with consistent figures, in order, some at the same time', () => {
    const { theses, users } = generateRecords(1, NOW);
    const all = theses();
    const times = all.flatMap(({ platformCreatedAt }) => platformCreatedAt ?? []);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(all.slice(10).every(({ platformCreatedAt }) => platformCreatedAt !== null)).toBe(true);
    const sizes = new Map<number, number>();
    for (const time of times) sizes.set(time, (sizes.get(time) ?? 0) + 1);
    expect(Math.max(...sizes.values())).toBeGreaterThan(40);
    for (const thesis of all) {
      if (thesis.authorId === undefined) continue;
      const postedAt = thesis.platformCreatedAt ?? 0;
      expect(users.find(({ id }) => id === thesis.authorId)?.handle).toBe(thesis.authorHandle);
      expect(thesis.pnl).toBe(thesis.realizedPnlUsd ?? thesis.unrealizedPnlUsd);
      expect(thesis.closedAt === null).toBe(thesis.unrealizedPnlUsd !== null);
      if (thesis.closedAt !== null) expect(thesis.realizedPnlUsd).not.toBeNull();
      for (const time of [thesis.closedAt, thesis.updatedAt]) {
        expect(time ?? postedAt).toBeGreaterThanOrEqual(postedAt);
        expect(time ?? postedAt).toBeLessThanOrEqual(NOW);
      }
      if (thesis.segments) {
        expect(thesis.segments.map(({ text }) => text ?? '').join('')).toBe(thesis.thesis);
      }
    }
  });

  it('have ordinary and hostile texts', () => {
    const texts = generateRecords(1, NOW, { theses: 20_000 })
      .theses()
      .map(({ thesis }) => thesis ?? 'null');
    const forms = [/^null$/, /^$/, /.{8000}/s, /\u200d/u, /[\u3040-\u30ff]/u, /[\u0600-\u06ff]/u, /\n/];
    const hostile = [/\u001b\[/, /\u001b\]/, /[\u0080-\u009f]/, /^[=+@\t\r-]/, /\u202e/, /^\{"/, /\u0000/];
    for (const form of [...forms, ...hostile, /\p{Surrogate}/u]) {
      expect([form, texts.filter((text) => form.test(text)).length > 5]).toEqual([form, true]);
    }
  });

  it('have callouts whose best multiple is at least the current one', () => {
    const { callouts, accounts } = generateRecords(1, NOW);
    const wallets = new Map(accounts().map((account) => [account.wallet, account]));
    for (const { wallet, userName, multiple, maxMultiplier, createdAt } of callouts()) {
      expect(wallets.get(wallet)).toMatchObject({ username: userName });
      expect(wallets.get(wallet)?.isLaunchpadUser).not.toBe(false);
      expect(maxMultiplier ?? 1).toBeGreaterThanOrEqual(Math.max(1, multiple ?? 1));
      expect(createdAt).toBeLessThanOrEqual(NOW);
    }
  });

  it('have boards of the top 100 that change gradually', () => {
    const boards = generateRecords(1, NOW).boards();
    for (const period of boardPeriods) {
      const [latest, before] = boards.filter((board) => board.period === period);
      if (!latest?.capturedAt || !before?.capturedAt) throw new Error('no board');
      expect(latest.capturedAt).toBeLessThanOrEqual(NOW);
      expect(before.capturedAt).toBeLessThan(latest.capturedAt);
      expect(latest.entries.map(({ rank }) => rank)).toEqual(
        Array.from({ length: 100 }, (_, row) => row + 1),
      );
      for (const [row, { pnlUsd, realizedPnlUsd, unrealizedPnlUsd }] of latest.entries.entries()) {
        expect(pnlUsd).toBeCloseTo((realizedPnlUsd ?? 0) + (unrealizedPnlUsd ?? 0), 2);
        expect(pnlUsd).toBeLessThanOrEqual(latest.entries[row - 1]?.pnlUsd ?? Number.POSITIVE_INFINITY);
      }
      const ranks = new Map(before.entries.map(({ wallet, rank }) => [wallet, rank]));
      const stayed = latest.entries.filter(({ wallet }) => ranks.has(wallet));
      expect(stayed.length).toBeGreaterThan(50);
      expect(stayed.filter(({ wallet, rank }) => ranks.get(wallet) !== rank).length).toBeGreaterThan(10);
    }
  });
});

describe('the fixed traders', () => {
  it('are the same in every world', () => {
    const [one, two] = [generateRecords(1, NOW), generateRecords(2, NOW, { traders: 1 })];
    expect(two.users).toHaveLength(fixedTraders.length);
    expect(one.users.slice(0, fixedTraders.length)).toEqual(two.users);
  });

  it('match the docs', () => {
    const world = worldOf(5);
    const of = (handle: string) => userOf(world, handle);
    expect([of('mira').solanaAddress, of('mira').evmAddress]).not.toContain(null);
    expect(world.pnl('mira')?.windows.all?.trades).toBeGreaterThan(500);
    expect([of('0xmert').handle, of('0xmert').solanaAddress]).toEqual(['0xMert', null]);
    expect(of('solwolf').evmAddress).toBeNull();
    expect(of('nowallet')).toMatchObject({ solanaAddress: null, evmAddress: null });
    expect(world.users.resolvePlan(of('nowallet').id)).toEqual({ outcome: 'pending', reason: 'no_preview' });
    expect(of('tokyo').name).toBe('東京トレーダー');
    expect(of('evil').bio).toContain('\u001b]8;;');
    expect(world.users.byWallet(of('mira_alt').evmAddress ?? '')?.handle).toBe('mira');
    expect(world.launchpad.user(of('mira').solanaAddress ?? '')?.username).toBe('mira');
    expect(world.users.isSample(of('mira').id)).toBe(true);
    expect(world.users.isSample(of('evil').id)).toBe(false);
  });
});

describe('a world', () => {
  it('posts live theses and callouts first in their feeds, the same ones for the same seed', () => {
    const [world, again] = [worldOf(1), worldOf(1)];
    for (let number = 0; number < 100; number++) {
      const now = NOW + number * 1_000;
      const frame = world.theses.post(now);
      expect(again.theses.post(now)).toEqual(frame);
      expect(ThesisFrameData.parse(frame).platformCreatedAt).toBe(now);
      const { authorAvatarUrl, tokenImageUrl, ...thesis } = frame;
      expect([authorAvatarUrl, tokenImageUrl]).not.toContain(undefined);
      const userId = thesis.authorId ?? undefined;
      for (const filter of [{}, { userId }, { tokenAddress: thesis.tokenAddress ?? '' }]) {
        expect(world.theses.slice(filter, undefined, 1, now)?.items).toEqual([thesis]);
      }
      const callout = world.launchpad.postCallout(now);
      for (const filter of [{}, { coin: callout?.coinMint }, { wallet: callout?.wallet }]) {
        expect(world.launchpad.callouts(filter, undefined, now)?.items[0]).toEqual(callout);
      }
    }
  });

  it('filters its feeds by author, token, coin and wallet', () => {
    const { theses, launchpad } = worldOf(7);
    const all = walk((before) => theses.slice({}, before, 100, NOW));
    const userId = first(all.flatMap(({ authorId }) => authorId ?? []));
    const own = all.filter(({ authorId }) => authorId === userId);
    expect(walk((before) => theses.slice({ userId }, before, 7, NOW))).toEqual(own);
    const tokenAddress = first(own).tokenAddress ?? '';
    const both = walk((before) => theses.slice({ userId, tokenAddress }, before, 1, NOW));
    expect(both).toEqual(own.filter((thesis) => thesis.tokenAddress === tokenAddress));
    const callouts = walk((before) => launchpad.callouts({}, before, NOW));
    const { coinMint: coin, wallet } = first(callouts);
    const ofCoin = walk((before) => launchpad.callouts({ coin }, before, NOW));
    expect(ofCoin).toEqual(callouts.filter(({ coinMint }) => coinMint === coin));
    expect(launchpad.callouts({ coin, wallet }, undefined, NOW)?.items[0]).toEqual(first(callouts));
  });

  it('keeps the id and the numbers of a renamed user', () => {
    const world = worldOf(1);
    const { id } = userOf(world, 'mira');
    const windows = world.pnl('mira')?.windows;
    world.users.rename(id, 'MiraTwo');
    expect([world.users.byHandle('mira'), world.pnl('mira')]).toEqual([undefined, undefined]);
    expect(world.users.byHandle('miratwo')).toMatchObject({ id, handle: 'MiraTwo' });
    expect(world.pnl('miratwo')).toMatchObject({ handle: 'MiraTwo', windows });
    expect(world.users.handles).toContain('MiraTwo');
  });

  it('shows wallets after a live resolve in every lookup', () => {
    const world = worldOf(1);
    const before = userOf(world, 'slowpoke');
    expect(world.users.resolvePlan(before.id)).toEqual({ outcome: 'found', ms: 3_000, queue: 2 });
    const { solanaAddress, evmAddress } = world.users.reveal(before.id);
    expect(world.users.byWallet(solanaAddress ?? '')?.handle).toBe('slowpoke');
    expect(world.users.byId(before.id)).toMatchObject({ solanaAddress, evmAddress });
    expect(world.pnl('slowpoke')).toMatchObject({ wallet: solanaAddress, evmWallet: evmAddress });
  });

  it('has the latest board at or before a time', () => {
    const { launchpad } = worldOf(1);
    const { capturedAt } = launchpad.board('daily', NOW);
    expect(launchpad.board('daily', (capturedAt ?? 0) - 1).capturedAt).toBeLessThan(capturedAt ?? 0);
    const none = { period: 'daily', capturedAt: null, count: 0, entries: [] };
    expect(launchpad.board('daily', NOW - 400 * DAY)).toEqual(none);
    expect(launchpad.board('daily', Number.NaN)).toEqual(none);
  });
});
