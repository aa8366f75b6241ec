import { describe, expect, it } from 'vitest';
import { repeats } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import {
  type AnyJson,
  ask,
  first,
  handlesWhere,
  holdsWallet,
  type Reply,
  sandbox,
} from './help.ts';

/** An independent price list, which does not use the contract's table. */
function priceOf(kind: string, reply: Reply, limit: number): { cu: number; reveals: number } {
  const { status, body } = reply;
  const free = { cu: 0, reveals: 0 };
  if (![200, 202, 404].includes(status) || body?.error?.code === 'NOT_FOUND') return free;
  const shows = (record: AnyJson) =>
    [record.solanaAddress, record.evmAddress, record.wallet, record.evmWallet].some(
      (address) => typeof address === 'string',
    );
  switch (kind) {
    case 'handle':
    case 'id':
      return status === 404 ? { cu: 200, reveals: 0 } : { cu: 100, reveals: shows(body) ? 1 : 0 };
    case 'wallet':
    case 'pnl':
      return status === 404
        ? { cu: 200, reveals: 0 }
        : { cu: 30_000, reveals: shows(body) ? 1 : 0 };
    case 'resolve':
      return status === 200
        ? { cu: 30_000, reveals: shows(body) ? 1 : 0 }
        : { cu: 200, reveals: 0 };
    case 'batch':
      return {
        cu: 30_000 * body.entries.length + 200 * body.missing.length,
        reveals: body.entries.some(shows) ? 1 : 0,
      };
    case 'thesis':
      return { cu: 200 * Math.ceil(limit / 20), reveals: 0 };
    case 'launchpad':
      return { cu: 10, reveals: 0 };
    default:
      return free;
  }
}

const ROUNDS = repeats('RECOUNT_ROUNDS', 120, 20_000);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

describe('the meter', () => {
  it(`equals an independent recount of the responses (SEED=${seed})`, async () => {
    const roll = rngOf(seed).int;
    const service = await sandbox({
      ratePerMinute: 100_000,
      burstPerSecond: 100_000,
      monthlyUnits: 600_000,
      additionalUnits: 200_000,
      revealsPerMonth: 60,
      seed: roll(1_000),
      faults: '500=3%,503=2%,429=2%,403=1%',
    });
    const names = service.world.handles();
    const pick = (): string =>
      roll(4) === 0 ? `nobody_${roll(9)}` : (names[roll(names.length)] ?? '');
    const users = handlesWhere(service, holdsWallet).map((name) => service.world.user(name));
    let cu = 0;
    let reveals = 0;

    for (let round = 0; round < ROUNDS; round++) {
      const user = users[roll(users.length)];
      const limit = 1 + roll(100);
      const none = '3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a11';
      const bodies = Array.from({ length: 1 + roll(4) }, pick);
      const enc = encodeURIComponent;
      const calls: [kind: string, path: string, options?: Parameters<typeof ask>[2]][] = [
        ['handle', `/v2/user/handle/${enc(pick())}`],
        ['id', `/v2/user/id/${roll(3) ? user?.id : none}`],
        [
          'wallet',
          `/v2/user/wallet/${roll(3) ? (user?.solanaAddress ?? user?.evmAddress) : `0x${'9'.repeat(40)}`}`,
        ],
        ['pnl', `/v2/user/handle/${enc(pick())}/pnl`],
        [
          'batch',
          '/v2/user/handles/pnl',
          { body: { handles: [...bodies, bodies[0], `@${bodies[0]?.toUpperCase()}`] } },
        ],
        [
          'resolve',
          `/v2/user/handle/${enc(first(handlesWhere(service, holdsWallet)))}/resolve`,
          { method: 'POST' },
        ],
        ['thesis', `/v2/thesis?limit=${limit}`],
        ['thesis', `/v2/thesis/user/${user?.id}?limit=${limit}`],
        ['thesis', `/v2/thesis/token/0x${'9'.repeat(40)}?limit=${limit}`],
        ['launchpad', '/v2/launchpad/leaderboard/traders'],
        ['launchpad', '/v2/launchpad/user/wallet/nobody'],
        ['launchpad', '/v2/launchpad/thesis'],
        ['none', '/v2/me'],
        ['none', '/v2/thesis?before=nothing'],
        ['none', '/v2/nothing'],
        ['none', '/openapi.json'],
      ];
      // Expensive calls are rare, so that the units suffice for many calls.
      const [kind, path, options] = first(calls.slice(roll(calls.length)));
      if (['wallet', 'pnl', 'batch', 'resolve'].includes(kind) && roll(3) > 0) continue;
      const reply = await ask(service, path, options);
      const price = priceOf(kind, reply, limit);
      cu += price.cu;
      reveals += price.reveals;
      if (kind === 'resolve') await service.advance(6_000);
      const { totalUnits, totalReveals, unitsRemaining, additionalUnits } = service.meter();
      expect({ seed, round, kind, cu: totalUnits, reveals: totalReveals }).toEqual({
        seed,
        round,
        kind,
        cu,
        reveals,
      });
      expect((unitsRemaining ?? 0) + additionalUnits).toBe(800_000 - cu);
      expect(totalReveals).toBeLessThanOrEqual(60);
    }
    const charged = service.log.reduce((sum, entry) => sum + entry.cu, 0);
    expect(charged).toBe(cu);
  });
});
