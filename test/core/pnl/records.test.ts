import { describe, expect, test } from 'vitest';
import { answersOf } from '../../../src/core/pnl/records.ts';
import { entryOf } from '../pnl-service.ts';

const batch = (entries: readonly string[], missing: readonly string[] = []) => ({
  count: entries.length,
  missing: [...missing],
  entries: entries.map((handle) => entryOf(handle)),
});
const foundOf = (subjects: readonly string[], answer: ReturnType<typeof batch>) =>
  answersOf(subjects, answer).map((record) =>
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

  test('find whoever was renamed by their place', () => {
    expect(foundOf(['a', 'old', 'gone', 'z'], batch(['a', 'new', 'z'], ['gone']))).toEqual([
      ['a', 'a'],
      ['old', 'new'],
      ['gone', false],
      ['z', 'z'],
    ]);
  });

  test('say so where nothing was said of a handle', () => {
    expect(answersOf(['a', 'b', 'c'], batch(['a']))[1]).toMatchObject({
      subject: 'b',
      found: null,
      error: { code: 'NO_ENTRY' },
    });
  });

  test("never let a field of the service's take the place of subject and found", () => {
    const entry = { ...entryOf('a'), subject: 'x', found: false };
    expect(answersOf(['A'], { count: 1, missing: [], entries: [entry] })[0]).toMatchObject({
      subject: 'A',
      found: true,
    });
  });
});
