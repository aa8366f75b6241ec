import { describe, expect, it } from 'vitest';
import { Me, readAccount } from '../../src/contract/records/account.ts';
import { ask, sandbox, walletHolder } from './help.ts';

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
