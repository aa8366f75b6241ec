import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  ask,
  bearer,
  first,
  handlesWhere,
  holdsWallet,
  NOON,
  sandbox,
  statusAndCode,
  walletHolder,
} from '../conformance/help.ts';

type Service = Awaited<ReturnType<typeof sandbox>>;
const steer = (service: Service, verb: string, body?: unknown, headers = {}) =>
  ask(service, `/_sandbox/${verb}`, { key: null, headers, method: 'POST', body: body ?? {} });

describe('control operations', () => {
  it('return the state, the usage and the log', async () => {
    const service = await sandbox();
    await ask(service, '/v2/thesis');
    const state = (await steer(service, 'state')).body;
    expect(state).toMatchObject({ now: NOON, requests: 1, theses: 600, faults: { spec: '' }, sockets: [] });
    expect((await steer(service, 'meter')).body[service.key]).toMatchObject({
      unitsUsed: 200,
      plan: 'growth',
    });
    expect((await steer(service, 'log')).body).toMatchObject([
      { endpoint: 'thesis.all', status: 200, cu: 200 },
    ]);
  });

  it('move the clock, publish posts and withhold them', async () => {
    const service = await sandbox();
    expect((await steer(service, 'clock', { advanceMs: 5_000 })).body).toEqual({ now: NOON + 5_000 });
    const [post] = (await steer(service, 'post', { count: 1 })).body;
    const newest = async () => (await ask(service, '/v2/thesis?limit=1')).body.items[0].id;
    expect(await newest()).toBe(post.id);
    await steer(service, 'withhold', { id: post.id, ms: 60_000 });
    expect(await newest()).not.toBe(post.id);
    await steer(service, 'clock', { now: NOON + 120_000 });
    expect(await newest()).toBe(post.id);
    await steer(service, 'remove', { id: post.id });
    expect(await newest()).not.toBe(post.id);
  });

  it('rejects more posts at once than a response can contain', async () => {
    const service = await sandbox();
    const refused = await steer(service, 'post', { count: 100_000_000 });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'CONTROL']);
    expect(refused.body.error.message).toContain('count');
    expect((await steer(service, 'post', { count: 10_000 })).body).toHaveLength(10_000);
  });

  it('change faults, create keys and top them up', async () => {
    const service = await sandbox();
    expect((await steer(service, 'faults', { spec: '500@me' })).body).toEqual({ spec: '500@me' });
    expect(await statusAndCode(service, '/v2/me')).toBe('500 INTERNAL_ERROR');
    await steer(service, 'faults', { spec: '' });
    const made = (await steer(service, 'key', { plan: 'starter', mode: 'live', monthlyUnits: 100 })).body;
    expect(made).toMatchObject({ plan: 'starter', key: expect.stringMatching(/^trdr_live_/) });
    expect(await statusAndCode(service, '/v2/thesis', { key: made.key })).toBe('402 QUOTA_EXCEEDED');
    await steer(service, 'topUp', { key: made.key, units: 100 });
    expect(await statusAndCode(service, '/v2/thesis', { key: made.key })).toBe('200');
  });

  it('rename users and simulate a restart', async () => {
    const service = await sandbox();
    await steer(service, 'rename', { handle: walletHolder(service), to: 'new_name' });
    expect(await statusAndCode(service, '/v2/user/handle/new_name')).toBe('200');
    expect((await steer(service, 'restart', {})).status).toBe(200);
    expect(await statusAndCode(service, '/v2/me')).toBe('200');
  });

  it('explain why a request is invalid', async () => {
    const service = await sandbox();
    expect((await steer(service, 'nothing')).status).toBe(404);
    expect((await steer(service, 'faults', { spec: 'nonsense' })).body.error).toMatchObject({
      message: expect.stringContaining('nonsense'),
      hint: expect.stringContaining('delay'),
    });
    expect(await steer(service, 'clock', { now: 'soon' })).toMatchObject({
      status: 400,
      body: { error: { message: 'now must be a number.' } },
    });
    expect(await steer(service, 'clock', '{')).toMatchObject({
      status: 400,
      body: { error: { message: 'The body is not valid JSON.' } },
    });
    expect((await steer(service, 'faults', 'x'.repeat(1024 * 1024 + 1))).body.error.message).toContain(
      '1 MiB',
    );
    expect((await steer(service, 'rename', { handle: 'nobody_at_all', to: 'x' })).status).toBe(400);
  });

  it('reject web pages and other host names, and state the reason', async () => {
    const service = await sandbox();
    const fromPage = await steer(service, 'state', undefined, { origin: 'https://example.com' });
    expect(fromPage.status).toBe(403);
    expect(JSON.stringify(fromPage.body)).toContain('Origin header');
    const answer = await new Promise<string>((resolve) => {
      const headers = { host: 'example.com' };
      request(`${service.url}/_sandbox/state`, { method: 'POST', headers }, async (response) => {
        let text = `${response.statusCode} `;
        for await (const part of response) text += part;
        resolve(text);
      }).end();
    });
    expect(answer).toMatch(/^403 .*host name/);
    expect((await fetch(`${service.url}/_sandbox/restart`)).status).toBe(405);
  });

  it('need no key and do not count as requests', async () => {
    const service = await sandbox({ ratePerMinute: 1 });
    for (let call = 0; call < 5; call++) expect((await steer(service, 'state')).status).toBe(200);
    expect(service.log).toEqual([]);
  });
});

describe('several sandboxes', () => {
  it('are independent of each other in one process', async () => {
    const [one, two] = [await sandbox(), await sandbox()];
    await ask(one, '/v2/thesis');
    expect([one.meter().totalUnits, two.meter().totalUnits]).toEqual([200, 0]);
    expect(one.port).not.toBe(two.port);
  });

  it('are identical for the same seed', async () => {
    const [one, two, other] = [await sandbox(), await sandbox(), await sandbox({ seed: 2 })];
    expect(one.key).toBe(two.key);
    expect(one.key).not.toBe(other.key);
    const path = `/v2/user/handle/${encodeURIComponent(first(handlesWhere(one, holdsWallet)))}`;
    expect((await ask(one, path)).body).toEqual((await ask(two, path)).body);
  });

  it('accept a fixed port and key, and report a port that is in use', async () => {
    const one = await sandbox({ key: 'trdr_test_mine' });
    expect(one.key).toBe('trdr_test_mine');
    await expect(sandbox({ port: one.port })).rejects.toThrow(/EADDRINUSE/);
    await one.close();
    const again = await sandbox({ port: one.port });
    const reply = await fetch(`${again.url}/v2/me`, { headers: bearer(again.key) });
    expect([again.port, reply.status]).toEqual([one.port, 200]);
  });
});
