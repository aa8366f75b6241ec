import { describe, expect, it } from 'vitest';
import { ask, bearer, first, handlesWhere, holdsWallet, sandbox } from '../conformance/help.ts';

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
