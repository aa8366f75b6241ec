import { describe, expect, test } from 'vitest';
import { openDesk } from './harness.ts';

const MINUTE = 60_000;

/** Every command whose rows come from answers of the service, with what it is asked. */
const commands: readonly (readonly [line: string, isOfSubject: boolean])[] = [
  ['whois mira nobody_here', true],
  ['resolve mira nobody_here', true],
  ['pnl mira', true],
  ['pnl mira solwolf nobody_here -y', true],
  ['launchpad user mira nobody_here', true],
  ['thesis list --limit 3', false],
  ['thesis tail --via poll --backfill 3 --count 3 --yes', false],
  ['launchpad callouts --limit 3', false],
  ['launchpad tail --backfill 3 --count 3 --yes', false],
  ['launchpad board --top 3', false],
  ['launchpad board --top 3 --compare 7d', false],
];

const rowsOf = (ran: { readonly lines: () => readonly string[] }): Record<string, unknown>[] =>
  ran.lines().map((line) => JSON.parse(line));

describe.each(commands)('trdr %s', (line, isOfSubject) => {
  test.each(['bare', 'wrapped'] as const)('says what the answer says: %s', async (envelope) => {
    const { run, sandbox } = await openDesk({ envelope, plan: 'enterprise' });
    const from = Date.now();
    const rows = rowsOf(await run(line));
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      // A miss is an error of the service, which has no envelope.
      const isStamped = envelope === 'wrapped' && row['found'] !== false;
      if (isStamped) expect(Date.parse(String(row['asOf']))).toBeGreaterThanOrEqual(from - MINUTE);
      else expect(row).not.toHaveProperty('asOf');
      if (!isOfSubject) continue;
      expect(row['via']).toBe('service');
      expect(row['readAt']).toBeGreaterThanOrEqual(from);
      expect(row['readAt']).toBeLessThanOrEqual(Date.now());
    }
    if (!line.includes('board')) return;
    const { period, capturedAt } = sandbox.world.board('weekly', sandbox.clock.now());
    for (const row of rows) expect(row).toMatchObject({ period, capturedAt });
  });
});

test.each(['whois', 'pnl'])('%s says of a kept answer when it was read', async (command) => {
  const { run } = await openDesk();
  const [first] = rowsOf(await run([command, 'mira']));
  const [again] = rowsOf(await run([command, 'mira']));
  expect(again).toEqual({ ...first, via: 'cache' });
  const [iso] = rowsOf(await run([command, 'mira', '--times', 'iso', '--fields', 'readAt,via']));
  expect(iso).toEqual({ readAt: new Date(Number(first?.['readAt'])).toISOString(), via: 'cache' });
});
