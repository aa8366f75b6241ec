import { describe, expect, test } from 'vitest';
import { answerFromJournal } from '../../../src/core/pnl/request-batch.ts';
import { entryOf } from '../pnl-service.ts';

const answersOf = (subjects: readonly string[], answer: object) =>
  answerFromJournal(subjects, JSON.stringify(answer));

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
  test('have the order of the handles, whatever their order and case in the answer', () => {
    expect(foundOf(['@Mira', 'ghost', 'sol'], batch(['SOL', 'mira'], ['ghost']))).toEqual([
      ['@Mira', 'mira'],
      ['ghost', false],
      ['sol', 'SOL'],
    ]);
  });

  test('never assign an entry to another handle, and return everything that was paid for', () => {
    const answers = answersOf(['a', 'old', 'gone', 'z'], batch(['a', 'new', 'z'], ['gone']));
    expect(answers.map(({ record }) => record.found)).toEqual([true, null, false, true]);
    expect(answers[1]?.record).toMatchObject({
      subject: 'old',
      error: { code: 'NO_ENTRY', hint: expect.stringContaining('@new'), unmatched: [{ handle: 'new' }] },
    });
    expect(answers[1]?.failure?.kind).toBe('answer');
  });

  test('are each validated separately, whatever the others are', () => {
    const odd = { ...entryOf('b'), windows: { '24h': { rank: null } }, followers: 'many' };
    const answers = answersOf(['a', 'b', 'c', 'd'], {
      entries: [null, 7, odd, { windows: {} }, entryOf('a')],
      missing: ['C', null, {}],
    });
    expect(answers.map(({ record }) => record.found)).toEqual([true, true, false, null]);
    expect(answers[1]?.record).toEqual({ subject: 'b', found: true, ...odd });
    expect(answers[3]?.record).toMatchObject({ error: { unmatched: [null, 7, { windows: {} }] } });
  });

  test('are found even if the handle is also listed as missing, because they were paid for', () => {
    expect(foundOf(['a'], batch(['a'], ['a']))).toEqual([['a', 'a']]);
  });
});
