import { describe, expect, it } from 'vitest';
import { type RecordType, recognize, recordTypes } from '../../src/contract/record-types.ts';

const meta = { asOf: '2026-05-15T12:00:00.000Z', requestId: 'req_1' };

/** Minimal records of each type, and similar values that are not of that type. */
const cases: Readonly<
  Record<RecordType, { readonly least: readonly object[]; readonly not: readonly unknown[] }>
> = {
  user: {
    least: [
      { id: 'x' },
      { id: 7 },
      { handle: 'x' },
      { solanaAddress: 'x' },
      { evmAddress: 'x', id: null },
    ],
    not: [{}, { id: null, handle: null }, { name: 'x' }, { error: { code: 'NOT_OBSERVED' } }],
  },
  numbers: {
    least: [{ handle: 'x' }, { windows: {} }, { windows: [] }],
    not: [{}, { wallet: 'x' }],
  },
  batch: {
    least: [{ entries: [] }, { missing: [] }, { entries: null }, { missing: ['x'], entries: 7 }],
    not: [{}, { count: 2 }, { entries: 7 }],
  },
  page: {
    least: [{ items: [] }, { items: null }, { items: [7] }],
    not: [{}, { items: {} }, { count: 0 }],
  },
  board: {
    least: [{ entries: [] }, { entries: null }],
    not: [{}, { entries: {} }, { period: 'daily' }],
  },
  launchpadUser: { least: [{ wallet: 'x' }, { username: 'x' }], not: [{}, { bio: 'x' }] },
  me: { least: [{}, { usage: 7 }, { anything: true }], not: [] },
  pending: { least: [{}, { pending: true }, { reason: 'queued' }], not: [] },
};

describe.each(Object.keys(recordTypes) as RecordType[])('a record of type %s', (name) => {
  const { least, not } = cases[name];

  it.each(least)('is recognized by a minimal record: %j', (record) => {
    expect(recognize(name, record)?.record).toBe(record);
  });

  it.each(least)('is recognized in an envelope, with or without meta: %j', (record) => {
    expect(recognize(name, { data: record, meta })).toEqual({ record, meta });
    expect(recognize(name, { data: record, meta: null })?.record).toBe(record);
    expect(recognize(name, { data: record, success: true })?.record).toBe(record);
  });

  it.each([...not, null, undefined, 'text', 7, true, []])('is not recognized in %j', (body) => {
    expect(recognize(name, body)).toBeUndefined();
  });
});

describe('a bare record with a field named data', () => {
  it('is treated as an envelope only if it also has meta', () => {
    const user = { id: 'x', data: { id: 'y' } };
    expect(recognize('user', user)?.record).toBe(user);
    expect(recognize('user', { ...user, meta })?.record).toBe(user.data);
    expect(recognize('user', { id: 'x', data: 7, meta: 7 })?.record).toEqual({
      id: 'x',
      data: 7,
      meta: 7,
    });
  });
});
