import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Failure } from '../../src/base/failure.ts';
import type { AnswerCache, CachedAnswer } from '../../src/contract/answer-ports.ts';
import { createCachedLookup } from '../../src/core/lookup/cached-lookup.ts';
import { readSubject } from '../../src/core/lookup/subject.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { createSharedAnswers } from '../../src/store/answers.ts';
import { keysOf } from '../../src/store/keys.ts';
import { createLink } from '../../src/store/link.ts';
import { openHome, trdr, withSandbox } from '../e2e/harness.ts';
import { askOnce } from './machines.ts';
import { hasServer } from './program.ts';
import { type StoreServer, startServer, until } from './server.ts';

const scope = { baseUrl: 'https://api.example.test', key: 'k' };
const keys = keysOf(scope);
const wanted = { endpoint: 'user.wallet', subject: 'w', maxAgeMs: 60_000, missAgeMs: 60_000 } as const;

/** A machine with its own cache in memory. */
function machine(server: StoreServer, key = scope.key, skewMs = 0) {
  const clock = { ...systemClock, now: () => Date.now() + skewMs };
  const kept = new Map<string, CachedAnswer>();
  const local: AnswerCache = {
    get: (endpoint, subject) => kept.get(`${endpoint} ${subject}`),
    put: (endpoint, subject, answer) => void kept.set(`${endpoint} ${subject}`, answer),
  };
  const link = createLink(readStoreUrl(server.url), {}, keys, systemClock, Math.random);
  const answers = createSharedAnswers(link, local, key, clock, Math.random);
  const ask = (work: () => Promise<Failure | undefined>) => askOnce(answers, wanted, work);
  return { answers, link, kept, ask };
}

describe.skipIf(!hasServer())('answers in a store', () => {
  it('are requested once, however many machines want them', async () => {
    const server = await startServer();
    const fleet = Array.from({ length: 10 }, () => machine(server));
    let asked = 0;
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, at) => {
        const { answers, ask } = fleet[at % 10] ?? machine(server);
        return ask(async () => {
          asked++;
          await systemClock.sleep(300);
          await answers.put('user.wallet', 'w', { time: Date.now(), status: 200, record: { id: 'u' } });
          return undefined;
        });
      }),
    );
    expect(asked).toBe(1);
    expect(results.filter((one) => one === undefined)).toHaveLength(1);
    for (const { kept, link } of fleet) {
      expect(kept.get('user.wallet w')).toMatchObject({ status: 200, record: { id: 'u' } });
      link.close();
    }
  });

  it('have the age that the clock of the store gives, whatever the clocks of the machines are', async () => {
    const server = await startServer();
    const HOUR = 3_600_000;
    const fleet = [0, 300_000, -12_000, 3 * HOUR, -3 * HOUR].map((skew) => ({
      skew,
      ...machine(server, scope.key, skew),
    }));
    const forgetting = fleet.map(({ kept }) => kept);
    const now = (skew: number) => Date.now() + skew;
    for (const writer of fleet) {
      for (const [ageMs, isFresh] of [
        [0, true],
        [50_000, true],
        [70_000, false],
      ] as const) {
        await writer.link.use((store) => store.send('FLUSHALL', []));
        const put = { time: now(writer.skew) - ageMs, status: 200, record: { id: 'u' } } as const;
        await writer.answers.put('user.wallet', 'w', put);
        for (const reader of fleet) {
          for (const kept of forgetting) kept.clear();
          const found = await reader.ask(async () => undefined);
          const text = `written with ${writer.skew}, read with ${reader.skew}, ${ageMs} ms old`;
          expect(found !== undefined, text).toBe(isFresh);
          // The copy in the cache of the reader has the right age by the clock of the reader.
          const saved = reader.kept.get('user.wallet w');
          if (isFresh)
            expect(Math.abs(now(reader.skew) - ageMs - (saved?.time ?? 0)), text).toBeLessThan(5_000);
        }
      }
    }
    for (const { link } of fleet) link.close();
  });

  it('share a failure of the service for a moment', async () => {
    const server = await startServer();
    const [one, two] = [machine(server), machine(server)];
    const failure = new Failure('service', 'down', { code: 'INTERNAL_ERROR', status: 500 });
    await one.ask(async () => failure);
    const told = await two.ask(async () => expect.fail('it asked although the other one just failed'));
    expect(told).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
    one.link.close();
    two.link.close();
  });

  it('are requested by another machine if the requesting one dies', async () => {
    const server = await startServer();
    const [dying, next] = [machine(server), machine(server)];
    void dying.ask(() => new Promise(() => {}));
    const claim = keys.claim('user.wallet', 'w');
    await until(async () => (await next.link.use((store) => store.send('EXISTS', [claim]))) === 1);
    dying.link.close();
    let asked = 0;
    await next.ask(async () => {
      asked++;
      return undefined;
    });
    expect(asked).toBe(1);
    next.link.close();
  });

  it('are not trusted without the key', async () => {
    const server = await startServer();
    const [forger, reader] = [machine(server, 'another key'), machine(server)];
    await forger.answers.put('user.wallet', 'w', { time: Date.now(), status: 200, record: { id: 'forged' } });
    let asked = 0;
    const answer = await reader.ask(async () => {
      asked++;
      return undefined;
    });
    expect([answer, asked]).toEqual([undefined, 1]);
    forger.link.close();
    reader.link.close();
  });

  it('are requested once if another program has overwritten them', async () => {
    const server = await startServer();
    const place = keys.answer('user.wallet', 'w');
    const claim = keys.claim('user.wallet', 'w');
    const overwrites: readonly (readonly [string, ...(string | number)[]])[] = [
      ['SET', place, 'x'],
      ['RPUSH', place, 'x'],
      ['HSET', place, 'status', 200, 'time', 'nan'],
      ['HSET', place, 'status', 200, 'time', Date.now(), 'record', '[]', 'seal', 'x'],
      ['RPUSH', claim, 'x'],
      ['HSET', claim, 'x', 'y'],
      ['SET', claim, '!x'],
    ];
    for (const [command, ...args] of overwrites) {
      const machines = [machine(server), machine(server), machine(server)] as const;
      const [one, two, later] = machines;
      await one.link.use(async (store) => {
        await store.send('DEL', [place, claim]);
        await store.send(command, args);
      });
      let asked = 0;
      const request = ({ answers, ask }: typeof one) =>
        ask(async () => {
          asked++;
          await systemClock.sleep(50);
          await answers.put('user.wallet', 'w', { time: Date.now(), status: 200, record: { id: 'u' } });
          return undefined;
        });
      await Promise.all([request(one), request(two)]);
      expect(await request(later), `${command} ${args}`).toMatchObject({ status: 200, record: { id: 'u' } });
      expect(asked, `${command} ${args}`).toBe(1);
      for (const { link } of machines) link.close();
    }
  });

  it('are requested again if the saved record is not a user', async () => {
    const server = await startServer();
    for (const record of [[], 7, null, 'text', { id: null }]) {
      const [writer, reader] = [machine(server), machine(server)];
      await writer.answers.put('user.handle', 'mira', { time: Date.now(), status: 200, record });
      const client = { call: async () => ({ record: { id: 'u' } }) };
      const users = createCachedLookup(client as never, systemClock, reader.answers);
      expect(await users.answer(await readSubject('@mira'))).toMatchObject({ record: { id: 'u' } });
      writer.link.close();
      reader.link.close();
    }
  });

  it('are not lost if the store accepts none, which is reported before the next request', async () => {
    const server = await startServer();
    const { ask, answers, kept, link } = machine(server);
    const get = () =>
      ask(async () => {
        await answers.put('user.wallet', 'w', { time: Date.now(), status: 200, record: { id: 'u' } });
        return undefined;
      });
    await link.use((store) => store.send('ACL', ['SETUSER', 'default', '-hset']));
    await get();
    expect(kept.get('user.wallet w')).toMatchObject({ record: { id: 'u' } });
    await expect(get()).rejects.toThrow('has no permission');
    link.close();
  });

  it('are requested by each machine itself while the store is unreachable', async () => {
    const server = await startServer();
    const { ask, answers, kept, link } = machine(server);
    await server.kill();
    let asked = 0;
    await ask(async () => {
      asked++;
      await answers.put('user.wallet', 'w', { time: 1, status: 404, record: null });
      return undefined;
    });
    expect([asked, kept.size]).toEqual([1, 1]);
    link.close();
  });

  it('save the second machine of a team the price of a wallet', async () => {
    const server = await startServer();
    const sandbox = await withSandbox();
    const env = { TRDR_STORE: server.url };
    const [one, two] = [openHome(), openHome()];
    const first = await trdr(['whois', 'mira'], { sandbox, env, home: one });
    const second = await trdr(['whois', 'mira'], { sandbox, env, home: two });
    expect(second.stdout).toBe(first.stdout);
    const spent = await trdr(['usage'], { sandbox, home: two });
    expect(spent.records()).toEqual([]);
  });

  it('of this machine need no connection', async () => {
    const sandbox = await withSandbox();
    const home = openHome();
    await trdr(['whois', 'mira'], { sandbox, home });
    const env = { TRDR_STORE: 'redis://127.0.0.1:1' };
    const again = await trdr(['whois', 'mira', '--debug'], { sandbox, home, env });
    expect([again.exitCode, again.stderr]).toEqual([0, '']);
  });
});
