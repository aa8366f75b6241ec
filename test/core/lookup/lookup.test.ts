import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPromise } from '../../../src/base/calls.ts';
import type { AnswerCache, RunAnswers } from '../../../src/contract/ports/answers.ts';
import { CachedLookup } from '../../../src/core/lookup/cached-lookup.ts';
import { type LookupAnswer, lookup } from '../../../src/core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../../src/core/lookup/subject.ts';
import { PeopleBook } from '../../../src/state/people/book.ts';
import { TemporaryAnswers } from '../../../src/state/run-answers.ts';
import { openFolder } from '../../folder.ts';
import { runs } from '../../state/room.ts';
import { error, gather, json, me, memoryCache, type Reply, rig, user } from '../fakes.ts';

const WALLET = 'So11111111111111111111111111111111111111112';
const EVM = '0x52908400098527886e0f7030069857d2e4169ee7';
const ID = user().id;
const HOUR = 3_600_000;

/** Replies by path: a record, a status with a code, or an error. */
const service =
  (answers: Record<string, ReturnType<typeof json> | undefined>): Reply =>
  ({ url }) =>
    answers[new URL(url).pathname] ?? error(404, 'NOT_OBSERVED');

function setUp(reply: Reply) {
  const made = rig(reply, { retries: 0 });
  const cache = memoryCache();
  const book = new PeopleBook({ dir: openFolder(), baseUrl: 'https://api.test', key: 'k' });
  const source = new CachedLookup({
    client: made.client,
    clock: made.clock,
    book,
    answers: cache,
  });
  const run = (texts: Iterable<string>) =>
    gather(lookup(texts, { answer: (subject, signal) => source.answer(subject, signal) }));
  return { ...made, book, source, run };
}

/** A cache of several machines, which request an answer one after another. */
function sharedBy(cache: AnswerCache): AnswerCache {
  const open = new Map<string, Promise<void>>();
  return {
    ...cache,
    share: async (endpoint, subject, answer) => cache.put(endpoint, new Map([[subject, answer]])),
    async claim({ endpoint, subject }) {
      const name = `${endpoint} ${subject}`;
      for (let ends = open.get(name); ends; ends = open.get(name)) await ends;
      const answer =
        endpoint === 'me' || endpoint === 'user.resolve'
          ? undefined
          : cache.get(endpoint, [subject])[0];
      if (answer) return { by: 'cache', answer };
      const { promise, resolve } = openPromise();
      open.set(name, promise);
      return {
        by: 'us',
        async end() {
          open.delete(name);
          resolve();
        },
      };
    },
  };
}

describe('lookups', () => {
  it('do not let a field of the service replace their own fields', async () => {
    const { run } = setUp(() => json(200, user({ subject: 'x', found: 'maybe', extra: null })));
    expect((await run(['mert'])).records).toMatchObject([
      { subject: 'mert', found: true, extra: null },
    ]);
  });

  it('request nothing twice, although few answers fit in memory', async () => {
    const full: RunAnswers = { get: () => undefined, put: () => false, close: async () => {} };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(60), { maxLength: 300 }),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (numbers, memory, isFull) => {
          const asked: string[] = [];
          const answer = async ({ value }: Subject): Promise<LookupAnswer> => {
            asked.push(value);
            if (value.endsWith('0')) return { found: false, code: value, time: 1, from: 'service' };
            return {
              found: true,
              record: { handle: value },
              source: 'live',
              time: 1,
              from: 'service',
            };
          };
          const older = isFull ? full : new TemporaryAnswers();
          const texts = numbers.map((number) => `h${number}`);
          const reading = { readAt: 1, via: 'service' };
          const records: object[] = [];
          for await (const { record } of lookup(texts, { answer, memory, older }))
            records.push(record);
          expect(records).toEqual(
            texts.map((subject) =>
              subject.endsWith('0')
                ? { subject, found: false, code: subject, ...reading }
                : { subject, found: true, source: 'live', handle: subject, ...reading },
            ),
          );
          expect(asked).toHaveLength(new Set(texts).size);
        },
      ),
      runs(30),
    );
  });

  it.each([
    ['a wrong key', error(401, 'UNAUTHORIZED')],
    ['an exhausted allowance', error(402, 'QUOTA_EXCEEDED')],
    ['a missing scope', error(403, 'FORBIDDEN_SCOPE')],
    ['a 429 beyond the maximum wait', error(429, 'RATE_LIMITED', { retryAfter: 10_000 })],
  ])('stop at %s after all answers were yielded', async (_, refusal) => {
    let asked = 0;
    const { run } = setUp(({ url }) => {
      // The limit of the key is requested in between, free of charge.
      if (url.endsWith('/v2/me')) return json(200, me(300));
      return ++asked === 3 ? refusal : json(200, user());
    });
    const { records, failure } = await run(
      Array.from({ length: 100 }, (_unused, index) => `h${index}`),
    );
    expect(failure).toMatchObject({ code: JSON.parse(refusal.text).error.code });
    expect(records.map(({ subject }) => subject).slice(0, 2)).toEqual(['h0', 'h1']);
    expect(records.every(({ found }) => found === true)).toBe(true);
    expect(records.length).toBe(asked - 1);
    expect(asked).toBeLessThan(20);
  });

  it('stop when the service is down', async () => {
    const { run, sent } = setUp(() => error(500, 'INTERNAL_ERROR'));
    const { records, failure } = await run(Array.from({ length: 1000 }, (_, index) => `h${index}`));
    expect(failure).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(records.length).toBeGreaterThanOrEqual(19);
    expect(sent.length).toBeLessThan(40);
  });
});

describe('cached answers', () => {
  const all = service({
    '/v2/user/handle/mert': json(200, user({ evmAddress: EVM })),
    [`/v2/user/wallet/${WALLET}`]: json(200, user({ evmAddress: EVM })),
    [`/v2/user/id/${ID}`]: json(200, user({ evmAddress: EVM })),
  });

  /** Without a launchpad account, the dear call is the only way to the owner of an unknown wallet. */
  const asked = [`/v2/launchpad/user/wallet/${WALLET}`, `/v2/user/wallet/${WALLET}`];

  it('are used for every wallet of the user, which the service has verified', async () => {
    const { run, paths } = setUp(all);
    await run(['mert']);
    const { records } = await run([WALLET, EVM]);
    expect(records).toMatchObject([
      { found: true, id: ID, via: 'book' },
      { found: true, id: ID, via: 'book' },
    ]);
    expect(paths()).toEqual(['/v2/user/handle/mert']);
  });

  it('of a wallet are renewed for free if a recent answer for the id is cached', async () => {
    const { run, clock, paths } = setUp(all);
    await run([WALLET]);
    await clock.sleep(HOUR);
    await run(['mert']);
    await run([WALLET]);
    expect(paths()).toEqual([...asked, '/v2/user/handle/mert']);
  });

  it.each([
    ['no longer has the address', json(200, user({ solanaAddress: null }))],
    ['is gone', error(404, 'NOT_OBSERVED')],
  ])('of a wallet are requested again if the user %s', async (_, byId) => {
    let calls = 0;
    const { run, clock, paths } = setUp(({ url }) => {
      if (url.includes('/launchpad/')) return error(404, 'NOT_OBSERVED');
      return url.includes('/id/') ? byId : json(200, user({ name: `${++calls}` }));
    });
    await run([WALLET]);
    await clock.sleep(HOUR);
    expect((await run([WALLET])).records).toMatchObject([{ found: true, name: '2' }]);
    expect(paths()).toEqual([...asked, `/v2/user/id/${ID}`, ...asked]);
  });

  it('of a wallet are requested by one machine for all, each step', async () => {
    const paid: string[] = [];
    const answers = sharedBy(memoryCache());
    const machine = () => {
      const made = rig(
        ({ url }) => {
          paid.push(new URL(url).pathname);
          if (url.includes('/launchpad/')) return json(200, { wallet: WALLET, xUsername: 'mert' });
          return json(200, user());
        },
        { retries: 0 },
      );
      const book = new PeopleBook({ dir: openFolder(), baseUrl: 'https://api.test', key: 'k' });
      return new CachedLookup({ client: made.client, clock: made.clock, book, answers });
    };
    const subject = await readSubject(WALLET);
    const found = await Promise.all(Array.from({ length: 10 }, () => machine().answer(subject)));
    expect(found.map((one) => one.found)).toEqual(Array(10).fill(true));
    expect(paid.filter((path) => path !== '/v2/me')).toEqual([asked[0], '/v2/user/handle/mert']);
  });

  it('match an EVM address in any case', async () => {
    const mixed = '0x52908400098527886E0F7030069857D2E4169EE7';
    const reply: Reply = ({ url }) =>
      (url.includes('/user/wallet/0x') && !url.includes('launchpad')) || url.includes('/id/')
        ? json(200, user({ evmAddress: mixed }))
        : error(404, 'NOT_OBSERVED');
    const { run, clock, paths } = setUp(reply);
    await run([EVM]);
    await clock.sleep(HOUR);
    await run([EVM]);
    expect(paths()[2]).toBe(`/v2/user/id/${ID}`);
  });

  it('are ignored if they are invalid or from the future', async () => {
    const { run, book, clock, sent } = setUp(all);
    const identity = { handle: 'mert' };
    const ahead = clock.now() + 1000;
    await book.keep([{ time: clock.now(), id: 'x', identity, record: { torn: true } }]);
    await book.keep([{ time: ahead, id: ID, identity, record: user() }]);
    await run(['mert']);
    expect(sent.length).toBe(1);
  });
});

describe('a plan', () => {
  it('lists the calls of a lookup, and one that is not sent if a cached answer is fresh', async () => {
    const { run, source, clock } = setUp(
      service({ [`/v2/user/wallet/${WALLET}`]: json(200, user()) }),
    );
    const plan = async (text: string) =>
      source
        .plan(await readSubject(text))
        .calls.map(({ id, isSure = true, times }) => (times === 0 ? [id, 'kept'] : [id, isSure]));
    expect(await plan(WALLET)).toEqual([
      ['launchpad.user', true],
      ['user.handle', false],
      ['user.wallet', false],
    ]);
    expect(await plan('mert')).toEqual([['user.handle', true]]);
    await run([WALLET]);
    expect(await plan(WALLET)).toEqual([['user.wallet', 'kept']]);
    await clock.sleep(HOUR);
    expect(await plan(WALLET)).toEqual([
      ['user.id', true],
      ['launchpad.user', false],
      ['user.handle', false],
      ['user.wallet', false],
    ]);
  });
});
