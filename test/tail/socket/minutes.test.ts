import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Slot } from '../../../src/contract/ports/ledger.ts';
import type { LinkEnd } from '../../../src/tail/ports.ts';
import { withMinutes } from '../../../src/tail/socket/minutes.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { runs } from '../../state/room.ts';
import { linkTo } from '../fakes.ts';

const SECOND = 1_000;
const PING = 30 * SECOND;
const MINUTE = 60 * SECOND;

/** The minutes that were reserved, and what became of them. */
function meterOf(most = Number.POSITIVE_INFINITY) {
  const count = { certain: 0, lost: 0, reserved: 0 };
  const reserve = async (): Promise<Slot> => {
    if (count.certain + count.lost + count.reserved >= most)
      throw new Error('the budget is used up');
    count.reserved++;
    const become = (by: Partial<Record<'certain' | 'lost', number>>) => {
      count.reserved--;
      count.certain += by.certain ?? 0;
      count.lost += by.lost ?? 0;
    };
    return {
      settle: () => become({ certain: 1 }),
      lose: () => become({ lost: 1 }),
      release: () => become({}),
    };
  };
  const counted = () => {
    const { certain, lost, reserved } = count;
    return { certain, most: certain + lost + reserved };
  };
  return { reserve, counted };
}

async function connection(most?: number) {
  const steady = virtualClock();
  let ahead = 0;
  const state: { signs: number; end?: LinkEnd } = { signs: 0 };
  const clock = { ...steady, now: () => steady.now() + ahead };
  const { reserve, counted } = meterOf(most);
  let alive = () => {};
  let isHeard = true;
  const connect = withMinutes(
    async (onChange) => {
      alive = onChange;
      return linkTo(state, { close: async () => isHeard });
    },
    clock,
    reserve,
  );
  const stop = new AbortController();
  const link = await connect(() => {}, stop.signal);
  const hear = () => {
    state.signs++;
    alive();
  };
  return {
    ...{ clock, link, counted, alive: hear },
    /** The clock of the machine jumps, or the monotonic one stands still for so long. */
    jump(ms: number) {
      ahead += ms;
    },
    /** Advances time with a ping every 30 seconds. */
    async live(ms: number) {
      for (let left = ms; left > 0; left -= PING) {
        await clock.sleep(Math.min(PING, left));
        if (left >= PING) hear();
      }
    },
    /** Closes the connection. `known` means that the service has answered. */
    async close(known: boolean) {
      isHeard = known;
      await link.close();
    },
    /** The service closes the connection, or it breaks. The link settles this without a look at it. */
    async broken(unconfirmed: boolean) {
      state.end = { why: 'closed', text: '', unconfirmed };
      alive();
    },
  };
}

describe('minutes of the socket', () => {
  test('are reserved before the handshake, including the time until the service would notice a lost machine', async () => {
    const { counted } = await connection();
    expect(counted()).toEqual({ certain: 0, most: 2 });
  });

  test('are released for a rejected handshake, and remain possible for an unanswered one', async () => {
    for (const [code, most] of [
      ['ECONNREFUSED', 0],
      ['BROKEN', 2],
    ] as const) {
      const { reserve, counted } = meterOf();
      const connect = withMinutes(
        async () => {
          throw new Failure('network', 'no answer', { code });
        },
        virtualClock(),
        reserve,
      );
      await expect(connect(() => {}, new AbortController().signal)).rejects.toThrow('no answer');
      expect(counted()).toEqual({ certain: 0, most });
    }
  });

  test('are certain when they have begun, and no further one is counted, if the service confirms the close', async () => {
    for (const [heldMs, certain, most] of [
      [100, 1, 1],
      [59_500, 1, 1],
      [60_000, 2, 2],
      [119_900, 2, 2],
    ] as const) {
      const { live, close, counted } = await connection();
      await live(heldMs);
      await close(true);
      expect(counted()).toEqual({ certain, most });
    }
  });

  test('become certain once something was received in them, however the connection ends', async () => {
    for (const end of ['close', 'no answer', 'broken'] as const) {
      const { live, close, broken, counted } = await connection();
      await live(40 * SECOND);
      expect(counted()).toEqual({ certain: 1, most: 2 });
      await live(80 * SECOND);
      expect(counted()).toEqual({ certain: 2, most: 4 });
      if (end === 'broken') await broken(true);
      else await close(end === 'close');
      expect(counted()).toEqual({
        certain: end === 'close' ? 3 : 2,
        most: end === 'close' ? 3 : 4,
      });
    }
  });

  test.each([
    ['an hour ahead', [3_600 * SECOND], true, { certain: 1, most: 1 }],
    ['an hour back', [-3_600 * SECOND], true, { certain: 1, most: 1 }],
    ['a little, as when the machine was suspended', [50 * SECOND], true, { certain: 1, most: 2 }],
    ['a little, again and again', [20_000, 20_000, 20_000], true, { certain: 2, most: 3 }],
    ['an hour ahead, and there is no answer', [3_600 * SECOND], false, { certain: 1, most: 2 }],
    ['an hour ahead, and it breaks', [3_600 * SECOND], undefined, { certain: 1, most: 2 }],
  ])(
    'follow the monotonic clock when the other one jumps %s',
    async (_, jumps, answer, minutes) => {
      const { alive, jump, clock, close, broken, counted } = await connection();
      for (const ms of jumps) {
        await clock.sleep(PING);
        jump(ms);
        alive();
      }
      if (answer === undefined) await broken(false);
      else await close(answer);
      expect(counted()).toEqual(minutes);
    },
  );

  test('extend to the second ping if the service did not receive the end of the connection', async () => {
    const { live, clock, broken, counted } = await connection();
    await live(30 * SECOND);
    await clock.sleep(45 * SECOND);
    await broken(true);
    expect(counted()).toEqual({ certain: 1, most: 3 });
  });

  test('stop when the service must have closed the connection of a suspended process', async () => {
    const { live, clock, alive, broken, counted } = await connection();
    await live(60 * SECOND);
    await clock.sleep(600 * SECOND);
    // The process reads only now what it received before it was suspended.
    alive();
    await broken(false);
    expect(counted()).toEqual({ certain: 1, most: 3 });
  });

  test('beyond a budget end the connection, and earlier ones stay paid for', async () => {
    const { live, link, counted } = await connection(3);
    await live(200 * SECOND);
    expect(link.end?.text).toBe('the budget is used up');
    expect(counted().most).toBe(3);
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
          const { live, clock, close, counted } = await connection();
          await live(lived * SECOND);
          await clock.sleep(silent * SECOND);
          const heardUpTo = Math.floor(lived / 30) * PING;
          const open = lived * SECOND + silent * SECOND;
          await close(known);
          // The answer to a close is not a sign of life from before it.
          const charged =
            known && open - heardUpTo <= 2 * PING
              ? open
              : Math.min(Math.max(open, heardUpTo + PING), heardUpTo + 2 * PING);
          // The service has both the beginning and the end of a connection whose close it confirms.
          const isConfirmed = known && open - heardUpTo <= 2 * PING;
          const minutes = Math.floor((charged + (isConfirmed ? 0 : skew)) / MINUTE);
          expect(counted().certain).toBeLessThanOrEqual(minutes + 1);
          expect(counted().most).toBeGreaterThanOrEqual(minutes + 1);
        },
      ),
      runs(150),
    );
  });
});
