import { describe, expect, test } from 'vitest';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import { numbersCalls } from '../../../src/core/pnl/planned-calls.ts';
import { totalOf } from '../../../src/core/spend/plan.ts';
import { handleSubject, handlesOf, subjectsUpTo } from './subjects.ts';

describe('the calls for numbers', () => {
  test('are one call for one handle, and batches of up to 100 for several', () => {
    const one = subjectsUpTo(1);
    expect([...numbersCalls(handlesOf(one), [0])]).toEqual([
      { id: 'user.pnl', ask: { params: { handle: 't0' } }, least: 200 },
    ]);
    const many = subjectsUpTo(230);
    const calls = [...numbersCalls(handlesOf(many), [...many.keys()].slice(10))];
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
    const handles = handlesOf([link, wallet], (row) => (row === 1 ? undefined : 'Mira'));
    const calls = [...numbersCalls(handles, [0, 1])];
    expect(calls).toEqual([
      {
        ...{ id: 'users.pnl', ask: { body: { handles: ['Mira', 'W'] } }, least: 200 },
        standsFor: 'the handles that are looked up',
      },
    ]);
    expect(totalOf(calls)).toEqual({ least: 200, most: 60_000, reveals: 2 });
  });
});
