import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { lookupJob } from '../../../src/cli/lookup/lookup-job.ts';
import type { SubjectPlan } from '../../../src/cli/lookup/lookup-task.ts';
import { LookupTally } from '../../../src/cli/lookup/tally.ts';
import type { Context } from '../../../src/cli/run/context.ts';
import type { LookupAnswer } from '../../../src/core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../../src/core/lookup/subject.ts';
import { notSent, type Planned } from '../../../src/core/spend/plan.ts';
import { whoisView } from '../../../src/output/views/subject.ts';
import { runJobOf } from '../job.ts';

const callOf = ({ value }: Subject): Planned => ({
  id: 'user.handle',
  ask: { params: { handle: value } },
});

const foundAs = (handle: string): LookupAnswer => ({
  found: true,
  record: { handle },
  time: 1,
  from: 'service',
});
const unknown: LookupAnswer = { found: false, code: 'NOT_OBSERVED', time: 1, from: 'service' };
const failed = (kind: 'service' | 'limit', code: string): Failure =>
  new Failure(kind, `${code} it is`, { code });

/** Looks subjects up by `answers`, and notes in `asked` in which order. */
class Lookups {
  readonly asked: string[] = [];
  readonly #plans: Readonly<Record<string, Partial<SubjectPlan>>>;

  constructor(plans: Readonly<Record<string, Partial<SubjectPlan>>> = {}) {
    this.#plans = plans;
  }

  readonly plan = (subjects: readonly Subject[]): readonly SubjectPlan[] =>
    subjects.map((subject) => {
      const own = this.#plans[subject.value] ?? {};
      const noted = <A extends unknown[], R>(kind: string, find?: (...args: A) => R) =>
        find &&
        ((...args: A): R => {
          this.asked.push(`${kind} ${subject.value}`);
          return find(...args);
        });
      const find = own.find ?? (() => foundAs(subject.value));
      return {
        calls: own.calls ?? [callOf(subject)],
        answer: own.answer,
        findCheaply: noted('cheaply', own.findCheaply),
        find: noted('find', find) ?? find,
      };
    });

  job(words: readonly string[], more: { strict?: boolean; remark?: string } = {}) {
    return (context: Context) =>
      lookupJob(context, {
        view: whoisView,
        source: { words, file: undefined, column: undefined },
        read: (text) => readSubject(text),
        tally: new LookupTally(more.strict ?? false),
        doing: 'looking up',
        noun: 'subject',
        resume: 'run it again',
        remark: () => more.remark,
        plan: this.plan,
      });
  }
}

const throws = (error: unknown) => () => {
  throw error;
};

describe('the plan of lookups', () => {
  test('has the calls of each subject once, and names their number in the question', async () => {
    const lookups = new Lookups();
    const ran = await runJobOf('whois a -o ndjson', lookups.job(['a', 'b', '@a']));
    expect(ran.calls.map((call) => ('ask' in call ? call.ask?.params : undefined))).toEqual([
      { handle: 'a' },
      { handle: 'b' },
    ]);
    expect(ran.cost).toMatchObject({ least: 200, most: 400 });
    expect(ran.question).toBe('Looking up 2 subjects will cost N CU');
    expect(ran.isOpen).toBe(false);
  });

  test('states what is known before, and sends nothing in a dry run', async () => {
    const lookups = new Lookups({
      a: { answer: foundAs('a'), calls: [notSent(callOf(subjectA))] },
    });
    const job = lookups.job(['a', 'b'], { remark: '1 kept, 1 unknown' });
    const ran = await runJobOf('whois a --dry-run -o ndjson', job);
    expect([ran.exit, lookups.asked]).toEqual([0, []]);
    expect(ran.stderr).toContain('1 kept, 1 unknown');
    expect(ran.question).toBe('Looking up 2 subjects (1 kept, 1 unknown) will cost N CU');
    expect(ran.records().map(({ most }) => most)).toEqual([0, 200]);
  });

  test('is open if the input continues after what was read ahead', async () => {
    const lookups = new Lookups();
    const stdin = Array.from({ length: 10_001 }, (_, at) => `t${at}`).join('\n');
    const ran = await runJobOf('whois - -o ndjson --yes', lookups.job(['-']), { stdin });
    expect([ran.isOpen, ran.calls.length, ran.exit]).toEqual([true, 10_000, 0]);
    expect(ran.records().at(-1)).toMatchObject({ subject: 't10000', found: true });
  });

  test('rejects a subject before any is looked up', async () => {
    const lookups = new Lookups();
    const ran = await runJobOf(
      'whois a',
      lookups.job(['a', '0x52908400098527886E0F7030069857D2E4169EE']),
    );
    expect(ran.failure).toMatchObject({ kind: 'usage' });
    expect([lookups.asked, ran.stdout]).toEqual([[], '']);
  });
});

describe('lookups', () => {
  test('print a record for each subject, in order, and count them', async () => {
    const lookups = new Lookups({
      b: { find: () => unknown },
      c: { answer: foundAs('known') },
      d: { find: () => ({ found: null, failure: failed('service', 'ODD') }) },
    });
    const ran = await runJobOf('whois a -o ndjson', lookups.job(['a', 'b', 'c', 'd', 'a']));
    expect(ran.records().map(({ subject, found }) => [subject, found])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
      ['d', null],
      ['a', true],
    ]);
    // What is known, and what was asked before, is not asked.
    expect(lookups.asked).toEqual(['find a', 'find b', 'find d']);
    expect([ran.exit, ran.outcome]).toEqual([0, '3 of 5 subjects found, 1 failed']);
  });

  test.each([
    ['no subject is found', { a: { find: () => unknown } }, false, 3],
    ['one is missing with --strict', { a: { find: () => unknown } }, true, undefined],
  ])('exit by what was found: %s', async (_, plans, strict, exit) => {
    const words = strict ? ['a', 'b'] : ['a'];
    const ran = await runJobOf('whois a -o ndjson', new Lookups(plans).job(words, { strict }));
    expect(ran.exit).toBe(exit);
    if (strict) expect(ran.failure).toMatchObject({ kind: 'strict' });
    expect(ran.records()).toHaveLength(words.length);
  });

  test('try the cheap ways of all subjects before anything dear', async () => {
    const lookups = new Lookups({
      a: { findCheaply: async () => undefined },
      b: { findCheaply: async () => foundAs('b') },
      c: { findCheaply: async () => undefined },
    });
    const ran = await runJobOf('whois a -o ndjson', lookups.job(['a', 'x', 'b', 'c']));
    expect(lookups.asked.slice(0, 3).toSorted()).toEqual(['cheaply a', 'cheaply b', 'cheaply c']);
    expect(lookups.asked.slice(3)).toEqual(['find a', 'find x', 'find c']);
    expect(ran.records()).toHaveLength(4);
  });

  test('of a single subject have no cheap round of their own', async () => {
    const lookups = new Lookups({ a: { findCheaply: async () => undefined } });
    await runJobOf('whois a -o ndjson', lookups.job(['a']));
    expect(lookups.asked).toEqual(['find a']);
  });

  test('print what is known if a limit ends them, name the others, and fail', async () => {
    const lookups = new Lookups({
      b: { find: throws(failed('limit', 'CEILING')) },
      d: { answer: foundAs('d') },
    });
    const ran = await runJobOf('whois a -o ndjson', lookups.job(['a', 'b', 'c', 'd']));
    expect(ran.failure).toMatchObject({ kind: 'limit', code: 'CEILING' });
    expect(ran.records().map(({ subject }) => subject)).toEqual(['a', 'd']);
    expect(ran.stderr).toContain('skipped 2 subjects: b c');
    const many = Array.from({ length: 58 }, (_, at) => `n${at}`);
    const long = await runJobOf('whois a -o ndjson', lookups.job(['b', ...many]));
    const shown = ['b', ...many].slice(0, 20).join(' ');
    expect(long.stderr).toContain(`skipped 59 subjects: ${shown} and 39 more`);
  });

  test('print the answers before a failure that concerns all of them', async () => {
    const lookups = new Lookups({ b: { find: throws(new Failure('auth', 'no', { code: 'NO' })) } });
    const ran = await runJobOf('whois a -o ndjson', lookups.job(['a', 'b', 'c']));
    expect(ran.failure).toMatchObject({ kind: 'auth' });
    expect(ran.records().map(({ subject }) => subject)).toEqual(['a']);
    expect(ran.stderr).not.toContain('skipped');
  });

  test('are not begun if the output cannot be opened', async () => {
    const lookups = new Lookups();
    const ran = await runJobOf('whois a --out none/there.ndjson', lookups.job(['a', 'b']));
    expect(ran.failure).toBeInstanceOf(Failure);
    expect(lookups.asked).toEqual([]);
  });

  test('leave out what is not shown, but count it', async () => {
    const lookups = new Lookups();
    const build = async (context: Context) => {
      const task = {
        view: whoisView,
        source: { words: ['a', 'b'], file: undefined, column: undefined },
        read: (text: string) => readSubject(text),
        tally: new LookupTally(false),
        doing: 'looking up',
        noun: 'subject',
        resume: '',
        plan: lookups.plan,
      };
      return await lookupJob(context, {
        ...task,
        async *rows(records) {
          for await (const record of records) if (record.subject !== 'a') yield record;
        },
      });
    };
    const ran = await runJobOf('whois a -o ndjson', build);
    expect(ran.records().map(({ subject }) => subject)).toEqual(['b']);
    expect(ran.outcome).toBe('2 of 2 subjects found');
  });
});

const subjectA: Subject = { text: 'a', type: 'handle', value: 'a', normal: 'a' };
