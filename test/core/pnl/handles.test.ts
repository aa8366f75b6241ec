import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { RowStates } from '../../../src/base/row-states.ts';
import type { LookupPlan } from '../../../src/core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../../src/core/lookup/lookup.ts';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import { Handles, shareHandles } from '../../../src/core/pnl/handles.ts';
import { notSent } from '../../../src/core/spend/plan.ts';
import { user } from '../fakes.ts';
import { handleSubject, handlesOf } from './subjects.ts';

const walletSubject = (text: string): Subject => ({
  text,
  type: 'wallet',
  value: text,
  normal: text,
});

const holder = (handle: string | null): LookupAnswer => ({
  found: true,
  record: user({ handle }),
  time: 1,
  from: 'service',
});

/** Users by wallet: those that are cached need no call. */
function usersOf(answers: Readonly<Record<string, LookupAnswer>>, cached: readonly string[] = []) {
  const asked: string[] = [];
  return {
    asked,
    plan(subject: Subject): LookupPlan {
      const { text } = subject;
      const find = () => this.answer(subject);
      const call = { id: 'user.wallet' as const, ask: { params: { address: text } } };
      const answer = answers[text];
      if (!answer || !cached.includes(text)) return { subject, calls: [call], find };
      return { subject, calls: [notSent(call)], answer, find };
    },
    async answer({ text }: Subject): Promise<LookupAnswer> {
      asked.push(text);
      return answers[text] ?? { found: false, code: 'NOT_OBSERVED', time: 1, from: 'service' };
    },
  };
}

describe('the handles of a run', () => {
  test('have their own handle, without a lookup', async () => {
    const users = usersOf({});
    const link = { ...handleSubject('https://x.com/mira'), value: 'mira', normal: 'mira' };
    const handles = new Handles([link], users);
    expect(handles.handleOf(0)).toBe('mira');
    expect([handles.hasOthers, await handles.lookups([0]), users.asked]).toEqual([false, [], []]);
  });

  test('are looked up once if they are wallets, those of the cache before the plan', async () => {
    const [cached, other] = [walletSubject('cached'), walletSubject('other')];
    const users = usersOf({ cached: holder('mira'), other: holder('sol') }, ['cached']);
    const handles = new Handles([cached, other], users);
    const calls = await handles.lookups([0, 1]);
    expect(calls.map(({ ask }) => ask.params)).toEqual([{ address: 'other' }]);
    expect([handles.handleOf(0), handles.handleOf(1)]).toEqual(['mira', undefined]);
    expect(await handles.resolve([0, 1])).toEqual([]);
    expect(handles.handleOf(1)).toBe('sol');
    await handles.resolve([0, 1]);
    expect(users.asked).toEqual(['other']);
  });

  test('have a result if no handle was found', async () => {
    const failure = new Failure('network', 'broken', { code: 'BROKEN' });
    const [missing, nameless, failed] = ['missing', 'nameless', 'failed'].map(walletSubject);
    const subjects = [missing, nameless, failed].flatMap((each) => each ?? []);
    const users = usersOf({ nameless: holder(null), failed: { found: null, failure } });
    const results = await new Handles(subjects, users).resolve([0, 1, 2]);
    expect(results.map(({ row }) => row)).toEqual([0, 1, 2]);
    expect(results).toMatchObject([
      { value: { subject: 'missing', found: false, code: 'NOT_OBSERVED' } },
      { value: { subject: 'nameless', found: null }, failure: { code: 'BAD_ANSWER' } },
      { value: { subject: 'failed', found: null }, failure },
    ]);
    expect(results[0]?.failure).toBeUndefined();
  });

  test('share a request if their handles are the same, in any case', () => {
    const subjects = ['mira', 'sol'].map(handleSubject);
    const handles = handlesOf(
      [...subjects, walletSubject('wallet'), walletSubject('other')],
      (row) => (row < 2 ? subjects[row]?.value : 'MIRA'),
    );
    const states = new RowStates(4);
    expect([...shareHandles(states, handles)]).toEqual([[0, [2, 3]]]);
    expect([states.open(), states.of(2), states.of(3)]).toEqual([[0, 1], 'waiting', 'waiting']);
  });
});
