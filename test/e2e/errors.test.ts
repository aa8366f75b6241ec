import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorCodes, isErrorCode } from '../../src/contract/errors.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { openFolder } from '../folder.ts';
import { some } from '../repeats.ts';
import { exitOfCode } from './exit-codes.ts';
import { openDesk, runInProcess } from './harness.ts';
import { receiptOf } from './numbers.ts';
import { type Reply, userRecord, withService } from './service.ts';

const codes = Object.keys(errorCodes).filter(isErrorCode);
const members = [
  'code',
  'message',
  'status',
  'retryable',
  'retryAfter',
  'requestId',
  'hint',
  'exit',
];

const faultOf = (code: string) => `${code}@thesis.all${code === 'RATE_LIMITED' ? '=30s' : ''}`;

describe('an error of the service', () => {
  test.each(codes)('makes a run exit with its code and one line of JSON: %s', async (code) => {
    const { status, retryable } = errorCodes[code];
    const { sandbox, run } = await openDesk({ faults: faultOf(code) });
    const ran = await run('thesis list', { clock: virtualClock() });
    expect(ran.exitCode).toBe(exitOfCode[code]);
    const calls = sandbox.log.filter(({ endpoint }) => endpoint === 'thesis.all');
    // After 429s, the program waits at most 120 s: four times 30 s.
    expect(calls).toHaveLength(retryable ? 5 : 1);
    expect(sandbox.meter().totalUnits > 0).toBe(code === 'NOT_OBSERVED');
    expect(ran.stderr.trimEnd().split('\n').at(-1)).toMatch(/^\{"error":\{.*\}\}$/);
    const error = ran.error();
    expect(error).toMatchObject({ code, status, retryable, exit: exitOfCode[code] });
    expect(Object.keys(error)).toEqual(members.filter((name) => name in error));
    expect([error['message'], error['hint']]).toEqual([expect.any(String), expect.any(String)]);
    expect('retryAfter' in error).toBe(code === 'RATE_LIMITED');
  });

  test.each(some(codes, 5))('explains what happened, why, and what to do: %s', async (code) => {
    const { run } = await openDesk({ faults: faultOf(code) });
    const env = { LANG: 'C.UTF-8', NO_COLOR: '1' };
    const terminal = { clock: virtualClock(), tty: true, columns: 60, env };
    const ran = await run('thesis list', terminal);
    const said = ran.stderr.slice(ran.stderr.indexOf('error: '));
    expect(said).toMatch(/^error: \S/);
    expect(said).toContain(`[${code}, HTTP ${errorCodes[code].status}`);
    expect(said).toMatch(/^ hint: \S/m);
    for (const line of ran.stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    expect([ran.exitCode, ran.stdout]).toEqual([exitOfCode[code], '']);
  });
});

test('an error shows the id of its request, if a header has one', async () => {
  const error = { code: 'INTERNAL_ERROR', message: 'broken' };
  const service = await withService(() => ({
    status: 500,
    body: { error },
    headers: { 'x-request-id': 'r7' },
  }));
  const options = { sandbox: service, clock: virtualClock() };
  expect((await runInProcess('thesis list', options)).error()).toMatchObject({
    code: error.code,
    requestId: 'r7',
  });
  const { said } = await runInProcess('thesis list', { ...options, tty: true });
  expect(said).toContain('request r7');
});

test.each([
  ['whois', ['whois', 'mira', 'solwolf'], 'shape@user.handle'],
  ['pnl', ['pnl', 'mira'], 'VALIDATION_ERROR@user.pnl'],
  ['a batch of pnl', ['pnl', 'mira', 'solwolf'], 'shape@users.pnl'],
])('the failed records of %s have the words of its hint', async (_, line, faults) => {
  const { run } = await openDesk({ faults });
  const ran = await run([...line, '--yes', '-o', 'ndjson'], { clock: virtualClock() });
  const errors = ran.records().map(({ error }) => error);
  const { hint } = ran.error();
  expect(hint).toEqual(expect.any(String));
  expect(errors).toEqual(line.slice(1).map(() => expect.objectContaining({ hint })));
});

test('so has the record of an export', async () => {
  const { run } = await openDesk({ faults: 'VALIDATION_ERROR@user.pnl' });
  const out = join(openFolder(), 'pnl.ndjson');
  const ran = await run(['pnl', 'mira', '--yes', '--out', out], { clock: virtualClock() });
  expect([ran.error(), JSON.parse(readFileSync(out, 'utf8')).error]).toMatchObject([
    { hint: expect.stringContaining('--debug') },
    { hint: expect.stringContaining('--debug') },
  ]);
});

test.each([
  ['whois mira', 200],
  ['whois mira juno', 400],
  ['pnl mira', 200],
  ['thesis list --user mira', 200],
  ['launchpad user 11111111111111111111111111111111', 10],
])('a wrong path of the base URL is not a miss, but may cost as much: %s', async (words, most) => {
  const { sandbox, home } = await openDesk();
  const wrong = { ...sandbox, url: `${sandbox.url}/wrong` };
  const ran = await home.run(`${words} --receipt -`, { sandbox: wrong });
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('"code":"NOT_FOUND"');
  expect(ran.stderr).toContain('check the base URL');
  expect(ran.stdout).not.toContain('"found":false');
  expect(receiptOf(home)).toMatchObject({ cu: 0, cuAtMost: most });
});

describe('an error', () => {
  const fails = ['whois', 'mira', '--fields', 'handel'];

  test.each([
    ['for any stdout', [], {}],
    ['in a machine format', ['--json'], {}],
    ['with an output that does not exist', ['-o', 'yaml'], {}],
    ['with a machine format in the environment', [], { TRDR_OUTPUT: 'csv' }],
  ])('is text if stderr is a terminal, %s', async (_, flags, env) => {
    for (const stdout of [true, false]) {
      const { exitCode, stderr } = await runInProcess([...fails, ...flags], {
        tty: { stdout, stderr: true },
        env: { ...env, NO_COLOR: '1' },
      });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^error: /);
      expect(stderr).not.toContain('{"error"');
    }
  });

  test.each([
    ['NDJSON', []],
    ['JSON', ['--json']],
    ['CSV', ['-o', 'csv']],
  ])('is a line of JSON if stderr is not a terminal and the output is %s', async (_, flags) => {
    const { stderr } = await runInProcess([...fails, ...flags], {
      tty: { stdout: false, stderr: false },
    });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'USAGE', exit: 2 } });
  });

  test.each([
    ['-o table', true],
    ['-otable', true],
    ['-qotable', true],
    ['-qyo table', true],
    ['--output=table', true],
    ['-ocsv', false],
    ['-qocsv', false],
    ['-- -otable', false],
    ['-- --output table', false],
    ['-otable -- --json', true],
  ])('of a wrong line is text in a file only with a table: %j', async (words, isText) => {
    const { exitCode, stderr } = await runInProcess(`whois --no-such-flag ${words}`, {
      tty: false,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(isText ? /^error: / : /^\{"error":\{/);
  });
});

describe('the wait of a 429', () => {
  const run = async (answer: Reply) => {
    const clock = virtualClock();
    let asked = 0;
    const service = await withService(() =>
      asked++ === 0
        ? answer
        : { body: { error: { code: 'NOT_OBSERVED', message: '' } }, status: 404 },
    );
    const ran = await runInProcess('whois mira', { sandbox: service, clock });
    expect(ran.exitCode).toBe(3);
    expect(service.calls).toHaveLength(2);
    return { slept: clock.slept, stderr: ran.stderr };
  };
  const limited = { code: 'RATE_LIMITED', message: 'slow down' };
  const headers = { 'retry-after': '7' };

  test.each([
    ['next to the error', { status: 429, body: { error: limited, retryAfter: 7 } }],
    ['inside the error', { status: 429, body: { error: { ...limited, retryAfter: 7 } } }],
    ['only in the header', { status: 429, body: { error: limited }, headers }],
    ['in the header of a gateway', { status: 429, body: '<html>', headers }],
    ['as text', { status: 429, body: { error: limited, retryAfter: '7' } }],
  ] as const)('is respected %s', async (_, answer) => {
    const { slept, stderr } = await run(answer);
    expect(Math.max(...slept)).toBe(7_000);
    expect(stderr).toMatch(/^trdr: waiting 7s: \w+ \(429\)$/m);
  });

  test('is respected as a date', async () => {
    const date = new Date(virtualClock().now() + 9_000).toUTCString();
    const { slept } = await run({
      status: 429,
      body: { error: limited },
      headers: { 'retry-after': date },
    });
    // Dates have no milliseconds.
    expect(Math.abs(Math.max(...slept) - 8_500)).toBeLessThanOrEqual(500);
  });

  test.each([undefined, 'soon', -4, null])('of %j is five seconds', async (retryAfter) => {
    const { slept } = await run({ status: 429, body: { error: limited, retryAfter } });
    expect(Math.max(...slept)).toBe(5_000);
  });

  test.each([
    ['an hour', { error: limited, retryAfter: 3_600 }, { code: 'RATE_LIMITED', retryAfter: 3_600 }],
    ['an hour without a documented code', { error: 'slow down' }, { code: 'HTTP_429' }],
  ])('of %s ends the run at once', async (_, body, fields) => {
    const service = await withService(() => ({
      status: 429,
      body,
      headers: { 'retry-after': '3600' },
    }));
    const clock = virtualClock();
    const ran = await runInProcess('whois mira', { sandbox: service, clock });
    expect(ran.exitCode).toBe(7);
    expect(ran.error()).toMatchObject({
      ...fields,
      message: expect.stringMatching(/slow down$/),
      retryable: true,
    });
    expect([service.calls.length, clock.slept]).toEqual([1, []]);
  });
});

const user = userRecord('mira');

describe('an answer that cannot be read', () => {
  // A page or nothing probably comes from something in between, and may not come again.
  const bad: readonly (readonly [string, Reply, isRetryable?: true])[] = [
    ['HTML with 200', { body: '<!doctype html><h1>Welcome</h1>' }, true],
    ['nothing with 200', { body: '' }, true],
    ['a lone null', { body: null }],
    ['an empty list', { body: [] }],
    ['a lone string', { body: '"mira"' }],
    ['an object without its fields', { body: {} }],
    ['a user without id and handle', { body: { ...user, id: null, handle: null } }],
    ['half a document', { body: JSON.stringify(user).slice(0, 90) }],
    ['a wrapped object without its fields', { body: { data: {}, meta: { requestId: 'r1' } } }],
    ['a 204', { status: 204, body: '' }, true],
    ['a 206', { status: 206, body: '{"id":"7' }],
    ['a 202 for a call without pending answers', { status: 202, body: { pending: true } }],
    ['a compressed body', { body: '\u001f\u008b', headers: { 'content-encoding': 'gzip' } }],
  ];
  const cases = bad.map(([name, reply, retryable = false]) => ({ name, reply, retryable }));
  test.each(cases)('is not a network failure: $name', async ({ reply, retryable }) => {
    const service = await withService(() => reply);
    const ran = await runInProcess('whois mira', { sandbox: service, clock: virtualClock() });
    expect(ran.exitCode).toBe(9);
    expect(ran.error()).toMatchObject({ code: 'BAD_ANSWER', retryable, exit: 9 });
    expect(String(ran.error()['message'])).toMatch(
      /^cannot read the answer of GET \/v2\/user\/handle\/\{handle\}: it /,
    );
    expect(service.calls).toHaveLength(1);
  });

  test.each([
    ['bare', user],
    ['wrapped', { data: user, meta: { asOf: '2026-01-01T00:00:00Z', requestId: 'r1' } }],
  ])('is not caused by unknown fields of a %s one', async (_, body) => {
    const extra = { later: { deep: [1, null, 'x'] }, verifiedBy: null, bignum: 12345.678 };
    const reply =
      'data' in body ? { ...body, data: { ...body.data, ...extra } } : { ...body, ...extra };
    const service = await withService(() => ({ body: reply }));
    const ran = await runInProcess('whois mira', { sandbox: service });
    const asOf = 'meta' in body ? { asOf: body.meta.asOf } : {};
    expect(ran.records()).toEqual([{ subject: 'mira', found: true, ...user, ...extra, ...asOf }]);
  });
});

test.each([
  [{ error: { code: 'not_observed' } }],
  [{ code: 'NOT_OBSERVED', message: 'flat' }],
  [{ error: 'NOT_OBSERVED' }],
  [{ errors: [{ code: 'NOT_OBSERVED' }] }],
])('a 404 with a documented code means not found: %j', async (body) => {
  const service = await withService(() => ({ status: 404, body }));
  const ran = await runInProcess('whois mira', { sandbox: service });
  expect([ran.exitCode, ran.records()]).toEqual([
    3,
    [{ subject: 'mira', found: false, code: 'NOT_OBSERVED' }],
  ]);
});

/** The body of an error with a code. */
const coded = (code: string, message: unknown) => ({ error: { code, message } });
const endsWith = (text: string): unknown => expect.stringMatching(new RegExp(`: ${text}$`));

// Without a documented code in its place, an error may come from a proxy, a firewall or a login page.
test.each<[status: number, body: unknown, exit: number, fields: Record<string, unknown>]>([
  [418, coded('TEAPOT', 'short and stout'), 9, { message: 'short and stout' }],
  [500, coded('MELTDOWN', 'hot'), 9, { code: 'MELTDOWN' }],
  [404, coded('USER_NOT_FOUND', 'no such user'), 9, { code: 'USER_NOT_FOUND' }],
  [403, coded('GEO_BLOCKED', 'not here'), 9, { code: 'GEO_BLOCKED' }],
  [402, coded('PAY_UP', 'pay'), 9, { code: 'PAY_UP' }],
  [400, coded('OVERLOADED', 'odd'), 2, { code: 'OVERLOADED' }],
  [422, coded('VALIDATION_ERROR', 'bad'), 2, { code: 'VALIDATION_ERROR' }],
  [400, coded('BAD_REQUEST', { deep: 1 }), 2, { message: expect.stringMatching(/in this form/) }],
  [
    400,
    { data: null, meta: { requestId: 'r9' }, error: { code: 'BAD_REQUEST', message: 'no' } },
    2,
    { code: 'BAD_REQUEST', requestId: 'r9' },
  ],
  [500, { error: 'boom' }, 9, { code: 'HTTP_500' }],
  [404, { message: 'Route not found' }, 9, { code: 'HTTP_404' }],
  [403, { message: 'Forbidden' }, 9, { code: 'HTTP_403', message: endsWith('Forbidden') }],
  [418, { detail: 'teapot' }, 9, { code: 'HTTP_418', message: endsWith('teapot') }],
  [502, '<h1>Bad gateway</h1>', 9, { code: 'HTTP_502' }],
  [404, '<h1>Not here</h1>', 9, { code: 'HTTP_404' }],
  [403, '<h1>Firewall</h1>', 9, { code: 'HTTP_403' }],
  [401, '', 9, { code: 'HTTP_401' }],
  [520, '', 9, { code: 'HTTP_520' }],
  [304, '', 9, { code: 'HTTP_304' }],
  [302, '', 9, { code: 'REDIRECT' }],
])('an error %i is final only with a known code: %j', async (status, body, exit, fields) => {
  const headers = status === 302 ? { location: 'http://elsewhere.example/' } : {};
  const service = await withService(() => ({ status, body, headers }));
  const ran = await runInProcess('whois mira', { sandbox: service, clock: virtualClock() });
  expect([ran.exitCode, ran.error()['exit']]).toEqual([exit, exit]);
  expect(ran.error()).toMatchObject({ ...fields, status, retryable: exit === 9 });
  // Only a gateway may reach the service the next time.
  expect(service.calls).toHaveLength(exit === 9 && status >= 500 ? 5 : 1);
});

test('what answers in place of the service is waited out once the service has answered', async () => {
  const more = { body: { items: [{ id: 'a' }], hasMore: true, nextBefore: 'a' } };
  const replies: Reply[] = [more, { status: 404, body: '<h1>Not here</h1>' }];
  const service = await withService(() => replies.shift() ?? { body: { items: [{ id: 'b' }] } });
  const ran = await runInProcess('thesis list --all', { sandbox: service, clock: virtualClock() });
  expect([ran.exitCode, ran.records().length, service.calls.length]).toEqual([0, 2, 3]);
});
