import { describe, expect, it } from 'vitest';
import { ask, sandbox, statusAndCode } from './help.ts';

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
