import { describe, expect, it, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { type InProcessOptions, runInProcess } from '../e2e/in-process.ts';
import { withService } from '../e2e/service.ts';

test('trdr resolve explains a missing answer on a terminal; otherwise, the record has the reason', async () => {
  const words = ['resolve', 'nowallet', '--sandbox'];
  const shown = await runInProcess(words, { tty: true });
  expect(shown.exitCode).toBe(8);
  expect(shown.stderr).toContain('nowallet: no wallet can be verified; a retry rarely helps');
  const piped = await runInProcess(words);
  expect(piped.json()).toMatchObject({ code: 'PENDING', reason: 'no_preview' });
  expect(piped.stderr).toBe('');
});

test.each([
  ['linux', (name: string, value: string) => `export ${name}=${value}`],
  ['win32', (name: string, value: string) => `$env:${name} = "${value}"`],
] as const)('trdr sandbox prints lines to paste into a shell of %s', async (platform, line) => {
  const end = new AbortController();
  const options: InProcessOptions = { tty: { stderr: true }, platform, interrupt: end.signal };
  const { stdout, stderr } = await runInProcess(['sandbox'], {
    ...options,
    onStderr: () => end.abort(),
  });
  const { url, key } = JSON.parse(stdout);
  expect(stderr).toContain(`\n${line('TRDR_BASE_URL', url)}\n${line('TRDR_API_KEY', key)}\n`);
});

describe('trdr me', () => {
  const DAY = 86_400_000;
  /** Ten of thirty days of the month are over. */
  const NOW = Date.UTC(2026, 3, 11);
  const [late, early] = [Date.UTC(2026, 3, 30), Date.UTC(2026, 3, 1) + 60_000];
  const key = (unitsUsed: number, unitsRemaining: number, entitlement = {}) => ({
    usage: { unitsUsed, unitsRemaining, additionalUnits: 0 },
    entitlement: { monthlyUnits: unitsUsed + unitsRemaining, ...entitlement },
  });
  const unmetered = key(1_000, 200, { unmetered: true });

  const nothing = { usage: { unitsRemaining: 0 } };
  const topUps = { ...key(0, 0), usage: { ...key(10, 0).usage, additionalUnits: 5_000 } };
  /** A key that has used much in this month. */
  const usedIn = (period: string) => ({
    ...key(0, 0),
    usage: { ...key(9_000, 900).usage, period },
  });
  const once = (used: number, left: number) => ({ ...key(used, left), plan: 'explore' });

  it.each([
    ['--min-units 10%', 'as much is left', key(900, 100), NOW, 'ok'],
    ['--min-units 11%', 'less is left', key(900, 100), NOW, 'UNITS_LOW'],
    ['--min-units 101', 'less is left', key(900, 100), NOW, 'UNITS_LOW'],
    ['--min-units 90%', 'there is no cap', unmetered, NOW, 'ok'],
    ['--min-units 10%', 'no grant is known', { usage: { unitsRemaining: 9 } }, NOW, 'BAD_ANSWER'],
    [
      '--min-reveals 1',
      'reveals left are unknown',
      { usage: { revealsRemaining: {} } },
      NOW,
      'BAD_ANSWER',
    ],
    ['--min-days 3', 'the units run out sooner at this rate', key(1_000, 200), NOW, 'DAYS_LOW'],
    ['--min-days 2', 'they last as long', key(1_000, 200), NOW, 'ok'],
    ['--min-days 365', 'they last until the month ends', key(1_000, 2_000), NOW, 'ok'],
    ['--min-days 3', 'they last until the month ends soon', key(2_900, 200), late, 'ok'],
    ['--min-days 3', 'there is no cap', unmetered, NOW, 'ok'],
    ['--min-days 30', 'the month has just begun', key(10, 5), early, 'TOO_EARLY'],
    ['--min-days 30', 'the month has just begun, without a cap', unmetered, early, 'ok'],
    ['--min-days 3', 'nothing is left', key(1_000, 0), NOW, 'DAYS_LOW'],
    ['--min-days 3', 'nothing is left, early in the month', key(10, 0), early, 'DAYS_LOW'],
    ['--min-days 3', 'nothing is left, and was used', key(0, 0), NOW, 'DAYS_LOW'],
    ['--min-days 3', 'nothing is left, and the use is not known', nothing, NOW, 'DAYS_LOW'],
    ['--min-days 3', 'nothing was used', key(0, 5), NOW, 'ok'],
    ['--min-days 3', 'the clock is two hours ahead', usedIn('2026-03'), early + DAY / 12, 'ok'],
    ['--min-days 3', 'the clock is two days behind', usedIn('2026-05'), late, 'TOO_EARLY'],
    ['--min-days 3', 'top-ups are left', topUps, NOW, 'ok'],
    ['--min-days 30', 'granted once, they do not last', once(1_000, 2_000), NOW, 'DAYS_LOW'],
    ['--min-days 3', 'granted once, nothing is left', once(0, 0), NOW, 'DAYS_LOW'],
    ['--min-days 3', 'granted once, they last', once(1_000, 2_000), late, 'ok'],
    ['--min-days 3', 'the units left are unknown', { usage: { unitsUsed: 10 } }, NOW, 'BAD_ANSWER'],
    [
      '--min-days 3',
      'units used are unknown',
      { usage: { unitsRemaining: 10 } },
      NOW + DAY,
      'BAD_ANSWER',
    ],
  ])('%s, if %s: %#', async (flags, _, body, now, code) => {
    const sandbox = await withService(() => ({ body }), { ownMe: true });
    const options = { sandbox, clock: virtualClock(now), differs: true };
    const ran = await runInProcess(['me', '-q', ...flags.split(' ')], options);
    expect(ran.exitCode === 0 ? 'ok' : ran.error()['code']).toBe(code);
  });

  it.each<[object, string]>([
    [unmetered, 'units used 1,000, no limit'],
    [{ usage: { unitsUsed: 1_000 } }, 'units used 1,000, left: not reported'],
    [{ usage: { unitsRemaining: '7' } }, 'units used not reported, left: 7'],
    [usedIn('2026-03'), 'forecast 9,000 CU by Mar 31'],
  ])('says of the allowance of %j: %s', async (body, line) => {
    const sandbox = await withService(() => ({ body }), { ownMe: true });
    const clock = virtualClock(early + DAY / 12);
    const options = { sandbox, clock, differs: true, tty: true };
    const { stdout } = await runInProcess(['me', '-q', '--color', 'never'], options);
    expect(stdout.replace(/ +/g, ' ')).toContain(` ${line}\n`);
  });
});
