import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { periodsAt } from '../../src/base/periods.ts';
import { keysOf } from '../../src/store/keys.ts';
import { listReply } from '../../src/store/replies.ts';
import { until } from '../e2e/feed.ts';
import { openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { seedsOf } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { has } from '../tools.ts';
import { machine, scope } from './machines.ts';
import { startServer } from './server.ts';

const call = { endpoint: 'user.wallet', most: 300 } as const;

describe.skipIf(!has('redis-server'))('spending in a store', () => {
  it('keeps all machines within one budget, and each within its own', async () => {
    const server = await startServer();
    const meter = { used: 0, asked: 0 };
    const [one, two] = [machine(server, { meter }), machine(server, { meter, name: 'b' })];
    await one.budgets.set({ period: 'month', machine: undefined, cu: 1_000 });
    await one.budgets.set({ period: 'day', machine: 'b', cu: 400 });
    const held = await one.ledger.begin({ ...call, most: 600 });
    await (await two.ledger.begin(call)).settle({ status: 200, cu: 300 });
    await expect(two.ledger.begin(call)).rejects.toMatchObject({ kind: 'limit', code: 'BUDGET' });
    await expect(one.ledger.begin({ ...call, most: 800 })).rejects.toThrow(
      /100 CU of the month budget of all machines \(1,000 CU\) remain; 600 CU are reserved for calls in flight/,
    );
    await held.release();
    await expect(two.ledger.begin(call)).rejects.toThrow(
      /100 CU of the day budget of b \(400 CU\) remain; it/,
    );
    await (await one.ledger.begin(call)).settle({ status: 200, cu: 300 });
    expect(await two.budgets.unset({ period: 'day', machine: 'b' })).toBe(true);
    expect(await two.ledger.budgets?.()).toMatchObject([
      { period: 'month', scope: 'key', limit: 1_000 },
    ]);
  });

  it.each(['spent', 'spent@a', 'spent#reveals', 'lost', 'lost@a', 'lost#reveals'])(
    'counts each call in the sums of the day, although %s of the month is damaged',
    async (field) => {
      const server = await startServer();
      const one = machine(server, { meter: { used: 0, asked: 0 } });
      await one.budgets.set({ period: 'day', machine: undefined, cu: 1_000 });
      await (await one.ledger.begin(call)).release();
      const admin = await server.connect();
      const [sum = ''] = listReply(await admin.send('KEYS', ['*:sum:*']))
        .map(String)
        .sort();
      await admin.send('HSET', [sum, field, 'odd']);
      const revealing = { ...call, reveals: 1 };
      await (await one.ledger.begin(revealing)).settle({ status: 200, cu: 300, reveals: 1 });
      await (await one.ledger.begin(revealing)).lose();
      expect(await one.ledger.budgets?.()).toMatchObject([{ spent: 300, lost: 300, reserved: 0 }]);
    },
  );

  it.each(seedsOf(3))(
    'keeps all machines within one budget of wallet reveals (seed %s)',
    async (seed) => {
      const dice = rngOf(seed);
      const server = await startServer();
      const meter = { used: 0, asked: 0, reveals: 0 };
      const machines = ['a', 'b', 'c'].map((name) => machine(server, { meter, name }));
      const limit = 1 + dice.int(12);
      await machines[0]?.budgets.set({
        ...{ period: dice.pick(['day', 'month'] as const), measure: 'reveals' },
        ...{ machine: undefined, cu: limit },
      });
      const counted = { open: 0, revealed: 0, lost: 0 };
      for (let round = 0; round < 40; round++) {
        const { ledger } = dice.pick(machines);
        const { open, revealed, lost } = counted;
        const slot = await ledger.begin({ ...call, reveals: 1 }).catch((error: Failure) => error);
        expect(slot instanceof Failure).toBe(open + revealed + lost + 1 > limit);
        // A call that reveals nothing is not limited.
        await (await ledger.begin(call)).release();
        if (slot instanceof Failure) {
          expect(slot).toMatchObject({ kind: 'limit', code: 'BUDGET' });
          expect(slot.message).toContain(`of all machines (${limit} wallet reveal`);
          continue;
        }
        const outcome = dice.pick(['hit', 'miss', 'lost', 'released', 'open']);
        if (outcome === 'hit') await slot.settle({ status: 200, cu: 300, reveals: 1 });
        if (outcome === 'miss') await slot.settle({ status: 404, cu: 200, reveals: 0 });
        if (outcome === 'lost') await slot.lose();
        if (outcome === 'released') await slot.release();
        counted.open += Number(outcome === 'open');
        counted.revealed += Number(outcome === 'hit');
        counted.lost += Number(outcome === 'lost');
        meter.reveals = counted.revealed;
      }
      const states = await machines[1]?.ledger.budgets?.();
      const { revealed: spent, lost, open: reserved } = counted;
      expect(states).toMatchObject([
        { measure: 'reveals', scope: 'key', limit, spent, lost, reserved },
      ]);
    },
  );

  it('restores a month of wallet reveals from the meter, if the store loses everything', async () => {
    const server = await startServer();
    const meter = { used: 300, asked: 0, reveals: 2 };
    const { budgets, ledger, link } = machine(server, { meter });
    const budget = { period: 'month', measure: 'reveals', machine: undefined, cu: 3 } as const;
    await budgets.set(budget);
    await link.use((store) => store.send('FLUSHALL', []));
    const paid = { ...call, reveals: 1 };
    await expect(ledger.begin(paid)).rejects.toThrow(
      /lost the month budget of wallet reveals of all machines \(3 wallet reveals\)/,
    );
    await budgets.set(budget);
    await (await ledger.begin(paid)).settle({ status: 200, cu: 300, reveals: 1 });
    await expect(ledger.begin(paid)).rejects.toMatchObject({ code: 'BUDGET' });
    expect(await budgets.unset(budget)).toBe(true);
    await (await ledger.begin(paid)).release();
  });

  it('shows all machines each change of a limit, but not what was spent', async () => {
    const server = await startServer();
    const meter = { used: 0, asked: 0 };
    const [one, two] = [machine(server, { meter }), machine(server, { meter, name: 'b' })];
    const limits = [await two.ledger.limits?.()];
    await one.budgets.set({ period: 'month', machine: undefined, cu: 1_000 });
    limits.push(await two.ledger.limits?.());
    await (await one.ledger.begin(call)).settle({ status: 200, cu: 300 });
    expect(await two.ledger.limits?.()).toBe(limits[1]);
    await one.budgets.set({ period: 'month', machine: undefined, cu: 2_000 });
    limits.push(await two.ledger.limits?.());
    await one.budgets.unset({ period: 'month', machine: undefined });
    limits.push(await two.ledger.limits?.());
    expect(new Set(limits).size).toBe(4);
  });

  it('includes what others spent with the key, ten minutes later at the latest', async () => {
    const server = await startServer();
    const meter = { used: 0, asked: 0 };
    const { budgets, ledger, link } = machine(server, { meter });
    await budgets.set({ period: 'month', machine: undefined, cu: 1_000 });
    const pay = async () => {
      const recorded = await ledger.begin(call);
      meter.used += 100;
      await recorded.settle({ status: 200, cu: 100 });
    };
    await pay();
    meter.used += 550;
    await pay();
    expect(meter.asked).toBe(1);
    const { month } = periodsAt(Date.now());
    const sum = keysOf(scope).sum(month);
    const field = (name: string) => link.use((store) => store.send('HGET', [sum, name]));
    const tenMinutesAgo = Number(await field('seeded')) - 600_001;
    await link.use((store) => store.send('HSET', [sum, 'seeded', tenMinutesAgo]));
    await pay();
    await until(async () => Number(await field('spent')) === meter.used);
    await expect(ledger.begin(call)).rejects.toMatchObject({ code: 'BUDGET' });
    expect([meter.used, meter.asked]).toEqual([850, 2]);
  });

  it('keeps a budget when the server loses its last writes', async () => {
    const server = await startServer({ conf: ['--appendfsync', 'always'] });
    const meter = { used: 0, asked: 0 };
    const { budgets, ledger, link, skip } = machine(server, { meter });
    await budgets.set({ period: 'month', machine: undefined, cu: 1_000 });
    const pay = async () => {
      const recorded = await ledger.begin(call);
      meter.used += 300;
      await recorded.settle({ status: 200, cu: 300 });
    };
    await pay();
    const early = join(server.folder, 'early.aof');
    copyFileSync(server.aof(), early);
    await pay();
    await pay();
    const lost = await link.use(async (store) => store.lost);
    await server.kill();
    copyFileSync(early, server.aof());
    await server.start();
    await until(() => lost.aborted);
    skip.ms += 10_000;
    const asked = meter.asked;
    await expect(pay()).rejects.toMatchObject({ code: 'BUDGET' });
    expect(meter.asked).toBe(asked + 1);
    expect(meter.used).toBe(900);
  });

  it('continues without the store while it is unreachable, unless a budget was seen or storeAway is stop', async () => {
    const server = await startServer();
    const meter = { used: 0, asked: 0 };
    const [free, capped, careful] = [
      machine(server, { meter }),
      machine(server, { meter }),
      machine(server, { meter, stop: true }),
    ];
    await (await free.ledger.begin(call)).settle({ status: 200, cu: 100 });
    await careful.ledger.begin(call);
    await capped.budgets.set({ period: 'day', machine: undefined, cu: 10_000 });
    const open = await capped.ledger.begin(call);
    const lost = await free.link.use(async (store) => store.lost);
    await server.kill();
    await until(() => lost.aborted);
    const alone = await free.ledger.begin(call);
    await alone.settle({ status: 200, cu: 300 });
    await expect(careful.ledger.begin(call)).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await expect(capped.ledger.begin(call)).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await open.settle({ status: 200, cu: 100 });
    await server.start();
    for (const one of [free, capped]) one.skip.ms += 10_000;
    await capped.link.use(async () => 0);
    await free.link.use(async () => 0);
    const { month } = periodsAt(Date.now());
    const spent = await free.link.use((store) =>
      store.send('HGET', [keysOf(scope).sum(month), 'spent']),
    );
    expect(Number(spent)).toBe(100 + 300 + 100);
  });

  it('rejects paid calls of a shared budget while the server is full', async () => {
    const server = await startServer();
    const { budgets, ledger, link } = machine(server);
    await budgets.set({ period: 'day', machine: undefined, cu: 10_000 });
    const open = await ledger.begin(call);
    await link.use((store) => store.send('CONFIG', ['SET', 'maxmemory', '1']));
    await expect(ledger.begin(call)).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await open.settle({ status: 200, cu: 100 });
    const { day } = periodsAt(Date.now());
    expect(await link.use((store) => store.send('HGET', [keysOf(scope).sum(day), 'spent']))).toBe(
      '100',
    );
  });

  it('lets a run of the program pay again once lost budgets are set or removed, and none of unknown price', async () => {
    const server = await startServer();
    const sandbox = await withSandbox();
    const options = { sandbox, home: openHome(), env: { TRDR_STORE: server.url } };
    const admin = await server.connect();
    const run = (line: string) => runInProcess(line.split(' '), options);
    await run('budget set day 1000');
    const unpriced = await run('api /v2/new/thing --yes');
    expect([unpriced.exitCode, unpriced.error()]).toMatchObject([
      6,
      { code: 'BUDGET', hint: 'remove the budget to send the call: trdr budget unset day' },
    ]);
    expect((await run('whois mira')).exitCode).toBe(0);
    for (const way of ['budget set day 1k', 'budget unset day']) {
      await admin.send('FLUSHALL', []);
      const lost = await run('whois solwolf --no-cache');
      expect([lost.exitCode, lost.error()]).toMatchObject([
        9,
        {
          code: 'STORE_UNFIT',
          hint: 'set it again: "trdr budget set day 1000"; or drop it: "trdr budget unset day"',
        },
      ]);
      expect((await run('budget show')).exitCode).toBe(9);
      expect((await run(way)).exitCode).toBe(0);
      expect((await run('whois solwolf --no-cache')).exitCode).toBe(0);
    }
    await run('budget set month 1k');
    await run('store clear all --yes');
    expect((await run('whois solwolf --no-cache')).exitCode).toBe(0);
  });

  it('are shown as lost if the store has lost them', async () => {
    const server = await startServer();
    const options = { env: { TRDR_STORE: server.url }, sandbox: await withSandbox() };
    const home = openHome();
    for (const words of ['day 350', 'month 7 --reveals', 'month 900 --machine other'])
      await home.run(`budget set ${words}`, options);
    await (await server.connect()).send('FLUSHALL', []);
    const status = await home.run('store status', options);
    const states = status.records().map(({ item, name, state }) => [item, name, state].join(' '));
    expect(states.filter((line) => line.startsWith('budget'))).toEqual([
      'budget month no limit',
      'budget day lost',
      'budget month reveals lost',
    ]);
    const shown = await home.run('budget show', options);
    expect([shown.exitCode, shown.error()['code']]).toEqual([9, 'STORE_UNFIT']);
  });

  it('stops a run of the program at a shared budget, before anything is sent', async () => {
    const server = await startServer();
    const sandbox = await withSandbox();
    const env = { TRDR_STORE: server.url, TRDR_MACHINE: 'desk-1' };
    const run = (line: string) => runInProcess(line.split(' '), { sandbox, env, home: openHome() });
    expect((await run('budget set month 350')).exitCode).toBe(0);
    expect((await run('budget set week 350')).exitCode).toBe(2);
    expect((await run('whois mira quantumhawk')).records()).toHaveLength(2);
    const second = await run('whois solwolf');
    expect([second.exitCode, second.error()['code']]).toEqual([6, 'BUDGET']);
    const status = await run('store status');
    expect(status.records()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ item: 'budget', name: 'month', limit: 350, spent: 200 }),
        expect.objectContaining({ item: 'machine', name: 'desk-1', spent: 200 }),
      ]),
    );
    const usage = await run('usage --store --by machine');
    expect(usage.records()).toEqual([{ machine: 'desk-1', calls: 2, cu: 200 }]);
    const unset = await run('budget unset month --machine desk-9');
    expect(unset.stderr).toContain('no month budget was set for machine "desk-9"');
    await run('budget unset month');
    expect((await run('budget show')).records()).toMatchObject([
      { name: 'month', limit: null, spent: 200 },
      { name: 'day', limit: null },
    ]);
  });
});
