import { describe, expect, it } from 'vitest';
import { recognize } from '../../src/contract/record-types.ts';
import { Me, readAccount } from '../../src/contract/records/account.ts';
import { ask, NOON, sandbox, statusAndCode, walletHolder } from './help.ts';

describe('GET /v2/me', () => {
  it('shows account, plan, scopes, entitlement and usage', async () => {
    const service = await sandbox({ additionalUnits: 500, revealsPerMonth: 40 });
    await ask(service, `/v2/user/handle/${walletHolder(service)}`);
    const { status, body } = await ask(service, '/v2/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ratePerMinute: 600,
      entitlement: { unmetered: false, monthlyUnits: 20_000_000 },
      usage: {
        period: '2026-05',
        unitsUsed: 100,
        unitsRemaining: 19_999_900,
        additionalUnits: 500,
        revealsUsed: 1,
        revealsRemaining: 39,
      },
    });
    expect(readAccount(Me.parse(body))).toMatchObject({
      account: 'Sandbox',
      plan: 'Growth',
      ratePerMinute: 600,
    });
    expect(readAccount(Me.parse(body)).scopes).toContain('feed:live');
  });

  it('shows null reveals for a key without a cap', async () => {
    const service = await sandbox({ plan: 'enterprise' });
    expect((await ask(service, '/v2/me')).body.usage.revealsRemaining).toBeNull();
  });
});

/** Every endpoint of the service description. */
const calls = [
  'GET /v2/user/handle/{handle}',
  'GET /v2/user/wallet/{address}',
  'GET /v2/user/id/{id}',
  'POST /v2/user/handle/{handle}/resolve',
  'GET /v2/user/handle/{handle}/pnl',
  'POST /v2/user/handles/pnl',
  'GET /v2/thesis',
  'GET /v2/thesis/token/{tokenAddress}',
  'GET /v2/thesis/user/{id}',
  'GET /v2/thesis/user/{id}/token/{tokenAddress}',
  'GET /v2/launchpad/user/wallet/{wallet}',
  'GET /v2/launchpad/thesis',
  'GET /v2/launchpad/thesis/token/{mint}',
  'GET /v2/launchpad/thesis/wallet/{wallet}',
  'GET /v2/launchpad/leaderboard/traders',
  'GET /v2/me',
  'GET /v2/ws',
  'GET /openapi.json',
];

describe('GET /openapi.json', () => {
  it('is the OpenAPI 3.1.0 description, version 1.1.0, of every endpoint', async () => {
    const { status, body } = await ask(await sandbox(), '/openapi.json');
    expect([status, body.openapi, body.info.version]).toEqual([200, '3.1.0', '1.1.0']);
    const listed = Object.entries<object>(body.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.sort()).toEqual([...calls].sort());
  });

  it('requires a key but no scope', async () => {
    const service = await sandbox({ scopes: [] });
    expect(await statusAndCode(service, '/openapi.json', { key: null })).toBe('401 UNAUTHORIZED');
    expect(await statusAndCode(service, '/openapi.json')).toBe('200');
  });
});

describe('open questions of the description are options', () => {
  it('envelope: responses are bare, or wrapped in data and meta', async () => {
    const bare = await sandbox({ envelope: 'bare' });
    const wrapped = await sandbox({ envelope: 'wrapped' });
    const path = `/v2/user/handle/${walletHolder(bare)}`;
    const record = (await ask(bare, path)).body;
    const { body } = await ask(wrapped, path);
    expect(body).toEqual({
      data: record,
      meta: { asOf: new Date(NOON).toISOString(), requestId: expect.stringMatching(/^req_/) },
    });
    expect(recognize('user', body)?.record).toEqual(record);
    const other = (await ask(wrapped, path)).body;
    expect(other.meta.requestId).not.toBe(body.meta.requestId);
  });

  it('envelope: errors and the OpenAPI document are never wrapped', async () => {
    const service = await sandbox({ envelope: 'wrapped' });
    expect(Object.keys((await ask(service, '/v2/thesis?limit=0')).body)).toEqual(['error']);
    expect((await ask(service, '/openapi.json')).body.openapi).toBe('3.1.0');
  });
});
