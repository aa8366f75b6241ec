import { expect, it } from 'vitest';
import { type AskOptions, ask, costOf, oneSandbox } from './help.ts';

const shared = oneSandbox();
const NOBODY = '/v2/user/handle/nobody_at_all';
const NO_ID = '3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a11';
const EVM = `0x${'9'.repeat(40)}`;
const post = { method: 'POST' };

// In a path, ID and WALLET are those of mira.
it.each<[path: string, cu: number, reveals: number, options?: AskOptions]>([
  ['/v2/user/handle/mira', 100, 1],
  ['/v2/user/handle/nowallet', 100, 0],
  [NOBODY, 200, 0],
  ['/v2/user/id/ID', 100, 1],
  [`/v2/user/id/${NO_ID}`, 200, 0],
  ['/v2/user/wallet/WALLET', 30_000, 1],
  [`/v2/user/wallet/${EVM}`, 200, 0],
  ['/v2/user/handle/mira/pnl', 30_000, 1],
  ['/v2/user/handle/nowallet/pnl', 30_000, 0],
  [`${NOBODY}/pnl`, 200, 0],
  ['/v2/user/handles/pnl', 60_200, 1, { body: { handles: ['mira', 'solwolf', 'gone', '@MIRA'] } }],
  ['/v2/user/handle/mira/resolve', 30_000, 1, post],
  ['/v2/user/handle/nowallet/resolve', 200, 0, post],
  [`${NOBODY}/resolve`, 200, 0, post],
  ['/v2/thesis', 200, 0],
  ['/v2/thesis?limit=1', 200, 0],
  ['/v2/thesis?limit=21', 400, 0],
  ['/v2/thesis?limit=100', 1_000, 0],
  ['/v2/thesis/user/ID?limit=100', 1_000, 0],
  [`/v2/thesis/token/${EVM}?limit=41`, 600, 0],
  ['/v2/launchpad/leaderboard/traders', 10, 0],
  ['/v2/launchpad/user/wallet/WALLET', 10, 0],
  ['/v2/launchpad/user/wallet/nobody', 10, 0],
  ['/v2/launchpad/thesis', 10, 0],
  ['/v2/me', 0, 0],
  ['/openapi.json', 0, 0],
])('%s costs %i CU and %i reveals', async (path, cu, reveals, options) => {
  const service = await shared();
  const { id = '', solanaAddress } = service.world.user('mira') ?? {};
  const place = path.replace('ID', id).replace('WALLET', String(solanaAddress));
  expect(await costOf(service, () => ask(service, place, options))).toEqual({ cu, reveals });
  expect(service.log.at(-1)?.cu).toBe(cu);
});
