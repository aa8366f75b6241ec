import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tree } from '../../src/cli/tree.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { bash } from './bash.ts';
import { openDesk, openHome, runInProcess, withSandbox } from './harness.ts';
import { receiptOf } from './numbers.ts';

const wallet = 'GXGxnQNeLLboiUqKykCDk9m6uaZFSA29V9DZLnCa84pW';

const runs: [exit: number, result: object, ...words: string[]][] = [
  [0, { found: 2, missing: 1, failed: 0 }, 'whois', 'mira', 'quantumhawk', 'nobody_here'],
  [3, { found: 0, missing: 1, failed: 0 }, 'whois', 'nobody_here'],
  [6, { found: 0 }, 'whois', wallet, '--max-cu', '10'],
  [11, {}, 'whois', ...Array.from({ length: 4 }, (_, at) => `${'1'.repeat(31)}${at + 2}`)],
  [0, { found: 1, missing: 0 }, 'resolve', 'mira'],
  [0, { found: 2, missing: 0 }, 'pnl', 'mira', 'quantumhawk'],
  [0, { found: 2, missing: 0 }, 'pnl', 'mira', 'quantumhawk', '--out', 'pnl.csv'],
  [0, { found: 3 }, 'thesis', 'list', '--limit', '3'],
  [6, {}, 'thesis', 'list', '--all', '--max-cu', '300'],
  [0, { found: 3 }, 'thesis', 'tail', '--no-follow', '--backfill', '3'],
  [0, {}, 'thesis', 'tail', '--via', 'poll', '--lag', '1s', '--duration', '1s'],
  [6, {}, 'thesis', 'tail', '--via', 'ws', '--max-cu', '100'],
  [0, {}, 'launchpad', 'user', wallet],
  [0, { found: 2 }, 'launchpad', 'callouts', '--limit', '2'],
  [0, {}, 'launchpad', 'board', '--top', '2'],
  [0, {}, 'launchpad', 'tail', '--lag', '1s', '--duration', '1s'],
  [0, {}, 'api', '/v2/user/handle/mira'],
  [11, {}, 'api', '/v2/nope'],
  [0, {}, 'whois', 'mira', '--dry-run'],
  [2, {}, 'whois', 'mira', '--profile', 'nope'],
];

test.each(runs)('exits %i with %j, and so its ledger: %s', async (exit, result, ...words) => {
  const { sandbox, home, run } = await openDesk();
  home.write('r.json', '{"command":"me","calls":9,"cu":9,"exit":9}\n');
  const ran = await run([...words, '--receipt', 'r.json', '-q']);
  const receipt = JSON.parse(home.read('r.json'));
  expect([ran.exitCode, receipt], ran.stderr).toMatchObject([
    exit,
    { version: 1, ...receiptOf(home), ...result, exit },
  ]);
  expect(receipt.cu).toBe(sandbox.meter().totalUnits);
  expect(words.join(' ')).toContain(receipt.command);
  if (['thesis', 'api'].includes(words[0] ?? '')) expect(receipt).not.toHaveProperty('missing');
  if (receipt.calls > 0) expect(receipt.left).toBe(20_000_000 - receipt.cu);
});

test.each(['reset=20%,lost=10%', '500=20%,cut=20%', '429=20%:1s,504=20%', 'html=30%'])(
  `equals the ledger with the faults %s (SEED=${SEED})`,
  async (faults) => {
    const random = rngOf(SEED).next;
    const sandbox = await withSandbox({ faults, seed: SEED % 1000 });
    for (let run = 0; run < 8; run++) {
      const [, , ...words] = runs[Math.floor(random() * runs.length)] ?? [];
      const home = openHome();
      const clock = virtualClock(sandbox.clock.now());
      const options = { sandbox, home, random, clock, differs: true };
      const ran = await runInProcess([...words, '--receipt', '-', '--retries', '1', '-q'], options);
      const line = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
      const story = `${words.join(' ')}\n${ran.stderr}`;
      expect(JSON.parse(line), story).toMatchObject({ ...receiptOf(home), exit: ran.exitCode });
    }
  },
);

test.each([
  ['handles', 'mira\nsolwolf\n'],
  ['records', '{"command":"whois","found":true}\n'],
  ['a long file', '{"command":"whois","calls":1,"cu":1,"exit":0}\n'.repeat(1_000)],
])('replaces no file that is not a receipt: %s', async (_, content) => {
  const { sandbox, home, run } = await openDesk();
  const file = home.write('r.json', content);
  const ran = await run('whois mira --receipt r.json');
  expect([ran.exitCode, ran.error()['hint']]).toEqual([2, 'use a different file']);
  expect(readFileSync(file, 'utf8')).toBe(content);
  expect(sandbox.log).toEqual([]);
  writeFileSync(file, '');
  expect((await run('whois mira --receipt r.json')).exitCode).toBe(0);
  expect((await run('whois mira --receipt r.json')).exitCode).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('"command":"whois"');
});

test('goes to a pipe, and a run whose receipt cannot be written exits 9', async () => {
  const sandbox = await withSandbox();
  const full = await runInProcess('whois mira --receipt /dev/full', { sandbox });
  expect([full.exitCode, full.records().length]).toEqual([9, 1]);
  const { stdout } = await bash('trdr whois mira --receipt /dev/fd/4 4>&1 >/dev/null | cat', {
    sandbox,
  });
  expect(JSON.parse(stdout)).toMatchObject({ command: 'whois', exit: 0 });
});

test('every command with prices has --receipt', async () => {
  for (const [path, load] of Object.entries(tree)) {
    const { calls, common } = await load();
    const isPaid = calls.some((id) => id !== 'me');
    if (isPaid) expect(common, path).toContain('money');
  }
});
