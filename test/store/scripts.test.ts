import { describe, expect, it } from 'vitest';
import type { StoreConnection } from '../../src/store/connection.ts';
import { type Keys, keysOf } from '../../src/store/keys.ts';
import type { Script } from '../../src/store/script.ts';
import { laneScripts } from '../../src/store/scripts/lanes.ts';
import { spendingScripts } from '../../src/store/scripts/spending.ts';
import { readSharedLedger } from '../../src/store/status.ts';
import { has } from '../tools.ts';
import { startServer } from './server.ts';

const { begin, handOver, release, reseed, settle } = spendingScripts;
const { departLate, take } = laneScripts;

const WINDOW = 61_000;
const GRACE = 250;
let tests = 0;

describe.skipIf(!has('redis-server'))('scripts', async () => {
  const server = has('redis-server') ? await startServer() : undefined;
  const store = await server?.connect();
  const fresh = () => keysOf({ baseUrl: 'https://api.example.test', key: `k${tests++}` });
  const db = (): StoreConnection => {
    if (store === undefined) throw new Error('no server');
    return store;
  };

  describe('take', () => {
    const lane = (keys: Keys) => {
      const { calls, meta } = keys.lane('key');
      return {
        calls,
        take: (ticket: string, limit = 2, book = 1, machine = 'a') =>
          db().run(take, [calls, meta, keys.fleet], [limit, WINDOW, ticket, book, machine, GRACE]),
        run: (script: Script, args: readonly (string | number)[]) =>
          db().run(script, [calls, meta], args),
      };
    };
    const wait = (answer: unknown) => (Array.isArray(answer) ? Number(answer[0]) : Number.NaN);

    it('counts a call that leaves late at its departure, and keeps later ones a window apart', async () => {
      const { take, run, calls } = lane(fresh());
      for (const ticket of ['1', '2', '3']) await take(ticket);
      const now = await serverNow(db());
      const times = [now - 10_000, '1', now - 5_000, '2', now + WINDOW - 10_000, '3'];
      await db().send('ZADD', [calls, ...times]);
      expect(await run(departLate, ['1', WINDOW])).toBe(1);
      expect(wait(await take('3'))).toBeGreaterThan(WINDOW - 5_500);
      expect(wait(await take('4'))).toBeGreaterThan(WINDOW - 500);
      await db().send('ZADD', [calls, now - WINDOW - 1, '2']);
      expect(await run(departLate, ['2', WINDOW])).toBe(0);
    });
  });

  describe('spending', () => {
    const books = (keys: Keys) => {
      const iso = new Date().toISOString();
      const [month, day] = [iso.slice(0, 7), iso.slice(0, 10)];
      const { open, calls, done, caps, ledger } = keys;
      const own = [open, calls, done, keys.sum(month), keys.sum(day), caps, ledger];
      const run = (script: Script, ...args: readonly (string | number)[]) =>
        db().run(script, own, [Date.parse(day), day, ...args]);
      return {
        month: keys.sum(month),
        day: keys.sum(day),
        keys: own,
        begin: (
          id: string,
          most: number | '',
          {
            ttl = 60_000,
            machine = 'a',
            boot = 'b1',
            remembered = [''].slice(1),
            reveals = 0,
          } = {},
        ) =>
          run(
            ...([begin, id, most, reveals, ttl, machine, 'whois', 'user.handle', boot] as const),
            ...remembered,
          ),
        settle: (
          id: string,
          outcome: 'paid' | 'lost',
          cu: number,
          uncertain = 0,
          { reveals = 0, uncertainReveals = 0 } = {},
        ) =>
          run(
            ...([settle, id, outcome, cu, uncertain, reveals, uncertainReveals] as const),
            ...(['a', 'whois', 'user.handle', 200, 'r'] as const),
          ),
        release: (id: string) => run(release, id),
        reseed: (used: number, boot = 'b1', reserved: number | '' = '', reveals = 0) =>
          run(reseed, used, reveals, month, boot, reserved, '', ''),
        field: async (key: string, name: string) => Number(await db().send('HGET', [key, name])),
      };
    };

    describe('of a key that another one replaces', () => {
      const sums = (keys: Keys) => {
        const it = books(keys);
        const { caps, open, calls, moved } = keys;
        return { ...it, keys, own: { caps, open, calls, month: it.month, day: it.day, moved } };
      };
      type Sums = ReturnType<typeof sums>;
      const hand = (from: Sums, to: Sums, machine = 'a') => {
        const { caps, open, calls, month, day, moved } = from.own;
        const former = { capsFrom: caps, openFrom: open, callsFrom: calls };
        const keys = {
          ...{ ...to.own, ...former },
          ...{ monthFrom: month, dayFrom: day, movedFrom: moved },
        };
        const args = { machine, from: from.keys.bind, to: to.keys.bind };
        return db().run(...handOver.with(keys, args));
      };
      const spent = (it: Sums) =>
        Promise.all([it.field(it.month, 'spent'), it.field(it.day, 'spent@a')]);
      const pay = async (it: Sums, id: string, cu: number) => {
        await it.begin(id, cu);
        await it.settle(id, 'paid', cu);
      };

      it('is added once, however often and from wherever it is handed over', async () => {
        const [one, two] = [sums(fresh()), sums(fresh())];
        await pay(one, '1', 300);
        await one.begin('2', 50);
        await one.settle('2', 'lost', 0, 50);
        await pay(two, '3', 20);
        await hand(one, two);
        await hand(one, two);
        expect(await spent(two)).toEqual([370, 370]);
        // Another machine was still paying with the former key.
        await pay(one, '4', 100);
        await hand(one, two);
        expect(await spent(two)).toEqual([470, 470]);
        const moved = (it: Sums) => db().send('EXISTS', [it.keys.moved]);
        expect([await moved(one), await moved(two)]).toEqual([1, 0]);
        // The former key is used again: its sums are a part of those of the other one.
        await hand(two, one);
        expect([await moved(one), await moved(two)]).toEqual([0, 1]);
        expect(await spent(one)).toEqual([470, 470]);
        await pay(one, '5', 30);
        await hand(one, two);
        expect((await spent(two))[0]).toBeGreaterThanOrEqual(500);
      });

      it('may be in the count of the service already, which then is not added to', async () => {
        const [one, two] = [sums(fresh()), sums(fresh())];
        await pay(one, '1', 300);
        await two.reseed(320);
        await hand(one, two);
        expect(await two.field(two.month, 'spent')).toBe(320);
      });

      it('leaves its budgets, unless the other one has them, and the reservations of the machine', async () => {
        const [one, two] = [sums(fresh()), sums(fresh())];
        await db().send('HSET', [one.keys.caps, 'month', 1_000, 'day', 500]);
        await db().send('HSET', [two.keys.caps, 'day', 700]);
        await one.reseed(0);
        await one.begin('mine', 300);
        await one.begin('other', 100, { machine: 'b' });
        await hand(one, two);
        await two.reseed(0);
        expect(await two.begin('1', 701)).toEqual(['refused', 'month', 1_000, 300, 300]);
        expect(await two.begin('1', 500)).toEqual(['refused', 'day', 700, 300, 300]);
        expect(await two.begin('mine', 300)).toEqual(['held']);
        await two.settle('mine', 'paid', 200);
        expect(await spent(two)).toEqual([200, 200]);
        expect(await one.begin('other', 100, { machine: 'b' })).toEqual(['held']);
      });
    });

    it('requests the keys of the current period if the caller names another one', async () => {
      const keys = fresh();
      const now = await serverNow(db());
      const today = now - (now % 86_400_000);
      for (const start of [today - 86_400_000, today + 86_400_000]) {
        const day = new Date(start).toISOString().slice(0, 10);
        const answer = await db().run(release, books(keys).keys, [start, day, 'x']);
        expect(answer).toEqual(['period', expect.any(Number)]);
      }
    });

    it('settles once, even if calls are repeated', async () => {
      const it = books(fresh());
      await it.begin('1', 300);
      await it.settle('1', 'paid', 100);
      await it.settle('1', 'paid', 100);
      await it.settle('1', 'lost', 0, 300);
      await it.release('1');
      expect([await it.field(it.month, 'spent'), await it.field(it.day, 'spent@a')]).toEqual([
        100, 100,
      ]);
      expect(await it.field(it.month, 'lost')).toBe(0);
    });

    it('counts what an answered call may have cost in addition, once', async () => {
      const keys = fresh();
      const it = books(keys);
      await db().send('HSET', [keys.caps, 'month', 1_000]);
      await it.reseed(0);
      await it.begin('1', 300);
      await it.settle('1', 'paid', 100, 200);
      await it.settle('1', 'paid', 100, 200);
      expect([await it.field(it.month, 'spent'), await it.field(it.month, 'lost@a')]).toEqual([
        100, 200,
      ]);
      expect(await it.begin('2', 701)).toEqual(['refused', 'month', 1_000, 300, 0]);
      expect(await readSharedLedger(db(), keys, 0)).toMatchObject([{ cu: 100, cuAtMost: 200 }]);
      // If the service charged nothing more, its count does not change the sums.
      await it.reseed(100);
      expect([await it.field(it.month, 'spent'), await it.field(it.month, 'lost')]).toEqual([
        100, 200,
      ]);
    });

    it('counts an expired reservation as lost, and corrects it when its answer arrives', async () => {
      const it = books(fresh());
      await it.begin('1', 300, { ttl: 0 });
      await it.begin('2', 1);
      expect(await it.field(it.month, 'lost')).toBe(300);
      expect(await it.begin('1', 300)).toEqual(['over']);
      await it.settle('1', 'paid', 100);
      expect([await it.field(it.month, 'lost'), await it.field(it.month, 'spent')]).toEqual([
        0, 100,
      ]);
    });

    it('raises the sums to the usage that the service reports, and never adds to them', async () => {
      const it = books(fresh());
      await it.settle('1', 'paid', 100);
      await it.reseed(700);
      await it.reseed(700);
      await it.reseed(600);
      expect([await it.field(it.month, 'spent'), await it.field(it.day, 'spent')]).toEqual([
        700, 100,
      ]);
      await it.reseed(900);
      expect([await it.field(it.month, 'spent'), await it.field(it.day, 'spent')]).toEqual([
        900, 300,
      ]);
    });

    it('counts calls in flight and lost calls once when the meter may include them', async () => {
      const keys = fresh();
      const it = books(keys);
      await db().send('HSET', [keys.caps, 'month', 10_000]);
      await it.reseed(0);
      await it.settle('1', 'paid', 100);
      await it.settle('2', 'lost', 0, 300);
      await it.begin('3', 50);
      const sums = async () => [await it.field(it.month, 'spent'), await it.field(it.day, 'spent')];
      await it.reseed(450);
      expect(await sums()).toEqual([100, 100]);
      await it.reseed(480);
      expect(await sums()).toEqual([130, 130]);
      await it.settle('3', 'paid', 50);
      // The lost call turns out to be free. So the units that were subtracted from the count for it may be those of others.
      expect(await it.begin('4', 1)).toEqual(['ok', expect.anything(), 'month', 10_000]);
      await it.settle('2', 'paid', 0);
      expect(await it.begin('5', 1)).toEqual(['refresh', 1]);
      // The service was asked before call 4 was sent, so its count does not include that call.
      await it.reseed(490, 'b1', 0);
      expect(await sums()).toEqual([490, 490]);
      expect(await it.begin('5', 1)).toEqual(['ok', expect.anything(), 'month', 10_000]);
    });
  });
});

async function serverNow(store: StoreConnection): Promise<number> {
  const answer = await store.send('TIME', []);
  const [seconds, micros] = Array.isArray(answer) ? answer.map(Number) : [];
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}
