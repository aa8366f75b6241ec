import { describe, expect, it } from 'vitest';
import { LaunchpadUser } from '../../src/contract/records/launchpad.ts';
import { User } from '../../src/contract/records/user.ts';
import { TERM_MS } from '../../src/sandbox/world/people.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { ask, sandbox, statusAndCode } from './help.ts';

const userOf = async (service: Sandbox, place: string): Promise<User> =>
  User.parse((await ask(service, `/v2/user/${place}`)).body);

const walletOf = async (service: Sandbox, handle: string) =>
  (await userOf(service, `handle/${handle}`)).solanaAddress ?? '';

const accountOf = async (service: Sandbox, wallet: string) =>
  LaunchpadUser.parse((await ask(service, `/v2/launchpad/user/wallet/${wallet}`)).body);

describe('the launchpad account of a wallet', () => {
  it.each([
    ['rightname', { xUsername: 'rightname' }],
    ['username_only', { xUsername: null, username: 'username_only' }],
    ['noname', { xUsername: null, username: null }],
    ['falsename', { xUsername: 'nobody_has_it' }],
    ['borrower', { xUsername: 'rightname' }],
  ])('of %s has the names %j', async (handle, names) => {
    const service = await sandbox();
    expect(await accountOf(service, await walletOf(service, handle))).toMatchObject(names);
  });

  it('can have the name of nobody, or of somebody with another wallet', async () => {
    const service = await sandbox();
    expect(await statusAndCode(service, '/v2/user/handle/nobody_has_it')).toBe('404 NOT_OBSERVED');
    const [borrower, owner] = [
      await walletOf(service, 'borrower'),
      await walletOf(service, 'rightname'),
    ];
    expect(borrower).not.toBe(owner);
    expect((await userOf(service, `wallet/${borrower}`)).handle).toBe('borrower');
  });
});

it('a wallet of several users gives one of them, always the same', async () => {
  const service = await sandbox();
  const wallet = await walletOf(service, 'club_one');
  for (const handle of ['club_two', 'club_three'])
    expect(await walletOf(service, handle)).toBe(wallet);
  for (let round = 0; round < 3; round++)
    expect((await userOf(service, `wallet/${wallet}`)).handle).toBe('club_one');
});

describe('in every second term of the clock', () => {
  it('a renamed user has the same id and wallet, and the old handle is unknown', async () => {
    const service = await sandbox();
    const before = await userOf(service, 'handle/drifter');
    await service.advance(TERM_MS);
    expect(await statusAndCode(service, '/v2/user/handle/drifter')).toBe('404 NOT_OBSERVED');
    expect(await userOf(service, `id/${before.id}`)).toEqual({
      ...before,
      handle: 'drifter_renamed',
    });
    expect((await ask(service, '/v2/user/handle/drifter_renamed/pnl')).body).toMatchObject({
      handle: 'drifter_renamed',
      wallet: before.solanaAddress,
    });
    await service.advance(TERM_MS);
    expect(await userOf(service, 'handle/drifter')).toEqual(before);
  });

  it('a handle belongs to another user', async () => {
    const service = await sandbox();
    const first = await userOf(service, 'handle/baton');
    const next = await userOf(service, 'handle/baton_next');
    await service.advance(TERM_MS);
    expect((await userOf(service, 'handle/baton')).id).toBe(next.id);
    expect((await userOf(service, 'handle/baton_before')).id).toBe(first.id);
    expect(await walletOf(service, 'baton')).toBe(next.solanaAddress);
  });

  it('a wallet belongs to another user, and its former owner has another one', async () => {
    const service = await sandbox();
    const wallet = await walletOf(service, 'giver');
    expect((await userOf(service, `wallet/${wallet}`)).handle).toBe('giver');
    await service.advance(TERM_MS);
    expect((await userOf(service, `wallet/${wallet}`)).handle).toBe('taker');
    expect(await walletOf(service, 'taker')).toBe(wallet);
    expect(['', wallet]).not.toContain(await walletOf(service, 'giver'));
    expect((await ask(service, '/v2/user/handle/taker/pnl')).body.wallet).toBe(wallet);
  });

  it('a user reveals no wallet, and the old one is unknown', async () => {
    const service = await sandbox();
    const wallet = await walletOf(service, 'shy');
    await service.advance(TERM_MS);
    expect(await walletOf(service, 'shy')).toBe('');
    expect(await statusAndCode(service, `/v2/user/wallet/${wallet}`)).toBe('404 NOT_OBSERVED');
  });

  it('everybody else is who they were, also after a jump of the clock', async () => {
    const service = await sandbox();
    const all = () =>
      new Map(service.world.handles().map((name) => [name, { ...service.world.user(name) }]));
    const before = all();
    service.setClock(service.clock.now() + 7 * TERM_MS);
    const changed = [...all()].filter(([name, user]) => {
      const was = before.get(name);
      return was?.solanaAddress !== user.solanaAddress || was?.id !== user.id;
    });
    expect(changed.map(([name]) => name).sort()).toEqual(
      ['baton', 'baton_before', 'drifter_renamed', 'giver', 'shy', 'taker'].sort(),
    );
  });
});
