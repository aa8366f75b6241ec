import { expect, test } from 'vitest';
import { Heartbeat } from '../../../src/tail/socket/heartbeat.ts';
import { timing } from '../../../src/tail/timing.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { linkTo } from '../fakes.ts';

function open() {
  const clock = virtualClock(0);
  const count = { signs: 0, pings: 0 };
  const link = linkTo(count, { ping: () => void count.pings++ });
  const heartbeat = new Heartbeat(clock, timing);
  heartbeat.start(link);
  /** Checks the connection every five seconds for a while; returns why it no longer works. */
  const check = async (ms: number) => {
    for (const end = clock.mono() + ms; clock.mono() < end; ) {
      await clock.sleep(timing.beatMs);
      const dead = heartbeat.dead(link);
      if (dead) return dead.why;
    }
    return undefined;
  };
  return { clock, count, heartbeat, link, check };
}

test('a silent connection gets pings, and then counts as lost', async () => {
  const { clock, count, check } = open();
  expect([await check(15_000), count.pings]).toEqual([undefined, 0]);
  expect(await check(60_000)).toBe('silent');
  expect([clock.mono(), count.pings]).toEqual([45_000, 6]);
});

test('each sign of life counts, whenever it came since the last check', async () => {
  const { count, check } = open();
  for (let minute = 0; minute < 5; minute++) {
    count.signs++;
    expect(await check(40_000)).toBeUndefined();
  }
});

test('a connection does not survive a suspended machine', async () => {
  const { clock, count, heartbeat, link } = open();
  await clock.sleep(timing.jumpMs + timing.beatMs + 1);
  count.signs++;
  expect(heartbeat.dead(link)?.why).toBe('suspended');
});
