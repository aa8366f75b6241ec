import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openHome, runInProcess, withSandbox } from './harness.ts';

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
  test.each(noFolder)('for an unwritable file: %s %s %s', async (...words) => {
    const sandbox = await withSandbox();
    const home = openHome();
    const { exitCode, error } = await runInProcess(words, { sandbox, home });
    expect([exitCode, sandbox.meter().unitsUsed, existsSync(join(home.path, 'none'))]).toEqual([2, 0, false]);
    expect(error()['hint']).toContain('mkdir -p');
  });

  const wallets = [
    '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6',
    '29C1XCzXZZGnZiBqALZtNj5sJw9yzpPqPzQmCNKsjzFL',
  ];
  const commands = ['whois', 'resolve', 'pnl', 'launchpad user'];
  const lists = [',', ';', ', ', ' ; '].flatMap((mark) => commands.map((name) => [name, mark] as const));
  test.each(lists)('for a list of subjects: %s with "%s"', async (name, mark) => {
    const sandbox = await withSandbox();
    const words = name.split(' ');
    const subjects = name === 'launchpad user' ? wallets : ['mira', 'solwolf'];
    const list = subjects.join(mark);
    const given = await runInProcess([...words, '-y', list], { sandbox });
    const lines = await runInProcess([...words, '-y', '-'], { sandbox, stdin: `${subjects[0]}\n${list}\n` });
    const stdin = `a,subject\n,${subjects[0]}\n,"${list}"\n`;
    const column = await runInProcess([...words, '-y', '-', '--column', 'subject'], { sandbox, stdin });
    expect([given.exitCode, lines.exitCode, column.exitCode, sandbox.meter().unitsUsed]).toEqual([
      2, 2, 2, 0,
    ]);
    expect(lines.error()['message']).toMatch(/^line 2: .*: expected one subject, got a list$/);
    expect(column.error()['message']).toContain('line 3: ');
    const [, next = ''] = /with: trdr (.*)$/.exec(String(given.error()['hint'])) ?? [];
    expect(next).toBe(`${name} -y ${subjects.join(' ')}`);
    const ran = await runInProcess(next.split(' '), { sandbox });
    expect(ran.records().map(({ subject }) => subject)).toEqual(subjects);
  });
});
