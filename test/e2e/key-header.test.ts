import { describe, expect, test } from 'vitest';
import { openDesk, openHome, runInProcess, withSandbox } from './harness.ts';
import { userRecord, withService } from './service.ts';

describe('the setting keyHeader', () => {
  test.each([
    ['the default', undefined, 'authorization'],
    ['authorization', 'authorization', 'authorization'],
    ['x-api-key', 'x-api-key', 'x-api-key'],
  ] as const)('sends the key in one header only: %s', async (_, value, wanted) => {
    const sent: string[][] = [];
    const service = await withService(
      ({ request }) => {
        const { headers } = request;
        const names = (['authorization', 'x-api-key'] as const).filter((name) => headers[name]);
        sent.push(names);
        const text = `${headers.authorization ?? ''} ${headers['x-api-key'] ?? ''}`.trim();
        return text.replace('Bearer ', '') === service.key
          ? { body: userRecord('mira') }
          : { status: 401, body: { error: { code: 'UNAUTHORIZED', message: text } } };
      },
      { ownMe: true },
    );
    const home = openHome();
    const env = value === undefined ? {} : { TRDR_KEY_HEADER: value };
    for (const words of ['whois mira --debug', 'api /v2/user/handle/mira --debug']) {
      const ran = await runInProcess(words, { sandbox: service, home, env });
      expect([words, ran.exitCode], ran.stderr).toEqual([words, 0]);
      expect(ran.stderr).toContain(`> ${wanted}: `);
      expect(ran.stdout + ran.stderr).not.toContain(service.key);
    }
    expect(new Set(sent.flat())).toEqual(new Set([wanted]));
    const curl = await runInProcess('whois juno --dry-run --curl', {
      ...{ sandbox: service, home, env },
    });
    expect(curl.stdout.toLowerCase()).toContain(`-h "${wanted}: `);
  });

  test('leaves the header that the WebSocket needs', async () => {
    const sandbox = await withSandbox({ theses: 20 });
    const words = ['thesis', 'tail', '--via', 'ws', '--backfill', '2', '--count', '2'];
    const env = { TRDR_KEY_HEADER: 'x-api-key' };
    const ran = await runInProcess(words, { sandbox, home: openHome(), env });
    expect([ran.exitCode, ran.records().length], ran.stderr).toEqual([0, 2]);
  });
});

describe('the request ids of good answers', () => {
  test('are in the trace and in the ledger, for support', async () => {
    const { sandbox, home } = await openDesk({ envelope: 'wrapped' });
    const run = (words: string) => home.run(words, { sandbox });
    const lookup = await run('whois mira solwolf --debug');
    const ids = [...lookup.stderr.matchAll(/= \d+ CU, request (\S+)/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(2);
    const usage = await run('usage --by request --times iso');
    expect(
      usage
        .records()
        .map(({ request }) => request)
        .sort(),
    ).toEqual(ids.sort());
    for (const record of usage.records())
      expect(record).toMatchObject({
        ...{ endpoint: 'user.handle', calls: 1 },
        sentAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      });
  });

  test('that are missing are one group', async () => {
    const { run } = await openDesk();
    await run('whois mira juno');
    const usage = await run('usage --by request');
    expect(usage.records()).toEqual([
      { request: 'unknown', calls: 2, cu: expect.any(Number), reveals: expect.any(Number) },
    ]);
  });
});

describe('hints of a free key', () => {
  test.each([
    ['FORBIDDEN', 'whois quantumhawk gigachad', /Explore\) reveals the wallets of a few/],
    ['QUOTA_EXCEEDED', 'whois mira --no-cache', /Explore\) were granted once/],
  ])('say what its plan has: %s', async (code, words, hint) => {
    const isUsedUp = code === 'QUOTA_EXCEEDED';
    const { run } = await openDesk({ plan: 'explore', ...(isUsedUp && { unitsUsed: 25_000 }) });
    const { stdout, stderr } = await run(`${words}`);
    expect(stdout + stderr).toContain(code);
    expect(stdout + stderr).toMatch(hint);
  });
});
