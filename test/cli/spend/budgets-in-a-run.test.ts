import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Failure } from '../../../src/base/failure.ts';
import { watchCaps } from '../../../src/cli/spend/caps.ts';
import { openLedger } from '../../../src/state/ledger/ledger.ts';
import { type Home, openHome } from '../../e2e/harness.ts';

const BUDGET = 1_000;
const CALL = 100;

/** A run with a day budget. `spend` makes paid calls until the budget rejects one, at most 30, and returns their cost. */
async function withRun() {
  const home = openHome();
  await home.run(['budget', 'set', 'day', String(BUDGET)]);
  const notices: string[] = [];
  const notice = (text: string) => void notices.push(text);
  const folders = { config: home.config, state: home.state, cache: home.cache };
  const budgets = { folders, profile: 'default', budgetDay: BUDGET, budgetMonth: undefined };
  const entry = { command: 'whois', profile: 'default', host: 'a' };
  const ledger = openLedger(home.state, entry, systemClock, notice, watchCaps(budgets, notice));
  const spend = async (calls: number) => {
    for (let call = 0; call < calls; call++) {
      try {
        const reservation = await ledger.begin({ endpoint: 'user.handle', most: CALL });
        await reservation.settle({ status: 200, cu: CALL });
      } catch (error) {
        if (error instanceof Failure && error.code === 'BUDGET') return call * CALL;
        throw error;
      }
    }
    return calls * CALL;
  };
  return { home, notices, spend };
}

const configOf = (home: Home) => join(home.config, 'config.json');
const profiles = (text: object) => JSON.stringify({ version: 1, profiles: text });
const remove = (path: string) => rmSync(path, { recursive: true });

describe('the budget of a run', () => {
  test.each<[string, (home: Home) => void]>([
    ['the config file is deleted', (home) => remove(configOf(home))],
    ['the config folder is deleted', (home) => remove(home.config)],
    ['the config file is emptied', (home) => writeFileSync(configOf(home), '')],
    ['the config file is damaged', (home) => writeFileSync(configOf(home), '{"version":1,"profi')],
    [
      'the config file becomes a folder',
      (home) => {
        remove(configOf(home));
        mkdirSync(configOf(home));
      },
    ],
    ['the config file loses the profile', (home) => writeFileSync(configOf(home), profiles({ desk: {} }))],
    ['the ledger is deleted', (home) => remove(join(home.state, 'ledger'))],
    ['the state folder is deleted', (home) => remove(home.state)],
  ])('stays in force if %s', async (what, lose) => {
    for (const before of [0, 4]) {
      const { home, notices, spend } = await withRun();
      const spent = await spend(before);
      if (before > 0 || what.includes('config')) lose(home);
      const total = spent + (await spend(30));
      // The last call before the ledger was deleted may be unknown.
      expect(total).toBeGreaterThanOrEqual(BUDGET);
      expect(total).toBeLessThanOrEqual(what.includes('config') ? BUDGET : BUDGET + CALL);
      expect(
        notices.filter((text) => text.endsWith('the budgets that this run knows still apply')),
      ).toHaveLength(what.includes('config') ? 1 : 0);
    }
  });

  test.each<[string, string, (home: Home) => unknown]>([
    ['"budget unset"', 'was removed', (home) => home.run(['budget', 'unset', 'day'])],
    ['"budget set"', 'is now 9,000 CU', (home) => home.run(['budget', 'set', 'day', '9k'])],
    ['an edited file', 'was removed', (home) => writeFileSync(configOf(home), profiles({ default: {} }))],
  ])('is changed by %s, with a notice', async (_, change, edit) => {
    const { home, notices, spend } = await withRun();
    await spend(4);
    await edit(home);
    expect(await spend(30)).toBe(30 * CALL);
    expect(notices).toEqual([`the day budget of profile "default" ${change}`]);
  });
});
