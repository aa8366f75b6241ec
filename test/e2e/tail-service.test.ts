import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSamples } from '../status-file.ts';
import { plenty, until } from './feed.ts';
import { argv, openDesk, openHome, recordsIn, runInProcess, withSandbox } from './harness.ts';
import { program } from './program.ts';

/** Installs a program that appends its arguments and input to a file, and returns a function that reads the file. */
function installStub(home: string, name: string) {
  const log = join(home, `${name}.log`);
  writeFileSync(log, '');
  writeFileSync(
    join(home, name),
    `#!/bin/sh\n[ "$NOTIFY_SOCKET" = /run/none ] && [ -z "$TRDR_API_KEY" ] || exit 1\n{ for each in "$@"; do echo "$each"; done; /bin/cat; echo; } >> ${log}\n`,
  );
  chmodSync(join(home, name), 0o755);
  return () => readFileSync(log, 'utf8');
}

test('a tail reports its health to its status file, service manager and log', async () => {
  const { home, run } = await openDesk(plenty);
  const calls = installStub(home.path, 'systemd-notify');
  const status = home.at('theses.prom');
  const stop = new AbortController();
  const words = argv`--via poll --lag 200ms --yes --status ${status} --heartbeat 300ms`;
  const running = run(['thesis', 'tail', ...words, '--log-format', 'json', '-o', 'ndjson'], {
    interrupt: stop.signal,
    env: {
      PATH: `${home.path}:${process.env['PATH']}`,
      NOTIFY_SOCKET: '/run/none',
      WATCHDOG_USEC: '400000',
      WATCHDOG_PID: String(process.pid),
    },
  });
  await until(() => /READY=1[\s\S]*WATCHDOG=1[\s\S]*WATCHDOG=1/.test(calls()));
  await until(() => readFileSync(status, 'utf8').includes('trdr_tail_ready{tail="theses"} 1'));
  expect(readSamples(status)).toMatchObject({ up: 1, mode: 'polling', service_up: 1 });
  stop.abort();
  const ran = await running;
  expect(ran.exitCode).toBe(130);
  const lines = recordsIn(ran.stderr);
  for (const line of lines)
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'info',
      message: expect.any(String),
    });
  expect(ran.stderr).toContain('"message":"heartbeat: ');
  expect(calls()).toContain('STOPPING=1\n');
  expect(readSamples(status)).toMatchObject({ up: 0, exit_code: 130 });
});

test.each([
  ['is done', ['--count', '1'], ''],
  ['reaches its spending limit', ['--max-cu', '200', '--count', '100'], ''],
  ['loses its key', ['--count', '100'], 'UNAUTHORIZED@thesis.*+1'],
  ['moves posts to the dead-letter file', ['--count', '1', '--exec', 'false', '--tries', '1'], ''],
  ['is interrupted', ['--count', '100'], ''],
])('the status file of a run that %s states its end', async (how, words, faults) => {
  const { home, run } = await openDesk({ ...plenty, faults });
  const path = home.at('a.prom');
  const stop = new AbortController();
  const all = `--via poll --lag 100ms --backfill 20 --yes --status ${path} -o ndjson`.split(' ');
  const running = run(['thesis', 'tail', ...all, ...words], { interrupt: stop.signal });
  if (how === 'is interrupted') {
    await until(() => readSamples(path)['ready'] === 1);
    stop.abort();
  }
  const ran = await running;
  const error = ran.stderr.split('\n').some((line) => line.startsWith('{"error":'))
    ? ran.error()['code']
    : undefined;
  expect(readSamples(path)).toMatchObject({
    up: 0,
    exit_code: ran.exitCode,
    reason: error ?? (ran.exitCode === 0 ? 'done' : 'SIGINT'),
  });
  expect(ran.exitCode === 0).toBe(how === 'is done');
});

test('without systemd-notify, socat notifies the service manager', async () => {
  const { home, run } = await openDesk(plenty);
  const calls = installStub(home.path, 'socat');
  const words = ['--lag', '200ms', '--duration', '500ms', '--yes'];
  const without = { PATH: home.path, NOTIFY_SOCKET: '/run/none' };
  const ran = await run(['launchpad', 'tail', ...words], { env: without });
  expect(ran.exitCode).toBe(0);
  expect(calls()).toMatch(/^-u\n-\nUNIX-SENDTO:\/run\/none\n/);
  home.write('socat', '');
  const none = await run(['launchpad', 'tail', ...words], {
    env: { PATH: home.at('none'), NOTIFY_SOCKET: '/run/none' },
  });
  expect([
    none.exitCode,
    none.stderr.match(/cannot notify the service manager: neither/g)?.length,
  ]).toEqual([0, 1]);
});

test('lines have timestamps unless stderr is a terminal', async () => {
  const sandbox = await withSandbox(plenty);
  const words = ['launchpad', 'tail', '--duration', '300ms', '--lag', '100ms', '--yes'];
  const [piped, shown] = await Promise.all([
    runInProcess(words, { sandbox }),
    runInProcess(words, { sandbox, tty: { stderr: true } }),
  ]);
  expect(piped.stderr).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z trdr: polling/);
  expect(shown.stderr).toMatch(/^trdr: polling/);
});

test('a resumed tail whose key is rejected states what it did not read', async () => {
  const { sandbox, home } = await openDesk(plenty);
  const words = ['--yes', '--via', 'poll', '--checkpoint', home.at('ck'), '--duration', '300ms'];
  const run = (options: object) =>
    home.run(['thesis', 'tail', ...words, '--backfill', '2'], { sandbox, ...options });
  expect((await run({})).exitCode).toBe(0);
  const rejected = await run({
    env: { TRDR_API_KEY: 'trdr_test_0123456789abcdef0123456789abcdef' },
  });
  expect(rejected.exitCode, rejected.stderr).toBe(4);
  expect(rejected.stderr).toMatch(
    /posts since \S+Z were not all read: .*[Kk]ey.*; the next run reads them\n.*0 posts, no gaps/,
  );
  expect(rejected.stderr).not.toContain('GAP');
});

test('an error is a line of the JSON log', async () => {
  const ran = await runInProcess('thesis tail --yes --log-format json --via poll', {});
  expect(ran.exitCode).toBe(4);
  expect(JSON.parse(ran.stderr)).toMatchObject({
    level: 'error',
    error: { exit: 4 },
    time: expect.any(String),
  });
});

test('lines in the journal have a level, and those in another file do not', () => {
  const home = openHome();
  const path = home.at('stderr');
  const file = openSync(path, 'a');
  onTestFinished(() => closeSync(file));
  const { dev, ino } = fstatSync(file);
  const run = (journal: string) =>
    spawnSync(process.execPath, [program, 'whois', 'mira', '-o', 'ndjson'], {
      stdio: ['ignore', 'ignore', file],
      env: { HOME: home.path, JOURNAL_STREAM: journal },
    });
  run(`${dev}:${ino}`);
  run(`${dev}:${ino + 1}`);
  const [first, second, ...more] = readFileSync(path, 'utf8').split('\n');
  expect(first).toBe(`<3>${second}`);
  expect(second).toMatch(/^\{"error":/);
  expect(more).toEqual(['']);
});
