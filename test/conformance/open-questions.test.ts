import { describe, expect, it } from 'vitest';
import { recognize } from '../../src/contract/record-types.ts';
import { ask, NOON, sandbox, walletHolder } from './help.ts';

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
