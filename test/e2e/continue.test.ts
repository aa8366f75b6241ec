import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { openHome, withSandbox, wordsOf } from './harness.ts';

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
    home.run(argv, { sandbox, clock: virtualClock(sandbox.clock.now()) });
  const whole = await run(
    wordsOf(line.replace(/ --out\S* ?rows.ndjson/, '').replace(/cu \d+/, 'cu 1M')),
  );
  const printed: string[] = [];
  let argv: string[] | undefined = wordsOf(
    line.replace('rows.ndjson', join(home.path, 'rows.ndjson')),
  );
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
  const ids = idsIn([
    ...printed,
    ...files.map((name) => readFileSync(join(home.path, name), 'utf8')),
  ]);
  expect(ids.toSorted()).toEqual(idsIn([whole.stdout]).toSorted());
});
