import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ask, bearer, MINUTE, rejectedHandshake, sandbox, statusAndCode } from './help.ts';

const me = '/v2/me';

describe('the rate limit', () => {
  it('covers all endpoints of a key, and states how long to wait', async () => {
    const service = await sandbox({ plan: 'explore' });
    for (let call = 0; call < 30; call++) {
      expect((await ask(service, me)).status).toBe(200);
      expect((await ask(service, '/v2/thesis?limit=0')).status).toBe(400);
      if (call === 0) await service.advance(20_000);
    }
    const { status, body } = await ask(service, '/v2/launchpad/thesis');
    expect(status).toBe(429);
    expect(body).toEqual({ error: { code: 'RATE_LIMITED', message: expect.any(String) }, retryAfter: 40 });
    expect((await rejectedHandshake(service, bearer(service.key))).status).toBe(429);
    await service.advance(40_000);
    expect(await statusAndCode(service, me)).toBe('200');
  });

  it('is separate for each key', async () => {
    const service = await sandbox({ ratePerMinute: 1 });
    const other = service.addKey({ ratePerMinute: 1 });
    expect(await statusAndCode(service, me)).toBe('200');
    expect(await statusAndCode(service, me)).toBe('429 RATE_LIMITED');
    expect(await statusAndCode(service, me, { key: other })).toBe('200');
  });

  it('does not count rejected calls', async () => {
    const service = await sandbox({ ratePerMinute: 2 });
    await ask(service, me);
    await service.advance(MINUTE / 2);
    await ask(service, me);
    for (let call = 0; call < 5; call++) expect(await statusAndCode(service, me)).toBe('429 RATE_LIMITED');
    await service.advance(MINUTE / 2);
    expect(await statusAndCode(service, me)).toBe('200');
    expect(await statusAndCode(service, me)).toBe('429 RATE_LIMITED');
  });
});

describe('the burst limit', () => {
  it('covers all keys of an address', async () => {
    const service = await sandbox({ burstPerSecond: 3 });
    const keys = [service.key, service.addKey({}), service.addKey({}), service.addKey({})];
    const verdicts: string[] = [];
    for (const key of keys) verdicts.push(await statusAndCode(service, me, { key }));
    expect(verdicts).toEqual(['200', '200', '200', '429 RATE_LIMITED']);
    expect(await statusFrom('127.0.0.2', service.url, service.key)).toBe(200);
    await service.advance(1_000);
    expect(await statusAndCode(service, me)).toBe('200');
  });
});

/** A call from another address of this machine. */
function statusFrom(localAddress: string, url: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}${me}`, { localAddress, headers: bearer(key), agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on('error', reject);
    call.end();
  });
}
