import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { plans } from '../../src/contract/limits.ts';
import {
  ask,
  bearer,
  expectAnswers,
  handlesWhere,
  holdsWallet,
  MINUTE,
  rejectedHandshake,
  sandbox,
  statusAndCode,
  walletHolder,
  walletless,
} from './help.ts';

const DAY = 86_400_000;
const page = '/v2/thesis';

describe('the allowance', () => {
  it('rejects calls that exceed it with 402 QUOTA_EXCEEDED, and allows cheaper ones', async () => {
    const service = await sandbox({ monthlyUnits: 550 });
    await expectAnswers(service, [
      [`${page}?limit=40`, '200'],
      [page, '402 QUOTA_EXCEEDED'],
      [`/v2/user/handle/${walletHolder(service)}`, '200'],
      ['/v2/launchpad/thesis', '200'],
    ]);
    expect(service.meter()).toMatchObject({ unitsUsed: 510, unitsRemaining: 40 });
  });

  it('rejects a hit that it cannot pay, even if it could pay a miss', async () => {
    const service = await sandbox({ monthlyUnits: 1_000 });
    const user = service.world.user(walletHolder(service));
    await expectAnswers(service, [
      [`/v2/user/wallet/${user?.solanaAddress ?? user?.evmAddress}`, '402 QUOTA_EXCEEDED'],
      [`/v2/user/handle/${user?.handle}/pnl`, '402 QUOTA_EXCEEDED'],
      ['/v2/user/handle/nobody_at_all/pnl', '404 NOT_OBSERVED'],
    ]);
    expect(service.meter().totalUnits).toBe(200);
  });

  it('grows at once with a top-up, which is spent last', async () => {
    const service = await sandbox({ monthlyUnits: 300 });
    await ask(service, page);
    expect(await statusAndCode(service, page)).toBe('402 QUOTA_EXCEEDED');
    service.topUp(1_000);
    expect(await statusAndCode(service, page)).toBe('200');
    expect(service.meter()).toMatchObject({
      unitsUsed: 400,
      unitsRemaining: 0,
      additionalUnits: 900,
    });
  });

  it('is renewed every UTC month; only top-ups carry over', async () => {
    const service = await sandbox({
      now: Date.UTC(2026, 0, 31, 23, 59),
      monthlyUnits: 500,
      additionalUnits: 1_000,
    });
    await ask(service, `${page}?limit=60`);
    expect(service.meter()).toMatchObject({
      period: '2026-01',
      unitsUsed: 600,
      unitsRemaining: 0,
      additionalUnits: 900,
    });
    await service.advance(60_000);
    expect(service.meter()).toMatchObject({
      period: '2026-02',
      unitsUsed: 0,
      unitsRemaining: 500,
      additionalUnits: 900,
      revealsUsed: 0,
    });
  });

  it('is granted only once on Explore', async () => {
    const service = await sandbox({ plan: 'explore' });
    await ask(service, `${page}?limit=100`);
    service.setClock(service.clock.now() + 40 * DAY);
    expect(service.meter()).toMatchObject({ unitsUsed: 0, unitsRemaining: 24_000 });
  });

  it('and the rate limit match each plan', async () => {
    const grants = {
      explore: 25_000,
      starter: 1e6,
      builder: 5e6,
      growth: 20e6,
      scale: 75e6,
    } as const;
    const service = await sandbox();
    for (const plan of ['explore', 'starter', 'builder', 'growth', 'scale'] as const) {
      const { body } = await ask(service, '/v2/me', { key: service.addKey({ plan }) });
      const { ratePerMinute, entitlement, usage } = body;
      expect([plan, ratePerMinute]).toEqual([plan, plans[plan].ratePerMinute]);
      expect([entitlement.monthlyUnits, usage.unitsRemaining]).toEqual([
        grants[plan],
        grants[plan],
      ]);
    }
  });

  it('is counted but not enforced for an unmetered key', async () => {
    const service = await sandbox({ unmetered: true, monthlyUnits: 100, revealsPerMonth: 0 });
    const user = service.world.user(walletHolder(service));
    expect(await statusAndCode(service, `/v2/user/handle/${user?.handle}/pnl`)).toBe('200');
    expect((await ask(service, '/v2/me')).body).toMatchObject({
      entitlement: { unmetered: true, monthlyUnits: 100 },
      usage: { unitsUsed: 30_000, unitsRemaining: null, revealsUsed: 1, revealsRemaining: null },
    });
  });
});

describe('wallet reveals', () => {
  it('have their own limit, 402 REVEAL_LIMIT_REACHED, which top-ups do not raise', async () => {
    const service = await sandbox({ revealsPerMonth: 2, additionalUnits: 1_000_000 });
    const [one, two, three] = handlesWhere(service, holdsWallet);
    await expectAnswers(service, [
      [`/v2/user/handle/${one}`, '200'],
      [`/v2/user/handle/${two}`, '200'],
    ]);
    const used = service.meter().totalUnits;
    service.topUp(1_000_000);
    const answer = '402 REVEAL_LIMIT_REACHED';
    await expectAnswers(service, [
      [`/v2/user/handle/${three}`, answer],
      [`/v2/user/handle/${three}/pnl`, answer],
      ['/v2/user/handles/pnl', answer, { body: { handles: [three, 'gone'] } }],
      [`/v2/user/handle/${three}/resolve`, answer, { method: 'POST' }],
    ]);
    expect(service.meter()).toMatchObject({ totalUnits: used, revealsRemaining: 0 });
    await expectAnswers(service, [
      [`/v2/user/handle/${walletless(service)}`, '200'],
      [page, '200'],
    ]);
  });

  it('are renewed every month', async () => {
    const service = await sandbox({ revealsPerMonth: 1 });
    const path = `/v2/user/handle/${walletHolder(service)}`;
    await ask(service, path);
    service.setClock(service.clock.now() + 40 * DAY);
    expect(await statusAndCode(service, path)).toBe('200');
  });
});

const me = '/v2/me';

describe('the rate limit', () => {
  it('covers all endpoints of one key, and states how long to wait', async () => {
    const service = await sandbox({ plan: 'explore' });
    for (let call = 0; call < 30; call++) {
      expect((await ask(service, me)).status).toBe(200);
      expect((await ask(service, '/v2/thesis?limit=0')).status).toBe(400);
      if (call === 0) await service.advance(20_000);
    }
    const { status, body } = await ask(service, '/v2/launchpad/thesis');
    expect(status).toBe(429);
    expect(body).toEqual({
      error: { code: 'RATE_LIMITED', message: expect.any(String) },
      retryAfter: 40,
    });
    expect((await rejectedHandshake(service, bearer(service.key))).status).toBe(429);
    expect(await statusAndCode(service, me, { key: service.addKey({}) })).toBe('200');
    await service.advance(40_000);
    expect(await statusAndCode(service, me)).toBe('200');
  });

  it('does not count rejected calls', async () => {
    const service = await sandbox({ ratePerMinute: 2 });
    await ask(service, me);
    await service.advance(MINUTE / 2);
    await ask(service, me);
    for (let call = 0; call < 5; call++)
      expect(await statusAndCode(service, me)).toBe('429 RATE_LIMITED');
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
    const call = request(
      `${url}${me}`,
      { localAddress, headers: bearer(key), agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    call.on('error', reject);
    call.end();
  });
}
