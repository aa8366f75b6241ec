import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { keysOf } from '../../src/store/keys.ts';
import { StoreMemory } from '../../src/store/memory.ts';
import { readStatus } from '../../src/store/status.ts';
import { until } from '../e2e/feed.ts';
import { openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { startInProcess } from '../e2e/in-process.ts';
import { SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { readSamples } from '../status-file.ts';
import { has } from '../tools.ts';
import { machine, scope } from './machines.ts';
import { freePort, startServer } from './server.ts';

const call = { endpoint: 'user.wallet', most: 300 } as const;
describe.skipIf(!has('redis-server'))('a store that is unreachable at the start', () => {
  it('makes relays and followers wait, which report this and start when the store is reachable', async () => {
    const server = await startServer();
    await server.stop();
    const sandbox = await withSandbox({ unmetered: true, theses: 20 });
    const env = { TRDR_STORE: server.url };
    const start = (...args: readonly string[]) => {
      const run = startInProcess(args, { sandbox, home: openHome(), env });
      return { run, says: (text: string) => until(() => run.stderr.includes(text)) };
    };
    const home = openHome();
    const status = join(home.path, 'relay.prom');
    const relay = start(
      ...['thesis', 'relay', '--via', 'poll', '--lag', '200ms', '--yes'],
      ...['--status', status, '--log-format', 'json'],
    );
    const follower = start('thesis', 'tail', '--via', 'store', '--count', '1');
    await relay.says('waiting for the store');
    await follower.says('waiting for the store');
    await until(() =>
      readFileSync(status, 'utf8').includes('trdr_tail_service_up{tail="relay"} 0'),
    );
    expect(readSamples(status)).toMatchObject({ ready: 0, command: 'thesis relay', service_up: 0 });
    await server.start();
    await relay.says('leading this feed');
    await follower.says('reading from the store');
    for (const { run } of [relay, follower]) run.kill('SIGTERM');
    expect([(await relay.run.ended).exitCode, (await follower.run.ended).exitCode]).toEqual([
      143, 143,
    ]);
    expect(readSamples(status)).toMatchObject({ up: 0, mode: 'polling', service_up: 1 });
  });
});

describe.skipIf(!has('redis-server'))('a store that does not answer', () => {
  it('is not used for a while, and a command that it executes late counts at most once', async () => {
    const server = await startServer();
    const { windows, ledger, budgets, lookUp, calls, skip, link, notices } = machine(server, {
      commandMs: 150,
      ttlMs: 200,
    });
    await budgets.set({ period: 'day', machine: undefined, cu: 1_000 });
    await (await ledger.begin(call)).settle({ status: 200, cu: 100 });
    server.pause();
    await expect(ledger.begin(call)).rejects.toMatchObject({ code: 'STORE_AWAY' });
    expect((await windows.take('key', 4)).waitMs).toBe(0);
    expect(notices).toHaveLength(1);
    expect(await lookUp()).toMatchObject({ status: 200 });
    expect(calls.made).toBe(1);
    server.resume();
    skip.ms += 10_000;
    await (await ledger.begin(call)).settle({ status: 200, cu: 100 });
    await delay(250);
    await (await ledger.begin(call)).release();
    const items = await link.use((store) =>
      readStatus(store, {
        keys: keysOf(scope),
        machine: 'a',
        memory: new StoreMemory(undefined, 'a'),
      }),
    );
    const day = items.find(({ item, name }) => item === 'budget' && name === 'day');
    expect(day).toMatchObject({ spent: 200, reserved: 0 });
    expect([0, 300]).toContain(day?.['lost']);
  });
});

describe.skipIf(!has('redis-server'))('a full store', () => {
  it('is read only: the limiter and the cache continue without it, and known answers are still shared', async () => {
    const server = await startServer();
    const [one, two] = [machine(server), machine(server, { name: 'b' })];
    await one.lookUp();
    await two.windows.take('key', 10);
    await one.link.use((store) => store.send('CONFIG', ['SET', 'maxmemory', '1']));
    expect((await one.windows.take('key', 10)).waitMs).toBe(0);
    expect(one.notices).toEqual([expect.stringContaining('has no memory left')]);
    // This machine never saw a shared budget, so paid calls continue; their answers are saved only on the
    // machine.
    await (await two.ledger.begin(call)).settle({ status: 200, cu: 100 });
    expect(await two.lookUp()).toMatchObject({ status: 200 });
    expect(two.calls.made).toBeLessThanOrEqual(1);
  });
});

describe.skipIf(!has('redis-server'))('an evicting store', () => {
  const evicting = { conf: ['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru'] };

  it('rejects a budget', async () => {
    const server = await startServer(evicting);
    const { budgets, ledger } = machine(server);
    await expect(budgets.set({ period: 'day', machine: undefined, cu: 1 })).rejects.toThrow(
      'removes keys',
    );
    // Without a budget, such a store may be used: a dropped answer costs at most another call.
    await (await ledger.begin(call)).settle({ status: 200, cu: 100 });
  });

  it('stops paid calls if a budget was set before, even when that budget was dropped', async () => {
    const server = await startServer();
    const { budgets, ledger, link, skip } = machine(server);
    await budgets.set({ period: 'day', machine: undefined, cu: 10_000 });
    await (await ledger.begin(call)).settle({ status: 200, cu: 100 });
    const lost = await link.use(async (store) => {
      await store.send('CONFIG', ['SET', 'maxmemory', '50mb']);
      await store.send('CONFIG', ['SET', 'maxmemory-policy', 'allkeys-lru']);
      await store.send('DEL', [keysOf(scope).caps]);
      store.close();
      return store.lost;
    });
    await until(() => lost.aborted);
    skip.ms += 10_000;
    await expect(ledger.begin(call)).rejects.toMatchObject({ code: 'STORE_UNFIT' });
  });
});

describe.skipIf(!has('redis-server'))('two masters after a failover', () => {
  it('let at most the calls in flight exceed the budget, because the sums follow the usage that the service reports', async () => {
    const [one, two] = [await startServer(), await startServer()];
    const meter = { used: 0, asked: 0 };
    const [first, second] = [machine(one, { meter }), machine(two, { meter })];
    await first.budgets.set({ period: 'month', machine: undefined, cu: 1_000 });
    const pay = async ({ ledger }: ReturnType<typeof machine>) => {
      const paid = await ledger.begin(call);
      meter.used += 300;
      await paid.settle({ status: 200, cu: 300 });
    };
    await pay(first);
    const replica = await two.connect();
    const { sum, caps } = keysOf(scope);
    await replica.send('REPLICAOF', ['127.0.0.1', one.port]);
    await until(async () => (await replica.send('HGET', [caps, 'month'])) === '1000');
    await replica.send('REPLICAOF', ['NO', 'ONE']);
    await pay(first);
    await pay(first);
    // The new master knows only of the first payment.
    expect(await replica.send('HGET', [sum(new Date().toISOString().slice(0, 7)), 'spent'])).toBe(
      '300',
    );
    await expect(pay(second)).rejects.toMatchObject({ code: 'BUDGET' });
    expect(meter.used).toBe(900);
  });
});

describe.skipIf(!has('redis-server'))('machines that die while they pay', () => {
  it('never exceed the budget, by the count of the service', async () => {
    const random = rngOf(SEED);
    const server = await startServer();
    const CAP = 30_000;
    const meter = { used: 0, asked: 0 };
    let refused = 0;
    await machine(server).budgets.set({ period: 'month', machine: undefined, cu: CAP });
    /** Makes paid calls until the returned function kills the machine; repeats rejected calls. */
    const start = (name: string) => {
      const memory = new StoreMemory(server.folder, name);
      const { ledger, link } = machine(server, { name, ttlMs: 3_000, meter, memory });
      let isDead = false;
      const spend = async () => {
        while (!isDead) {
          const paid = await ledger.begin(call).catch(() => undefined);
          if (isDead) return;
          if (!paid) {
            refused++;
            await delay(50);
            continue;
          }
          const cu = random.next() < 0.5 ? 100 : 300;
          meter.used += cu;
          await delay(random.int(20));
          if (!isDead) await paid.settle({ status: 200, cu }).catch(() => {});
        }
      };
      void spend();
      return () => {
        isDead = true;
        link.close();
      };
    };
    const kills = Array.from({ length: 6 }, (_, at) => start(`m${at}`));
    for (let round = 0; round < 8; round++) {
      const before = meter.used;
      await until(() => meter.used > before + 300 || meter.used > CAP - 3_000);
      const at = random.int(kills.length);
      kills[at]?.();
      kills[at] = start(`m${at}`);
    }
    // At the end, only what was reserved by killed machines, and less than one call, may be unspent.
    await until(() => meter.used > CAP - 300 * 10);
    refused = 0;
    await until(() => refused > 30 || meter.used > CAP);
    for (const kill of kills) kill();
    expect(meter.used, `seed ${SEED}`).toBeLessThanOrEqual(CAP);
  });
});

describe.skipIf(!has('redis-server'))('servers of other kinds', () => {
  it('a Sentinel is rejected, and the hint states what to use instead', async () => {
    const server = await startServer({ conf: ['--sentinel'], plain: true });
    await expect(server.connect()).rejects.toMatchObject({
      code: 'STORE_UNFIT',
      message: expect.stringContaining('is a Sentinel, which stores no data'),
    });
  });

  it('a server in cluster mode is rejected, and the hint states what to use instead', async () => {
    // By default, a node also listens on a port that another program may have.
    const bus = `${await freePort()}`;
    const server = await startServer({ conf: ['--cluster-enabled', 'yes', '--cluster-port', bus] });
    await expect(server.connect()).rejects.toMatchObject({
      code: 'STORE_UNFIT',
      message: expect.stringContaining('is in cluster mode'),
    });
    const check = await runInProcess(['store', 'check'], {
      home: openHome(),
      sandbox: await withSandbox(),
      env: { TRDR_STORE: server.url },
    });
    expect([check.exitCode, check.records()]).toMatchObject([
      9,
      [{ check: 'reach', verdict: 'fail', next: expect.stringContaining('not a cluster node') }],
    ]);
  });
});
