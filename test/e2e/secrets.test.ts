import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Home,
  openDesk,
  openHome,
  type Ran,
  type RunOptions,
  runInProcess,
  trdr,
} from './harness.ts';
import { type Call, type Reply, userRecord, withService } from './service.ts';

/** The forms in which a key could leak; JSON escapes are undone before the search. */
const formsOf = (key: string): string[] => [key, key.slice(-16), encodeURIComponent(key)];

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

const unescaped = (text: string) =>
  text.replace(/\\u00([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** The leaks of a key: in output, in a file, in a file name. */
function leaks(key: string, runs: readonly Pick<Ran, 'stdout' | 'stderr'>[], home: Home): string[] {
  const own = join(home.config, 'config.json');
  const places = [
    ...runs.flatMap(({ stdout, stderr }, at) => [
      [`stdout of run ${at}`, stdout],
      [`stderr of run ${at}`, stderr],
    ]),
    ...filesIn(home.path)
      .filter((path) => path !== own)
      .map((path) => [path, `${path}\n${readFileSync(path, 'latin1')}`]),
  ];
  return places.flatMap(([place = '', text = '']) =>
    formsOf(key).some((form) => text.includes(form) || unescaped(text).includes(form))
      ? [place]
      : [],
  );
}

const anyUser = userRecord('mira');

/** A service that repeats the key everywhere. */
function leakyService({ path, request }: Call): Reply {
  const key = (request.headers.authorization ?? '').replace('Bearer ', '');
  const headers = { 'x-seen': key, 'x-request-id': `req-${key}` };
  if (path.includes('away'))
    return { status: 302, headers: { ...headers, location: `https://${key}.example/${key}` } };
  if (path.includes('refused')) {
    return {
      status: 403,
      headers,
      body: { error: { code: `C_${key}`, message: `not with ${key}` } },
    };
  }
  if (path.includes('broken')) return { status: 500, headers, body: `<html>${key}</html>` };
  const user = {
    ...anyUser,
    name: key,
    bio: `my key is ${key}`,
    [key]: key,
    url: encodeURIComponent(key),
  };
  // Some JSON serializers escape slashes.
  return { headers, body: Buffer.from(JSON.stringify(user).replaceAll('/', '\\/')) };
}

const keys = [
  ['in the usual format', 'trdr_live_5ecre7P1antedQ9zXw81KeyMaterial'],
  ['in an unknown format', 'zq~5ecre7P1anted=Q9zXw81:KeyMaterial/+'],
] as const;

describe.each(keys)('a key %s only appears in the config file', (_, key) => {
  const commands = [
    ['me'],
    ['whois', 'mira', '@away', '@refused', '@broken'],
    ['resolve', 'mira'],
    ['api', '-i', '/v2/user/handle/mira'],
    ['api', '/v2/user/handle/away'],
    ['api', '/v2/user/handle/refused'],
    ['api', '/v2/user/handle/broken'],
    ['auth', 'status', '--check'],
    ['config', 'list', '--origin'],
    ['config', 'get', 'key'],
    ['usage', '--reconcile'],
    ['usage'],
    ['cache', 'stats'],
    ['price'],
    ['doctor'],
    ['nonsense'],
  ];

  const traced = commands.map((argv) => [
    ...argv,
    '--debug',
    ...(['me', 'whois', 'api', 'resolve'].includes(argv[0] ?? '') ? ['--retries', '1'] : []),
  ]);
  // Only one command, with one of the keys, runs in a separate process, because each start takes long.
  const started = key === keys[0][1] ? ['whois'] : [];
  const random = () => 0;
  const runPiped = (argv: readonly string[], options: Omit<RunOptions, 'input'>): Promise<Ran> =>
    started.includes(argv[0] ?? '')
      ? trdr(argv, options)
      : runInProcess(argv, { ...options, random });

  test('with the key in the environment and --debug', async () => {
    const [service, home] = [await withService(leakyService), openHome()];
    const runs: Ran[] = [];
    for (const argv of traced) {
      runs.push(await runPiped(argv, { sandbox: service, key, home }));
      runs.push(await home.run(argv, { sandbox: service, key, tty: true, random }));
    }
    expect(leaks(key, runs, home)).toEqual([]);
    // Check that the search can find anything: traces were written, and the key was used.
    expect(runs.some(({ stderr }) => stderr.includes('authorization: Bearer'))).toBe(true);
  });

  test('after typing, piping, saving and removing it', async () => {
    const [service, home] = [await withService(leakyService, { ownMe: false }), openHome()];
    const login = ['auth', 'login', '--base-url', service.url, '--debug'];
    const runs: Pick<Ran, 'stdout' | 'stderr'>[] = [
      await home.run([...login, '--with-key'], { stdin: key }),
      await home.run([...login, '--profile', 'typed'], { tty: true, typed: [`${key}\r`] }),
    ];
    expect(readFileSync(join(home.config, 'config.json'), 'utf8')).toContain(key);
    for (const argv of traced) runs.push(await home.run(argv, { random }));
    runs.push(await home.run('auth switch typed'), await home.run('auth logout'));
    expect(leaks(key, runs, home)).toEqual([]);
  });

  test('with the key on the command line by mistake', async () => {
    const home = openHome();
    const runs: Ran[] = [];
    for (const argv of [
      ['auth', 'login', key],
      ['auth', 'login', '--with-key', key],
      ['auth', 'login', `--with-key=${key}`],
      // Only a key in the usual format can be told from a word.
      ...(key === keys[0][1]
        ? [['auth', key], [key], ['whois', `--${key}`], ['config', 'set', key, '1']]
        : []),
      ['auth', 'login', `--key=${key}`, '--debug'],
      ['config', 'set', 'key', key],
      ['config', 'set', 'baseUrl', key],
      ['config', 'set', 'maxCu', key],
      ['me', '--base-url', `https://user:${key}@api.example.com`],
      ['me', '--base-url', `https://api.example.com/?key=${encodeURIComponent(key)}`],
    ]) {
      runs.push(await runPiped(argv, { home, key: 'trdr_live_another0123456789' }));
    }
    expect(runs.map(({ exitCode }) => exitCode)).toEqual(runs.map(() => 2));
    expect(leaks(key, runs, home)).toEqual([]);
  });
});

test('a bug is reported without the key', async () => {
  const { home, run } = await openDesk();
  const key = keys[0][1];
  const mono = () => {
    throw new Error(`a clock that knows ${key}`);
  };
  const clock = { now: () => 0, mono, sleep: async () => {} };
  const ran = await run('me --debug', { key, clock });
  expect([ran.exitCode, leaks(key, [ran], home)]).toEqual([1, []]);
});

describe.each(keys)('a key %s pasted as a subject', (_, key) => {
  test.each([
    ['whois', key],
    ['whois', 'mira', `@${key}`],
    ['whois', '--as', 'handle', key],
    ['whois', '-'],
    ['pnl', key],
    ['pnl', 'mira', key],
    ['resolve', key],
    ['launchpad', 'user', key],
    ['launchpad', 'callouts', '--coin', key],
    ['launchpad', 'callouts', '--wallet', key],
    ['thesis', 'list', '--token', key],
    ['thesis', 'list', '--user', key],
    ['api', `/v2/user/handle/${key.replace('/', '%2f')}`],
    ['api', 'POST', '/v2/user/handles/pnl', '-f', `handles[]=${key}`, '--yes'],
  ])('is rejected before anything is sent, saved or shown: %s %s %s', async (...argv) => {
    const [service, home] = [await withService(leakyService), openHome()];
    const words = argv.filter((word) => word !== undefined);
    const options = { sandbox: service, key, home, stdin: `mira\n${key}\n` };
    const runs = [
      await runInProcess(words, options),
      await runInProcess([...words, '--debug'], options),
    ];
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([2, 2]);
    expect(service.calls).toEqual([]);
    expect(leaks(key, runs, home)).toEqual([]);
  });
});

test('a subject in the format of another key is rejected, and a handle that only looks like one is looked up', async () => {
  const [service, home] = [await withService(leakyService), openHome()];
  const other = 'acme_test_0123456789abcdef';
  const rejected = await home.run(['whois', other], { sandbox: service, key: keys[0][1] });
  expect(rejected).toMatchObject({ exitCode: 2, stdout: '' });
  expect(rejected.error()).toMatchObject({
    code: 'BAD_SUBJECT',
    message: 'acme_test_****cdef: this is an API key, not a subject',
  });
  await home.run('whois fx_live_trading', { sandbox: service, key: keys[0][1] });
  expect(service.calls).toEqual(['GET /v2/user/handle/fx_live_trading']);
});

test('a key that is a short word does not change answers', async () => {
  const service = await withService(() => ({ body: { ...anyUser, bio: 'a test of testing' } }));
  const ran = await runInProcess('whois mira --json', { sandbox: service, key: 'test' });
  expect(ran.json()).toMatchObject({ bio: 'a test of testing' });
});
