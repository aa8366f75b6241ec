import { describe, expect, test } from 'vitest';
import { openHome, startTrdr } from './harness.ts';

/** The `me` of a sandbox that was started with these words. */
async function meOf(words: readonly string[]) {
  const service = startTrdr(['sandbox', '--port', '0', ...words]);
  const [line] = await new Promise<string[]>((resolve) => {
    service.stdout.on('data', (part: Buffer) => resolve(part.toString().split('\n')));
  });
  const sandbox = JSON.parse(line ?? '');
  const run = (...more: string[]) => openHome().run(more, { sandbox });
  const me = (await run('me')).records()[0];
  return { run, usage: me?.['usage'], entitlement: me?.['entitlement'] };
}

describe('trdr sandbox', () => {
  test('grants the units, reveals and top-ups of its flags, and refuses what exceeds them', async () => {
    const { run, usage, entitlement } = await meOf(
      '--units 30k --top-ups 50 --reveals 1 --rate 0'.split(' '),
    );
    expect(entitlement).toEqual({ unmetered: false, monthlyUnits: 30_000 });
    expect(usage).toMatchObject({
      unitsRemaining: 30_000,
      additionalUnits: 50,
      revealsRemaining: 1,
    });
    expect((await run('whois', 'mira')).exitCode).toBe(0);
    expect((await run('whois', 'solwolf')).error()['code']).toBe('REVEAL_LIMIT_REACHED');
    expect((await run('pnl', 'quantumhawk')).exitCode).toBe(6);
  });

  test('counts with --unmetered, but refuses nothing', async () => {
    const { run, usage, entitlement } = await meOf(['--unmetered', '--plan', 'explore']);
    expect(entitlement).toMatchObject({ unmetered: true });
    expect(usage).toMatchObject({ unitsRemaining: null, revealsRemaining: null });
    expect((await run('pnl', 'mira', 'solwolf', '-y')).exitCode).toBe(0);
  });
});
