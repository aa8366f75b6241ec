import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openHome, runInProcess, withSandbox } from './harness.ts';

const unknownField: readonly (readonly string[])[] = [
  ['whois', 'mira'],
  ['pnl', 'mira'],
  ['pnl', 'mira', 'solwolf', '--out', 'numbers.ndjson'],
  ['pnl', 'mira', 'solwolf', '--out', 'numbers.csv'],
  ['thesis', 'list', '--user', 'mira'],
  ['thesis', 'tail', '--user', 'mira', '--duration', '1s'],
  ['launchpad', 'board'],
  ['launchpad', 'board', '--compare', '7d'],
  ['launchpad', 'callouts'],
];

const noFolder: readonly (readonly string[])[] = [
  ['whois', 'mira', '--out', 'none/out.csv'],
  ['pnl', 'mira', '--out', 'none/out.csv'],
  ['resolve', 'mira', '--direct', '--out', 'none/out.csv'],
  ['thesis', 'list', '--user', 'mira', '--out', 'none/out.csv'],
  ['thesis', 'tail', '--via', 'poll', '--duration', '1s', '--out', 'none/out.ndjson'],
  ['thesis', 'tail', '--via', 'poll', '--duration', '1s', '--checkpoint', 'none/place'],
  ['launchpad', 'board', '--out', 'none/out.csv'],
  ['launchpad', 'callouts', '--out', 'none/out.csv'],
  ['api', '/v2/user/handle/mira/pnl', '--out', 'none/out.json'],
];

describe('nothing is charged', () => {
  test.each(unknownField)('for an unknown field: %s %s %s', async (...words) => {
    const sandbox = await withSandbox();
    const { exitCode, error } = await runInProcess([...words, '--fields', 'nosuch'], { sandbox });
    expect([exitCode, sandbox.meter().unitsUsed, error()['message']]).toEqual([
      2,
      0,
      'unknown field "nosuch"',
    ]);
  });

  test.each(noFolder)('for an unwritable file: %s %s %s', async (...words) => {
    const sandbox = await withSandbox();
    const home = openHome();
    const { exitCode, error } = await runInProcess(words, { sandbox, home });
    expect([exitCode, sandbox.meter().unitsUsed, existsSync(join(home.path, 'none'))]).toEqual([2, 0, false]);
    expect(error()['hint']).toContain('mkdir -p');
  });

  test.each([
    ['qqqqqq', 'choose from '],
    ['tokenSymbl', 'Did you mean tokenSymbol?'],
  ])('for --sort %s, whose hint starts with "%s"', async (field, hint) => {
    const sandbox = await withSandbox();
    const { exitCode, error } = await runInProcess(['thesis', 'list', '--sort', field], { sandbox });
    expect([exitCode, sandbox.meter().unitsUsed]).toEqual([2, 0]);
    expect(String(error()['hint']).startsWith(hint)).toBe(true);
  });

  test('for a tail with a file that cannot be resumed', async () => {
    const sandbox = await withSandbox();
    const words = ['thesis', 'tail', '--user', 'mira', '--duration', '1s', '--out', 'tail.csv'];
    const { exitCode } = await runInProcess(words, { sandbox });
    expect([exitCode, sandbox.meter().unitsUsed]).toEqual([2, 0]);
  });
});
