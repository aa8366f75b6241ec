import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { some } from '../repeats.ts';
import { openDesk, wordsOf } from './harness.ts';

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
  const { sandbox, home } = await openDesk({ theses: 100 });
  const run = (words: string) =>
    home.run(words, { sandbox, clock: virtualClock(sandbox.clock.now()) });
  const whole = await run(line.replace(/ --out\S* ?rows.ndjson/, '').replace(/cu \d+/, 'cu 1M'));
  const printed: string[] = [];
  let next: string | undefined = line.replace('rows.ndjson', home.at('rows.ndjson'));
  for (let runs = 0; next !== undefined && runs < 20; runs++) {
    const ran = await run(next);
    expect(ran.exitCode, ran.stderr).toBeOneOf([0, 6]);
    printed.push(ran.stdout);
    const hint = ran.exitCode === 0 ? '' : String(ran.error()['hint']);
    next = /continue with: trdr (.*)$/.exec(hint)?.[1];
  }
  expect(printed.length).toBeGreaterThan(1);
  const files = readdirSync(home.path).filter((name) => /^rows.*(?<!\.trdr)$/.test(name));
  const ids = idsIn([...printed, ...files.map((name) => home.read(name))]);
  expect(ids.toSorted()).toEqual(idsIn([whole.stdout]).toSorted());
});

/** What several feeds are of: the flag, the feed with all posts, and the field of a post. */
const several = [
  ['--user', 'thesis list', 'authorId'],
  ['--token', 'thesis list', 'tokenAddress'],
  ['--wallet', 'launchpad callouts', 'wallet'],
] as const;

const lists = several.flatMap((of) => [2, 4, 12].map((count) => [...of, count] as const));
test.each(some(lists, 4))(
  'a list that is cut at every page and its lines are whole: %s of "%s" (%s, %i)',
  async (flag, command, field, count) => {
    const { sandbox, home } = await openDesk({ theses: 150 });
    const run = (argv: readonly string[], env = {}) =>
      home.run(argv, { sandbox, clock: virtualClock(sandbox.clock.now()), env });
    const records = (await run([...command.split(' '), '--all', '-q'])).records();
    const values = [...new Set(records.map((record) => String(record[field])))].slice(0, count);
    const wanted = records.filter((record) => values.includes(String(record[field])));
    const price = command === 'thesis list' ? 200 : 10;
    const list = [...command.split(' '), ...values.flatMap((value) => [flag, value])];
    for (const [limits, env] of [
      [['--all', '--max-cu', String(price)], {}],
      [['--all', '--max-cu', String(3 * price)], {}],
      [['--limit', '17'], { CLAUDECODE: '1' }],
    ] as const) {
      const ids: unknown[] = [];
      let places: readonly string[] | undefined = [];
      for (let runs = 0; places !== undefined; runs++) {
        expect(runs).toBeLessThan(200);
        const ran = await run([...list, ...limits, ...places], env);
        expect(ran.exitCode, ran.stderr).toBeOneOf([0, 6]);
        ids.push(...ran.records().map(({ id }) => id));
        const text = ran.exitCode === 0 ? ran.stderr : String(ran.error()['hint']);
        const [, place]: readonly string[] = /--before (\S+)/.exec(text) ?? [];
        places = place === undefined ? undefined : wordsOf(`--before ${place}`);
      }
      expect(ids).toHaveLength(wanted.length);
      expect(new Set(ids)).toEqual(new Set(wanted.map(({ id }) => id)));
      // Without failures, the lines have the order of the list.
      if (limits[0] === '--limit') expect(ids).toEqual(wanted.map(({ id }) => id));
    }
  },
);

test('below the id of one post, a list of several authors has what is older', async () => {
  const { sandbox, home } = await openDesk({ theses: 100 });
  const run = (line: string) =>
    home.run(line, { sandbox, clock: virtualClock(sandbox.clock.now()) });
  const records = (await run('thesis list --all')).records();
  const [first, second] = new Set(records.map(({ authorId }) => authorId));
  const older = records.slice(41).filter(({ authorId }) => [first, second].includes(authorId));
  const line = `thesis list --user ${first} --user ${second} --all --before ${records[40]?.['id']}`;
  expect((await run(line)).records()).toEqual(older);
  const foreign = await run(`${line},x,y,z`);
  expect([foreign.exitCode, foreign.error()['code']]).toEqual([2, 'USAGE']);
});
