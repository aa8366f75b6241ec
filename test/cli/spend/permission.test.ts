import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { balanceText, estimateText, Permission } from '../../../src/cli/spend/permission.ts';

interface Given {
  readonly confirmAbove?: number;
  readonly maxCu?: number;
  readonly yes?: boolean;
  readonly sandbox?: boolean;
  readonly answers?: readonly string[];
}

/** A permission whose prompts get these answers from a terminal. Without answers, there is no terminal. */
function permissionOf({ confirmAbove = 100_000, maxCu, yes = false, sandbox = false, ...given }: Given) {
  const answers = [...(given.answers ?? [])];
  const stderr = Object.assign(new PassThrough(), given.answers ? { isTTY: true } : {});
  const shown: string[] = [];
  stderr.on('data', (part: Buffer) => shown.push(part.toString()));
  const terminal = {
    exists: () => given.answers !== undefined,
    open() {
      const input = Object.assign(new PassThrough(), { setRawMode: () => {} });
      // Answer the prompt when it appears, because a prompt discards what was typed before it.
      const answer = (part: Buffer) => {
        if (!part.includes('[y/N]')) return;
        stderr.off('data', answer);
        setImmediate(() => input.write(answers.shift() ?? 'n\n'));
      };
      stderr.on('data', answer);
      return input;
    },
  };
  const spending = { cu: 0 };
  const permission = new Permission({
    ...{ confirmAbove, maxCu, yes, sandbox },
    io: { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {}, terminal },
    signal: new AbortController().signal,
    spent: () => spending.cu,
    left: async () => ({ units: 19_987_654, reveals: 3 }),
    asking: (work) => work(),
  });
  return { permission, spending, text: () => shown.join('').replace(/[^\S\n]*\n(?=.)/g, ' ') };
}

const costs = (cost: string) => `This will cost ${cost} for 4 handles`;
const dear = { least: 800, most: 120_000, reveals: 4 };
const open = { stopped: (spent: string) => ({ message: `stopped after ${spent}`, hint: 'run it again' }) };

test('the question before a run states what is left, also of reveals if they may not suffice', async () => {
  const { permission, text } = permissionOf({ answers: ['y\n'] });
  await permission.approve(dear, { costs, cheaper: 'polling: at most 16,000 CU' });
  expect(text()).toContain(
    'This will cost 800–120,000 CU for 4 handles (19.9M CU left; 3 wallet reveals left; polling: at most 16,000 CU). Continue? [y/N] ',
  );
  expect([permission.limit, permission.agreed]).toEqual([undefined, 120_000]);
});

test.each<[string, Given, number | undefined, number | undefined, number | undefined]>([
  ['with a high threshold', { confirmAbove: 120_000 }, 120_000, undefined, 120_000],
  ['with --yes', { yes: true }, undefined, 120_000, undefined],
  ['with --max-cu', { maxCu: 7 }, 7, undefined, 7],
  ['with --max-cu and --yes', { maxCu: 7, yes: true }, 7, undefined, 7],
  ['of the sandbox', { sandbox: true }, undefined, undefined, undefined],
])('a run %s starts without a question', async (_, given, limit, agreed, openLimit) => {
  const [known, unknown] = [permissionOf(given).permission, permissionOf(given).permission];
  await known.approve(dear, { costs });
  unknown.begin(open);
  expect([known.limit, known.agreed, unknown.limit]).toEqual([limit, agreed, openLimit]);
});

test.each([
  [0, '0 CU left'],
  [999_999.9, '999,999 CU left'],
  [1_000_000, '1.0M CU left'],
  [19_999_999, '19.9M CU left'],
  [1_234_567_890, '1,234.5M CU left'],
])('the balance never shows more than is left: %d', (units, text) => expect(balanceText(units)).toBe(text));

test('an exact estimate is printed as one number', () =>
  expect(estimateText({ least: 200, most: 200 })).toBe('200 CU'));

describe('a run without a known end', () => {
  test('asks at its limit to double the limit, and never again after the user has declined', async () => {
    const { permission, spending, text } = permissionOf({ answers: ['y\n', 'yes\n', 'n\n', 'y\n'] });
    permission.begin({ ...open, rate: () => 'polling every 10s costs 1,200 CU/min' });
    spending.cu = 99_800;
    const raised = async (most: number, spent?: number) => [
      await permission.raise(most, spent),
      permission.limit,
    ];
    expect(await raised(400)).toEqual([true, 200_000]);
    expect(text()).toContain('Continue up to 200,000 CU? [y/N] ');
    expect(await raised(400, 199_900)).toEqual([true, 400_000]);
    expect([await raised(400), await raised(400)]).toEqual(Array(2).fill([false, 400_000]));
  });

  test('asks a single question for calls that reach the limit together, also a limit of 0', async () => {
    const { permission, text } = permissionOf({ confirmAbove: 0, answers: ['y\n', 'y\n'] });
    permission.begin(open);
    expect(await Promise.all([permission.raise(200), permission.raise(200)])).toEqual([true, true]);
    expect([text().match(/Continue up to/g)?.length, permission.limit]).toEqual([1, 200]);
  });

  test.each([
    ['no terminal', {}, '--yes'],
    ['--max-cu', { maxCu: 7, answers: ['y\n'] }, 'raise --max-cu'],
  ])('ends at its limit with %s', async (_, given, hint) => {
    const { permission } = permissionOf(given);
    permission.begin(open);
    expect([permission.canRaise, await permission.raise(1)]).toEqual([false, false]);
    expect(permission.stopped()).toMatchObject({
      ...{
        kind: 'limit',
        code: 'CEILING',
        message: 'stopped after 0 CU',
        hint: expect.stringContaining(hint),
      },
    });
  });
});
