import { describe, expect, it } from 'vitest';
import { manualClock, runningClock } from '../../src/sandbox/clock.ts';

describe('the clock', () => {
  it('runs tasks in order, each at its own time', async () => {
    const clock = manualClock(1_000);
    const ran: [string, number][] = [];
    const at = (name: string, time: number) => clock.at(time, () => ran.push([name, clock.now()]));
    at('late', 1_300);
    at('early', 1_100);
    at('same', 1_100);
    await clock.advance(200);
    expect([ran, clock.now()]).toEqual([
      [
        ['early', 1_100],
        ['same', 1_100],
      ],
      1_200,
    ]);
    await clock.advance(100);
    expect(ran.at(-1)).toEqual(['late', 1_300]);
  });

  it('runs a task that another task adds while time moves', async () => {
    const clock = manualClock(0);
    const ran: number[] = [];
    const tick = () => {
      ran.push(clock.now());
      clock.at(clock.now() + 10, tick);
    };
    clock.at(10, tick);
    await clock.advance(35);
    expect(ran).toEqual([10, 20, 30]);
  });

  it('awaits the promise of a task before time moves on', async () => {
    const clock = manualClock(0);
    const ran: string[] = [];
    clock.at(1, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      ran.push('first, until it ended');
    });
    clock.at(2, () => ran.push('second'));
    await clock.advance(5);
    expect(ran).toEqual(['first, until it ended', 'second']);
  });

  it('runs due tasks once after a jump', () => {
    const clock = manualClock(0);
    const ran: number[] = [];
    const tick = () => {
      ran.push(clock.now());
      clock.at(clock.now() + 10, tick);
    };
    clock.at(10, tick);
    clock.set(1_000);
    expect(ran).toEqual([1_000]);
  });

  it('cancels a task', async () => {
    const clock = manualClock(0);
    let ran = 0;
    const cancel = clock.at(10, () => ran++);
    clock.at(10, () => ran++);
    cancel();
    cancel();
    await clock.advance(20);
    expect(ran).toBe(1);
  });

  it('runs by itself from a given time, and can be moved', async () => {
    const clock = runningClock(5_000);
    await new Promise((resolve) => clock.at(clock.now() + 1, () => resolve(null)));
    let ran = 0;
    clock.at(clock.now() + 3_600_000, () => ran++);
    await clock.advance(3_600_000);
    expect(ran).toBe(1);
    expect(clock.now()).toBeGreaterThanOrEqual(3_605_001);
    clock.stop();
  });
});
