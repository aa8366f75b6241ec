import { describe, expect, it } from 'vitest';
import { differenceText, known } from '../../src/contract/read-record.ts';
import { Me } from '../../src/contract/records/account.ts';
import { Pnl } from '../../src/contract/records/pnl.ts';
import { User } from '../../src/contract/records/user.ts';

const user = {
  id: '5f1c7d3e-6e5a-4d8e-9d43-1f1f3b0c2a11',
  handle: 'mira',
  name: null,
  bio: 'x',
  banner: null,
  profilePicture: null,
  twitter: null,
  solanaAddress: 'So1',
  evmAddress: null,
};
const texts = (schema: Parameters<typeof known>[0], sent: object) => {
  const found = new Set<string>();
  known(schema, { ...sent }, (difference) => void found.add(differenceText(difference)));
  return [...found];
};

describe('the known part of a record', () => {
  it('omits only fields of another type', () => {
    const sent = {
      ...user,
      handle: 7,
      bio: undefined,
      extra: 1,
      socials: [{ provider: 'x' }, 'y', null],
    };
    expect(known(User, sent)).toEqual({
      ...user,
      handle: undefined,
      bio: undefined,
      extra: 1,
      socials: [{ provider: 'x' }],
    });
    expect(Object.keys(known(User, sent))).not.toContain('handle');
  });

  it('reads nested records', () => {
    const window = { netUsd: 1, returnPct: null, volumeUsd: '2', trades: 3, rank: null };
    const sent = { handle: 'mira', windows: { '24h': window, '7d': null, '30d': 'x' } };
    expect(known(Pnl, sent).windows).toEqual({
      '24h': { netUsd: 1, returnPct: null, trades: 3 },
      '7d': null,
    });
    expect(known(Me, { usage: null }).usage).toBeUndefined();
  });

  it('keeps a fraction in place of an integer', () => {
    expect(known(Pnl, { followers: 1.5 }).followers).toBe(1.5);
    expect(texts(Pnl, { followers: 1.5 })).toContain(
      'followers is a fraction, expected an integer',
    );
  });

  it('reads no field from the prototype of an object', () => {
    const sent = JSON.parse('{"__proto__":{"id":"x"},"handle":"mira"}');
    expect(known(User, sent).id).toBeUndefined();
    expect(Object.getPrototypeOf(known(User, { ...sent, name: 7 }))).toBe(Object.prototype);
  });
});

describe('the differences of a record', () => {
  it('are reported with their field, in words', () => {
    const { bio: _, ...rest } = user;
    expect(texts(User, { ...rest, name: 7, solanaAddress: [], socials: [{}, {}, 7] })).toEqual([
      'name is a number, expected text',
      'bio is missing',
      'solanaAddress is a list, expected text',
      'socials[].provider is missing',
      'socials[].subject is missing',
      'socials[].handle is missing',
      'socials[] is a number, expected an object',
    ]);
  });
});
