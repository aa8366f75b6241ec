import { describe, expect, onTestFinished, test } from 'vitest';
import { keysOf } from '../../src/store/keys.ts';
import { plenty, until } from '../e2e/feed.ts';
import { type Home, openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { Rotation } from '../e2e/rotation.ts';
import { repeats, seedsOf } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { startServer } from '../store/server.ts';
import { has } from '../tools.ts';

// Keys that are replaced and a store that loses everything, under relays and runs with a shared budget.
// CAMPAIGN_RUNS=50 runs longer, SEED=n repeats one run.
const RUNS = repeats('CAMPAIGN_RUNS', 1, 40);
const seeds = seedsOf(RUNS);
const LEAST_CU = 200;

/** A relay in this process, which is stopped as by Ctrl-C. */
function startRelay(home: Home, env: Record<string, string>) {
  const stop = new AbortController();
  const said: string[] = [];
  const words = ['thesis', 'relay', '--via', 'poll', '--lag', '50ms', '--yes', '--wait-for-budget'];
  const ended = runInProcess(words, {
    ...{ home, key: null, env, interrupt: stop.signal },
    onStderr: (text) => void said.push(text),
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const has = (text: string) => said.join('').includes(text);
  return {
    has,
    says: (text: string) => until(() => has(text)),
    async stop() {
      stop.abort();
      return (await ended).exitCode;
    },
  };
}

describe.skipIf(!has('redis-server'))('machines with a shared budget', async () => {
  const server = has('redis-server') ? await startServer() : undefined;

  test.each(seeds)(
    'stay within it when their keys are replaced, whichever meter the keys have (SEED=%i)',
    async (seed) => {
      const random = rngOf(seed).next;
      const upTo = (count: number) => 1 + Math.floor(random() * count);
      const admin = await server?.connect();
      await admin?.send('FLUSHALL', []);
      const sandbox = await withSandbox({ ...plenty, seed });
      const rotation = new Rotation(sandbox);
      const homes = [openHome(), openHome()] as const;
      const stories: string[] = [];
      const run = async (at: 0 | 1, words: string[]) => {
        const store = { TRDR_STORE: server?.url, TRDR_MACHINE: `m${at}` };
        const ran = await homes[at].run(words, { key: null, env: { ...rotation.env, ...store } });
        stories.push(
          `m${at} ${words.join(' ')}: exit ${ran.exitCode}, ${rotation.spent} CU\n${ran.stderr}`,
        );
        return ran;
      };
      const period = random() < 0.5 ? 'day' : 'month';
      const cap = 30_000 * upTo(8);
      // A lost sum can only be restored from the meter, so keys with meters of their own lose nothing.
      const meter = random() < 0.5 ? 'shared' : 'own';
      expect((await run(0, ['budget', 'set', period, String(cap)])).exitCode).toBe(0);
      // A machine remembers what it has seen.
      for (const at of [0, 1] as const) await run(at, ['whois', 'nobody', '--no-cache']);
      for (let round = 0; round < 6; round++) {
        const isReplaced = random() < 0.5;
        if (isReplaced) {
          rotation.renew(meter);
          rotation.revoke();
        }
        const isLost = meter === 'shared' && random() < 0.3;
        if (isLost) await admin?.send('FLUSHALL', []);
        const before = rotation.spent;
        for (const at of [0, 1] as const) {
          const names = Array.from({ length: upTo(5) }, (_, name) => `nobody_${round}_${name}`);
          const words = random() < 0.5 ? ['pnl', 'mira', 'solwolf', ...names] : ['whois', ...names];
          // Some runs began before the key was replaced.
          if (isReplaced && random() < 0.5) rotation.delay();
          const ran = await run(at, [...words, '--no-cache', '--yes']);
          expect([0, 3, 6, 9], stories.join('\n')).toContain(ran.exitCode);
        }
        const story = `cap ${cap}, seed ${seed}: ${stories.join('\n')}`;
        expect(rotation.spent, story).toBeLessThanOrEqual(cap);
        if (!isLost) continue;
        expect(rotation.spent, story).toBe(before);
        await run(0, ['budget', 'set', period, String(cap)]);
      }
    },
  );

  test.each(seeds.slice(0, Math.ceil(RUNS / 2)))(
    'have one leader of a feed, and pay nothing once the budget is lost (SEED=%i)',
    async (seed) => {
      const random = rngOf(seed).next;
      const admin = await server?.connect();
      await admin?.send('FLUSHALL', []);
      const sandbox = await withSandbox({ ...plenty, seed });
      const rotation = new Rotation(sandbox);
      const envOf = (machine: string) => ({
        ...{ ...rotation.env, TRDR_STORE: server?.url ?? '', TRDR_MACHINE: machine },
      });
      const desk = openHome();
      const set = (words: string[]) =>
        runInProcess(['budget', 'set', ...words], { home: desk, key: null, env: envOf('desk') });
      const leases = async () =>
        [(await admin?.send('KEYS', ['*:lease'])) ?? []].flat().map(String);
      expect((await set(['month', '10M'])).exitCode).toBe(0);
      const leader = startRelay(openHome(), envOf('a'));
      await leader.says('leading this feed');
      const standby = startRelay(openHome(), envOf('b'));
      await standby.says('standing by');
      if (seed % 2 === 1) {
        rotation.renew(random() < 0.5 ? 'shared' : 'own');
        rotation.revoke();
        for (const relay of [leader, standby]) await relay.says('continues with another one');
        const [key = ''] = sandbox.keys.keys();
        const { lease } = keysOf({ baseUrl: sandbox.url, key }).feed('thesis');
        await until(async () => (await leases()).join() === lease);
      }
      const before = rotation.spent;
      await until(() => rotation.spent > before + 3 * LEAST_CU);
      await admin?.send('FLUSHALL', []);
      const flushed = rotation.spent;
      // Either of them may lead next, and the other one leads once that one has ended.
      const relays = new Set([leader, standby]);
      while (relays.size > 0) {
        await until(() =>
          [...relays].some((relay) => relay.has('the store has lost the month budget')),
        );
        const first = [...relays].find((relay) => relay.has('the store has lost the month budget'));
        expect(await first?.stop()).toBe(130);
        if (first) relays.delete(first);
      }
      // A page may have been on its way when the store lost the budget.
      expect(rotation.spent - flushed).toBeLessThanOrEqual(LEAST_CU);
      admin?.close();
    },
  );
});
