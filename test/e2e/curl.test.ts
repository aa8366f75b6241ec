import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execa } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { has } from '../tools.ts';
import { openHome, type RunOptions, runInProcess, withSandbox } from './harness.ts';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: readonly unknown[];
}

const compared = ['accept', 'content-type', 'user-agent', 'authorization'];

/** A service that notes what it is sent, apart from the free `me`, and answers as the sandbox does. */
async function openRecorder() {
  const sandbox = await withSandbox();
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(parts).toString();
    if (url !== '/v2/me')
      sent.push({ method, url, body, headers: compared.map((name) => headers[name]) });
    const passed = ['authorization', 'content-type'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    const answer = await fetch(sandbox.url + url, {
      method,
      headers: passed,
      ...(body !== '' && { body }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const options = {
    sandbox: { url: `http://127.0.0.1:${port}`, key: sandbox.key },
    home: openHome(),
  };
  return { options, take: () => sent.splice(0) };
}

/** Runs lines in a shell that has the key and the base URL in its environment. */
async function shell(lines: string, { sandbox }: RunOptions) {
  const { url = '', key = '' } = sandbox ?? {};
  const env = { PATH: process.env['PATH'], TRDR_API_KEY: key, TRDR_BASE_URL: url };
  return await execa('sh', ['-c', lines], { env, extendEnv: false });
}

const USER = '11111111-2222-4333-8444-555555555555';
const COIN = 'So11111111111111111111111111111111111111112';

describe.skipIf(!has('curl'))('--dry-run --curl', () => {
  test.each([
    ['whois', ['mira', '@kopa', USER]],
    ['resolve', ['--direct', 'mira']],
    ['pnl', ['mira']],
    ['pnl', ['mira', 'kopa', "o'neil"]],
    ['thesis list', ['--limit', '20']],
    ['thesis list', ['--user', USER, '--token', COIN]],
    ['thesis tail', ['--no-follow']],
    ['launchpad user', [COIN]],
    ['launchpad callouts', ['--coin', COIN]],
    ['launchpad tail', ['--no-follow']],
    ['launchpad board', ['--period', 'weekly', '--at', '2026-01-02']],
    ['api', ['/v2/user/handle/mira?a=[1-3]&b=$HOME&c={x,y}&d=`id`&e=%27', '--yes']],
    [
      'api',
      [
        'POST',
        '/v2/users/pnl',
        '--yes',
        '-f',
        "handles[]=a'b",
        '-f',
        'handles[]=$(id)\n"\\x',
        '-f',
        'handles[]=@f',
      ],
    ],
  ])('prints a line that sends what trdr sends: %s %j', async (command, args) => {
    const { options, take } = await openRecorder();
    const words = [...command.split(' '), ...args, '--retries', '0'];
    const planned = await runInProcess([...words, '--dry-run', '--curl'], options);
    expect([planned.exitCode, planned.stderr, take()]).toEqual([0, '', []]);
    expect(planned.stdout).not.toContain(options.sandbox.key);
    await shell(planned.stdout, options);
    const byCurl = take();
    await runInProcess(words, options);
    expect(byCurl.length).toBeGreaterThan(0);
    expect(take().slice(0, byCurl.length)).toEqual(byCurl);
  });

  test('states how often a call is repeated, what is cached, and what curl cannot do', async () => {
    const { options } = await openRecorder();
    await runInProcess('whois mira', options);
    const lines = async (...words: string[]) =>
      (await runInProcess([...words, '--dry-run', '--curl'], options)).lines();
    expect(await lines('whois', 'mira')).toEqual([
      '# GET /v2/user/handle/mira is not sent, because its answer is cached',
    ]);
    expect((await lines('thesis', 'list', '--all'))[0]).toBe('# repeated for each further page');
    const tail = (await lines('thesis', 'tail')).filter((line) => line.startsWith('#'));
    expect(tail.join()).toContain('is a WebSocket, which curl does not follow');
  });

  test.each([
    [['whois', COIN], ['the two names of its launchpad account'], 2],
    [['whois', COIN, '--cheap'], ['the two names of its launchpad account'], 1],
    [['launchpad', 'user', 'mira'], ['the wallet of mira'], 1],
    [['launchpad', 'board', '--who'], ['the wallets of the board', 'their names'], 1],
  ])('prints no line with a value that is not known yet: %j', async (words, unknown, lines) => {
    const { options } = await openRecorder();
    const planned = await runInProcess([...words, '--dry-run', '--curl'], options);
    for (const value of unknown) expect(planned.stdout).toContain(`stands for ${value}`);
    expect(planned.lines().filter((line) => line.startsWith('curl '))).toHaveLength(lines);
  });

  test.each([
    ['thesis list --user nobody_here'],
    ['thesis list --user nobody_here,somebody'],
    ['thesis tail --user nobody_here --no-follow'],
    ['launchpad callouts --user nobody_here'],
    ['launchpad tail --user nobody_here --no-follow'],
  ])('prints no line for the pages of an author who is not known yet: %s', async (line) => {
    const { options } = await openRecorder();
    const words = [...line.split(' '), '--dry-run', '--curl'];
    const planned = await runInProcess(words, options);
    expect(planned.exitCode, planned.stderr).toBe(0);
    expect(planned.stdout).toMatch(/^curl .*nobody_here$/m);
    expect(planned.stdout).toMatch(/^# .*00000000.* is not sent/m);
    expect(planned.stdout).not.toMatch(/^curl .*00000000/m);
  });

  test('names no service of its own in a sandbox, and needs --dry-run and no format', async () => {
    const run = (...words: string[]) => runInProcess(['whois', 'mira', ...words]);
    expect((await run('--sandbox', '--dry-run', '--curl')).stdout).toContain(
      `"$TRDR_BASE_URL"/v2/user/handle/mira\n`,
    );
    expect((await run('--sandbox', '--curl')).exitCode).toBe(2);
    expect((await run('--sandbox', '--dry-run', '--curl', '--json')).exitCode).toBe(2);
  });
});
