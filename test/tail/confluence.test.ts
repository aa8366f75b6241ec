import { describe, expect, it, test } from 'vitest';
import { Confluence, thesisConfluence } from '../../src/tail/confluence.ts';
import type { TailRow } from '../../src/tail/post-row.ts';

const START = 1_700_000_000_000;
const MINUTE = 60_000;
let ids = 0;

/** A post about a token by an author, so many minutes after the start. */
function post(author: string, minutes: number, token = 'A', more: object = {}): TailRow {
  const id = `p${ids++}`;
  const at = START + minutes * MINUTE;
  const record = {
    id,
    tokenAddress: token,
    tokenSymbol: token,
    authorId: author,
    authorHandle: author,
    ...more,
  };
  return { id, at, record, raw: null };
}

const three = { authors: 3, withinMs: 10 * MINUTE };
const open = (state?: string) => new Confluence(three, thesisConfluence, state);
/** What a confluence prints for these posts: version and authors. */
const shown = (found: Confluence, rows: readonly TailRow[]) =>
  rows.flatMap((row) => {
    const record = found.add(row)?.record;
    return record ? [[record['version'], String(record['authors'])]] : [];
  });

describe('a confluence', () => {
  test.each([
    ['has enough authors in time', [post('a', 0), post('b', 5), post('c', 10)], [[1, 'a,b,c']]],
    ['has no posts that are further apart', [post('a', 0), post('b', 5), post('c', 10.1)], []],
    ['counts each author once', [post('a', 0), post('a', 1), post('b', 2), post('b', 3)], []],
    ['has one token', [post('a', 0), post('b', 1, 'B'), post('c', 2), post('d', 3, 'B')], []],
    [
      'grows with each further author within the time of the last post',
      [
        post('a', 0),
        post('b', 1),
        post('c', 2),
        post('a', 3),
        post('d', 12),
        post('e', 22),
        post('f', 40),
      ],
      [
        [1, 'a,b,c'],
        [2, 'a,b,c,d'],
        [3, 'a,b,c,d,e'],
      ],
    ],
    [
      'counts a post that is found late',
      [post('a', 0), post('c', 8), post('d', 14), post('b', 4), post('z', -5)],
      [
        [1, 'a,b,c,d'],
        [2, 'z,a,b,c,d'],
      ],
    ],
    [
      'counts the posts behind a post that is found late',
      [post('a', 0), post('b', 1), post('c', 2), post('e', 20), post('d', 11)],
      [
        [1, 'a,b,c'],
        [2, 'a,b,c,d,e'],
      ],
    ],
    [
      'needs a token, an author and a time',
      [post('a', 0), post('', 1), post('c', 2, ''), { ...post('d', 3), at: null }],
      [],
    ],
  ] as const)('%s', (_, rows, expected) => {
    expect(shown(open(), rows)).toEqual(expected);
  });

  it('has all posts, the sum of the holdings, and the same id in each version', () => {
    const found = open();
    const rows = [
      post('a', 0, 'A', { holdingsUsd: 0.1 }),
      post('b', 1, 'A', { holdingsUsd: null }),
      post('c', 2, 'A', { holdingsUsd: 0.2 }),
      post('d', 3),
    ];
    const [first, second] = rows.flatMap((row) => found.add(row)?.record ?? []);
    expect(first).toMatchObject({ id: rows[0]?.id, version: 1, count: 3, holdingsUsd: 0.3 });
    expect(first).toMatchObject({
      firstAt: rows[0]?.at,
      lastAt: rows[2]?.at,
      tokenSymbol: 'A',
      tokenNetwork: null,
    });
    expect(first).toHaveProperty(
      'posts',
      rows.slice(0, 3).map(({ record }) => record),
    );
    expect(second).toMatchObject({ id: rows[0]?.id, version: 2, count: 4, lastAt: rows[3]?.at });
  });
});

it('stays small over many posts', () => {
  const found = open();
  for (let i = 0; i < 20_000; i++) found.add(post(`author${i % 977}`, i / 10, `token${i % 53}`));
  expect(found.state.length).toBeLessThan(400_000);
});

it('keeps what is not verified yet, however old', () => {
  const found = new Confluence(three, thesisConfluence, undefined, () => START - MINUTE);
  // A resumed run prints new posts at once, and older ones when its walk has read them.
  const newer = Array.from({ length: 20 }, (_, i) => post(`n${i}`, 600 + i / 10, `other${i}`));
  const rows = [
    post('a', 0),
    ...newer,
    post('b', 1),
    ...newer.map((row) => ({ ...row, id: `${row.id}x` })),
    post('c', 2),
  ];
  expect(shown(found, rows)).toEqual([[1, 'a,b,c']]);
});

test('one author with many posts does not push out the post of another', () => {
  const found = open();
  const many = Array.from({ length: 300 }, (_, i) => post('a', 1 + i / 100));
  expect(shown(found, [post('b', 0), ...many])).toEqual([]);
  expect(shown(found, [post('c', 5)])).toEqual([[1, 'b,a,c']]);
});

test.each([
  '{',
  '{}',
  '[["A"]]',
  '[["A",{"posts":[{}],"groups":[]}]]',
  '[["A",{"posts":[],"groups":[{"id":"p"}]}]]',
])('a damaged state is a damaged checkpoint: %s', (state) => {
  expect(() => open(state)).toThrow(
    expect.objectContaining({ kind: 'local', code: 'CHECKPOINT_DAMAGED' }),
  );
});
