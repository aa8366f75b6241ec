import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Board, Callout, LaunchpadUser } from '../../../src/contract/records/launchpad.ts';
import { Pnl } from '../../../src/contract/records/pnl.ts';
import { Thesis } from '../../../src/contract/records/thesis.ts';
import { User } from '../../../src/contract/records/user.ts';
import { fixedTraders } from '../../../src/sandbox/world/generated/fixed-traders.ts';
import { generateRecords } from '../../../src/sandbox/world/generated/index.ts';
import type { WorldRecords } from '../../../src/sandbox/world/world.ts';
import { NOW, runs, userOf, worldOf } from './worlds.ts';

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
      fc.property(seeds, fc.nat({ max: 300 }), (seed, theses) => {
        const size = { theses, traders: 60 };
        const text = everything(generateRecords(seed, NOW, size));
        expect(everything(generateRecords(seed, NOW, size))).toBe(text);
        expect(everything(generateRecords(seed + 1, NOW, size))).not.toBe(text);
      }),
      runs(8),
    );
  });

  it('are valid, with valid ids and addresses', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { users, unverified, numbers, theses, accounts, callouts, boards } = generateRecords(
          seed,
          NOW,
          { theses: 500 },
        );
        for (const user of users) {
          expect(User.parse(user)).toEqual(user);
          expect(user.id).toMatch(UUID);
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
    expect(world.resolvePlan(of('nowallet').id)).toEqual({ outcome: 'pending', reason: 'no_preview' });
    expect(of('tokyo').name).toBe('東京トレーダー');
    expect(of('evil').bio).toContain('\u001b]8;;');
    expect(world.userByWallet(of('mira_alt').evmAddress ?? '')?.handle).toBe('mira');
    expect(world.account(of('mira').solanaAddress ?? '')?.username).toBe('mira');
    expect(world.isSample(of('mira').id)).toBe(true);
    expect(world.isSample(of('evil').id)).toBe(false);
  });
});
