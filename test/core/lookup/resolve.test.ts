import { describe, expect, it } from 'vitest';
import { broken } from '../../../src/core/http/network-failures.ts';
import { CachedLookup } from '../../../src/core/lookup/cached-lookup.ts';
import { lookup } from '../../../src/core/lookup/lookup.ts';
import {
  type ResolveProgress,
  Resolver,
  type ResolverOptions,
} from '../../../src/core/lookup/resolve.ts';
import { readHandle, type Subject } from '../../../src/core/lookup/subject.ts';
import { PeopleBook } from '../../../src/state/people/book.ts';
import { openFolder } from '../../folder.ts';
import { error, gather, json, type Reply, rig, user } from '../fakes.ts';

const bare = user({ solanaAddress: null });
const pending = (reason: string, more: object = {}) =>
  json(202, { pending: true, reason, retryable: reason !== 'no_preview', ...more });
const live = json(200, user(), { 'x-service-resolve': 'live' });

/**
 * A service that returns these answers to lookups and resolves one after another, and then repeats the last
 * one.
 */
function service(looks: ReturnType<Reply>[], posts: (() => ReturnType<Reply>)[]): Reply {
  return ({ method }) => {
    if (method === 'GET')
      return (looks.length > 1 ? looks.shift() : looks[0]) ?? error(404, 'NOT_OBSERVED');
    const post = posts.length > 1 ? posts.shift() : posts[0];
    if (!post) throw new Error('no resolve was expected');
    return post();
  };
}

function setUp(reply: Reply, options: Partial<ResolverOptions> & { maxCu?: number } = {}) {
  const { maxCu, ...rest } = options;
  const made = rig(reply, { retries: 1, ...(maxCu === undefined ? {} : { maxCu }) });
  const users = new CachedLookup({
    client: made.client,
    clock: made.clock,
    book: new PeopleBook({ dir: openFolder(), baseUrl: 'https://api.test', key: 'k' }),
  });
  const waits: ResolveProgress[] = [];
  const resolver = new Resolver({
    client: made.client,
    clock: made.clock,
    users,
    onWait: (wait) => waits.push(wait),
    ...rest,
  });
  const answer = (subject: Subject, signal: AbortSignal) => resolver.resolve(subject, signal);
  const run = (texts: Iterable<string>, signal?: AbortSignal) =>
    gather(lookup(texts, { answer, read: readHandle, signal }));
  const calls = () => made.sent.map(({ method }) => method).join(' ');
  return { ...made, users, run, calls, waits };
}

describe('a resolve', () => {
  it('ends with the lookup for 100 CU if that finds a wallet', async () => {
    const { run, calls, client } = setUp(service([json(200, user())], []));
    const { records } = await run(['@mert', 'Mert']);
    expect(records).toMatchObject([
      { subject: '@mert', found: true, source: 'held', handle: 'Mert' },
      { subject: 'Mert', found: true, source: 'held' },
    ]);
    expect(calls()).toBe('GET');
    expect(client.spent.cu).toBe(100);
  });

  it.each([
    ['has no wallet', json(200, bare)],
    ['does not know the handle', error(404, 'NOT_OBSERVED')],
  ])('is requested if the lookup %s', async (_, look) => {
    const { run, calls } = setUp(service([look], [() => live]));
    expect((await run(['mert'])).records).toMatchObject([{ found: true, source: 'live' }]);
    expect(calls()).toBe('GET POST');
  });

  it('is requested at once with --direct, and reports the source of the wallet', async () => {
    const cached = () => json(200, user(), { 'x-service-resolve': 'cached' });
    const { run, calls } = setUp(service([], [cached]), { direct: true });
    expect((await run(['mert'])).records).toMatchObject([{ found: true, source: 'cached' }]);
    expect(calls()).toBe('POST');
  });

  it('costs nothing if a wallet is cached, and looks up again if the cached answer has none', async () => {
    const kept = setUp(service([json(200, user())], []));
    await kept.run(['mert']);
    await kept.run(['mert']);
    expect(kept.calls()).toBe('GET');
    const none = setUp(service([json(200, bare), json(200, user())], []));
    await none.users.ask({ text: 'mert', type: 'handle', value: 'mert', normal: 'mert' });
    expect((await none.run(['mert'])).records).toMatchObject([{ source: 'held' }]);
    expect(none.calls()).toBe('GET GET');
  });

  it('waits as long as the service states, and reports its place', async () => {
    const posts = [
      () => pending('queued', { retryAfterSeconds: 7, position: 3 }),
      () => pending('queued', { retryAfterSeconds: 4, position: 1 }),
      () => live,
    ];
    const { run, clock, waits } = setUp(service([json(200, bare)], posts));
    expect((await run(['mert'])).records).toMatchObject([{ found: true, source: 'live' }]);
    expect(clock.slept).toEqual([7_000, 4_000]);
    expect(waits).toEqual([
      { subject: 'mert', reason: 'queued', position: 3, againInMs: 7_000 },
      { subject: 'mert', reason: 'queued', position: 1, againInMs: 4_000 },
    ]);
  });

  it('waits longer each time if the service states nothing, and ends as pending', async () => {
    const reply = service([json(200, bare)], [() => pending('not_ingested')]);
    const { run, clock, client } = setUp(reply);
    const { records, failure } = await run(['mert']);
    expect(failure).toBeUndefined();
    expect(records).toMatchObject([
      { subject: 'mert', found: false, code: 'PENDING', reason: 'not_ingested', retryable: true },
    ]);
    expect(clock.slept).toEqual([3_000, 4_500, 6_750, 10_125, 15_187.5]);
    expect(client.spent.cu).toBe(100 + 6 * 200);
  });

  it('does not wait for the rate limit of resolves beyond the maximum', async () => {
    const posts = [() => pending('queued', { retryAfterSeconds: 1, position: 1 })];
    const { run, clock, waits } = setUp(service([json(200, bare)], posts), { waitMs: 30_000 });
    const began = clock.mono();
    expect((await run(['mert'])).records).toMatchObject([
      { code: 'PENDING', reason: 'queued', position: 1 },
    ]);
    // The service allows ten resolves per minute.
    expect(waits).toHaveLength(10);
    expect(clock.mono() - began).toBeLessThanOrEqual(30_000);
  });

  it('ends as pending with all fields of the 202 if the user interrupts the wait', async () => {
    const posts = [() => pending('queued', { retryAfterSeconds: 7, position: 3, queue: 'b' })];
    const interrupt = new AbortController();
    const { run, calls } = setUp(service([json(200, bare)], posts), {
      onWait: () => interrupt.abort(new Error('Ctrl-C')),
    });
    const { records, failure } = await run(['mert'], interrupt.signal);
    const wait = { reason: 'queued', retryable: true, retryAfterSeconds: 7, position: 3 };
    expect(records).toMatchObject([
      { subject: 'mert', found: false, code: 'PENDING', ...wait, queue: 'b' },
    ]);
    expect(failure).toMatchObject({ message: 'Ctrl-C' });
    expect(calls()).toBe('GET POST');
  });

  it('cannot have its own fields replaced by those of a 202', async () => {
    const posts = [() => pending('no_preview', { subject: 'x', found: true, code: 'OK' })];
    const { run } = setUp(service([json(200, bare)], posts));
    expect((await run(['mert'])).records).toMatchObject([
      { subject: 'mert', found: false, code: 'PENDING', reason: 'no_preview' },
    ]);
  });

  it('is not repeated for no_preview', async () => {
    const { run, calls } = setUp(service([json(200, bare)], [() => pending('no_preview')]));
    expect((await run(['mert'])).records).toMatchObject([
      { code: 'PENDING', reason: 'no_preview', retryable: false },
    ]);
    expect(calls()).toBe('GET POST');
  });

  const drop = () => {
    throw broken('h', undefined);
  };
  it.each([
    ['a broken connection', drop],
    ['a login page', () => ({ status: 200, headers: {}, text: '<html>' })],
    ['a gateway timeout', () => ({ status: 504, headers: {}, text: '<html>' })],
  ])('uses the lookup for 100 CU before another resolve after %s', async (_, lost) => {
    const found = setUp(service([json(200, bare), json(200, user())], [lost, () => live]));
    expect((await found.run(['mert'])).records).toMatchObject([{ found: true, source: 'held' }]);
    expect(found.calls()).toBe('GET POST GET');
    const again = setUp(service([json(200, bare)], [lost, () => live]));
    expect((await again.run(['mert'])).records).toMatchObject([{ found: true, source: 'live' }]);
    expect(again.calls()).toBe('GET POST GET POST');
  });

  it('gives the service time to finish before the lookup for 100 CU', async () => {
    const { run, calls, waits } = setUp(service([json(200, bare), json(200, user())], [drop]));
    expect((await run(['mert'])).records).toMatchObject([{ found: true, source: 'held' }]);
    expect(calls()).toBe('GET POST GET');
    expect(waits).toEqual([{ subject: 'mert', reason: 'timeout', againInMs: 5_000 }]);
    const hasty = setUp(service([json(200, bare)], [drop]), { waitMs: 0 });
    const { records: broken } = await hasty.run(['mert']);
    expect(broken).toMatchObject([{ found: null, error: { code: 'BROKEN' } }]);
    expect([hasty.calls(), hasty.waits]).toEqual(['GET POST GET', []]);
  });

  const unreadable = () => json(200, [1]);
  it.each([
    ['the second lost answer', drop, {}, 'BROKEN', 'GET POST GET POST GET'],
    ['one that cannot be read', unreadable, {}, 'BAD_ANSWER', 'GET POST GET'],
    ['one that uses up the limit', drop, { maxCu: 30_500 }, 'BROKEN', 'GET POST GET'],
    ['one that leaves nothing of the limit', drop, { maxCu: 30_100 }, 'BROKEN', 'GET POST'],
  ])('is given up after %s, and what it found is looked up first', async (...it) => {
    const [, lost, options, code, sent] = it;
    const none = setUp(service([json(200, bare)], [lost]), options);
    expect((await none.run(['mert'])).records).toMatchObject([{ found: null, error: { code } }]);
    expect(none.calls()).toBe(sent);
    if (!sent.endsWith('GET')) return;
    const looks = sent.split(' ').filter((method) => method === 'GET');
    const bares = looks.slice(1).map(() => json(200, bare));
    const late = setUp(service([...bares, json(200, user())], [lost]), options);
    expect((await late.run(['mert'])).records).toMatchObject([{ found: true, source: 'held' }]);
    expect(late.calls()).toBe(sent);
  });

  it('is a miss for an unknown handle, and an error for a conflict', async () => {
    const miss = error(404, 'NOT_OBSERVED');
    const { run } = setUp(service([miss], [() => miss, () => error(409, 'CONFLICT')]));
    const { records: unknown } = await run(['a']);
    expect(unknown).toMatchObject([{ subject: 'a', found: false, code: 'NOT_OBSERVED' }]);
    const { records: refused } = await run(['b']);
    expect(refused).toMatchObject([{ found: null, error: { code: 'CONFLICT' } }]);
  });
});
