import { describe, expect, test } from 'vitest';
import { answersOf } from '../../../src/core/pnl/records.ts';
import { entryOf } from '../pnl-service.ts';

const batch = (entries: readonly string[], missing: readonly string[] = []) => ({
  count: entries.length,
  missing: [...missing],
  entries: entries.map((handle) => entryOf(handle)),
});
const foundOf = (subjects: readonly string[], answer: ReturnType<typeof batch>) =>
  answersOf(subjects, answer).map(({ record }) =>
    record.found === true ? [record.subject, record.handle] : [record.subject, record.found],
  );

describe('the answers of a batch', () => {
  test('stand in the order of the handles, whatever order and case they came in', () => {
    expect(foundOf(['@Mira', 'ghost', 'sol'], batch(['SOL', 'mira'], ['ghost']))).toEqual([
      ['@Mira', 'mira'],
      ['ghost', false],
      ['sol', 'SOL'],
    ]);
  });

  test('never pass an entry under another handle off as the answer, and keep what was paid for', () => {
    const answers = answersOf(['a', 'old', 'gone', 'z'], batch(['a', 'new', 'z'], ['gone']));
    expect(answers.map(({ record }) => record.found)).toEqual([true, null, false, true]);
    expect(answers[1]?.record).toMatchObject({
      subject: 'old',
      error: { code: 'NO_ENTRY', hint: expect.stringContaining('@new'), unmatched: [{ handle: 'new' }] },
    });
    expect(answers[1]?.failure?.kind).toBe('answer');
  });

  test('are each judged on their own, whatever stands beside them', () => {
    const odd = { ...entryOf('b'), windows: { '24h': { rank: null } }, followers: 'many' };
    const answers = answersOf(['a', 'b', 'c', 'd'], {
      entries: [null, 7, odd, { windows: {} }, entryOf('a')],
      missing: ['C', null, {}],
    });
    expect(answers.map(({ record }) => record.found)).toEqual([true, true, false, null]);
    expect(answers[1]?.record).toEqual({ subject: 'b', found: true, ...odd });
    expect(answers[3]?.record).toMatchObject({ error: { unmatched: [null, 7, { windows: {} }] } });
  });

  test('are found where the handle is listed as missing too, since they were paid for', () => {
    expect(foundOf(['a'], batch(['a'], ['a']))).toEqual([['a', 'a']]);
  });

  test('say so where nothing was said of a handle', () => {
    expect(answersOf(['a', 'b', 'c'], batch(['a']))[1]?.record).toMatchObject({
      subject: 'b',
      found: null,
      error: { code: 'NO_ENTRY' },
    });
  });

  test("never let a field of the service's take the place of subject and found", () => {
    const entry = { ...entryOf('a'), subject: 'x', found: false };
    expect(answersOf(['A'], { count: 1, missing: [], entries: [entry] })[0]?.record).toMatchObject({
      subject: 'A',
      found: true,
    });
  });
});
