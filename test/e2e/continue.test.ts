import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { openHome, runInProcess, withSandbox } from './harness.ts';

/** Splits a command line that contains single quotes into words. */
const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const idsIn = (texts: readonly string[]) =>
  texts
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .map((line) => JSON.parse(line))
    .flatMap((record) => (Array.isArray(record.items) ? record.items : [record]))
    .map((record): unknown => record.id);

test.each([
  'thesis list --limit 90 --exclude zzzzzz --max-cu 400 --out rows.ndjson',
  'thesis list --since 3650d --max-cu 600 --out rows.ndjson',
  'launchpad callouts --limit 120 --exclude zzzzzz --max-cu 40 --out=rows.ndjson',
  'api /v2/thesis -f limit=20 --paginate --max-cu 400',
  'api v2/thesis?limit=20 --paginate --max-cu 400 --out rows.ndjson',
  'api --field=limit=20 /v2/thesis --paginate --max-cu 400 --out rows.ndjson',
])('the commands that "trdr %s" prints fetch the rest once and replace no rows', async (line) => {
  const [sandbox, home] = [await withSandbox({ theses: 100 }), openHome()];
  const run = (argv: readonly string[]) =>
    runInProcess(argv, { sandbox, home, clock: virtualClock(sandbox.clock.now()) });
  const whole = await run(wordsOf(line.replace(/ --out\S* ?rows.ndjson/, '').replace(/cu \d+/, 'cu 1M')));
  const printed: string[] = [];
  let argv: string[] | undefined = wordsOf(line.replace('rows.ndjson', join(home.path, 'rows.ndjson')));
  for (let runs = 0; argv !== undefined && runs < 20; runs++) {
    const ran = await run(argv);
    expect(ran.exitCode, ran.stderr).toBeOneOf([0, 6]);
    printed.push(ran.stdout);
    const hint = ran.exitCode === 0 ? '' : String(ran.error()['hint']);
    const [, next] = /continue with: trdr (.*)$/.exec(hint) ?? [];
    argv = next === undefined ? undefined : wordsOf(next);
  }
  expect(printed.length).toBeGreaterThan(1);
  const files = readdirSync(home.path).filter((name) => /^rows.*(?<!\.trdr)$/.test(name));
  const ids = idsIn([...printed, ...files.map((name) => readFileSync(join(home.path, name), 'utf8'))]);
  expect(ids.toSorted()).toEqual(idsIn([whole.stdout]).toSorted());
});

test.each([
  'thesis list --limit 90',
  'thesis list --limit 90 --reverse -o ndjson',
  'launchpad callouts --limit 70',
  'api /v2/thesis?limit=20 --paginate',
])('the commands that "trdr %s" prints after failed pages fetch the rest once', async (line) => {
  const faulty = await withSandbox({ theses: 100, faults: '500=30%' });
  const [sandbox, home] = [await withSandbox({ theses: 100 }), openHome()];
  const whole = await runInProcess(wordsOf(line), { sandbox, home });
  const printed: string[] = [];
  let argv = [...wordsOf(line), '--retries', '0'];
  // The api command prints the body of an error too.
  const rowsIn = (text: string) => idsIn([text]).filter((id) => id !== undefined);
  for (let runs = 0, exit: number | undefined; exit !== 0; runs++) {
    expect(runs).toBeLessThan(40);
    const ran = await runInProcess(argv, { sandbox: faulty, home });
    exit = ran.exitCode;
    expect(exit, ran.stderr).toBeOneOf([0, 9]);
    printed.push(ran.stdout);
    if (exit === 0) break;
    const [, next] = /continue with: trdr (.*)$/.exec(String(ran.error()['hint'])) ?? [];
    expect(next === undefined).toBe(rowsIn(ran.stdout).length === 0);
    if (next !== undefined) argv = wordsOf(next);
  }
  const parts = printed.map(rowsIn).filter((rows) => rows.length > 0);
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.flat().toSorted()).toEqual(rowsIn(whole.stdout).toSorted());
});
