import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { readSamples } from '../status-file.ts';
import { openDesk, openHome } from './harness.ts';

const NOON = Date.UTC(2026, 10, 22, 12);

/** A service, and a home with budgets. */
async function withBudgets(...budgets: readonly (readonly string[])[]) {
  const { sandbox, home } = await openDesk();
  const clock = virtualClock(NOON);
  const run = (...words: string[]) => home.run(words, { sandbox, clock });
  for (const budget of budgets) expect((await run('budget', 'set', ...budget)).exitCode).toBe(0);
  return { sandbox, home, clock, run };
}

describe('trdr budget', () => {
  test('sets, shows and removes budgets of a profile', async () => {
    const { run } = await withBudgets(['day', '500k']);
    await run('whois', 'mira');
    expect((await run('budget', 'show')).records()).toEqual([
      {
        ...{ item: 'budget', name: 'day', state: 'within', limit: 500_000, left: 499_900 },
        ...{ renewsAt: Date.UTC(2026, 10, 23), spent: 100, lost: 0, reserved: 0 },
      },
      {
        ...{ item: 'budget', name: 'month', state: 'no limit', limit: null, left: null },
        ...{ renewsAt: Date.UTC(2026, 11, 1), spent: 100, lost: 0, reserved: 0 },
      },
    ]);
    expect((await run('config', 'list')).stdout).not.toContain('budget');
    for (const words of [['get'], ['set', '1k'], ['unset']]) {
      const [verb = '', ...more] = words;
      const refused = await run('config', verb, 'budgetDay', ...more);
      expect(refused.error()).toMatchObject({
        exit: 2,
        hint: expect.stringContaining('"trdr budget unset day"'),
      });
    }
    expect((await run('budget', 'unset', 'day')).stderr).toContain(
      'Removed the day budget of profile "default"',
    );
    expect((await run('budget', 'unset', 'day')).stderr).toContain('no day budget was set');
    expect((await run('budget', 'show')).records()).toMatchObject([
      { state: 'no limit' },
      { state: 'no limit' },
    ]);
  });

  test('removes a budget that somebody has damaged in the config file', async () => {
    const { run, home } = await withBudgets(['day', '500k']);
    const path = join(home.config, 'config.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('500000', '"lots"'));
    const refused = await run('whois', 'mira');
    expect(refused.error()).toMatchObject({
      exit: 2,
      hint: expect.stringContaining('"trdr budget unset day --profile default"'),
    });
    expect((await run('budget', 'unset', 'day', '--profile', 'default')).exitCode).toBe(0);
    expect((await run('whois', 'mira')).exitCode).toBe(0);
  });

  test('limits successive runs, and names the budget, what is left and the renewal', async () => {
    const { run, clock, sandbox } = await withBudgets(['day', '45k']);
    const { world } = sandbox;
    const wallets = world.handles().flatMap((handle) => world.user(handle)?.solanaAddress ?? []);
    const [first = '', second = '', third = ''] = wallets;
    expect((await run('whois', '--direct', first)).exitCode).toBe(0);
    const refused = await run('whois', '--direct', second, third);
    expect(refused.exitCode).toBe(6);
    expect(refused.error()['message']).toBe(
      'the next call may cost 30,000 CU but only 15,000 CU of the day budget of profile "default" (45,000 CU) remain; it renews at 2026-11-23 00:00 UTC',
    );
    // Cached answers are free.
    expect((await run('whois', '--direct', first)).exitCode).toBe(0);
    await clock.sleep(12 * 3_600_000);
    expect((await run('whois', '--direct', second)).exitCode).not.toBe(6);
  });

  test('ends a tail with the command that continues it, or makes the tail wait with --wait-for-budget', async () => {
    const { sandbox, home, run, clock } = await withBudgets(['day', '200']);
    const ended = await run('thesis', 'tail', '--via', 'poll', '--lag', '1m', '--yes');
    expect(ended.exitCode).toBe(6);
    const { code, hint } = ended.error();
    expect(code).toBe('BUDGET');
    expect(hint).toMatch(
      /^wait until the budget renews, or raise it: .*; continue with: trdr thesis tail --via poll --lag 1m --yes --wait-for-budget --since \d{4}-\S+$/,
    );
    // The lookup of the author waits for the budget before the tail starts.
    const status = home.at('a.prom');
    const before = new AbortController();
    const states: unknown[] = [];
    const named = await home.run(
      ['thesis', 'tail', '--user', 'mira', '--status', status, '--yes', '--wait-for-budget'],
      {
        sandbox,
        clock,
        interrupt: before.signal,
        onStderr(text) {
          if (!text.includes('waiting until')) return;
          states.push(readSamples(status));
          before.abort();
        },
      },
    );
    states.push(readSamples(status));
    expect(named.exitCode).toBe(130);
    expect(states).toMatchObject([
      {
        up: 1,
        ready: 0,
        mode: 'waiting',
        waits_until_timestamp_seconds: Date.UTC(2026, 10, 23) / 1_000,
      },
      { up: 0, mode: 'waiting' },
    ]);
    expect(existsSync(`${status}.lock`)).toBe(false);
  });

  test('does not apply to the sandbox', async () => {
    const home = openHome();
    await home.run('budget set day 1');
    expect((await home.run('whois mira --sandbox')).exitCode).toBe(0);
  });
});
