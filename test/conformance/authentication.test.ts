import { describe, expect, it } from 'vitest';
import { pathOf } from '../../src/contract/endpoint.ts';
import { type EndpointId, endpointIds, endpoints } from '../../src/contract/endpoints.ts';
import {
  ask,
  connect,
  costOf,
  expectAnswers,
  first,
  handlesWhere,
  holdsWallet,
  sandbox,
  statusAndCode,
  walletless,
} from './help.ts';

const address = 'So11111111111111111111111111111111111111112';
const id = '3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a11';
const params = {
  handle: 'mira',
  address,
  id,
  tokenAddress: address,
  wallet: address,
  mint: address,
};
const call = (of: EndpointId) => ({
  path: pathOf(endpoints[of].path, params),
  method: endpoints[of].method,
  ...(of === 'users.pnl' ? { body: { handles: ['mira'] } } : {}),
});
const scoped = endpointIds.filter((each) => each !== 'me');

describe('authentication', () => {
  it('accepts live and test keys, as Bearer or as X-Api-Key', async () => {
    const service = await sandbox();
    const live = service.addKey({ mode: 'live' });
    expect([service.key, live]).toEqual([
      expect.stringMatching(/^trdr_test_\w+$/),
      expect.stringMatching(/^trdr_live_\w+$/),
    ]);
    for (const key of [service.key, live])
      await expectAnswers(service, [
        ['/v2/me', '200', { key }],
        ['/v2/me', '200', { key: null, headers: { 'X-Api-Key': key } }],
      ]);
  });

  it('responds 401 UNAUTHORIZED without a valid key, and 403 FORBIDDEN_SCOPE without the scope, free of charge', async () => {
    const service = await sandbox({ scopes: [] });
    for (const of of endpointIds) {
      const { path, ...rest } = call(of);
      for (const key of [null, 'trdr_test_wrong']) {
        const { status, body } = await ask(service, path, { ...rest, key });
        const error = { code: 'UNAUTHORIZED', message: expect.any(String) };
        expect([of, status, body]).toEqual([of, 401, { error }]);
      }
      if (of !== 'me')
        expect([of, await statusAndCode(service, path, rest)]).toEqual([of, '403 FORBIDDEN_SCOPE']);
    }
    expect(service.meter().totalUnits).toBe(0);
  });

  it('grants each scope only its own group', async () => {
    const service = await sandbox();
    const scopes = {
      identity: 'identity:read',
      numbers: 'numbers:read',
      theses: 'feed:read',
      launchpad: 'launchpad:read',
    } as const;
    for (const [group, scope] of Object.entries(scopes)) {
      const key = service.addKey({ scopes: [scope] });
      for (const of of scoped) {
        const { path, ...rest } = call(of);
        const { status } = await ask(service, path, { ...rest, key });
        expect(`${of} ${status === 403}`).toBe(`${of} ${endpoints[of].group !== group}`);
      }
    }
  });

  it('accepts any valid key for me', async () => {
    const service = await sandbox({ scopes: [], monthlyUnits: 0 });
    expect(await statusAndCode(service, '/v2/me')).toBe('200');
  });

  it('responds 403 FREE_TIER_DISABLED to a key without an allowance', async () => {
    const service = await sandbox({ plan: 'explore', monthlyUnits: 0 });
    expect(await statusAndCode(service, '/v2/thesis')).toBe('403 FREE_TIER_DISABLED');
    service.topUp(200);
    expect(await statusAndCode(service, '/v2/thesis')).toBe('200');
    expect(await statusAndCode(service, '/v2/thesis')).toBe('402 QUOTA_EXCEEDED');
  });
});

describe('plans', () => {
  it('include every REST endpoint', async () => {
    const service = await sandbox();
    for (const plan of ['starter', 'builder', 'growth', 'scale', 'enterprise', 'legacy'] as const) {
      const key = service.addKey({ plan });
      for (const of of endpointIds) {
        const { path, ...rest } = call(of);
        expect([200, 202, 404]).toContain((await ask(service, path, { ...rest, key })).status);
      }
    }
  });

  it('from Growth on include the live feed, and so do legacy plans', async () => {
    const service = await sandbox();
    for (const plan of ['growth', 'scale', 'enterprise', 'legacy'] as const) {
      const socket = await connect(service, service.addKey({ plan }));
      expect((await socket.next()).type).toBe('ready');
    }
  });

  it('reveal only sample accounts to a free key, and users without wallets; others are 403 FORBIDDEN, free of charge', async () => {
    const service = await sandbox({ plan: 'explore', additionalUnits: 1_000_000 });
    const { world } = service;
    const { isSample } = world;
    const sample = first(handlesWhere(service, (user) => holdsWallet(user) && isSample(user.id)));
    const other = first(handlesWhere(service, (user) => holdsWallet(user) && !isSample(user.id)));
    const user = world.user(other);
    await expectAnswers(service, [
      [`/v2/user/handle/${sample}`, '200'],
      [`/v2/user/handle/${sample}/pnl`, '200'],
      [`/v2/user/handle/${walletless(service)}`, '200'],
      ['/v2/user/handle/nobody_at_all', '404 NOT_OBSERVED'],
    ]);
    const answer = '403 FORBIDDEN';
    const cost = await costOf(service, () =>
      expectAnswers(service, [
        [`/v2/user/handle/${other}`, answer],
        [`/v2/user/id/${user?.id}`, answer],
        [`/v2/user/wallet/${user?.solanaAddress ?? user?.evmAddress}`, answer],
        [`/v2/user/handle/${other}/pnl`, answer],
        ['/v2/user/handles/pnl', answer, { body: { handles: [sample, other] } }],
        [`/v2/user/handle/${other}/resolve`, answer, { method: 'POST' }],
      ]),
    );
    expect(cost).toEqual({ cu: 0, reveals: 0 });
  });
});
