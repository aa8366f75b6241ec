import { describe, expect, test } from 'vitest';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import { numbersCalls } from '../../../src/core/pnl/planned-calls.ts';
import { totalOf } from '../../../src/core/spend/plan.ts';
import { handleSubject, subjectsUpTo } from './subjects.ts';

const targetsOf = (subjects: readonly Subject[]) => ({
  subjects,
  handleOf: ({ value }: Subject) => value,
});

describe('the calls for numbers', () => {
  test('are one call for one handle, and batches of up to 100 for several', () => {
    const one = subjectsUpTo(1);
    expect([...numbersCalls(targetsOf(one), one)]).toEqual([
      { id: 'user.pnl', ask: { params: { handle: 't0' } }, least: 200 },
    ]);
    const many = subjectsUpTo(230);
    const calls = [...numbersCalls(targetsOf(many), many.slice(10))];
    const batches = calls.map((call) => ('ask' in call ? call.ask.body : undefined));
    expect(batches).toMatchObject([
      { handles: { length: 100 } },
      { handles: { length: 100 } },
      { handles: { length: 20 } },
    ]);
    expect(totalOf(calls)).toEqual({ least: 220 * 200, most: 220 * 30_000, reveals: 220 });
  });

  test('ask for a handle without @, and count a wallet without a known handle as one that may cost nothing', () => {
    const link: Subject = { ...handleSubject('x.com/Mira'), value: 'Mira', normal: 'mira' };
    const wallet: Subject = { text: 'W', type: 'wallet', value: 'W', normal: 'W' };
    const handleOf = (subject: Subject) => (subject === wallet ? undefined : subject.value);
    const targets = { subjects: [link, wallet], handleOf };
    const calls = [...numbersCalls(targets, targets.subjects)];
    expect(calls).toEqual([
      { id: 'users.pnl', ask: { body: { handles: ['Mira', 'W'] } }, least: 200 },
    ]);
    expect(totalOf(calls)).toEqual({ least: 200, most: 60_000, reveals: 2 });
  });
});
