import { describe, expect, it } from 'vitest';
import { User } from '../../src/contract/records/user.ts';
import { ask, first, handlesWhere, sandbox, statusAndCode, walletless } from './help.ts';

describe('identity', () => {
  it('returns the same user record for a handle, its id and its wallet', async () => {
    const service = await sandbox();
    const name = first(
      handlesWhere(service, (user) => user.solanaAddress !== null && user.evmAddress !== null),
    );
    const byHandle = (await ask(service, `/v2/user/handle/${name}`)).body;
    expect(() => User.parse(byHandle)).not.toThrow();
    expect((await ask(service, `/v2/user/id/${byHandle.id}`)).body).toEqual(byHandle);
    for (const address of [byHandle.solanaAddress, byHandle.evmAddress]) {
      const owner = (await ask(service, `/v2/user/wallet/${address}`)).body;
      expect([owner.solanaAddress, owner.evmAddress]).toContain(address);
    }
  });

  it('accepts handles and EVM addresses in any case, and handles with a leading @', async () => {
    const service = await sandbox();
    const name = first(handlesWhere(service, (user) => user.evmAddress !== null));
    const { body } = await ask(service, `/v2/user/handle/${name}`);
    for (const form of [name.toUpperCase(), `@${name}`, `%40${name.toUpperCase()}`])
      expect((await ask(service, `/v2/user/handle/${form}`)).body).toEqual(body);
    const [mixed, lower] = [body.evmAddress, body.evmAddress.toLowerCase()];
    const owner = await ask(service, `/v2/user/wallet/${mixed}`);
    expect(await ask(service, `/v2/user/wallet/${lower}`)).toMatchObject({
      status: 200,
      body: owner.body,
    });
  });

  it('returns socials of some users only, with a user name that may be null', async () => {
    const service = await sandbox();
    const of = async (name: string) => (await ask(service, `/v2/user/handle/${name}`)).body;
    expect(await of('mira')).not.toHaveProperty('socials');
    const [wolf, tokyo] = [await of('solwolf'), await of('tokyo')];
    for (const user of [wolf, tokyo]) expect(() => User.parse(user)).not.toThrow();
    expect(wolf.socials).toHaveLength(2);
    expect(tokyo.socials).toMatchObject([{ provider: 'youtube', handle: null }]);
  });

  it('returns two nulls for a user without a verified wallet', async () => {
    const service = await sandbox();
    const { status, body } = await ask(service, `/v2/user/handle/${walletless(service)}`);
    expect([status, body.solanaAddress, body.evmAddress]).toEqual([200, null, null]);
  });

  it.each([
    '/v2/user/handle/nobody_at_all',
    '/v2/user/id/3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a11',
    '/v2/user/wallet/0x52908400098527886E0F7030069857D2E4169EE7',
    '/v2/user/handle/nobody_at_all/pnl',
    `/v2/user/handle/${'a'.repeat(64)}`,
  ])('returns 404 NOT_OBSERVED for unknown %s', async (path) => {
    expect(await statusAndCode(await sandbox(), path)).toBe('404 NOT_OBSERVED');
  });
});
