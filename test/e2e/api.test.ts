import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { deskOf, openDesk, openHome, runInProcess, trdr } from './harness.ts';
import { page, thesis } from './records.ts';
import { type Reply, withService } from './service.ts';

const RAW = '{"b": 1.0,\n "big":12345678901234567890, "text":"\\u001b[2J 🌙"}';

describe('trdr api', () => {
  test('prints the body byte for byte', async () => {
    const service = await withService(() => ({ body: Buffer.from(RAW) }));
    const { exitCode, stdout, stderr } = await trdr('api /openapi.json', { sandbox: service });
    expect([exitCode, stdout, stderr]).toEqual([0, RAW, '']);
  });

  test('indents JSON on a terminal, without active characters', async () => {
    const service = await withService(() => ({
      body: Buffer.from(`${RAW.slice(0, -1)},"bidi":"\u202e"}`),
    }));
    const { stdout } = await runInProcess('api /v2/user/handle/mira', {
      sandbox: service,
      tty: true,
    });
    expect(stdout).toBe(
      '{\n  "b": 1.0,\n  "big": 12345678901234567890,\n  "text": "\\u001b[2J 🌙",\n  "bidi": "\\u202e"\n}\n',
    );
  });

  test('accepts a method, a query, a JSON body or a raw body', async () => {
    const seen: string[] = [];
    const sandbox = await withService(async ({ method, path, request }) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      seen.push(`${method} ${path} ${body}`);
      return { body: {} };
    });
    const home = openHome();
    home.write('body.json', '{"handles":["file"]}');
    const stdin = '{"handles":["stdin"]}';
    for (const words of [
      "v2/thesis -f limit=5 -f 'before=a b'",
      'post /v2/user/handles/pnl -f handles[]=x -f handles[]=y',
      '/v2/user/handles/pnl --input body.json',
      'POST /v2/user/handles/pnl --input -',
      'DELETE /v2/new/thing -f a[b]=c --yes',
    ])
      await home.run(`api ${words}`, { sandbox, stdin });
    expect(seen).toEqual([
      'GET /v2/thesis?limit=5&before=a%20b ',
      'POST /v2/user/handles/pnl {"handles":["x","y"]}',
      'POST /v2/user/handles/pnl {"handles":["file"]}',
      'POST /v2/user/handles/pnl {"handles":["stdin"]}',
      'DELETE /v2/new/thing {"a":{"b":"c"}}',
    ]);
  });

  test('prints status and headers with -i', async () => {
    const { run } = await openDesk();
    const { stdout } = await run('api -i /v2/user/handle/mira');
    const [head = '', body = ''] = stdout.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head).toContain('content-type: application/json');
    expect(JSON.parse(body)).toMatchObject({ handle: 'mira' });
  });

  test('prints the body of an error, reports it on stderr, and exits by its status', async () => {
    const { run } = await openDesk();
    const { exitCode, json, error } = await run('api /v2/user/handle/nobody-at-all');
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ error: { code: 'NOT_OBSERVED' } });
    expect(error()).toMatchObject({ code: 'NOT_OBSERVED', status: 404, exit: 3 });
  });

  test.each([
    [402, 'QUOTA_EXCEEDED', 6],
    [429, 'RATE_LIMITED', 7],
    [418, 'TEAPOT', 9],
    [503, '', 9],
  ])('prints the body of a %i %s, and exits %i', async (status, code, exit) => {
    const body =
      code === '' ? 'no JSON at all' : JSON.stringify({ error: { code, message: 'no' } });
    const service = await withService(() => ({ status, body, headers: { 'retry-after': '9999' } }));
    const words = ['api', '/v2/user/id/x', '--retries', '0'];
    const { exitCode, stdout } = await runInProcess(words, { sandbox: service });
    expect([exitCode, stdout]).toEqual([exit, body]);
  });

  test('creates no file for an error', async () => {
    const { home, run } = await openDesk();
    const out = home.at('answer.json');
    const failed = await run(['api', '/v2/user/handle/nobody-at-all', '--out', out]);
    expect([failed.exitCode, failed.stdout, existsSync(out)]).toEqual([3, '', false]);
    await run(['api', '/v2/user/handle/mira', '--out', out]);
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ handle: 'mira' });
  });

  test.each(['bare', 'wrapped'] as const)('prints a line for each page (%s)', async (envelope) => {
    const { sandbox, run } = await openDesk({ envelope });
    const { exitCode, records } = await run('api /v2/launchpad/thesis --paginate --max-cu 50k');
    expect(exitCode).toBe(0);
    const pages = records().map(
      (page) => (envelope === 'bare' ? page : page['data']) as { items: { id: string }[] },
    );
    expect(pages.length).toBeGreaterThan(1);
    const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(pages.at(-1)).toMatchObject({ hasMore: false, nextBefore: null });
    expect(sandbox.meter().totalUnits).toBe(10 * pages.length);
  });

  test('is not sent if the output cannot be written', async () => {
    const service = await withService(() => ({ body: {} }));
    const words = ['api', '/v2/thesis', '--out', 'none/there.json'];
    const ran = await runInProcess(words, { sandbox: service });
    expect([ran.exitCode, service.calls]).toEqual([2, []]);
  });

  test.each<readonly [string, Reply, object]>([
    [
      'an error',
      { status: 403, body: { error: { code: 'FORBIDDEN', message: 'no' } } },
      { code: 'FORBIDDEN' },
    ],
    ['no page', { body: { other: true } }, { code: 'BAD_ANSWER' }],
  ])('that gets %s on page three prints all, and how to continue', async (_, third, failure) => {
    const service = await withService(({ path }) => {
      const before = /before=t(\d+)/.exec(path)?.[1];
      const from = before === undefined ? 0 : Number(before) + 1;
      if (from === 4) return third;
      const items = [thesis(from), thesis(from + 1)];
      return { body: { ...page(items), hasMore: true, nextBefore: `t${from + 1}` } };
    });
    const words = ['api', '/v2/thesis', '--paginate', '--max-cu', '10k', '--retries', '0'];
    const ran = await runInProcess(words, { sandbox: service });
    expect(ran.error()).toMatchObject(failure);
    expect(ran.error()['hint']).toContain('/v2/thesis?before=t3');
    expect(ran.records()).toHaveLength(3);
  });

  test('prints what is not JSON in place of an answer, and fails', async () => {
    const service = await withService(() => ({ body: '<html>sign in</html>' }), { ownMe: true });
    for (const path of ['/v2/me', '/openapi.json', '/v2/user/handle/mira']) {
      const ran = await runInProcess(['api', path, '--retries', '0'], { sandbox: service });
      expect([ran.exitCode, ran.stdout]).toEqual([9, '<html>sign in</html>']);
      expect(ran.error()).toMatchObject({
        code: 'BAD_ANSWER',
        message: `the answer of GET ${path} is not JSON`,
      });
    }
    const other = await runInProcess(['api', '/v2/unheard/of', '--yes'], { sandbox: service });
    expect(other.exitCode).toBe(0);
  });

  test('shows the calls of --dry-run and sends nothing', async () => {
    const service = await withService(() => ({ body: {} }));
    const plan = async (...words: string[]) =>
      (await runInProcess(['api', ...words, '--dry-run'], { sandbox: service })).records()[0];
    expect(
      await plan('POST', '/v2/user/handles/pnl', '-f', 'handles[]=a', '-f', 'handles[]=b'),
    ).toMatchObject({
      endpoint: 'users.pnl',
      body: { handles: ['a', 'b'] },
      least: 400,
      most: 60_000,
    });
    expect(await plan('/v2/thesis?limit=40')).toMatchObject({ least: 400, most: 400 });
    expect(await plan('/v2/thesis', '--paginate')).toMatchObject({
      times: null,
      least: 200,
      most: null,
    });
    expect(await plan('/v2/unheard/of')).toMatchObject({
      endpoint: 'GET /v2/unheard/of',
      least: null,
      most: null,
    });
    expect(await plan('/openapi.json')).toMatchObject({ least: 0, most: 0 });
    expect(service.calls).toEqual([]);
  });

  test('sends a call of unknown cost only with consent, and never under a limit', async () => {
    const service = await withService(() => ({ body: {} }));
    const call = 'api /v2/unheard/of';
    const { run } = deskOf(service);
    const refused = await run(call);
    const limited = await run(`${call} --max-cu 1M`);
    const agreed = await run(`${call} --max-cu 1M --yes`);
    const declined = await run(call, { tty: true, typed: ['n\r'] });
    const exits = [refused, limited, agreed, declined].map(({ exitCode }) => exitCode);
    expect([exits, service.calls]).toEqual([[11, 6, 6, 11], []]);
    expect(refused.error()).toMatchObject({
      code: 'CONFIRMATION_NEEDED',
      message: expect.stringContaining('cost is unknown'),
      hint: expect.stringContaining('--yes'),
    });
    for (const query of ['limit=1000', 'limit=1&limit=100']) {
      const wrong = await run(`api /v2/thesis?${query}`);
      expect(wrong.error()).toMatchObject({
        exit: 11,
        message: expect.stringContaining('GET /v2/thesis does not accept this request'),
      });
    }
    expect(service.calls).toEqual([]);
    expect((await run(`${call} --yes`)).exitCode).toBe(0);
    const typed = await run(call, { tty: true, typed: ['y\r'] });
    expect([typed.exitCode, service.calls.length]).toEqual([0, 2]);
    expect(typed.stderr).toContain('GET /v2/unheard/of is not an endpoint known to trdr');
  });

  test.each([
    ['POST', '/v2/user/handles/pnl/'],
    ['POST', '/v2/user//handles/pnl'],
    ['GET', '/v2/user/%77allet/0xabc'],
  ])('rejects %s %s, free of charge, even with consent', async (method, path) => {
    const service = await withService(() => ({ body: {} }));
    const words = ['api', method, path, '--yes'];
    const { exitCode, error } = await runInProcess(words, { sandbox: service });
    expect([exitCode, error()['code'], service.calls.length]).toEqual([2, 'USAGE', 0]);
    expect((await runInProcess([...words, '--dry-run'], { sandbox: service })).exitCode).toBe(2);
  });
});
