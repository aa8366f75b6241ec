import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Home, openHome } from '../../e2e/harness.ts';
import { page, thesis } from '../../e2e/records.ts';
import { withService } from '../../e2e/service.ts';

const BUDGET = 2_000;
const PAGES = 30;
/** The price of a page of twenty posts. */
const CALL = 200;

/** Lists pages under a day budget. The home is changed during the fifth of them. */
async function runUnderBudget(change: (home: Home) => unknown) {
  const home = openHome();
  await home.run(['budget', 'set', 'day', String(BUDGET)]);
  const service = await withService(async () => {
    const { length } = service.calls;
    if (length === 5) await change(home);
    const items = Array.from({ length: 20 }, (_, at) => thesis(20 * length + at));
    return {
      body: { ...page(items), hasMore: length < PAGES, nextBefore: `t${20 * length + 19}` },
    };
  });
  const words = ['thesis', 'list', '--all', '--yes', '-o', 'ndjson'];
  const ran = await home.run(words, { sandbox: service, differs: true });
  return { ...ran, spent: service.calls.length * CALL };
}

const configOf = (home: Home) => join(home.config, 'config.json');
const profiles = (text: object) => JSON.stringify({ version: 1, profiles: text });
const remove = (path: string) => rmSync(path, { recursive: true });

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
  ['the config loses the profile', (home) => writeFileSync(configOf(home), profiles({ desk: {} }))],
  ['the ledger is deleted', (home) => remove(join(home.state, 'ledger'))],
  ['the state folder is deleted', (home) => remove(home.state)],
])('the budget of a run stays in force if %s', async (what, lose) => {
  const { exitCode, spent, stderr } = await runUnderBudget(lose);
  expect(exitCode, stderr).toBe(6);
  // The last call before the ledger was deleted may be unknown.
  expect(spent).toBeGreaterThanOrEqual(BUDGET - CALL);
  expect(spent).toBeLessThanOrEqual(what.includes('config') ? BUDGET : BUDGET + CALL);
  const said = stderr.split('the budgets that this run knows still apply').length - 1;
  expect(said).toBe(what.includes('config') ? 1 : 0);
});

test.each<[string, string, (home: Home) => unknown]>([
  ['"budget unset"', 'was removed', (home) => home.run(['budget', 'unset', 'day'])],
  ['"budget set"', 'is now 9,000 CU', (home) => home.run(['budget', 'set', 'day', '9k'])],
  [
    'an edited file',
    'was removed',
    (home) => writeFileSync(configOf(home), profiles({ default: {} })),
  ],
])('the budget of a run is changed by %s, with a notice', async (_, change, edit) => {
  const { exitCode, spent, stderr } = await runUnderBudget(edit);
  expect([exitCode, spent], stderr).toEqual([0, PAGES * CALL]);
  expect(stderr).toBe(`trdr: the day budget of profile "default" ${change}\n`);
});
