import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Failure } from '../../src/base/failure.ts';
import { CachedLookup } from '../../src/core/lookup/cached-lookup.ts';
import { readSubject } from '../../src/core/lookup/subject.ts';
import type { StoreConnection } from '../../src/store/connection.ts';
import { keysOf } from '../../src/store/keys.ts';
import { until } from '../e2e/feed.ts';
import { openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { has } from '../tools.ts';
import { machine, scope } from './machines.ts';
import { startServer } from './server.ts';

const keys = keysOf(scope);

describe.skipIf(!has('redis-server'))('answers in a store', () => {
  it('are requested once, however many machines want them', async () => {
    const server = await startServer();
    const fleet = Array.from({ length: 10 }, () => machine(server));
    const found = await Promise.all(
      fleet.flatMap(({ lookUp }) => Array.from({ length: 5 }, () => lookUp(300))),
    );
    expect(found).toEqual(
      Array(50).fill(expect.objectContaining({ status: 200, record: { id: 'u' } })),
    );
    expect(fleet.reduce((sum, { calls }) => sum + calls.made, 0)).toBe(1);
    for (const { kept } of fleet)
      expect(kept.get('user.wallet w')).toMatchObject({ record: { id: 'u' } });
  });

  it('have the age that the clock of the store gives, whatever the clocks of the machines are', async () => {
    const server = await startServer();
    const HOUR = 3_600_000;
    const fleet = [0, 300_000, -12_000, 3 * HOUR, -3 * HOUR].map((skew) => ({
      skew,
      ...machine(server, { skewMs: skew }),
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
        await writer.answers.put('user.wallet', new Map([['w', put]]));
        for (const reader of fleet) {
          for (const kept of forgetting) kept.clear();
          const found = await reader.ask(async () => undefined);
          const text = `written with ${writer.skew}, read with ${reader.skew}, ${ageMs} ms old`;
          expect(found !== undefined, text).toBe(isFresh);
          // The copy in the cache of the reader has the right age by the clock of the reader.
          const saved = reader.kept.get('user.wallet w');
          if (isFresh)
            expect(Math.abs(now(reader.skew) - ageMs - (saved?.time ?? 0)), text).toBeLessThan(
              5_000,
            );
        }
      }
    }
  });

  it('stay for a month, the pages of feeds for a day', async () => {
    const { link, answers } = machine(await startServer());
    const ages = { 'user.id': 30, 'launchpad.board': 30, 'thesis.user': 1 } as const;
    for (const [endpoint, days] of Object.entries(ages)) {
      const id = endpoint as keyof typeof ages;
      const answer = { time: Date.now(), status: 200, record: { id: 'u' } } as const;
      await answers.put(id, new Map([['x', answer]]));
      const left = await link.use((store) => store.send('PTTL', [keys.answer(id, 'x')]));
      expect(Math.ceil(Number(left) / 86_400_000)).toBe(days);
    }
  });

  it('share a failure of the service for a moment', async () => {
    const server = await startServer();
    const [one, two] = [machine(server), machine(server)];
    const failure = new Failure('service', 'down', { code: 'INTERNAL_ERROR', status: 500 });
    await one.ask(async () => failure);
    const told = await two.ask(async () =>
      expect.fail('it asked although the other one just failed'),
    );
    expect(told).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
  });

  it('are requested by another machine if the requesting one dies', async () => {
    const server = await startServer();
    const [dying, next] = [machine(server), machine(server)];
    void dying.ask(() => new Promise(() => {}));
    const claim = keys.claim('user.wallet', 'w');
    const send = (...words: Parameters<StoreConnection['send']>) =>
      next.link.use((store) => store.send(...words));
    await until(async () => (await send('EXISTS', [claim])) === 1);
    dying.link.close();
    const leftMs = await send('PTTL', [claim]);
    expect([Number(leftMs) > 0, Number(leftMs) <= 5_000]).toEqual([true, true]);
    await send('PEXPIRE', [claim, 1]);
    let asked = 0;
    await next.ask(async () => {
      asked++;
      return undefined;
    });
    expect(asked).toBe(1);
  });

  it('are not trusted without the key', async () => {
    const server = await startServer();
    const [forger, reader] = [machine(server, { key: 'another key' }), machine(server)];
    await forger.answers.share('user.wallet', 'w', {
      time: Date.now(),
      status: 200,
      record: { id: 'forged' },
    });
    let asked = 0;
    const answer = await reader.ask(async () => {
      asked++;
      return undefined;
    });
    expect([answer, asked]).toEqual([undefined, 1]);
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
      await Promise.all([one.lookUp(50), two.lookUp(50)]);
      expect(await later.lookUp(), `${command} ${args}`).toMatchObject({
        status: 200,
        record: { id: 'u' },
      });
      const made = machines.reduce((sum, { calls }) => sum + calls.made, 0);
      expect(made, `${command} ${args}`).toBe(1);
    }
  });

  it('are requested again if the saved record is not a user', async () => {
    const server = await startServer();
    for (const record of [[], 7, null, 'text', { id: null }]) {
      const [writer, reader] = [machine(server), machine(server)];
      await writer.answers.share('user.handle', 'mira', { time: Date.now(), status: 200, record });
      const client = { call: async () => ({ record: { id: 'u' } }) };
      const users = new CachedLookup({
        client: client as never,
        clock: systemClock,
        answers: reader.answers,
      });
      expect(await users.answer(await readSubject('@mira'))).toMatchObject({ record: { id: 'u' } });
    }
  });

  it('are not lost if the store accepts none, which is reported before the next request', async () => {
    const server = await startServer();
    const { lookUp, kept, link } = machine(server);
    await link.use((store) => store.send('ACL', ['SETUSER', 'default', '-hset']));
    expect(await lookUp()).toMatchObject({ record: { id: 'u' } });
    expect(kept.size).toBe(1);
    await expect(lookUp()).rejects.toThrow('has no permission');
  });

  it('save the second machine of a team the price of a wallet', async () => {
    const server = await startServer();
    const sandbox = await withSandbox();
    const env = { TRDR_STORE: server.url };
    const [one, two] = [openHome(), openHome()];
    const first = await runInProcess(['whois', 'mira'], { sandbox, env, home: one });
    const second = await runInProcess(['whois', 'mira'], { sandbox, env, home: two });
    const [{ readAt: _, via: __, ...read } = {}] = first.records();
    expect(second.records()).toMatchObject([read]);
    const spent = await runInProcess(['usage'], { sandbox, home: two });
    expect(spent.records()).toEqual([]);
  });

  it('of this machine need no connection', async () => {
    const sandbox = await withSandbox();
    const home = openHome();
    await runInProcess(['whois', 'mira'], { sandbox, home });
    const env = { TRDR_STORE: 'redis://127.0.0.1:1' };
    const again = await runInProcess(['whois', 'mira', '--debug'], { sandbox, home, env });
    expect([again.exitCode, again.stderr]).toEqual([0, '']);
  });
});
