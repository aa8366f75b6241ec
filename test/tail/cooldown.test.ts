import { describe, expect, it, test } from 'vitest';
import { Cooldown, type CooldownRule } from '../../src/tail/cooldown.ts';
import type { PostFields, TailRow } from '../../src/tail/post-row.ts';

const START = 1_700_000_000_000;
const MINUTE = 60_000;
const hourly: CooldownRule = { field: 'tokenAddress', withinMs: 60 * MINUTE };
let ids = 0;

/** A post about a token, so many minutes after the start. */
function post(token: unknown, minutes: number | null): TailRow {
  const id = `p${ids++}`;
  const at = minutes === null ? null : START + minutes * MINUTE;
  const record: PostFields = { id, tokenAddress: token };
  return { id, at, record, raw: null };
}

/** What a cooldown prints of these posts: the token, the minute, and how many were held back. */
const shown = (cooldown: Cooldown, rows: readonly TailRow[]) =>
  rows.flatMap((row) => {
    const passed = cooldown.add(row);
    const minute = row.at === null ? null : (row.at - START) / MINUTE;
    return passed ? [[passed.record['tokenAddress'], minute, passed.record['held']]] : [];
  });

describe('a cooldown', () => {
  test.each([
    [
      'prints one post of a value within the time, and counts the others',
      [post('A', 0), post('A', 1), post('B', 2), post('A', 59.9), post('A', 60), post('A', 200)],
      [
        ['A', 0, 0],
        ['B', 2, 0],
        ['A', 60, 2],
        ['A', 200, 0],
      ],
    ],
    [
      'counts what was held long ago',
      [post('A', 0), post('A', 1), post('A', 9_000)],
      [
        ['A', 0, 0],
        ['A', 9_000, 1],
      ],
    ],
    [
      'compares post times, in whatever order the posts come',
      [post('A', 180), post('A', 0), post('A', 130), post('A', 60), post('A', 50)],
      [
        ['A', 180, 0],
        ['A', 0, 0],
        ['A', 60, 1],
      ],
    ],
    [
      'ignores the case of EVM addresses, and of nothing else',
      [post('0xAb', 0), post('0xaB', 1), post('0XAB', 2), post('So1', 3), post('sO1', 4)],
      [
        ['0xAb', 0, 0],
        ['So1', 3, 0],
        ['sO1', 4, 0],
      ],
    ],
    [
      'prints a post without a time or a value',
      [post('A', 0), post('A', null), post(null, 1), post(null, 2), post(undefined, 3)],
      [
        ['A', 0, 0],
        ['A', null, 0],
        [null, 1, 0],
        [null, 2, 0],
        [undefined, 3, 0],
      ],
    ],
    [
      'compares values that are not texts',
      [post(1, 0), post(1, 1), post('1x', 2), post(true, 3), post(['a'], 4), post(['a'], 5)],
      [
        [1, 0, 0],
        ['1x', 2, 0],
        [true, 3, 0],
        [['a'], 4, 0],
      ],
    ],
  ])('%s', (_, rows, expected) => {
    expect(shown(new Cooldown(hourly), rows)).toEqual(expected);
  });

  it('continues from its state, also with another time, but not with another field', () => {
    const before = new Cooldown(hourly);
    shown(before, [post('A', 0), post('A', 1)]);
    const state = JSON.parse(JSON.stringify(before.state));
    const next = [post('A', 50), post('A', 90)];
    const resumed = (rule: Partial<CooldownRule>) =>
      shown(new Cooldown({ ...hourly, ...rule }, state), next);
    expect(resumed({})).toEqual([['A', 90, 2]]);
    expect(resumed({ withinMs: 30 * MINUTE })).toEqual([
      ['A', 50, 1],
      ['A', 90, 0],
    ]);
    expect(resumed({ field: 'token' })).toHaveLength(2);
  });

  it.each([
    ['of a file after a newer one', 1, 2_000, 1_000, 100_000],
    ['of very many values', 40, 50, 0, 500],
  ])('prints nothing twice %s', (_, values, hours, first, max) => {
    const cooldown = new Cooldown(hourly, undefined, undefined, max);
    const add = (at: number) =>
      shown(
        cooldown,
        [...Array(values).keys()].map((value) => post(value, at)),
      );
    for (let hour = first; hour < first + hours; hour++) {
      expect(add(60 * (hour % hours))).toHaveLength(values);
      expect(add(60 * (hour % hours) + 30)).toEqual([]);
    }
  });

  it('forgets what no post can collide with, and remembers a limited number of values', () => {
    let verified: number | null = null;
    const cooldown = new Cooldown(hourly, undefined, () => verified, 100);
    for (let i = 0; i < 5_000; i++) cooldown.add(post(`token${i}`, i));
    expect(JSON.stringify(cooldown.state).length).toBeLessThan(4_000);
    // The newest values are remembered.
    expect(shown(cooldown, [post('token4999', 5_001)])).toEqual([]);
    verified = START + 5_060 * MINUTE;
    expect(cooldown.state).toMatchObject({ values: [['token4999', [], 1]] });
  });
});

test('a value with very many posts is never printed twice within the time', () => {
  const rule = { field: 'tokenAddress', withinMs: MINUTE };
  const cooldown = new Cooldown(rule, undefined, undefined, 1_000);
  const rows = Array.from({ length: 8_000 }, (_, i) => post('A', i / 4));
  expect(shown(cooldown, rows)).toHaveLength(2_000);
});

test.each([
  [null],
  ['text'],
  [{ rule: 'tokenAddress/1ms' }],
  [{ rule: 'tokenAddress/1ms', values: [['A', 1, 0]] }],
  [{ rule: 'tokenAddress/1ms', values: [['A', [null], 0]] }],
  [{ rule: 'tokenAddress/1ms', values: [['A', [1], '0']] }],
])('a damaged state is a damaged checkpoint: %j', (state) => {
  expect(() => new Cooldown(hourly, state)).toThrow(
    expect.objectContaining({ kind: 'local', code: 'CHECKPOINT_DAMAGED' }),
  );
});
