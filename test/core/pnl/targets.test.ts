import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { LookupPlan } from '../../../src/core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../../src/core/lookup/lookup.ts';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import { shareHandles, Targets } from '../../../src/core/pnl/targets.ts';
import { notSent } from '../../../src/core/spend/plan.ts';
import { user } from '../fakes.ts';
import { handleSubject } from './subjects.ts';

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

describe('the targets of a run', () => {
  test('have their own handle, without a lookup', async () => {
    const users = usersOf({});
    const link = { ...handleSubject('https://x.com/mira'), value: 'mira', normal: 'mira' };
    const targets = new Targets([link], users);
    expect(targets.handleOf(link)).toBe('mira');
    expect([targets.hasOthers, await targets.lookups([link]), users.asked]).toEqual([
      false,
      [],
      [],
    ]);
  });

  test('are looked up once if they are wallets, those of the cache before the plan', async () => {
    const [cached, other] = [walletSubject('cached'), walletSubject('other')];
    const users = usersOf({ cached: holder('mira'), other: holder('sol') }, ['cached']);
    const targets = new Targets([cached, other], users);
    const calls = await targets.lookups([cached, other]);
    expect(calls.map(({ ask }) => ask.params)).toEqual([{ address: 'other' }]);
    expect([targets.handleOf(cached), targets.handleOf(other)]).toEqual(['mira', undefined]);
    expect(await targets.resolve([cached, other])).toEqual([]);
    expect(targets.handleOf(other)).toBe('sol');
    await targets.resolve([cached, other]);
    expect(users.asked).toEqual(['other']);
  });

  test('have a result if no handle was found', async () => {
    const failure = new Failure('network', 'broken', { code: 'BROKEN' });
    const [missing, nameless, failed] = ['missing', 'nameless', 'failed'].map(walletSubject);
    const subjects = [missing, nameless, failed].flatMap((each) => each ?? []);
    const users = usersOf({ nameless: holder(null), failed: { found: null, failure } });
    const results = await new Targets(subjects, users).resolve(subjects);
    expect(results.map(({ subject }) => subject)).toEqual(subjects);
    expect(results).toMatchObject([
      { record: { subject: 'missing', found: false, code: 'NOT_OBSERVED' } },
      { record: { subject: 'nameless', found: null }, failure: { code: 'BAD_ANSWER' } },
      { record: { subject: 'failed', found: null }, failure },
    ]);
    expect(results[0]?.failure).toBeUndefined();
  });

  test('share a request if their handles are the same, in any case', () => {
    const [mira, sol, wallet] = [
      handleSubject('mira'),
      handleSubject('sol'),
      walletSubject('wallet'),
    ];
    const handleOf = (subject: Subject) => (subject === wallet ? 'MIRA' : subject.value);
    const shared = shareHandles([mira, sol, wallet], { hasOthers: true, handleOf });
    expect(shared.first).toEqual([mira, sol]);
    expect([...shared.others]).toEqual([[mira, [wallet]]]);
  });
});
