import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openHome, runInProcess, withSandbox } from './harness.ts';

const HOUR = 3_600_000;

/** The clock of a machine that is off by some hours. */
const clockOff = (hours: number) => ({ ...systemClock, now: () => Date.now() + hours * HOUR });

const lists = [
  { words: ['thesis', 'list'], time: 'platformCreatedAt', posts: 'thesis' },
  {
    words: ['thesis', 'tail', '--via', 'poll', '--duration', '300ms'],
    time: 'platformCreatedAt',
    posts: 'thesis',
  },
  { words: ['launchpad', 'callouts'], time: 'createdAt', posts: 'callout' },
  { words: ['launchpad', 'tail', '--duration', '300ms'], time: 'createdAt', posts: 'callout' },
] as const;

test.each(lists.flatMap((list) => [-30, -2, 30].map((hours) => ({ ...list, hours }))))(
  '$words counts an age from the clock of the service if its own is $hours hours ahead',
  async ({ words, time, posts, hours }) => {
    const sandbox = await withSandbox({ theses: 0, ratePerMinute: 100_000 });
    const post = () => (posts === 'thesis' ? sandbox.post() : sandbox.postCallout())?.id;
    const old = post();
    await sandbox.advance(10 * 60_000);
    const recent = [post(), post(), post()];
    const ran = await runInProcess([...words, '--since', '5m', '-o', 'ndjson', '--max-cu', '20k'], {
      sandbox,
      home: openHome(),
      clock: clockOff(hours),
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    const ids = ran.records().map(({ id }) => id);
    expect([...ids].sort()).toEqual([...recent].sort());
    expect(ids).not.toContain(old);
    for (const record of ran.records()) expect(record[time]).toBeTypeOf('number');
  },
);

test('a time of --since that is ahead of the clock may have passed, and is named', async () => {
  const line = `usage --since ${Date.now() + HOUR}`;
  const [ahead, passed] = [
    await runInProcess(line),
    await runInProcess(line, { clock: clockOff(2) }),
  ];
  expect([ahead.exitCode, ahead.stderr]).toEqual([0, expect.stringContaining('yet to come')]);
  expect(passed.stderr).toBe('');
});
