import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { balanceText, estimateText, Permission } from '../../../src/cli/spend/permission.ts';

interface Given {
  readonly confirmAbove?: number;
  readonly maxCu?: number;
  readonly yes?: boolean;
  readonly sandbox?: boolean;
  readonly answers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly left?: number | null;
}

/** A permission whose prompts get these answers from a terminal. Without answers, there is no terminal. */
function permissionOf(given: Given = {}) {
  const { confirmAbove = 100_000, maxCu, yes = false, sandbox = false, env = {}, left = 19_987_654 } = given;
  const answers = [...(given.answers ?? [])];
  const stderr = Object.assign(new PassThrough(), given.answers ? { isTTY: true } : {});
  const shown: string[] = [];
  stderr.on('data', (part: Buffer) => shown.push(part.toString()));
  const spending = { cu: 0 };
  let looks = 0;
  const permission = new Permission({
    io: {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr,
      env,
      terminal: {
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
      },
    },
    ...{ confirmAbove, maxCu, yes, sandbox },
    signal: new AbortController().signal,
    spent: () => spending.cu,
    left: async () => {
      looks++;
      return { units: left, reveals: 3 };
    },
    asking: (work) => work(),
  });
  return {
    permission,
    spending,
    text: () => shown.join('').replace(/[^\S\n]*\n(?=.)/g, ' '),
    looks: () => looks,
  };
}

const costs = (cost: string) => `This will cost ${cost} for 4 handles`;
const dear = { least: 800, most: 120_000 };
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof Failure ? `${error.code}: ${error.message}` : String(error)),
  );
const open = { stopped: (spent: string) => ({ message: `stopped after ${spent}`, hint: 'run it again' }) };

describe('a run of known cost', () => {
  test('requires confirmation, and shows its cost, the balance and the cheaper mode', async () => {
    const { permission, text, looks } = permissionOf({ answers: ['y\n'] });
    await permission.approve(dear, { costs, cheaper: 'polling: at most 16,000 CU' });
    expect(text()).toContain(
      'This will cost 800–120,000 CU for 4 handles (19.9M CU left; polling: at most 16,000 CU). Continue? [y/N] ',
    );
    expect([permission.limit, permission.agreed, looks()]).toEqual([undefined, 120_000, 1]);
  });

  test('shows the reveals left if they do not suffice', async () => {
    const { permission, text } = permissionOf({ answers: ['y\n'] });
    await permission.approve({ ...dear, reveals: 4 }, { costs });
    expect(text()).toContain('(19.9M CU left; 3 wallet reveals left). Continue?');
  });

  test('is cancelled by any other answer', async () => {
    for (const answer of ['n\n', '\n', 'maybe\n', '\u0004']) {
      const { permission, text } = permissionOf({ answers: [answer], left: null });
      expect(await codeOf(permission.approve(dear, { costs }))).toBe(
        'NOT_CONFIRMED: cancelled; nothing was charged',
      );
      // The error follows on a line of its own, also if the user closed the input.
      expect(text()).toMatch(/\n$/);
    }
  });

  test.each([
    ['no terminal', {}],
    ['TRDR_NO_PROMPT', { answers: ['y\n'], env: { TRDR_NO_PROMPT: '1' } }],
    ['CI', { answers: ['y\n'], env: { CI: 'true' } }],
  ])('is rejected with %s before any request', async (_, given) => {
    const { permission, looks } = permissionOf(given);
    await expect(permission.approve(dear, { costs })).rejects.toMatchObject({
      ...{ kind: 'confirm', code: 'CONFIRMATION_NEEDED' },
      message: expect.stringContaining('800–120,000 CU'),
      hint: expect.stringContaining('--max-cu 120000'),
    });
    expect(looks()).toBe(0);
  });

  test('requires confirmation with CI=false', async () => {
    const { permission } = permissionOf({ answers: ['y\n'], env: { CI: 'false', TRDR_NO_PROMPT: '0' } });
    expect(await codeOf(permission.approve(dear, { costs }))).toBe('ok');
  });

  test.each([
    ['cheap', { confirmAbove: 120_000 }, 120_000, undefined],
    ['agreed to with --yes', { yes: true }, undefined, 120_000],
    ['agreed to up to --max-cu', { maxCu: 7 }, 7, undefined],
    ['of the sandbox', { sandbox: true }, undefined, undefined],
  ])('starts without a question if it is %s', async (_, given, limit, agreed) => {
    const { permission } = permissionOf(given);
    await permission.approve(dear, { costs });
    expect([permission.limit, permission.agreed]).toEqual([limit, agreed]);
  });
});

test.each([
  [0, '0 CU left'],
  [999_999.9, '999,999 CU left'],
  [1_000_000, '1.0M CU left'],
  [19_999_999, '19.9M CU left'],
  [1_234_567_890, '1,234.5M CU left'],
])('the balance never shows more than is left: %d', (units, text) => expect(balanceText(units)).toBe(text));

test('an exact estimate is printed as one number', () => {
  expect(estimateText({ least: 200, most: 200 })).toBe('200 CU');
});

describe('a run without a known end', () => {
  test.each([
    ['confirmAbove', {}, 100_000],
    ['--max-cu', { maxCu: 7 }, 7],
    ['--max-cu, also with --yes', { maxCu: 7, yes: true }, 7],
    ['nothing with --yes', { yes: true }, undefined],
    ['nothing in the sandbox', { sandbox: true }, undefined],
  ])('is limited by %s', (_, given, limit) => {
    const { permission } = permissionOf(given);
    permission.begin(open);
    expect(permission.limit).toBe(limit);
  });

  test('asks at its limit to double the limit, and never again after the user has declined', async () => {
    const { permission, spending, text } = permissionOf({ answers: ['y\n', 'yes\n', 'n\n', 'y\n'] });
    permission.begin({ ...open, rate: () => 'polling every 10s costs 1,200 CU/min' });
    spending.cu = 99_800;
    expect([await permission.raise(400), permission.limit]).toEqual([true, 200_000]);
    expect(text()).toContain(
      'This run has spent 99,800 CU of its limit of 100,000 CU (19.9M CU left; polling every 10s costs 1,200 CU/min). Continue up to 200,000 CU? [y/N] ',
    );
    expect([await permission.raise(400, 199_900), permission.limit]).toEqual([true, 400_000]);
    expect([await permission.raise(400), await permission.raise(400), permission.limit]).toEqual([
      false,
      false,
      400_000,
    ]);
  });

  test('asks a single question for calls that reach the limit together', async () => {
    const { permission, text } = permissionOf({ answers: ['y\n', 'y\n'] });
    permission.begin(open);
    expect(await Promise.all([permission.raise(1), permission.raise(1)])).toEqual([true, true]);
    expect(text().match(/Continue up to/g)).toHaveLength(1);
  });

  test.each([
    ['no terminal', {}, 'CEILING', '--yes'],
    ['--max-cu', { maxCu: 7, answers: ['y\n'] }, 'CEILING', 'raise --max-cu'],
  ])('ends at its limit with %s', async (_, given, code, hint) => {
    const { permission } = permissionOf(given);
    permission.begin(open);
    expect([permission.canRaise, await permission.raise(1)]).toEqual([false, false]);
    expect(permission.stopped()).toMatchObject({
      kind: 'limit',
      code,
      message: 'stopped after 0 CU',
      hint: expect.stringContaining(hint),
    });
  });

  test('may start with a limit of 0', async () => {
    const { permission } = permissionOf({ confirmAbove: 0, answers: ['y\n', 'y\n'] });
    permission.begin(open);
    expect([await permission.raise(200), permission.limit]).toEqual([true, 200]);
    expect([await permission.raise(200, 200), permission.limit]).toEqual([true, 400]);
  });
});
