import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Home, openHome, runInProcess, withSandbox } from './harness.ts';
import { withService } from './service.ts';

/** Paths that no command can use, and what the message says about each. */
const paths = [
  ['a.ndjson', 'a loop of links', /form a loop/],
  ['file/a.ndjson', 'in a file', /not a folder|does not exist|not found/],
  [`${'x'.repeat(250)}.ndjson`, 'with a name that is too long', /name is too long/],
  ['link.ndjson', 'a link into a missing folder', /does not exist|not found/],
  ['folder/', 'a folder', /folder|not a regular file/],
] as const;

function homeWithPaths(): Home {
  const home = openHome();
  const at = (name: string) => join(home.path, name);
  symlinkSync(at('b.ndjson'), at('a.ndjson'));
  symlinkSync(at('a.ndjson'), at('b.ndjson'));
  symlinkSync(at('missing/a.ndjson'), at('link.ndjson'));
  writeFileSync(at('file'), '');
  mkdirSync(at('folder'));
  return home;
}

describe.each(paths)('%s (%s)', (name, _, says) => {
  const tail = ['thesis', 'tail', '--via', 'poll', '--count', '1'];

  test.each([
    ['whois', 'mira', '-o', 'ndjson', '--out'],
    ['thesis', 'list', '-o', 'ndjson', '--out'],
    ['pnl', 'mira', 'juno', '--yes', '-o', 'ndjson', '--out'],
    ['pnl', 'mira', 'juno', '--yes', '-o', 'ndjson', '--resume', '--out'],
    ['pnl', '--from'],
    ['whois', '--file'],
    ['pnl', '--yes', '--file'],
    [...tail, '-o', 'ndjson', '--out'],
    [...tail, '--status'],
    [...tail, '--exec', 'cat', '--checkpoint'],
  ])('is reported in words before anything is paid for: %s %s %s %s %s %s %s %s %s', async (...words) => {
    const home = homeWithPaths();
    const path = join(home.path, name);
    const service = await withService(() => ({ status: 500, body: {} }));
    const ran = await runInProcess([...words, path], { sandbox: service, home, stdin: '' });
    expect([2, 9], ran.stderr).toContain(ran.exitCode);
    expect(ran.stderr).toMatch(says);
    expect(ran.stderr).not.toMatch(/BUG|syscall|stat '/);
    expect(service.calls).toEqual([]);
  });
});

test('relative names of files are relative to the folder of the run', async () => {
  const [home, sandbox] = [openHome(), await withSandbox()];
  writeFileSync(join(home.path, 'body.json'), '{"handles":["mira"]}');
  writeFileSync(join(home.path, 'handles.txt'), 'mira\njuno\n');
  const before = readdirSync(process.cwd());
  const tail = ['thesis', 'tail', '--via', 'poll', '--backfill', '2', '--count', '2'];
  const runs = [
    ['whois', '--file', 'handles.txt', '--out', 'users.csv'],
    ['pnl', '--file', 'handles.txt', '--yes', '--out', 'pnl.ndjson', '--resume'],
    ['pnl', '--from', 'pnl.ndjson', '--out', 'sorted.json'],
    ['api', 'POST', '/v2/user/handles/pnl', '--input', 'body.json', '--yes', '--out', 'raw.json'],
    [...tail, '--out', 'posts.ndjson', '--status', 'tail.prom', '--rotate', '1d'],
    [...tail, '--exec', 'true', '--checkpoint', 'seen.json'],
  ];
  for (const words of runs) {
    const ran = await runInProcess(words, { home, sandbox });
    expect([words, ran.stderr, ran.exitCode]).toEqual([words, ran.stderr, 0]);
  }
  const status = await runInProcess(['tail', 'status', 'tail.prom'], { home });
  expect(status.error()).toMatchObject({ code: 'TAIL_STOPPED' });
  const written = [
    'users.csv',
    'pnl.ndjson',
    'sorted.json',
    'raw.json',
    'posts.ndjson',
    'tail.prom',
    'seen.json',
  ];
  expect(written.filter((name) => !existsSync(join(home.path, name)))).toEqual([]);
  expect(readdirSync(process.cwd())).toEqual(before);
});
