import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/contract/ports.ts';
import { cu } from '../../../src/contract/prices.ts';
import { recordSocketMinutes } from '../../../src/tail/spend/socket-minutes.ts';
import { ledgerInMemory } from '../../core/fakes.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { runs } from '../../state/room.ts';

const SECOND = 1_000;
const PING = 30 * SECOND;
const MINUTE = 60 * SECOND;

/** The minutes of the socket in the ledger: confirmed, and at most. */
const minutesOf = (entries: ReturnType<typeof ledgerInMemory>['entries']) => ({
  certain: entries.reduce((sum, entry) => sum + entry.cu, 0) / cu.socketMinute,
  most: entries.reduce((sum, entry) => sum + entry.cu + (entry.cuAtMost ?? 0), 0) / cu.socketMinute,
});

async function connection() {
  const clock = virtualClock();
  const { ledger, entries } = ledgerInMemory(clock.now);
  const minutes = await recordSocketMinutes(clock, ledger);
  const stop = new AbortController();
  minutes.opened();
  const running = minutes.run(stop.signal);
  return {
    clock,
    minutes,
    count: () => minutesOf(entries),
    /** Advances time with a ping every 30 seconds. */
    async live(ms: number) {
      for (let left = ms; left > 0; left -= PING) {
        await clock.sleep(Math.min(PING, left));
        if (left >= PING) minutes.alive();
      }
    },
    async end(known: boolean) {
      stop.abort();
      await running;
      await minutes.end(known);
    },
  };
}

describe('minutes of the socket', () => {
  test('are recorded before the handshake, including the time until the service would notice a lost machine', async () => {
    const clock = virtualClock();
    const { ledger, entries } = ledgerInMemory(clock.now);
    await recordSocketMinutes(clock, ledger);
    expect(minutesOf(entries)).toEqual({ certain: 0, most: 2 });
  });

  test('are removed for a rejected handshake, and remain possible for an unanswered one', async () => {
    for (const [how, most] of [
      ['refused', 0],
      ['end', 2],
    ] as const) {
      const clock = virtualClock();
      const { ledger, entries } = ledgerInMemory(clock.now);
      const minutes = await recordSocketMinutes(clock, ledger);
      await minutes[how](false);
      expect(minutesOf(entries)).toEqual({ certain: 0, most });
    }
  });

  test('become certain once something was received after their end', async () => {
    const { live, end, count } = await connection();
    await live(150 * SECOND);
    await end(true);
    expect(count()).toEqual({ certain: 2, most: 3 });
  });

  test('extend to the second ping if the service did not receive the end of the connection', async () => {
    const { live, clock, end, count } = await connection();
    await live(30 * SECOND);
    await clock.sleep(45 * SECOND);
    await end(false);
    expect(count()).toEqual({ certain: 0, most: 2 });
  });

  test('stop when the service must have closed the connection of a suspended process', async () => {
    const { live, clock, minutes, end, count } = await connection();
    await live(60 * SECOND);
    await clock.sleep(600 * SECOND);
    // The process reads only now what it received before it was suspended.
    minutes.alive();
    await end(true);
    expect(count()).toEqual({ certain: 0, most: 3 });
  });

  test('beyond a budget are rejected, and earlier ones stay recorded', async () => {
    const clock = virtualClock();
    const { ledger, entries } = ledgerInMemory(clock.now);
    let left = 3;
    const limited: Ledger = {
      begin: async (call) => {
        if (left-- <= 0) throw new Error('the budget is used up');
        return ledger.begin(call);
      },
    };
    const minutes = await recordSocketMinutes(clock, limited);
    minutes.opened();
    await expect(minutes.run(new AbortController().signal)).rejects.toThrow('used up');
    await minutes.end(true);
    expect(minutesOf(entries).most).toBeLessThanOrEqual(3);
  });

  test('always contain the count of the service, for any rounding and any end of the connection', async () => {
    const length = fc.integer({ min: 0, max: 400 });
    await fc.assert(
      fc.asyncProperty(
        length,
        fc.integer({ min: 0, max: 90 }),
        fc.boolean(),
        fc.integer({ min: -900, max: 900 }),
        async (lived, silent, known, skew) => {
          const { live, clock, end, count } = await connection();
          await live(lived * SECOND);
          await clock.sleep(silent * SECOND);
          const heardUpTo = Math.floor(lived / 30) * PING;
          const open = lived * SECOND + silent * SECOND;
          await end(known);
          const counted =
            known && open - heardUpTo <= 2 * PING
              ? open
              : Math.min(Math.max(open, heardUpTo + PING), heardUpTo + 2 * PING);
          const [floor, ceil] = [
            Math.floor((counted + skew) / MINUTE),
            Math.floor((counted + skew) / MINUTE) + 1,
          ];
          expect(count().certain).toBeLessThanOrEqual(Math.max(0, floor));
          expect(count().most).toBeGreaterThanOrEqual(ceil);
        },
      ),
      runs(150),
    );
  });
});
