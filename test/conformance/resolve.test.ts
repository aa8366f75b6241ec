import { describe, expect, it } from 'vitest';
import { ask, bare, costOf, holder, MINUTE, NOON, sandbox, until, verdict, worldWith } from './help.ts';

const found = { outcome: 'found', ms: 3_000, queue: 0 } as const;
const post = { method: 'POST' };

describe('resolve', () => {
  it('answers from a wallet already held: 200, x-service-resolve cached, 30,000 CU', async () => {
    const service = await sandbox();
    const path = `/v2/user/handle/${holder(service)}`;
    const cost = await costOf(service, async () => {
      const reply = await ask(service, `${path}/resolve`, post);
      expect([reply.status, reply.headers.get('x-service-resolve')]).toEqual([200, 'cached']);
      expect(reply.body).toEqual(service.world.users.byHandle(holder(service)));
    });
    expect(cost).toEqual({ cu: 30_000, reveals: 1 });
  });

  it('looks for a wallet live where none is held: 200, x-service-resolve live', async () => {
    const service = await sandbox({ world: worldWith(found) });
    const path = `/v2/user/handle/${bare(service)}`;
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

  it('lets a repeated call join the running resolve, and charges each answer', async () => {
    const service = await sandbox({ world: worldWith(found) });
    const path = `/v2/user/handle/${bare(service)}/resolve`;
    const other = `/v2/user/handle/@${bare(service).toUpperCase()}/resolve`;
    const asked = [ask(service, path, post), ask(service, other, post)];
    await until(() => waiting(service) === 2);
    await service.advance(3_000);
    const replies = await Promise.all(asked);
    expect(replies.map(({ status, headers }) => [status, headers.get('x-service-resolve')])).toEqual([
      [200, 'live'],
      [200, 'live'],
    ]);
    expect(started(service)).toBe(1);
    expect(service.meter().unitsUsed).toBe(60_000);
  });

  it('answers queued with a position that moves, and then with the wallet', async () => {
    const service = await sandbox({ world: worldWith({ outcome: 'found', ms: 2_000, queue: 3 }) });
    const path = `/v2/user/handle/${bare(service)}/resolve`;
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
    expect([started(service), service.meter().unitsUsed]).toEqual([1, 30_000 + 5 * 200]);
  });

  it('answers timeout when the wallet does not come while the call can be held', async () => {
    const service = await sandbox({ world: worldWith({ outcome: 'found', ms: MINUTE, queue: 0 }) });
    const asked = ask(service, `/v2/user/handle/${bare(service)}/resolve`, post);
    await until(() => waiting(service) === 1);
    await service.advance(10_000);
    expect(await asked).toMatchObject({
      status: 202,
      body: { pending: true, reason: 'timeout', retryable: true },
    });
    expect(service.meter().unitsUsed).toBe(200);
  });

  const reasons = ['timeout', 'unavailable', 'rate_limited', 'no_preview', 'not_ingested'] as const;
  it.each(reasons)(
    'answers %s with 202, the fields that it has and no others, for 200 CU',
    async (reason) => {
      const service = await sandbox({ world: worldWith({ outcome: 'pending', reason }) });
      const { status, body } = await ask(service, `/v2/user/handle/${bare(service)}/resolve`, post);
      expect(status).toBe(202);
      expect(body).toEqual({
        pending: true,
        reason,
        retryable: reason !== 'no_preview',
        ...(reason === 'rate_limited' ? { retryAfterSeconds: expect.any(Number) } : {}),
      });
      expect(service.meter()).toMatchObject({ unitsUsed: 200, revealsUsed: 0 });
    },
  );

  it('answers a handle that no user has with 404, for 200 CU', async () => {
    const service = await sandbox();
    expect(await verdict(service, '/v2/user/handle/nobody_at_all/resolve', post)).toBe('404 NOT_OBSERVED');
    expect(service.meter().unitsUsed).toBe(200);
  });

  it('is refused with 402 before any work when the key cannot pay for a hit', async () => {
    const service = await sandbox({ world: worldWith(found), monthlyUnits: 29_999 });
    for (const name of [bare(service), holder(service), 'nobody_at_all']) {
      expect(await verdict(service, `/v2/user/handle/${name}/resolve`, post)).toBe('402 QUOTA_EXCEEDED');
    }
    expect([started(service), service.meter().unitsUsed]).toEqual([0, 0]);
  });

  it('keeps the price of a hit aside while it works, so that nothing else can spend it', async () => {
    const service = await sandbox({ world: worldWith(found), monthlyUnits: 30_150 });
    const asked = ask(service, `/v2/user/handle/${bare(service)}/resolve`, post);
    await until(() => waiting(service) === 1);
    expect(await verdict(service, '/v2/thesis')).toBe('402 QUOTA_EXCEEDED');
    expect(await verdict(service, `/v2/user/handle/${holder(service)}`)).toBe('200');
    await service.advance(3_000);
    expect((await asked).status).toBe(200);
    expect(service.meter().unitsRemaining).toBe(50);
  });

  it('is limited to 10 a minute for each address, over all keys and apart from the plan rate', async () => {
    const service = await sandbox();
    const keys = [service.key, service.addKey({ plan: 'scale' })];
    const path = '/v2/user/handle/nobody_at_all/resolve';
    for (let call = 0; call < 10; call++) {
      expect(await verdict(service, path, { ...post, key: keys[call % 2] ?? null })).toBe('404 NOT_OBSERVED');
    }
    await service.advance(15_000);
    const refused = await ask(service, path, post);
    expect([refused.status, refused.body.error.code, refused.body.retryAfter]).toEqual([
      429,
      'RATE_LIMITED',
      45,
    ]);
    expect(await verdict(service, '/v2/thesis')).toBe('200');
    await service.advance(45_000);
    expect(await verdict(service, path, post)).toBe('404 NOT_OBSERVED');
  });
});

type Service = Awaited<ReturnType<typeof sandbox>>;
const started = (service: Service) => service.state().resolves.started;
const waiting = (service: Service) => service.state().resolves.waiting;
