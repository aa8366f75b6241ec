import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Home, openHome, type Ran, runInProcess, trdr, withSandbox } from './harness.ts';
import { type Call, type Reply, withService } from './service.ts';

/** Every form in which a key could stand somewhere by accident. */
const formsOf = (key: string): string[] => [
  key,
  key.slice(-16),
  encodeURIComponent(key),
  Buffer.from(key).toString('base64').slice(4, -4),
  Buffer.from(`Bearer ${key}`).toString('base64').slice(12, -4),
  Buffer.from(key).toString('hex'),
];

/** All files below a folder, by path. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** Where a key stands that should not: in what was printed, in a file, in a file's name. */
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
    formsOf(key).some((form) => text.includes(form)) ? [place] : [],
  );
}

/** A service that repeats the key wherever it can. */
function gossip({ path, request }: Call): Reply {
  const key = (request.headers.authorization ?? '').replace('Bearer ', '');
  const headers = { 'x-seen': key, 'x-request-id': `req-${key}` };
  if (path.includes('away'))
    return { status: 302, headers: { ...headers, location: `https://${key}.example/${key}` } };
  if (path.includes('refused')) {
    return { status: 403, headers, body: { error: { code: `C_${key}`, message: `not with ${key}` } } };
  }
  if (path.includes('broken')) return { status: 500, headers, body: `<html>${key}</html>` };
  const user = {
    id: 'beb3753f-dd51-475e-a457-d78132716b95',
    handle: 'mira',
    name: key,
    bio: `my key is ${key}`,
    banner: null,
    profilePicture: null,
    twitter: null,
    solanaAddress: null,
    evmAddress: null,
    [key]: key,
  };
  return { headers, body: user };
}

const keys = [
  ['of the usual form', 'trdr_live_5ecre7P1antedQ9zXw81KeyMaterial'],
  ['of no known form', 'zq~5ecre7P1anted=Q9zXw81:KeyMaterial/+'],
] as const;

describe.each(keys)('a key %s is printed and written nowhere but in the config file', (_, key) => {
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
    ['nonsense'],
  ];

  test('when it is in the environment, and every request is traced', async () => {
    const [service, home] = [await withService(gossip), openHome()];
    const runs: Ran[] = [];
    for (const argv of commands) {
      const traced = [
        ...argv,
        '--debug',
        ...(['me', 'whois', 'api', 'resolve'].includes(argv[0] ?? '') ? ['--retries', '1'] : []),
      ];
      runs.push(await trdr(traced, { sandbox: service, key, home }));
      runs.push(await runInProcess(traced, { sandbox: service, key, home, tty: true }));
    }
    expect(leaks(key, runs, home)).toEqual([]);
    // The search itself is sound: traces were written, and the key was used.
    expect(runs.some(({ stderr }) => stderr.includes('authorization: Bearer'))).toBe(true);
  });

  test('when it was typed, piped in, kept in a profile and forgotten again', async () => {
    const [service, home] = [await withService(gossip, { ownMe: false }), openHome()];
    const login = ['auth', 'login', '--base-url', service.url, '--debug'];
    const runs: Pick<Ran, 'stdout' | 'stderr'>[] = [
      await trdr([...login, '--with-key'], { home, input: key }),
      await runInProcess([...login, '--profile', 'typed'], { home, tty: true, typed: [`${key}\r`] }),
    ];
    expect(readFileSync(join(home.config, 'config.json'), 'utf8')).toContain(key);
    for (const argv of commands) runs.push(await trdr([...argv, '--debug'], { home }));
    runs.push(await trdr(['auth', 'switch', 'typed'], { home }), await trdr(['auth', 'logout'], { home }));
    expect(leaks(key, runs, home)).toEqual([]);
  });

  test('when it stands on the command line by mistake', async () => {
    const home = openHome();
    const runs: Ran[] = [];
    for (const argv of [
      ['auth', 'login', key],
      ['auth', 'login', `--with-key=${key}`],
      ['auth', 'login', `--key=${key}`, '--debug'],
      ['config', 'set', 'key', key],
      ['config', 'set', 'baseUrl', key],
      ['config', 'set', 'maxCu', key],
      ['me', '--base-url', `https://user:${key}@api.example.com`],
      ['me', '--base-url', `https://api.example.com/?key=${encodeURIComponent(key)}`],
    ]) {
      runs.push(await trdr(argv, { home, key: 'trdr_live_another0123456789' }));
    }
    expect(runs.map(({ exitCode }) => exitCode)).toEqual(runs.map(() => 2));
    expect(leaks(key, runs, home)).toEqual([]);
  });

  test('when the config file that holds it is broken', async () => {
    const [service, home] = [await withService(gossip), openHome()];
    await trdr(['auth', 'login', '--with-key', '--base-url', service.url], { home, input: key });
    const file = join(home.config, 'config.json');
    for (const broken of [
      readFileSync(file, 'utf8').replace('"key":', '"key"'),
      `{"version":1,"profiles":{"${key}":1}}`,
    ]) {
      writeFileSync(file, broken);
      const runs = [
        await trdr(['me', '--debug'], { home }),
        await runInProcess(['me', '--debug'], { home, tty: true }),
      ];
      expect(leaks(key, runs, home)).toEqual([]);
    }
  });
});

test('a bug is reported without the key', async () => {
  const [sandbox, home] = [await withSandbox(), openHome()];
  const key = 'trdr_live_5ecre7P1antedQ9zXw81KeyMaterial';
  const runs = [
    await runInProcess(['me', '--debug'], {
      sandbox,
      key,
      home,
      clock: {
        now: () => 0,
        mono: () => {
          throw new Error(`a clock that knows ${key}`);
        },
        sleep: async () => {},
      },
    }),
  ];
  expect(runs[0]?.exitCode).toBe(1);
  expect(leaks(key, runs, home)).toEqual([]);
});
