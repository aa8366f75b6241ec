import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { endpointIds } from '../../../src/contract/endpoints.ts';
import { errorCodes } from '../../../src/contract/errors.ts';
import type { RequestParts } from '../../../src/contract/ports.ts';
import { differenceText } from '../../../src/contract/read-record.ts';
import { createClient } from '../../../src/core/client/client.ts';
import { broken, noAnswer, redirected, unreachable } from '../../../src/core/http/network-failures.ts';
import { createSpendLimit } from '../../../src/core/spend/limit.ts';
import { BASE, error, fakeTransport, json, KEY, me, ownWindows, rig, user } from '../fakes.ts';
import { virtualClock } from '../virtual-clock.ts';

const mert = { params: { handle: 'mert' } };
const failureOf = async (calling: Promise<unknown>): Promise<Failure> => {
  const reason = await calling.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof Failure)) throw new Error(`no Failure: ${String(reason)}`);
  return reason;
};

describe('a call', () => {
  it('is sent with the key, and returns a record with its cost', async () => {
    const { client, sent, ledger } = rig(() => json(200, user(), { 'x-request-id': 'r1' }), {
      userAgent: 'trdr/1',
    });
    const result = await client.call('user.handle', mert);
    expect(result.record.handle).toBe('Mert');
    expect(result.charge).toEqual({ cu: 100, reveals: 1 });
    expect(result.requestId).toBe('r1');
    expect(sent[0]).toMatchObject({
      method: 'GET',
      url: `${BASE}/v2/user/handle/mert`,
      headers: { authorization: `Bearer ${KEY}`, 'user-agent': 'trdr/1' },
      timeoutMs: 30_000,
    });
    expect(ledger).toMatchObject([{ endpoint: 'user.handle', status: 200, cu: 100, requestId: 'r1' }]);
    expect(client.spent).toEqual({ cu: 100, atMost: 100, calls: 1 });
  });

  it('accepts the wrapped envelope with its meta', async () => {
    const meta = { asOf: '2026-01-01T00:00:00Z', requestId: 'r2' };
    const { client } = rig(() => json(200, { data: user({ extra: [1] }), meta }));
    const result = await client.call('user.handle', mert);
    expect(result.meta).toEqual(meta);
    expect(result.requestId).toBe('r2');
    expect(result.record['extra']).toEqual([1]);
  });

  it('is sent below the path prefix of the base URL', async () => {
    const { client, sent } = rig(() => json(200, user()), { baseUrl: 'http://localhost:9/api/' });
    await client.call('user.handle', { params: { handle: 'a/b?c#d é' } });
    expect(sent[0]?.url).toBe('http://localhost:9/api/v2/user/handle/a%2Fb%3Fc%23d%20%C3%A9');
  });

  it.each<[string, RequestParts<'user.handle'>]>([
    ['an empty handle', { params: { handle: '' } }],
    ['a handle that is too long', { params: { handle: 'x'.repeat(65) } }],
    ['a handle that would change the path', { params: { handle: '..' } }],
    ['a handle with a control character', { params: { handle: 'a\nb' } }],
    ['no handle', {}],
  ])('is rejected before anything is sent: %s', async (_, ask) => {
    const { client, sent } = rig(() => json(200, user()));
    expect(await failureOf(client.call('user.handle', ask))).toMatchObject({ kind: 'usage' });
    expect(sent).toEqual([]);
  });

  it('is rejected before anything is sent if there is no key', async () => {
    const { client, sent } = rig(() => json(200, user()), { key: undefined });
    expect(await failureOf(client.call('user.handle', mert))).toMatchObject({ kind: 'auth', code: 'NO_KEY' });
    expect(sent).toEqual([]);
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

  it('has a price before it is made', () => {
    const { client } = rig(() => json(200, user()));
    expect(client.bounds('user.wallet', { params: { address: 'x' } })).toEqual({
      least: 200,
      most: 30_000,
      reveals: 1,
    });
  });
});

describe('a base URL', () => {
  const at = (baseUrl: string, insecureHttp = false) =>
    createClient({
      transport: fakeTransport(() => json(200, {})),
      baseUrl,
      key: KEY,
      windows: ownWindows(virtualClock()),
      insecureHttp,
    });
  it.each([
    'http://example.com',
    'http://10.0.0.1',
    'http://localhost.example.com',
    'ftp://localhost',
    'nonsense',
  ])('rejects %s', (url) => expect(() => at(url)).toThrow(Failure));
  it.each(['http://localhost:1', 'http://127.9.9.9', 'http://[::1]:80/x', 'https://example.com/v'])(
    'accepts %s',
    (url) => expect(() => at(url)).not.toThrow(),
  );
  it('accepts plain http if the user allows it', () => {
    expect(() => at('http://example.com', true)).not.toThrow();
  });
  it('rejects a URL with a password without repeating it', () => {
    expect(() => at('https://me:hush@example.com')).toThrow(/user name or password/);
    expect(() => at('https://me:hush@example.com')).not.toThrow(/hush/);
  });
});

describe('an answer', () => {
  it.each([
    [
      'not JSON',
      { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>' },
      'not JSON (text/html)',
    ],
    ['no record of its form', json(200, { name: 'Mert' }), 'it contains no user record'],
    ['an error', error(200, 'QUOTA_EXCEEDED'), 'but the error QUOTA_EXCEEDED: QUOTA_EXCEEDED it is'],
    ['empty', { status: 204, headers: {}, text: '' }, 'it is empty'],
  ])('fails if it is %s, and its maximum cost counts', async (_, answer, words) => {
    const { client, ledger } = rig(
      () => ({ ...answer, headers: { ...answer.headers, 'x-request-id': 'r9' } }),
      { retries: 0 },
    );
    const failure = await failureOf(client.call('user.handle', mert));
    expect(failure).toMatchObject({ kind: 'answer', code: 'BAD_ANSWER', requestId: 'r9' });
    expect(failure.message).toContain(words);
    expect(ledger).toMatchObject([{ cu: 0, cuAtMost: 200 }]);
    expect(client.spent).toEqual({ cu: 0, atMost: 200, calls: 1 });
  });

  it.each([
    ['<html>', 'may come from another server'],
    ['', 'may come from another server'],
    ['{"name":"Mert"}', 'differs from its description'],
  ])('that cannot be read has a hint that fits its text: %j', async (text, hint) => {
    const { client } = rig(() => ({ status: 200, headers: {}, text }));
    expect((await failureOf(client.call('user.handle', mert))).hint).toContain(hint);
  });

  it('is delivered unchanged if it differs from its description, and each field is reported once', async () => {
    const page = { hasMore: false, nextBefore: null, updatedAt: null, items: [{ id: 'a' }, { id: 7 }, 'x'] };
    const notices: string[] = [];
    const { client, ledger } = rig(() => json(200, page), {
      notify: (notice) => {
        if (notice.kind === 'difference') notices.push(differenceText(notice.difference));
      },
    });
    expect((await client.call('thesis.all', {})).record).toEqual(page);
    expect((await client.call('thesis.all', {})).known.items).toEqual([{ id: 'a' }, {}]);
    expect(ledger).toMatchObject([{ cu: 200 }, { cu: 200 }]);
    expect(notices).toEqual([
      'count is missing',
      'items[].authorHandle is missing',
      'items[].thesis is missing',
      'items[].platformCreatedAt is missing',
      'items[].id is a number, expected text',
      'items[] is text, expected an object',
    ]);
  });

  it('is read as a 200 if its 2xx status is undocumented', async () => {
    const { client } = rig(() => json(203, user()));
    expect(await client.call('user.handle', mert)).toMatchObject({ status: 200, record: user() });
  });

  it('is masked if it repeats the key', async () => {
    const { client } = rig(() =>
      error(400, `BAD`, { error: { code: 'BAD_REQUEST', message: `what is ${KEY}?` } }),
    );
    const failure = await failureOf(client.call('user.handle', mert));
    expect(failure.message).toBe('what is tk_live_****WXYZ?');
  });

  it('is cut if its message is long', async () => {
    const { client } = rig(() => json(400, { error: { code: 'BAD_REQUEST', message: 'x'.repeat(1e6) } }));
    expect((await failureOf(client.call('user.handle', mert))).message.length).toBeLessThan(600);
  });
});

describe('an error answer', () => {
  const kinds: Record<number, string> = {
    400: 'usage',
    401: 'auth',
    402: 'quota',
    403: 'forbidden',
    404: 'missing',
    429: 'rate',
  };

  it.each(Object.entries(errorCodes))(
    '%s has its kind, code and status',
    async (code, { status, retryable }) => {
      const { client, sent } = rig(() => error(status, code), { retries: 1, maxWaitMs: 6_000 });
      const failure = await failureOf(client.call('user.handle', mert));
      expect(failure).toMatchObject({
        kind: kinds[status] ?? 'service',
        code,
        status,
        message: `${code} it is`,
        retryable,
      });
      expect(sent.length).toBe(retryable ? 2 : 1);
    },
  );

  it.each([
    ['no body', '', 401, 'HTTP_401'],
    ['a page of a gateway', '<html>no</html>', 402, 'HTTP_402'],
    ['another shape', '{"message":"no"}', 403, 'HTTP_403'],
    ['a code in another place, with another status', '{"code":"NOT_FOUND"}', 403, 'HTTP_403'],
    ['a text in place of an error', '{"error":"unauthorized"}', 401, 'HTTP_401'],
    ['an unknown code', '{"error":{"code":"GEO_BLOCKED","message":"no"}}', 403, 'GEO_BLOCKED'],
    ['nothing, because nothing changed', '', 304, 'HTTP_304'],
    ['a list', '[]', 418, 'HTTP_418'],
    ['a page with a status that the service never sends', '<html>', 501, 'HTTP_501'],
  ])(
    'without a documented code is not from the service, and is retried: %s',
    async (_, text, status, code) => {
      let asked = 0;
      const foreign = {
        status,
        headers: { server: 'nginx', 'content-type': 'text/html; charset=utf-8' },
        text,
      };
      const { client } = rig(() => (asked++ < 2 ? foreign : json(200, user())), { retries: 2 });
      expect((await client.call('user.handle', mert)).record.handle).toBe('Mert');
      asked = 0;
      const other = rig(() => foreign, { retries: 1 });
      const failure = await failureOf(other.client.call('user.handle', mert));
      expect(failure).toMatchObject({ kind: 'service', code, status, retryable: true });
      expect(other.sent).toHaveLength(2);
      if (code.startsWith('HTTP'))
        expect(failure.message).toMatch(/^received HTTP \d+, probably from a proxy .*\(nginx, text\/html\)/);
    },
  );

  it('costs the price of a miss if the subject is missing', async () => {
    const { client, ledger } = rig(() => error(404, 'NOT_OBSERVED'));
    await failureOf(client.call('user.handle', mert));
    expect(ledger).toMatchObject([{ status: 404, cu: 200 }]);
  });

  it('stays out of the ledger if it is free', async () => {
    const { client, ledger } = rig(() => error(403, 'FORBIDDEN'));
    await failureOf(client.call('user.handle', mert));
    expect(ledger).toEqual([]);
  });
});

describe('a wait for a 429', () => {
  it('is reported when consecutive waits add up, at growing intervals', async () => {
    const { client, notices } = rig(() => error(429, 'RATE_LIMITED', { retryAfter: 1 }));
    await failureOf(client.call('user.handle', mert));
    const said = notices.filter((notice) => notice.kind === 'wait' && notice.reason.includes('429'));
    const word = { kind: 'wait', ms: 1_000, reason: 'RATE_LIMITED (429)' };
    // The notices appear when the waits add up to ten seconds, and again when they add up to forty seconds.
    expect(said).toEqual([word, word]);
  });

  it.each([
    ['next to the error', error(429, 'RATE_LIMITED', { retryAfter: 7 })],
    ['inside the error', json(429, { error: { code: 'RATE_LIMITED', message: 'm', retryAfter: 7 } })],
    ['in a header', { ...error(429, 'RATE_LIMITED'), headers: { 'retry-after': '7' } }],
    ['in the header of a gateway', { status: 429, headers: { 'retry-after': '7' }, text: 'slow down' }],
  ])('is as long as stated %s', async (_, refusal) => {
    const answers = [refusal, json(200, user())];
    const { client, clock, notices } = rig(() => answers.shift() ?? json(500, {}));
    const began = clock.now();
    await client.call('user.handle', mert);
    expect(clock.now() - began).toBeGreaterThanOrEqual(7_000);
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'wait', ms: 7_000 }));
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

  it('fails with kind rate if it exceeds the maximum wait, without waiting', async () => {
    const { client, clock } = rig(() => error(429, 'RATE_LIMITED', { retryAfter: 50 }));
    const failure = await failureOf(client.call('user.handle', mert));
    expect(failure).toMatchObject({ kind: 'rate', code: 'RATE_LIMITED', retryAfter: 50 });
    expect(clock.slept.filter((ms) => ms === 50_000).length).toBe(2);
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
    expect((await client.call('user.handle', mert)).status).toBe(200);
  });

  it('ends at once when aborted', async () => {
    const stop = new AbortController();
    const { client, clock } = rig(() => error(429, 'RATE_LIMITED', { retryAfter: 50 }), {
      notify: ({ kind }) => {
        if (kind === 'wait') queueMicrotask(() => stop.abort(new Error('stopped')));
      },
    });
    await expect(client.call('user.handle', mert, { signal: stop.signal })).rejects.toThrow('stopped');
    expect(clock.pending).toBe(0);
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

  it('reports waits longer than two seconds', async () => {
    const { client, notices } = rig(() => error(500, 'INTERNAL_ERROR'), { random: () => 0.9 });
    await failureOf(client.call('user.handle', mert));
    expect(notices.filter(({ kind }) => kind === 'retry')).toMatchObject([{ attempt: 4, of: 4, ms: 3600 }]);
  });

  it('follows a broken connection if the call is a read, and each attempt counts at its maximum', async () => {
    let asked = 0;
    const { client, ledger, notices } = rig(() => {
      if (asked++ === 0) throw broken('h', undefined);
      return json(200, user());
    });
    await client.call('user.handle', mert);
    expect(ledger).toMatchObject([
      { status: null, cu: 0, cuAtMost: 200 },
      { status: 200, cu: 100 },
    ]);
    expect(client.spent).toEqual({ cu: 100, atMost: 300, calls: 2 });
    expect(notices).toContainEqual({ kind: 'lost', endpoint: 'user.handle', cuAtMost: 200 });
  });

  it.each([
    ['a refused connection', () => unreachable('h', undefined), true],
    ['a broken connection', () => broken('h', undefined), false],
    ['no answer', () => noAnswer('h', 1), false],
    ['a 429', () => error(429, 'RATE_LIMITED', { retryAfter: 1 }), true],
    ['a 500', () => error(500, 'INTERNAL_ERROR'), true],
    ['an overload', () => error(503, 'OVERLOADED'), true],
    ['a 504', () => error(504, 'TIMEOUT'), true],
    ['a 504 of a gateway', () => ({ status: 504, headers: {}, text: '<html>' }), false],
    ['a 400 of a proxy', () => ({ status: 400, headers: {}, text: '<html>' }), false],
    ['a 403 of a firewall', () => ({ status: 403, headers: {}, text: '<html>' }), true],
    ['a redirect', () => redirected('h', 302, '/login'), false],
    ['a login page', () => ({ status: 200, headers: {}, text: '<html>' }), false],
    ['a conflict', () => error(409, 'CONFLICT'), false],
    ['a deployment switched off', () => error(503, 'B2B_DISABLED'), false],
  ])('of a paid POST after %s: %s', async (_, first, again) => {
    let asked = 0;
    const { client, sent } = rig(() => {
      if (asked++ > 0) return json(200, user());
      const made = first();
      if (made instanceof Failure) throw made;
      return made;
    });
    const ended = await client.call('user.resolve', mert).then(
      () => true,
      () => false,
    );
    expect(ended).toBe(again);
    expect(sent.length).toBe(again ? 2 : 1);
  });

  it('does not follow an untrusted certificate', async () => {
    const { client, sent } = rig(() => {
      throw unreachable('h', Object.assign(new Error('bad'), { code: 'CERT_HAS_EXPIRED' }));
    });
    await failureOf(client.call('user.handle', mert));
    expect(sent.length).toBe(1);
  });
});

describe('an abort', () => {
  it('waits for the answer of a paid call that was sent', async () => {
    const stop = new AbortController();
    const { client, ledger } = rig((_, signal) => {
      stop.abort(new Error('stopped'));
      return signal?.aborted ? Promise.reject(signal.reason) : json(200, user());
    });
    const { record } = await client.call('user.handle', mert, { signal: stop.signal });
    expect([record.handle, ledger.length]).toEqual(['Mert', 1]);
  });

  it('ends a free call that was sent', async () => {
    const stop = new AbortController();
    const { client } = rig(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          stop.abort(new Error('stopped'));
        }),
    );
    await expect(client.call('me', {}, { signal: stop.signal })).rejects.toThrow('stopped');
  });

  it('makes closing wait for the answers of paid calls', async () => {
    let answer = () => {};
    const { client, sent } = rig(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(json(200, user()));
        }),
    );
    const called = client.call('user.handle', mert).then(({ record }) => record.handle);
    await expect.poll(() => sent.length).toBe(1);
    const closed = client.close().then(() => 'closed');
    expect(await Promise.race([closed, new Promise((resolve) => setImmediate(resolve, 'open'))])).toBe(
      'open',
    );
    answer();
    expect(await Promise.all([called, closed])).toEqual(['Mert', 'closed']);
  });

  it('prevents a call that was not sent, and counts nothing', async () => {
    const { client, sent } = rig(() => json(200, user()));
    await expect(
      client.call('user.handle', mert, { signal: AbortSignal.abort(new Error('no')) }),
    ).rejects.toThrow('no');
    expect(sent).toEqual([]);
    expect(client.spent).toEqual({ cu: 0, atMost: 0, calls: 0 });
  });
});

describe('a trace', () => {
  it('never shows the key', async () => {
    const { client, notices } = rig(() => json(200, user({ bio: KEY }), { 'x-echo': KEY }));
    const { record, headers } = await client.call('user.handle', mert);
    const lines = notices.map((notice) => (notice.kind === 'trace' ? notice.line : ''));
    expect(lines).toContain('> authorization: Bearer tk_live_****WXYZ');
    expect(JSON.stringify([lines, record, headers])).not.toContain(KEY);
  });
});

describe('a spending limit', () => {
  it('rejects calls that could exceed the limit', async () => {
    const { client, sent } = rig(() => json(200, user()), { maxCu: 199 });
    expect(await failureOf(client.call('user.handle', mert))).toMatchObject({
      kind: 'limit',
      code: 'CEILING',
    });
    expect(sent).toEqual([]);
  });

  it('includes what a lost answer may have cost', async () => {
    let asked = 0;
    const { client } = rig(
      () => {
        if (asked++ === 0) throw broken('h', undefined);
        return json(200, user());
      },
      { maxCu: 350 },
    );
    // The first attempt may have cost 200 CU, so the limit does not cover a second attempt of up to 200 CU.
    expect(await failureOf(client.call('user.handle', mert))).toMatchObject({ code: 'CEILING' });
    expect(asked).toBe(1);
  });

  it('allows free calls', async () => {
    const { client } = rig(() => json(200, me(300)), { maxCu: 0 });
    expect((await client.call('me', {})).record.ratePerMinute).toBe(300);
  });
});

describe('a raw call', () => {
  it('returns the raw answer, errors included, and is recorded under its endpoint', async () => {
    const { client, ledger, sent } = rig(() => error(404, 'NOT_OBSERVED'));
    const answer = await client.raw({ method: 'GET', path: '/v2/user/handle/nobody#top' });
    expect(answer.status).toBe(404);
    expect(sent[0]?.url).toBe(`${BASE}/v2/user/handle/nobody`);
    expect(ledger).toMatchObject([{ endpoint: 'user.handle', cu: 200 }]);
  });

  it('is priced by its parameters', async () => {
    const page = { count: 0, hasMore: false, nextBefore: null, updatedAt: null, items: [] };
    const { client, ledger } = rig(() => json(200, page));
    await client.raw({ method: 'GET', path: '/v2/thesis?limit=41' });
    expect(ledger).toMatchObject([{ endpoint: 'thesis.all', cu: 600 }]);
  });

  it('is priced even with parameters that its endpoint ignores', async () => {
    const { client, ledger } = rig(() => json(200, user()), { maxCu: 60_000 });
    await client.raw({ method: 'POST', path: '/v2/user/handle/mert/resolve', body: '{}' });
    await client.raw({ method: 'GET', path: '/v2/user/wallet/0xabc?a=1' });
    expect(ledger.map(({ endpoint, cu }) => [endpoint, cu])).toEqual([
      ['user.resolve', 30_000],
      ['user.wallet', 30_000],
    ]);
  });

  it.each([
    ['GET', '/v2/other'],
    ['GET', '/v2/thesis?limit=x'],
    ['GET', '/v2/thesis?limit=101'],
    ['POST', '/v2/user/handles/pnl'],
    ['HEAD', '/v2/thesis'],
  ])('is rejected under a spending limit if its price is unknown: %s %s', async (method, path) => {
    const { client, sent } = rig(() => json(200, {}), { maxCu: 1e9 });
    expect(await failureOf(client.raw({ method, path }))).toMatchObject({ kind: 'limit', code: 'CEILING' });
    expect(sent).toEqual([]);
  });

  it.each([
    '/v2/user/handles/pnl/',
    '/v2/user/handle/..',
    '/v2/user/handle/a%2Fb',
    '/v2/thesis?limit=1&limit=100',
    '/v2/thesis?limit=1?&limit=100',
  ])(
    'to %s is rejected before anything is sent, because it would be charged as a similar endpoint',
    async (path) => {
      const { client, sent } = rig(() => json(200, {}));
      for (const method of ['GET', 'POST']) {
        expect(await failureOf(client.raw({ method, path }))).toMatchObject({ kind: 'usage' });
      }
      expect(sent).toEqual([]);
    },
  );

  it.each(['/v2/me', '/openapi.json'])(
    'to %s is allowed under any limit because it is free',
    async (path) => {
      const { client } = rig(() => json(200, {}), { maxCu: 0 });
      expect((await client.raw({ method: 'GET', path })).text).toBe('{}');
    },
  );

  it('is retried as its endpoint allows, and returns the last answer', async () => {
    const { client, sent } = rig(() => error(500, 'INTERNAL_ERROR'), { retries: 2 });
    expect((await client.raw({ method: 'GET', path: '/anything' })).status).toBe(500);
    expect(sent.length).toBe(3);
  });

  it('is rejected without a slash or a valid method', async () => {
    const { client } = rig(() => json(200, {}));
    expect(await failureOf(client.raw({ method: 'GET', path: 'https://x/' }))).toMatchObject({
      kind: 'usage',
    });
    expect(await failureOf(client.raw({ method: 'G T', path: '/' }))).toMatchObject({ kind: 'usage' });
  });
});

it('the cost of every endpoint is within its bounds', () => {
  const { client } = rig(() => json(200, {}));
  const ask = {
    params: { handle: 'a', address: 'a', id: user().id, tokenAddress: 'a', wallet: 'a', mint: 'a' },
    body: { handles: ['a'] },
  };
  for (const id of endpointIds) {
    const body = id === 'users.pnl' ? ask.body : undefined;
    const { least, most } = client.bounds(id, { params: ask.params, body } as RequestParts<typeof id>);
    expect(least).toBeLessThanOrEqual(most);
  }
});

it('a shared spending limit covers all clients', async () => {
  const limit = createSpendLimit({ limit: 300 });
  const one = rig(() => json(200, user()), { limit });
  await one.client.call('user.handle', mert);
  const two = rig(() => json(200, user()), { limit });
  await two.client.call('user.handle', mert);
  expect(await failureOf(two.client.call('user.handle', mert))).toMatchObject({ code: 'CEILING' });
});
