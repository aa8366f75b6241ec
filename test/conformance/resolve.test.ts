import { describe, expect, it } from 'vitest';
import {
  ask,
  costOf,
  MINUTE,
  NOON,
  sandbox,
  statusAndCode,
  until,
  walletHolder,
  walletless,
  worldWith,
} from './help.ts';

const found = { outcome: 'found', ms: 3_000, queue: 0 } as const;
const post = { method: 'POST' };

describe('resolve', () => {
  it.each([
    ['throttled', 'rate_limited', true],
    ['lateanswer', 'timeout', true],
    ['cannotsay', 'unavailable', true],
    ['newcomer', 'not_ingested', true],
    ['nowallet', 'no_preview', false],
  ])('of %s stays pending, for 200 CU: %s', async (handle, reason, retryable) => {
    const service = await sandbox();
    const path = `/v2/user/handle/${handle}/resolve`;
    const cost = await costOf(service, async () => {
      for (let round = 0; round < 2; round++) {
        const { status, body } = await ask(service, path, post);
        const wait = reason === 'rate_limited' && { retryAfterSeconds: expect.any(Number) };
        expect([status, body]).toEqual([202, { pending: true, reason, retryable, ...wait }]);
      }
    });
    expect(cost).toEqual({ cu: 400, reveals: 0 });
  });

  it('returns a verified wallet: 200, x-service-resolve cached, 30,000 CU', async () => {
    const service = await sandbox();
    const path = `/v2/user/handle/${walletHolder(service)}`;
    const cost = await costOf(service, async () => {
      const reply = await ask(service, `${path}/resolve`, post);
      expect([reply.status, reply.headers.get('x-service-resolve')]).toEqual([200, 'cached']);
      expect(reply.body).toEqual(service.world.user(walletHolder(service)));
    });
    expect(cost).toEqual({ cu: 30_000, reveals: 1 });
  });

  it('searches an unverified wallet live: 200, x-service-resolve live', async () => {
    const service = await sandbox({ world: worldWith(found) });
    const path = `/v2/user/handle/${walletless(service)}`;
    const asked = ask(service, `${path}/resolve`, post);
    await until(() => waiting(service) === 1);
    await service.advance(3_000);
    const reply = await asked;
    expect([reply.status, reply.headers.get('x-service-resolve')]).toEqual([200, 'live']);
    expect(reply.body.solanaAddress ?? reply.body.evmAddress).not.toBeNull();
    expect((await ask(service, path)).body).toEqual(reply.body);
    const again = await ask(service, `${path}/resolve`, post);
    expect(again.headers.get('x-service-resolve')).toBe('cached');
  });

  it('joins a running resolve, and charges each response', async () => {
    const service = await sandbox({ world: worldWith(found) });
    const path = `/v2/user/handle/${walletless(service)}/resolve`;
    const other = `/v2/user/handle/@${walletless(service).toUpperCase()}/resolve`;
    const asked = [ask(service, path, post), ask(service, other, post)];
    await until(() => waiting(service) === 2);
    await service.advance(3_000);
    const replies = await Promise.all(asked);
    expect(
      replies.map(({ status, headers }) => [status, headers.get('x-service-resolve')]),
    ).toEqual([
      [200, 'live'],
      [200, 'live'],
    ]);
    expect(started(service)).toBe(1);
    expect(service.meter().totalUnits).toBe(60_000);
  });

  it('returns queued with a moving position, then the wallet', async () => {
    const service = await sandbox({ world: worldWith({ outcome: 'found', ms: 2_000, queue: 3 }) });
    const path = `/v2/user/handle/${walletless(service)}/resolve`;
    const { body } = await ask(service, path, post);
    expect(body).toEqual({
      pending: true,
      reason: 'queued',
      retryable: true,
      retryAfterSeconds: expect.any(Number),
      position: 3,
    });
    const positions: number[] = [];
    for (let seconds = 0; seconds < body.retryAfterSeconds - 1; seconds++) {
      await service.advance(1_000);
      positions.push((await ask(service, path, post)).body.position);
    }
    expect(positions).toEqual([3, 2, 1, 1]);
    await service.advance(1_000 * body.retryAfterSeconds - service.clock.now() + NOON);
    const asked = ask(service, path, post);
    await until(() => waiting(service) === 1);
    await service.advance(2_000);
    expect((await asked).status).toBe(200);
    expect([started(service), service.meter().totalUnits]).toEqual([1, 30_000 + 5 * 200]);
  });

  it('returns timeout if the wallet takes too long', async () => {
    const service = await sandbox({ world: worldWith({ outcome: 'found', ms: MINUTE, queue: 0 }) });
    const asked = ask(service, `/v2/user/handle/${walletless(service)}/resolve`, post);
    await until(() => waiting(service) === 1);
    await service.advance(10_000);
    expect(await asked).toMatchObject({
      status: 202,
      body: { pending: true, reason: 'timeout', retryable: true },
    });
    expect(service.meter().totalUnits).toBe(200);
  });

  it('is rejected with 402 before any work if the key cannot pay for a hit', async () => {
    const service = await sandbox({ world: worldWith(found), monthlyUnits: 29_999 });
    for (const name of [walletless(service), walletHolder(service), 'nobody_at_all']) {
      expect(await statusAndCode(service, `/v2/user/handle/${name}/resolve`, post)).toBe(
        '402 QUOTA_EXCEEDED',
      );
    }
    expect([started(service), service.meter().totalUnits]).toEqual([0, 0]);
  });

  it('reserves the price of a hit while it runs', async () => {
    const service = await sandbox({ world: worldWith(found), monthlyUnits: 30_150 });
    const asked = ask(service, `/v2/user/handle/${walletless(service)}/resolve`, post);
    await until(() => waiting(service) === 1);
    expect(await statusAndCode(service, '/v2/thesis')).toBe('402 QUOTA_EXCEEDED');
    expect(await statusAndCode(service, `/v2/user/handle/${walletHolder(service)}`)).toBe('200');
    await service.advance(3_000);
    expect((await asked).status).toBe(200);
    expect(service.meter().unitsRemaining).toBe(50);
  });

  it('is limited to 10 per minute and address, across keys', async () => {
    const service = await sandbox();
    const keys = [service.key, service.addKey({ plan: 'scale' })];
    const path = '/v2/user/handle/nobody_at_all/resolve';
    for (let call = 0; call < 10; call++) {
      expect(await statusAndCode(service, path, { ...post, key: keys[call % 2] ?? null })).toBe(
        '404 NOT_OBSERVED',
      );
    }
    await service.advance(15_000);
    const refused = await ask(service, path, post);
    expect([refused.status, refused.body.error.code, refused.body.retryAfter]).toEqual([
      429,
      'RATE_LIMITED',
      45,
    ]);
    expect(await statusAndCode(service, '/v2/thesis')).toBe('200');
    await service.advance(45_000);
    expect(await statusAndCode(service, path, post)).toBe('404 NOT_OBSERVED');
  });
});

type Service = Awaited<ReturnType<typeof sandbox>>;
const started = (service: Service) => service.counts.resolvesStarted;
const waiting = (service: Service) => service.counts.resolvesWaiting;
