import { describe, expect, it, test } from 'vitest';
import { checkDays, unitsWanted } from '../../src/cli/commands/me.ts';
import { forecast } from '../../src/core/account.ts';
import { type InProcessOptions, runInProcess } from '../e2e/in-process.ts';

test('trdr resolve explains a missing answer on a terminal; otherwise, the record has the reason', async () => {
  const words = ['resolve', 'nowallet', '--sandbox'];
  const shown = await runInProcess(words, { tty: true });
  expect(shown).toMatchObject({
    ...{
      exitCode: 8,
      stderr: expect.stringContaining('nowallet: no wallet can be verified; a retry rarely helps'),
    },
  });
  const piped = await runInProcess(words);
  expect([piped.json(), piped.stderr]).toMatchObject([{ code: 'PENDING', reason: 'no_preview' }, '']);
});

test.each([
  ['linux', (name: string, value: string) => `export ${name}=${value}`],
  ['win32', (name: string, value: string) => `$env:${name} = "${value}"`],
] as const)('trdr sandbox prints lines to paste into a shell of %s', async (platform, line) => {
  const end = new AbortController();
  const options: InProcessOptions = { tty: { stderr: true }, platform, interrupt: end.signal };
  const { stdout, stderr } = await runInProcess(['sandbox'], { ...options, onStderr: () => end.abort() });
  const { url, key } = JSON.parse(stdout);
  expect(stderr).toContain(`\n${line('TRDR_BASE_URL', url)}\n${line('TRDR_API_KEY', key)}\n`);
});

describe('trdr me', () => {
  const DAY = 86_400_000;
  /** Ten of thirty days of the month are over. */
  const NOW = Date.UTC(2026, 3, 11);
  const key = (unitsUsed: number, unitsRemaining: number, entitlement = {}) => ({
    usage: { unitsUsed, unitsRemaining, additionalUnits: 0 },
    entitlement: { monthlyUnits: unitsUsed + unitsRemaining, ...entitlement },
  });

  it.each([
    [key(900, 100), { share: 0.1 }, 100],
    [key(900, 100), 5, 5],
    [key(900, 100), undefined, undefined],
    [key(900, 100, { unmetered: true }), { share: 0.1 }, 0],
    [{ usage: {} }, { share: 0.1 }, 'does not report the CU that the key gets each month'],
  ])('with %j and --min-units %j requires %j', (me, wanted, units) => {
    if (typeof units !== 'string') expect(unitsWanted(me, wanted)).toBe(units);
    else expect(() => unitsWanted(me, wanted)).toThrow(units);
  });

  const [late, early] = [Date.UTC(2026, 3, 30), Date.UTC(2026, 3, 1) + 60_000];
  it.each([
    ['the units run out sooner at the rate of this month', key(1_000, 200), NOW, 3, 'DAYS_LOW'],
    ['they last as long', key(1_000, 200), NOW, 2, 'ok'],
    ['they last until the month ends', key(1_000, 2_000), NOW, 365, 'ok'],
    ['they last until the month ends soon', key(2_900, 200), late, 3, 'ok'],
    ['there is no cap', key(1_000, 200, { unmetered: true }), NOW, 3, 'ok'],
    ['the month has just begun', key(10, 5), early, 30, 'ok'],
    ['the units left are not known', { usage: { unitsUsed: 10 } }, NOW, 3, 'BAD_ANSWER'],
    ['the units used are not known', { usage: { unitsRemaining: 10 } }, NOW + DAY, 3, 'BAD_ANSWER'],
  ])('with --min-days, if %s: %#', (_, me, now, days, code) => {
    const check = () => checkDays(me, forecast(me, now), now, days);
    if (code === 'ok') expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code }));
  });
});
