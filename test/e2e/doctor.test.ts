import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openapi } from '../../src/contract/openapi.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { openDesk, openHome, runInProcess, withSandbox } from './harness.ts';
import { anyMe, type Call, withService } from './service.ts';

/** A service with a given API description, and `me` as its only endpoint. */
const described = (document: string, headers: Record<string, string> = {}) =>
  withService(
    ({ path }) => ({
      body: path === '/openapi.json' ? Buffer.from(document) : anyMe,
      headers: { 'content-type': 'application/json', ...headers },
    }),
    { ownMe: true },
  );
const verdicts = (records: readonly Record<string, unknown>[]) =>
  records.map((record) => [record['check'], record['verdict']]);

test.each(['{}', '{"openapi":"3.1.0","paths":{}}', '{"paths":null}', '[]'])(
  'a description without paths is one line of trdr doctor: %s',
  async (document) => {
    const { records } = await runInProcess('doctor', { sandbox: await described(document) });
    const drift = records().filter(({ check }) => check === 'drift');
    expect(drift).toMatchObject([{ verdict: 'warn', detail: expect.stringContaining('no paths') }]);
  },
);

describe('trdr doctor, if another server answers', () => {
  test.each([
    ['a web server', 404, 'text/html', 'nginx/1.24.0', '<html><h1>404 Not Found</h1></html>'],
    ['a captive portal', 200, 'text/html; charset=utf-8', 'portal', '<html>Please log in</html>'],
    ['another API', 404, 'application/json', 'Kestrel', '{"message":"no such route"}'],
  ])('names %s and does not judge its answers', async (_, status, type, server, body) => {
    const headers = { 'content-type': type, server };
    const sandbox = await withService(() => ({ status, body, headers }), { ownMe: true });
    const clock = virtualClock(Date.now());
    const { exitCode, records } = await runInProcess('doctor', { sandbox, clock });
    expect(exitCode).toBe(9);
    const reach = records().find(({ check }) => check === 'reach');
    expect(reach).toMatchObject({
      verdict: 'fail',
      next: expect.stringContaining('right base URL'),
    });
    expect(reach?.['detail']).toBe(
      `the server at the base URL is not the service (HTTP ${status}, ${type.split(';')[0]}, ${server})`,
    );
    expect(verdicts(records()).slice(2)).toEqual(
      ['clock', 'key', 'limits', 'drift'].map((name) => [name, 'skip']),
    );
  });

  test('still checks the store', async () => {
    const sandbox = { url: 'http://127.0.0.1:1', key: 'xx_live_abcdefghijklmnop' };
    const env = { TRDR_STORE: 'redis://127.0.0.1:1' };
    const { exitCode, records } = await runInProcess('doctor --retries 0', {
      sandbox,
      env,
    });
    expect(exitCode).toBe(9);
    expect(verdicts(records()).filter(([, verdict]) => verdict === 'fail')).toEqual([
      ['reach', 'fail'],
      ['store', 'fail'],
    ]);
  });

  test('does not mistake a service without a description for another server', async () => {
    const sandbox = await described('<html>no description</html>');
    const { exitCode, records } = await runInProcess('doctor', { sandbox });
    expect(verdicts(records()).find(([check]) => check === 'reach')).toEqual(['reach', 'ok']);
    expect([exitCode, verdicts(records()).at(-1)]).toEqual([0, ['drift', 'warn']]);
  });
});

describe('trdr doctor', () => {
  test('reports success for the matching service, free of charge', async () => {
    for (const envelope of ['bare', 'wrapped'] as const) {
      const sandbox = await withSandbox({ envelope });
      const { exitCode, records } = await runInProcess('doctor', { sandbox });
      expect(verdicts(records())).toEqual(
        ['settings', 'reach', 'clock', 'key', 'limits', 'drift'].map((check) => [check, 'ok']),
      );
      expect([exitCode, sandbox.meter().totalUnits]).toEqual([0, 0]);
    }
  });

  test('lists added, removed and changed parts, and fails if a call breaks', async () => {
    const text = JSON.stringify(openapi())
      .replaceAll('"pnlSol"', '"pnlSolana"')
      .replaceAll('/v2/me', '/v3/me');
    const { exitCode, records } = await runInProcess('doctor', {
      sandbox: await described(text),
    });
    const drift = records().filter((record) => record['check'] === 'drift');
    const entry = 'GET /v2/launchpad/leaderboard/traders: answer 200: entries[]';
    expect(drift.map(({ verdict, detail }) => [verdict, detail])).toEqual(
      expect.arrayContaining([
        ['warn', `${entry}.pnlSol: described null or number, found nothing`],
        ['ok', `${entry}.pnlSolana: described nothing, found null or number`],
        ['fail', 'GET /v2/me: described endpoint, found nothing'],
        ['ok', 'GET /v3/me: described nothing, found endpoint'],
      ]),
    );
    expect(exitCode).toBe(9);
  });

  test('lists every field in which earlier answers differed, without a paid call', async () => {
    const home = openHome();
    const user = { id: '7d0a0f3e-7a55-4c0e-9a36-6f0f5f0e8f10', handle: 'mira', name: 7 };
    const sandbox = await withService(
      ({ path }) => ({ body: { '/openapi.json': openapi(), '/v2/me': anyMe }[path] ?? user }),
      { ownMe: true },
    );
    for (let run = 0; run < 2; run++) await home.run('whois mira --no-cache', { sandbox });
    const { exitCode, records } = await home.run('doctor', { sandbox });
    const answers = records().filter(({ check }) => check === 'answers');
    expect(answers.map(({ verdict }) => verdict)).toEqual(Array(7).fill('warn'));
    expect(answers.map(({ detail }) => detail)).toContainEqual(
      expect.stringMatching(
        /^GET \/v2\/user\/handle\/\{handle\}: name is a number, expected text \(seen \d+m?s ago\)$/,
      ),
    );
    const paid = sandbox.calls.filter((call) => call.startsWith('GET /v2/user/'));
    expect([exitCode, paid.length]).toEqual([0, 2]);
    const elsewhere = await home.run('doctor', {
      sandbox: await described(JSON.stringify(openapi())),
    });
    expect(elsewhere.records().filter(({ check }) => check === 'answers')).toEqual([]);
  });

  test.each([
    [{ unitsUsed: 990, unitsRemaining: 10 }, 'warn'],
    [{ unitsUsed: 1_000, unitsRemaining: 0 }, 'fail'],
    [{ revealsRemaining: 0 }, 'fail'],
  ])('judges what is left of the allowance: %j', async (usage, verdict) => {
    const body = ({ path }: Call) =>
      path === '/openapi.json' ? openapi() : { ...anyMe, usage: { ...anyMe.usage, ...usage } };
    const sandbox = await withService((call) => ({ body: body(call) }), { ownMe: true });
    const { records } = await runInProcess('doctor', { sandbox });
    expect(verdicts(records())).toContainEqual(['limits', verdict]);
  });

  test('warns about a wrong clock', async () => {
    const date = new Date(Date.now() + 7_200_000).toUTCString();
    const sandbox = await described(JSON.stringify(openapi()), { date });
    const { records } = await runInProcess('doctor', { sandbox });
    const clock = records().find((record) => record['check'] === 'clock');
    expect(clock).toMatchObject({
      verdict: 'warn',
      detail: expect.stringMatching(/[12]h behind the service/),
    });
  });

  test('suggests a fix for a wrong key, a missing key and a dead host, and exits accordingly', async () => {
    const sandbox = await withSandbox();
    const wrong = await runInProcess('doctor', {
      sandbox,
      key: 'trdr_test_nobody0000000000000000',
    });
    const none = await runInProcess('doctor', { sandbox, key: null });
    const dead = { url: 'http://127.0.0.1:1', key: 'k' };
    const gone = await runInProcess('doctor --retries 0', { sandbox: dead });
    expect([wrong.exitCode, none.exitCode, gone.exitCode]).toEqual([4, 4, 9]);
    for (const [{ records }, check] of [
      [wrong, 'key'],
      [none, 'key'],
      [gone, 'reach'],
    ] as const) {
      const failed = records().find((record) => record['verdict'] === 'fail');
      expect(failed).toMatchObject({ check, next: expect.any(String) });
      // The fix is not to run the command that is already running.
      expect(failed?.['next']).not.toContain('trdr doctor');
      // Every check is listed, including skipped ones.
      const listed = new Set(records().map((record) => record['check']));
      expect(listed).toEqual(new Set(['settings', 'reach', 'clock', 'key', 'limits', 'drift']));
    }
  });

  test('continues without readable settings, and names the file', async () => {
    const { home, run } = await openDesk();
    mkdirSync(home.config);
    writeFileSync(join(home.config, 'config.json'), '{"version":1,');
    const { exitCode, records } = await run('doctor');
    expect(exitCode).toBe(9);
    expect(records()[0]).toMatchObject({
      verdict: 'fail',
      detail: expect.stringContaining('config.json'),
    });
    expect(verdicts(records()).at(-1)).toEqual(['drift', 'ok']);
  });

  test('warns about a config file that other users can read', async () => {
    const { home, run } = await openDesk();
    mkdirSync(home.config);
    for (const [mode, verdict] of [
      [0o600, 'ok'],
      [0o640, 'warn'],
      [0o604, 'warn'],
    ] as const) {
      writeFileSync(join(home.config, 'config.json'), '{"version":1,"profiles":{}}');
      chmodSync(join(home.config, 'config.json'), mode);
      const { exitCode, records } = await run('doctor', { platform: 'linux' });
      expect([exitCode, verdicts(records())[0]]).toEqual([0, ['settings', verdict]]);
    }
  });

  test('opens the socket only with --ws, within the spending limit, and explains a rejection', async () => {
    const sandbox = await withSandbox({ plan: 'growth' });
    const { exitCode, records } = await runInProcess('doctor --ws', { sandbox });
    expect([exitCode, verdicts(records()).at(-1)]).toEqual([0, ['socket', 'ok']]);
    const held = await runInProcess('doctor --ws --max-cu 100', { sandbox });
    expect(verdicts(held.records()).at(-1)).toEqual(['socket', 'skip']);
    const small = await withSandbox({ plan: 'starter' });
    const refused = await runInProcess('doctor --ws', { sandbox: small });
    expect([refused.exitCode, verdicts(refused.records()).at(-1)]).toEqual([5, ['socket', 'fail']]);
  });
});
