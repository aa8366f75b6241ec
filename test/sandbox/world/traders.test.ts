import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksummed, numbered } from '../../../src/sandbox/world/address.ts';
import { fixedTraders } from '../../../src/sandbox/world/generated/fixed-traders.ts';
import { mix, unmix } from '../../../src/sandbox/world/hash.ts';
import { createWorld } from '../../../src/sandbox/world/index.ts';
import type { World } from '../../../src/sandbox/world/types.ts';
import { first, NOW, runs, userOf } from './worlds.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const everyone = (world: World) => world.users.handles.map((handle) => userOf(world, handle));

/**
 * Whether an address has its EIP-55 checksum, by an independent implementation: a letter is upper case if the hash
 * digit at its position is 8 or more.
 */
function hasChecksum(address: string): boolean {
  const digits = address.slice(2);
  const sum = keccak_256(new TextEncoder().encode(digits.toLowerCase()));
  return [...digits].every((digit, at) => {
    const byte = sum[at >> 1] ?? 0;
    const nibble = at % 2 === 0 ? byte >> 4 : byte & 15;
    return digit === (nibble >= 8 ? digit.toUpperCase() : digit.toLowerCase());
  });
}

describe('addresses and ids', () => {
  it('are valid for every user of any world', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        for (const user of everyone(createWorld({ seed, now: NOW, theses: 10 }))) {
          expect(user.id).toMatch(UUID);
          if (user.solanaAddress !== null) expect(base58.decode(user.solanaAddress)).toHaveLength(32);
          if (user.evmAddress !== null) {
            expect(user.evmAddress).toMatch(/^0x[0-9a-fA-F]{40}$/);
            expect(hasChecksum(user.evmAddress)).toBe(true);
          }
        }
      }),
      runs(3),
    );
  });

  it('carry the checksums that the standard gives as examples', () => {
    for (const address of [
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
      '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
      '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    ]) {
      expect(checksummed(address.toLowerCase())).toBe(address);
      expect(hasChecksum(address)).toBe(true);
    }
  });

  it('can be converted back to their index', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat({ max: 2 ** 32 - 1 }), (seed, salt, index) => {
        expect(unmix(mix(index))).toBe(index);
        const family = numbered(seed, salt);
        expect(family.indexOf(family.bytes(index, 20))).toBe(index);
      }),
      runs(500),
    );
  });
});

describe('users', () => {
  it('are found by handle in any case, by id and by wallet', () => {
    const world = createWorld({ seed: 11, now: NOW, theses: 10 });
    const { users } = world;
    const all = everyone(world);
    expect(new Set(all.map((user) => user.id)).size).toBe(500);
    expect(new Set(all.map((user) => user.handle.toLowerCase())).size).toBe(500);
    const owners = new Map<string, string>();
    for (const user of all) {
      expect(users.byHandle(user.handle.toLowerCase())).toEqual(user);
      expect(users.byHandle(user.handle.toUpperCase())).toEqual(user);
      expect(users.byId(user.id)).toEqual(user);
      expect(users.byId(user.id.toUpperCase())).toEqual(user);
      for (const address of [user.solanaAddress, user.evmAddress]) {
        if (address === null) continue;
        const owner = users.byWallet(address);
        expect([owner?.solanaAddress, owner?.evmAddress]).toContain(address);
        owners.set(address, owner?.id ?? '');
      }
      if (user.evmAddress !== null) {
        expect(users.byWallet(user.evmAddress.toLowerCase())).toEqual(users.byWallet(user.evmAddress));
        expect(users.byWallet(`0x${user.evmAddress.slice(2).toUpperCase()}`)?.id).toBe(
          owners.get(user.evmAddress),
        );
      }
    }
    const other = first(everyone(createWorld({ seed: 12, now: NOW, theses: 10 })).slice(fixedTraders.length));
    expect(users.byId(other.id)).toBeUndefined();
    for (const address of [
      other.solanaAddress ?? '',
      other.evmAddress ?? '',
      '',
      '0x',
      'nobody',
      '1'.repeat(32),
    ]) {
      expect(users.byWallet(address)).toBeUndefined();
    }
  });

  it('cover every combination of wallets', () => {
    const all = everyone(createWorld({ seed: 1, now: NOW, theses: 10 }));
    const kinds = (solana: boolean, evm: boolean) =>
      all.filter((user) => (user.solanaAddress !== null) === solana && (user.evmAddress !== null) === evm)
        .length;
    for (const [solana, evm] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      expect(kinds(solana, evm)).toBeGreaterThan(20);
    }
    const wallets = all.flatMap((user) => user.solanaAddress ?? []);
    expect(new Set(wallets).size).toBeLessThan(wallets.length - 1);
  });

  it('have handles of 1 to 64 characters, mixed cases, and some that look like addresses', () => {
    const handles = createWorld({ seed: 1, now: NOW, theses: 10 }).users.handles;
    const lengths = handles.map((handle) => handle.length);
    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([1, 64]);
    expect(handles.filter((handle) => handle !== handle.toLowerCase()).length).toBeGreaterThan(50);
    expect(handles.filter((handle) => handle.startsWith('0x')).length).toBeGreaterThan(10);
  });

  it('link to X by handle, and show socials only if they are enabled', () => {
    const plain = everyone(createWorld({ seed: 1, now: NOW, theses: 10 }));
    for (const { twitter } of plain)
      expect(twitter ?? 'https://x.com/mira').toMatch(/^https:\/\/x\.com\/\w{3,15}$/);
    expect(plain.some((user) => user.twitter === null)).toBe(true);
    expect(plain.some((user) => 'socials' in user)).toBe(false);
    const social = everyone(createWorld({ seed: 1, now: NOW, theses: 10, socials: true }));
    expect(social.every((user) => Array.isArray(user.socials))).toBe(true);
    const providers = new Set(social.flatMap((user) => user.socials ?? []).map((one) => one.provider));
    expect([...providers].sort()).toEqual(['reddit', 'telegram', 'x', 'youtube']);
  });

  it('keep their id when renamed', () => {
    const world = createWorld({ seed: 1, now: NOW, theses: 200 });
    const { id } = userOf(world, 'mira');
    world.users.rename(id, 'MiraTwo');
    expect(world.users.byHandle('mira')).toBeUndefined();
    expect(world.users.byHandle('miratwo')).toMatchObject({ id, handle: 'MiraTwo' });
    expect(world.users.handles).toContain('MiraTwo');
    expect(world.users.handles).not.toContain('mira');
    expect(world.pnl('miratwo', NOW)?.handle).toBe('MiraTwo');
    const posts = world.theses.slice({ userId: id }, undefined, 10, NOW)?.items ?? [];
    expect(new Set(posts.map((post) => post.authorHandle ?? 'MiraTwo'))).toEqual(new Set(['MiraTwo']));
    expect(() => world.users.rename(id, 'SolWolf')).toThrow('already in use');
    world.users.rename(id, 'MIRATWO');
    expect(world.users.byHandle('miratwo')?.handle).toBe('MIRATWO');
  });

  it('show a revealed wallet everywhere', () => {
    const world = createWorld({ seed: 1, now: NOW, theses: 10 });
    const before = userOf(world, 'slowpoke');
    expect([before.solanaAddress, before.evmAddress]).toEqual([null, null]);
    const after = world.users.reveal(before.id);
    expect(after.solanaAddress).not.toBeNull();
    expect(userOf(world, 'slowpoke')).toEqual(after);
    expect(world.users.byId(before.id)).toEqual(after);
    expect(world.users.byWallet(after.evmAddress ?? '')).toEqual(after);
  });

  it('cover every outcome of a resolve', () => {
    const world = createWorld({ seed: 1, now: NOW, theses: 10 });
    const bare = everyone(world).filter((user) => user.solanaAddress === null && user.evmAddress === null);
    const outcomes = new Set(
      bare.map((user) => {
        const plan = world.users.resolvePlan(user.id);
        return plan.outcome === 'pending' ? plan.reason : plan.outcome;
      }),
    );
    const reasons = ['found', 'no_preview', 'not_ingested', 'rate_limited', 'timeout', 'unavailable'];
    expect([...outcomes].sort()).toEqual(reasons);
    expect(world.users.resolvePlan(userOf(world, 'slowpoke').id)).toEqual({
      outcome: 'found',
      ms: 3_000,
      queue: 2,
    });
    expect(() => world.users.resolvePlan('nobody')).toThrow('nobody');
  });
});

describe('the fixed traders', () => {
  it('are the same in every world, including their addresses', () => {
    const worlds = [1, 2, 3].map((seed) =>
      createWorld({ seed, now: NOW, theses: 10 * seed, traders: 40 * seed }),
    );
    for (const { handle } of fixedTraders) {
      const [one, ...others] = worlds.map((world) => userOf(world, handle.toLowerCase()));
      for (const other of others) expect(other).toEqual(one);
      expect(one?.handle).toBe(handle);
    }
  });

  it('match the docs', () => {
    const world = createWorld({ seed: 5, now: NOW });
    const of = (handle: string) => userOf(world, handle);
    expect([of('mira').solanaAddress, of('mira').evmAddress]).not.toContain(null);
    expect(world.pnl('mira', NOW)?.windows.all?.trades).toBeGreaterThan(500);
    expect([of('0xmert').handle, of('0xmert').solanaAddress]).toEqual(['0xMert', null]);
    expect(of('solwolf').evmAddress).toBeNull();
    expect(of('nowallet')).toMatchObject({ solanaAddress: null, evmAddress: null });
    expect(world.users.resolvePlan(of('nowallet').id)).toEqual({ outcome: 'pending', reason: 'no_preview' });
    expect(of('tokyo').name).toBe('東京トレーダー');
    expect(world.users.byWallet(of('mira_alt').evmAddress ?? '')?.handle).toBe('mira');
    expect(['mira', 'solwolf', '0xmert'].every((handle) => world.users.isSample(of(handle).id))).toBe(true);
    expect(['evil', 'nowallet', 'slowpoke'].some((handle) => world.users.isSample(of(handle).id))).toBe(
      false,
    );
    expect(everyone(world).filter((user) => world.users.isSample(user.id)).length).toBeLessThan(15);
  });

  it('exist in the smallest world', () => {
    expect(createWorld({ seed: 1, now: NOW, theses: 0, traders: 1 }).users.handles).toHaveLength(
      fixedTraders.length,
    );
  });
});
