import { describe, expect, it } from 'vitest';
import { endpointIds, endpoints } from '../../src/contract/endpoints.ts';

const none = { params: {}, query: {}, body: undefined };
const wallet = 'So11111111111111111111111111111111111111112';
const numbers = (address: string | null) => ({
  handle: 'h',
  wallet: address,
  evmWallet: null,
  updatedAt: null,
  windows: { '24h': null, '7d': null, '30d': null, all: null },
});

describe('the price list', () => {
  it('states the minimum, the maximum and the price of a miss for each endpoint', () => {
    const handles = { handles: ['a', 'B', '@b', 'A '] };
    const list = Object.fromEntries(
      endpointIds.map((id) => {
        const { price } = endpoints[id];
        const { least, most, reveals } =
          id === 'users.pnl'
            ? endpoints['users.pnl'].price.before({ ...none, body: handles })
            : (price as (typeof endpoints)['me']['price']).before(none);
        return [id, [least, most, reveals, price.miss]];
      }),
    );
    expect(list).toEqual({
      'user.handle': [100, 200, 1, 200],
      'user.wallet': [200, 30_000, 1, 200],
      'user.id': [100, 200, 1, 200],
      'user.resolve': [200, 30_000, 1, 200],
      'user.pnl': [200, 30_000, 1, 200],
      'users.pnl': [400, 60_000, 2, 200],
      'thesis.all': [200, 200, 0, 200],
      'thesis.token': [200, 200, 0, 200],
      'thesis.user': [200, 200, 0, 200],
      'thesis.userToken': [200, 200, 0, 200],
      'launchpad.user': [10, 10, 0, 10],
      'launchpad.callouts': [10, 10, 0, 10],
      'launchpad.callouts.coin': [10, 10, 0, 10],
      'launchpad.callouts.wallet': [10, 10, 0, 10],
      'launchpad.board': [10, 10, 0, 10],
      me: [0, 0, 0, 0],
    });
  });

  it('does not price a batch that omits handles', () => {
    const request = { ...none, body: { handles: ['a', 'b', 'c'] } };
    const known = { count: 1, missing: [], entries: [numbers(wallet)] };
    expect(endpoints['users.pnl'].price.after(request, { status: 200, known })).toEqual({
      cu: 30_000,
      uncertain: 60_000,
      reveals: 1,
      uncertainReveals: 2,
    });
  });
});
