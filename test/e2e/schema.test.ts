import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { allCommands, allLeaves } from '../../src/cli/docs/help.ts';
import { describeCommand } from '../../src/cli/docs/schema.ts';
import { briefFields } from '../../src/cli/run/brief-fields.ts';
import { fieldPaths } from '../../src/contract/paths.ts';
import { openDesk, runInProcess } from './harness.ts';
import { checkHint, checkSchema } from './schema-check.ts';

interface Document {
  readonly command: string;
  readonly record: object | null;
  readonly flags: readonly { readonly name: string }[];
  readonly prices: readonly { readonly endpoint: string; readonly most: number }[];
  readonly exits: readonly { readonly code: number }[];
}
const ajv = () => new Ajv2020({ strict: true, validateFormats: false });

test.each([
  ['run "trdr stor check"', false],
  ['fix it && trdr auth login; or: trdr me', true],
  ['use --resume, or --via=poll', true],
  ['use --resumed', false],
])('a hint names only commands and flags that exist: %s', (hint, isRight) => {
  const check = () => checkHint(hint);
  if (isRight) check();
  else expect(check).toThrow('a hint names');
});

describe('trdr schema', () => {
  test('describes a command: its records, flags, prices and exit codes', async () => {
    const { exitCode, json } = await runInProcess('schema whois --json');
    const document = json() as Document;
    expect(exitCode).toBe(0);
    expect(document.flags.map((flag) => flag.name)).toEqual(
      expect.arrayContaining(['--as', '--max-cu']),
    );
    expect(document.prices.find(({ endpoint }) => endpoint === 'user.wallet')?.most).toBe(30_000);
    expect(document.exits.map(({ code }) => code)).toEqual([0, 2, 3, 4, 5, 6, 7, 9, 10, 11]);
  });

  test('maps all commands in one document, each schema valid by its own draft', async () => {
    const { json, lines } = await runInProcess('schema');
    expect(lines()).toHaveLength(1);
    const { commands, error } = json() as { commands: Document[]; error: object };
    const leaves = await allLeaves();
    expect(commands.map(({ command }) => command)).toEqual(leaves.map(({ spec }) => spec.path));
    for (const { record } of leaves.map(describeCommand))
      if (record) expect(ajv().validateSchema(record)).toBe(true);
    expect(ajv().validateSchema(error)).toBe(true);
  });

  test('is small: the map has at most 20 KB, and each command less than 18 KB', async () => {
    const map = await runInProcess('schema');
    expect(Buffer.byteLength(map.stdout)).toBeLessThanOrEqual(20_000);
    for (const leaf of await allLeaves()) {
      const { length } = JSON.stringify(describeCommand(leaf));
      expect(length, leaf.spec.path).toBeLessThan(18 * 1024);
    }
  });

  test('each command with fields has brief ones, from three to nine, which exist', async () => {
    for (const { path, record, common } of await allCommands()) {
      const brief = briefFields[path];
      expect(brief !== undefined, path).toBe(record !== undefined && common.includes('output'));
      if (!record || !brief) continue;
      for (const given of [{}, { compare: 'old.csv', reconcile: true }]) {
        const names = typeof brief === 'function' ? brief(given) : brief;
        expect([3, 4, 5, 6, 7, 8, 9], path).toContain(names.length);
        expect(fieldPaths(record()), path).toEqual(expect.arrayContaining([...names]));
      }
    }
  });

  test.each([
    'whois mira nobody_here',
    'pnl mira -o csv',
    'thesis list --limit 2 -o table',
    'launchpad board --top 2',
    'me -o markdown',
    'usage --by day',
    'usage --reconcile',
    'doctor',
    'price',
    'thesis tail --no-follow --backfill 2',
  ])('--fields brief works for %s', async (words) => {
    const { run } = await openDesk();
    await run('whois mira');
    const ran = await run(`${words} --fields brief`);
    expect([ran.exitCode, ran.stdout.length > 0], ran.stderr).toEqual([0, true]);
  });

  test('--fields brief can be extended, and is rejected where there are no records', async () => {
    const ran = await runInProcess('price --fields brief,path', {});
    expect(Object.keys(ran.records()[0] ?? {})).toEqual(['endpoint', 'least', 'most', 'path']);
  });
});

test('every run of the end-to-end tests is validated against these schemas', async () => {
  await expect(checkSchema(['whois', 'mira'], '{"subject":"mira"}\n', '')).rejects.toThrow(
    'breaks its schema',
  );
  await expect(checkSchema(['whois', 'mira'], '', '{"error":{"code":1}}\n')).rejects.toThrow(
    'breaks its schema',
  );
});
