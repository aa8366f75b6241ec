import { describe, expect, it } from 'vitest';
import { hintOf } from '../../../src/base/failure.ts';
import type { RateWindows } from '../../../src/contract/ports/rate-windows.ts';
import { decode, encode } from '../../../src/core/client/coding.ts';
import { ServiceKey } from '../../../src/core/client/service-key.ts';
import { broken, noAnswer } from '../../../src/core/http/network-failures.ts';
import { BASE, error, failureOf, json, KEY, me, ownWindows, rig, user } from '../fakes.ts';
import { virtualClock } from '../virtual-clock.ts';

const mert = { params: { handle: 'mert' } };

describe('a call', () => {
  it('is sent with the key, and returns a record with its cost', async () => {
    const { client, sent, ledger } = rig(() => json(200, user(), { 'x-request-id': 'r1' }), {
      userAgent: 'trdr/1',
    });
    const result = await client.call('user.handle', mert);
    expect(result.record.handle).toBe('Mert');
    expect(result.requestId).toBe('r1');
    expect(sent[0]).toMatchObject({
      method: 'GET',
      url: `${BASE}/v2/user/handle/mert`,
      headers: { authorization: `Bearer ${KEY}`, 'user-agent': 'trdr/1' },
      timeoutMs: 30_000,
    });
    const paid = { endpoint: 'user.handle', status: 200, cu: 100, requestId: 'r1' };
    expect(ledger).toMatchObject([paid]);
    expect(client.spent).toMatchObject({ cu: 100, atMost: 100, inFlight: 0, calls: 1 });
  });

  it('is sent below the path prefix of the base URL', async () => {
    const { client, sent } = rig(() => json(200, user()), { baseUrl: 'http://localhost:9/api/' });
    await client.call('user.handle', { params: { handle: 'a/b?c#d é' } });
    expect(sent[0]?.url).toBe('http://localhost:9/api/v2/user/handle/a%2Fb%3Fc%23d%20%C3%A9');
  });

  it('has a longer timeout for resolves, unless the user sets one', async () => {
    const timeoutsOf = async (timeoutMs: number | undefined) => {
      const { client, sent } = rig(() => json(200, user()), { timeoutMs });
      await client.call('user.handle', mert);
      await client.call('user.resolve', mert);
      return sent.map((request) => request.timeoutMs);
    };
    expect(await timeoutsOf(undefined)).toEqual([30_000, 60_000]);
    expect(await timeoutsOf(5)).toEqual([5, 5]);
  });

  it('uses a new connection only if a lost answer would be expensive', async () => {
    const { client, sent } = rig(() => json(200, user()));
    await client.call('user.handle', mert);
    await client.call('user.wallet', { params: { address: 'x' } });
    await client.call('user.resolve', mert);
    await client.call('user.handle', mert, { once: true });
    expect(sent.map(({ isFresh }) => isFresh)).toEqual([false, false, true, false]);
  });
});

describe('an answer', () => {
  it.each([
    ['<html>', 'may come from another server'],
    ['', 'may come from another server'],
    ['{"name":"Mert"}', 'differs from its description'],
  ])('that cannot be read has a hint that fits its text: %j', async (text, hint) => {
    const { client } = rig(() => ({ status: 200, headers: {}, text }));
    expect(hintOf(await failureOf(client.call('user.handle', mert)))).toContain(hint);
  });

  it('is read as a 200 if its 2xx status is undocumented', async () => {
    const { client } = rig(() => json(203, user()));
    expect(await client.call('user.handle', mert)).toMatchObject({ status: 200, record: user() });
  });
});

describe('a wait for a 429', () => {
  it('is reported when consecutive waits add up, at growing intervals', async () => {
    const { client, notices } = rig(() => error(429, 'RATE_LIMITED', { retryAfter: 1 }));
    await failureOf(client.call('user.handle', mert));
    const said = notices.filter((one) => one.kind === 'wait' && one.reason.includes('429'));
    const word = { kind: 'wait', ms: 1_000, reason: 'RATE_LIMITED (429)' };
    // The notices appear when the waits add up to ten seconds, and again when they add up to forty seconds.
    expect(said).toEqual([word, word]);
  });

  it('blocks all other calls as well', async () => {
    let refused = false;
    const { client, clock, sent } = rig(() => {
      if (refused) return json(200, user());
      refused = true;
      return error(429, 'RATE_LIMITED', { retryAfter: 30 });
    });
    const began = clock.now();
    const first = client.call('user.handle', mert);
    await new Promise((turn) => setImmediate(turn));
    expect(sent.length).toBe(1);
    await client.call('user.id', { params: { id: user().id } });
    expect(clock.now() - began).toBeGreaterThanOrEqual(30_000);
    await first;
  });

  it('ends even if the service states zero seconds', async () => {
    let left = 500;
    const { client } = rig(() =>
      left-- > 0 ? error(429, 'RATE_LIMITED', { retryAfter: 0 }) : json(200, user()),
    );
    expect(await failureOf(client.call('user.handle', mert))).toMatchObject({ kind: 'rate' });
  });

  it('does not use up the retries', async () => {
    const answers = [1, 1, 1].map(() => error(429, 'RATE_LIMITED', { retryAfter: 1 }));
    const { client } = rig(() => answers.shift() ?? json(200, user()), { retries: 0 });
    expect((await client.call('user.resolve', mert)).status).toBe(200);
  });
});

describe('a retry', () => {
  it('is made four times with full jitter, then the failure is final', async () => {
    const { client, clock, sent } = rig(() => error(503, 'OVERLOADED'));
    const failure = await failureOf(client.call('user.handle', mert));
    expect(failure).toMatchObject({ kind: 'service', code: 'OVERLOADED' });
    expect(sent.length).toBe(5);
    expect(clock.slept).toEqual([250, 500, 1000, 2000]);
  });

  it('reports the lost answers of a call once, with their sum', async () => {
    const { client, notices } = rig(() => {
      throw broken('h', undefined);
    });
    await failureOf(client.call('user.handle', mert));
    expect(notices.filter(({ kind }) => kind === 'lost')).toEqual([
      { kind: 'lost', endpoint: 'user.handle', answers: 5, cuAtMost: 1_000 },
    ]);
  });

  it('does not hide what a lost answer may have cost if a signal ends the wait before it', async () => {
    const ending = new AbortController();
    const { client } = rig(() => {
      ending.abort(new Error('interrupted'));
      throw broken('h', undefined);
    });
    const call = client.call('launchpad.board', {}, { signal: ending.signal });
    expect(await failureOf(call)).toMatchObject({ kind: 'network', cuLost: 10 });
  });

  it('is not made if a signal ends the wait before it, and nothing was charged', async () => {
    const ending = new AbortController();
    const { client, sent } = rig(() => {
      ending.abort(new Error('interrupted'));
      return error(503, 'OVERLOADED');
    });
    const call = client.call('launchpad.board', {}, { signal: ending.signal });
    await expect(call).rejects.toThrow('interrupted');
    expect(sent).toHaveLength(1);
  });
});

describe('a free call', () => {
  const outcomes = {
    answered: () => json(200, me(60)),
    'of another form': () => json(200, []),
    refused: () => error(403, 'FORBIDDEN'),
    limited: () => error(429, 'RATE_LIMITED', { retryAfter: 30 }),
    failed: () => error(500, 'INTERNAL_ERROR'),
    lost: () => {
      throw noAnswer('gone', 1);
    },
  };

  it.each(Object.entries(outcomes))(
    'takes a place of the rate limit and costs nothing: %s',
    async (_, reply) => {
      const taken: string[] = [];
      const clock = virtualClock();
      const windows = ownWindows(clock);
      const own = windows.take.bind(windows);
      const take: RateWindows['take'] = (lane, ...others) => {
        taken.push(lane);
        return own(lane, ...others);
      };
      Object.assign(windows, { take });
      // A run that may spend nothing at all.
      const limited = { limit: { limit: 0, agreed: 0 }, retries: 1, windows, clock };
      const { client, sent, ledger } = rig(reply, limited);
      await client.call('me', {}).catch(() => {});
      await client.raw({ method: 'GET', path: '/v2/me' }).catch(() => {});
      await client.close();
      expect(taken.length).toBeGreaterThanOrEqual(sent.length);
      expect(ledger).toEqual([]);
      expect(client.spent).toMatchObject({ cu: 0, atMost: 0, inFlight: 0, calls: 0 });
    },
  );
});

describe('a wait that the service requests', () => {
  const three = (ms: number) => [ms, ms, ms];
  it.each<[string, number, number[], string | undefined]>([
    ['OVERLOADED', 2, three(2_000), undefined],
    ['OVERLOADED', 120, three(120_000), 'OVERLOADED (503)'],
    ['OVERLOADED', 121, [], undefined],
    ['RATE_LIMITED', 2, three(2_000), undefined],
    ['RATE_LIMITED', 3, three(3_000), 'RATE_LIMITED (429)'],
    ['RATE_LIMITED', 40, three(40_000), 'RATE_LIMITED (429)'],
    ['RATE_LIMITED', 41, [41_000, 41_000], 'RATE_LIMITED (429)'],
  ])(
    'with %s for %i s leads to %j, and is reported as %s',
    async (code, retryAfter, slept, reason) => {
      let tries = 0;
      const { client, clock, notices } = rig(
        () =>
          ++tries > 3
            ? json(200, user())
            : error(code === 'OVERLOADED' ? 503 : 429, code, { retryAfter }),
        { random: () => 0 },
      );
      await client.call('user.handle', mert).catch(() => {});
      expect([clock.slept, tries]).toEqual([slept, slept.length + 1]);
      const notice = reason === undefined ? [] : [{ ms: retryAfter * 1_000, reason }];
      expect(notices.slice(0, 1)).toMatchObject(notice);
    },
  );
});

it('a key that a proxy rejected before is replaced when the service rejects it', async () => {
  const rejection = error(401, 'UNAUTHORIZED');
  const answers = [json(200, user()), { status: 401, headers: {}, text: '<html>' }, rejection];
  const printed = [KEY, 'next'];
  const key = new ServiceKey(KEY, {
    print: async () => printed.shift(),
    handOver: async () => {},
    onFailed: () => {},
  });
  const { client, sent } = rig(() => answers.shift() ?? json(200, user()), { key });
  await client.call('user.handle', mert);
  await client.call('user.handle', mert);
  const keys = sent.map(({ headers }) => headers?.['authorization']?.replace('Bearer ', ''));
  expect(keys).toEqual([KEY, KEY, KEY, 'next']);
});

it('an answer of something else may have been charged, unless its status comes before any charge', () => {
  const call = { ...encode('user.handle', mert), id: 'user.handle' as const };
  const chargeOf = (status: number) =>
    decode(call, { status, headers: {}, text: '<html>' }, 0).charge;
  const free = { cu: 0, reveals: 0 };
  for (const status of [200, 201, 299, 304, 400, 402, 409, 418, 451, 499, 500, 502, 503, 504])
    expect([status, chargeOf(status)]).toEqual([status, undefined]);
  for (const status of [401, 403, 429]) expect([status, chargeOf(status)]).toEqual([status, free]);
  expect(chargeOf(404)).toEqual({ ...free, uncertain: 200 });
  expect(decode(call, error(500, 'INTERNAL_ERROR'), 0).charge).toEqual(free);
  const me = { ...encode('me', {}), id: 'me' as const };
  expect(decode(me, { status: 502, headers: {}, text: '<html>' }, 0).charge).toEqual(free);
});
