import { describe, expect, it, test } from 'vitest';
import { type Certificate, type Stretch, without } from '../../src/tail/certificate.ts';
import { joinFiles } from '../../src/verify/join.ts';
import { Vouchers } from '../../src/verify/vouched.ts';
import { rngOf } from '../sim/rng.ts';

type Given = Partial<Omit<Certificate, 'lines' | 'coverage'>> &
  Partial<Certificate['lines']> &
  Partial<Certificate['coverage']>;

/** A file that is verified after 100 and up to 200, unless stated otherwise. */
function file(name: string, given: Given = {}, problems: string[] = []) {
  const {
    after = 100,
    gaps = [],
    verified = 200,
    before = null,
    previous = null,
    newest = null,
    readAt = null,
    rows = 1,
  } = given;
  const certificate: Certificate = {
    ...{ feed: 'thesis of x', filters: {}, verified, lowest: null, bytes: 0, readAt },
    coverage: { after, gaps },
    lines: { rows, digest: name, first: null, last: null, newest, before, previous },
  };
  return { file: name, certificate, rows, duplicates: 0, problems };
}

/** Three files of one tail. Each boundary has posts of both files: 190 to 210, and 290 to 310. */
const one = file('one', { verified: 190 });
const two = file('two', { verified: 290, before: 210, previous: 'one' });
const three = file('three', { verified: 400, before: 310, previous: 'two' });

describe('files of one tail', () => {
  const hole = [{ from: 191, to: 310, why: 'no unchanged file covers it' }];
  test.each([
    ['in order', [one, two, three], { status: 'complete', from: 101, to: 400, rows: 3, gaps: [] }],
    [
      'in another order',
      [three, one, two],
      { status: 'complete', from: 101, to: 400, rows: 3, gaps: [] },
    ],
    // Alone, a file vouches for what is newer than the newest post of the files before it.
    ['without the first', [two, three], { status: 'complete', from: 211, to: 400 }],
    ['alone', [two], { status: 'complete', from: 211, to: 290 }],
    ['without the second', [one, three], { status: 'gaps', from: 101, to: 400, gaps: hole }],
    [
      'with a changed one',
      [one, { ...two, problems: ['changed'] }, three],
      { status: 'changed', gaps: hole },
    ],
  ])('are joined %s', (_, files, expected) => expect(joinFiles(files)).toMatchObject(expected));

  it('show what each of them adds', () => {
    const stretches = joinFiles([one, two, three]).files.map(({ from, to }) => [from, to]);
    expect(stretches).toEqual([
      [101, 190],
      [191, 290],
      [291, 400],
    ]);
  });

  it('are not joined by an empty one, since the digest of all empty files is the same', () => {
    const empty = file('0', { rows: 0, verified: 290, before: 210, previous: 'one' });
    const next = file('three', { verified: 400, before: 310, previous: '0' });
    expect(joinFiles([one, empty, next])).toMatchObject({ status: 'gaps' });
  });

  it('may be so short that they add nothing', () => {
    const short = file('one', { after: 100, verified: 100 });
    const next = file('two', { verified: 290, before: 150, previous: 'one' });
    expect(joinFiles([short, next])).toMatchObject({ status: 'complete', from: 101, to: 290 });
    expect(joinFiles([short]).status).toBe('not verified yet');
  });

  const fresh = { after: 100, verified: 100 };
  const first = file('one', fresh);
  const second = file('two', { ...fresh, before: 150, previous: 'one' });
  const third = file('three', { ...fresh, before: 180, previous: 'two' });
  const other = file('other', { after: 100, verified: 300 });
  test.each([
    ['two', [first, second]],
    ['three, in another order', [third, first, second]],
    ['without the first', [second, third]],
    ['beside a verified file of another run', [first, second, other]],
  ])('of which nothing is verified are not complete: %s', (_, files) => {
    const joined = joinFiles(files);
    const parts = joined.files.filter((each) => each.file !== 'other');
    expect(new Set(parts.map(({ status }) => status))).toEqual(new Set(['not verified yet']));
    expect(joined.status).toBe('not verified yet');
  });

  it('are together as bad as the worst of them', () => {
    const worst = ['complete', 'not verified yet', 'gaps', 'no certificate', 'changed'];
    const seen = new Set<string>();
    for (let seed = 0; seed < 300; seed++) {
      const rng = rngOf(seed);
      const files = Array.from({ length: 1 + rng.int(4) }, (_, at) => {
        const verified = 100 + 50 * rng.int(4);
        const gaps = rng.chance(0.1) ? [{ from: 120, to: 130, why: 'pages failed' }] : [];
        const previous = at > 0 && rng.chance(0.7) ? `${at - 1}` : null;
        const before = previous === null ? null : verified - 20;
        const made = file(
          `${at}`,
          { verified, gaps, previous, before },
          rng.chance(0.1) ? ['x'] : [],
        );
        return rng.chance(0.1) ? { ...made, certificate: undefined } : made;
      });
      const { status, gaps, files: found } = joinFiles(files);
      const ranks = found.map((each) => worst.indexOf(each.status));
      const least = gaps.length > 0 ? worst.indexOf('gaps') : 0;
      expect(worst.indexOf(status), `seed ${seed}`).toBe(Math.max(least, ...ranks));
      seen.add(status);
    }
    expect(seen.size).toBe(worst.length);
  });
});

describe('a gap', () => {
  const gaps = [{ from: 140, to: 150, why: 'pages failed' }];
  const holed = file('holed', { gaps });

  it('is reported with its reason', () => {
    expect(joinFiles([holed])).toMatchObject({
      status: 'gaps',
      gaps,
      files: [{ status: 'gaps', gaps }],
    });
  });

  it('disappears if another file fills it', () => {
    const list = file('list', { after: 130, verified: 160 });
    expect(joinFiles([holed, list])).toMatchObject({
      ...{ status: 'complete', from: 101, to: 200, gaps: [] },
      files: [{ status: 'complete', gaps: [] }, { status: 'complete' }],
    });
  });

  it('keeps its rest if another file fills a part of it', () => {
    const list = file('list', { after: 130, verified: 145 });
    const rest = [{ from: 146, to: 150, why: 'pages failed' }];
    expect(joinFiles([list, holed])).toMatchObject({ status: 'gaps', gaps: rest });
  });

  it('does not count outside of the stretch that was asked for', () => {
    expect(joinFiles([holed], { from: 160, to: 180 })).toMatchObject({
      from: 160,
      to: 180,
      gaps: [],
    });
    expect(joinFiles([holed], { from: 50, to: 145 }).gaps).toEqual([
      { from: 50, to: 100, why: 'it is before the first verified post time' },
      { from: 140, to: 145, why: 'pages failed' },
    ]);
    expect(joinFiles([holed], { from: 160, to: 300 }).gaps).toEqual([
      { from: 201, to: 300, why: 'it is after the last verified post time' },
    ]);
  });
});

test.each([
  ['after the last verified post', { from: 300, now: 900 }, { from: 300, to: 900 }, 'after'],
  ['after it, with an end', { from: 300, to: 400, now: 900 }, { from: 300, to: 400 }, 'after'],
  ['in the future', { from: 950, now: 900 }, { from: 950, to: 950 }, 'after'],
  ['before the first verified post', { to: 50, now: 900 }, { from: 50, to: 50 }, 'before'],
  ['before it, with a start', { from: 10, to: 50, now: 900 }, { from: 10, to: 50 }, 'before'],
])('a stretch that is asked for is a gap if it is %s', (_, asked, gap, where) => {
  expect(joinFiles([file('one')], asked)).toMatchObject({
    ...gap,
    status: 'gaps',
    gaps: [{ ...gap, why: expect.stringContaining(where) }],
  });
});

it('ends a stretch that is asked for without an end at the last verified post', () => {
  expect(joinFiles([file('one')], { from: 150, now: 900 })).toMatchObject({
    status: 'complete',
    from: 150,
    to: 200,
  });
});

it('states when the feed was last read completely, by the certificate that knows it best', () => {
  const files = [file('one', { readAt: 5 }), file('two', { readAt: 9 }), file('three')];
  expect(joinFiles(files).readAt).toBe(9);
  expect(joinFiles([file('three')]).readAt).toBeNull();
});

it('joins a certificate with many gaps', () => {
  const gaps = Array.from({ length: 50_000 }, (_, i) => ({
    from: 10 * i + 5,
    to: 10 * i + 8,
    why: 'x',
  }));
  const many = file('many', { after: -1, verified: 500_000, gaps });
  const found = joinFiles([many]);
  expect(found.gaps).toEqual(gaps);
  expect(found.files[0]?.gaps).toHaveLength(gaps.length);
});

test('the parts of stretches outside of others are those of their times, one by one', () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const rng = rngOf(seed);
  const some = () =>
    Array.from({ length: rng.int(5) }, () => {
      const from = rng.int(30);
      return { from, to: from + rng.int(9) - 1 };
    });
  const timesOf = (stretches: readonly Stretch[]) =>
    new Set(
      stretches.flatMap(({ from, to }) =>
        Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i),
      ),
    );
  for (let i = 0; i < 2_000; i++) {
    const [stretches, others] = [some(), some()];
    const left = without(stretches, others);
    const expected = [...timesOf(stretches)].filter((at) => !timesOf(others).has(at));
    const shown = `SEED=${seed} ${JSON.stringify({ stretches, others, left })}`;
    expect([...timesOf(left)], shown).toEqual(expected.sort((one, other) => one - other));
  }
});

it('vouches for nothing before the first verification', () => {
  const unverified = file('new', { after: 100, verified: 100 });
  expect(joinFiles([unverified])).toMatchObject({
    status: 'not verified yet',
    from: null,
    to: null,
    gaps: [],
    files: [{ status: 'not verified yet' }],
  });
  expect(joinFiles([unverified], { from: 50, now: 900 })).toMatchObject({
    status: 'gaps',
    gaps: [{ from: 50, to: 900, why: 'nothing is verified yet' }],
  });
  const alone = { ...unverified, certificate: undefined };
  expect(joinFiles([alone])).toMatchObject({ status: 'no certificate', from: null, rows: 1 });
});

it('reports the worst file', () => {
  const missing = { ...one, certificate: undefined };
  expect(joinFiles([one, missing]).status).toBe('no certificate');
  expect(joinFiles([missing, { ...two, problems: ['changed'] }]).status).toBe('changed');
});

it('vouch for a range of which they cover each millisecond, whatever is beside it', () => {
  const whole: boolean[] = [];
  for (let seed = 0; seed < 300; seed++) {
    const rng = rngOf(seed);
    const files = Array.from({ length: 1 + rng.int(3) }, (_, at) => {
      const after = 10 * rng.int(8);
      const hole = { from: after + 5 + rng.int(20), why: 'pages failed' };
      const gaps = rng.chance(0.6) ? [{ ...hole, to: hole.from + rng.int(20) }] : [];
      return file(`${at}`, { after, verified: after + 10 * rng.int(8), gaps });
    });
    const since = rng.int(100);
    const until = since + 1 + rng.int(60);
    const isCovered = (ms: number) =>
      files.some(({ certificate: { coverage, verified } }) => {
        const isIn = ms > Number(coverage.after) && ms <= Number(verified);
        return isIn && coverage.gaps.every(({ from, to }) => ms < from || ms > to);
      });
    const times = Array.from({ length: until - since }, (_, at) => since + at);
    const vouchers = new Vouchers(files, { since, until }, 1_000);
    const { isWhole } = vouchers.for({ users: [], tokens: [], filters: {} });
    expect(isWhole, `seed ${seed}`).toBe(times.every(isCovered));
    whole.push(isWhole);
  }
  expect(new Set(whole).size).toBe(2);
});
