import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { openConfig } from '../../../src/state/config/config.ts';
import { emptyConfig, parseConfig, profileOf, readConfig } from '../../../src/state/config/config-file.ts';
import { anyText, room, runs, workers } from '../room.ts';

const { path, under } = room();
const worker = workers(path);
const KEY = 'trdr_live_planted0secret0value';

function configAt(dir: string | undefined) {
  return openConfig({ config: dir, state: undefined, cache: undefined });
}
const fileOf = (dir: string) => join(dir, 'config.json');
const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

/** The text of a failure with all its fields. */
const everythingOf = (error: unknown) =>
  error instanceof Failure
    ? `${error.stack} ${error.hint} ${JSON.stringify(error)} ${JSON.stringify(error.cause)} ${String(error.cause)}`
    : String(error);

async function failureOf(work: () => unknown): Promise<Failure> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  return expect.unreachable();
}

test('login saves a key to a private file, without leftovers', async () => {
  const dir = join(under('login'), 'deep', 'trdr');
  const config = configAt(dir);
  expect(config.read()).toEqual(emptyConfig);
  await config.login('work', { key: ` ${KEY}\n`, baseUrl: 'https://api.example.test/v/' });
  expect(config.read()).toEqual({
    version: 1,
    current: 'work',
    profiles: { work: { key: KEY, baseUrl: 'https://api.example.test/v' } },
  });
  expect(readdirSync(dir)).toEqual(['config.json']);
  expect([mode(dir), mode(fileOf(dir))]).toEqual(['700', '600']);
});

test('a write makes the config file private', async () => {
  const dir = under('loose');
  mkdirSync(dir);
  writeFileSync(fileOf(dir), '{"version":1,"profiles":{}}');
  chmodSync(fileOf(dir), 0o644);
  await configAt(dir).set('default', 'utc', 'true');
  expect(mode(fileOf(dir))).toBe('600');
});

test.each(['000', '777'])('files stay private under umask %s', async (umask) => {
  const dir = under('umask');
  await worker(['config', dir, 1, umask]);
  expect([mode(dir), mode(fileOf(dir))]).toEqual(['700', '600']);
});

test('the first profile with a key becomes the current one', async () => {
  const config = configAt(under('switch'));
  await config.login('one', { key: KEY });
  await config.login('two.dotted', { key: KEY });
  expect(config.read().current).toBe('one');
  await config.use('two.dotted');
  expect(config.read().current).toBe('two.dotted');
  const failure = await failureOf(() => config.use('three'));
  expect(failure).toMatchObject({ kind: 'usage', code: 'NO_PROFILE' });
  expect(failure.hint).toContain('one, two.dotted');
});

test('logout removes only the key; remove removes the profile', async () => {
  const config = configAt(under('logout'));
  await config.login('p', { key: KEY, baseUrl: 'http://127.0.0.1:1' });
  expect(await config.logout('p')).toBe(true);
  expect(await config.logout('p')).toBe(false);
  expect(await config.logout('constructor')).toBe(false);
  expect(config.read().profiles).toEqual({ p: { baseUrl: 'http://127.0.0.1:1' } });
  expect(await config.remove('p')).toBe(true);
  expect(await config.remove('p')).toBe(false);
  expect(config.read()).toEqual(emptyConfig);
});

test('settings are saved in readable form, and unknown members are preserved', async () => {
  const dir = under('set');
  mkdirSync(dir);
  const unknown = { version: 1, later: [1], profiles: { default: { later: { a: null } }, __proto: {} } };
  writeFileSync(fileOf(dir), JSON.stringify(unknown));
  const config = configAt(dir);
  for (const [name, value] of [
    ['utc', 'true'],
    ['maxCu', '30k'],
    ['maxAge', '1h30m'],
    ['socketShare', '5%'],
  ] as const) {
    await config.set('default', name, value);
  }
  expect(await config.unset('default', 'maxCu')).toBe(true);
  expect(await config.unset('default', 'maxCu')).toBe(false);
  expect(JSON.parse(readFileSync(fileOf(dir), 'utf8'))).toEqual({
    ...unknown,
    profiles: {
      default: { later: { a: null }, utc: true, maxAge: '1h30m', socketShare: '5%' },
      __proto: {},
    },
  });
});

test('invalid settings, values, profile names and keys are rejected, and nothing is written', async () => {
  const dir = under('refused');
  const config = configAt(dir);
  const refused = [
    () => config.set('default', 'shade', 'auto'),
    () => config.set('default', 'color', 'blue'),
    () => config.set('default', 'key', KEY),
    () => config.set('../x', 'color', 'auto'),
    () => config.set('__proto__', 'color', 'auto'),
    () => config.login('p', { key: `${KEY}\nX-Other: 1` }),
    () => config.login('p', { key: KEY, baseUrl: `https://${KEY}@host` }),
    () => config.login('p', { key: ' ' }),
  ];
  for (const work of refused) expect(everythingOf(await failureOf(work))).not.toContain('planted');
  expect(() => readdirSync(dir)).toThrow();
});

test('concurrent writers lose nothing', async () => {
  const dir = under('crowd');
  await Promise.all(Array.from({ length: 6 }, (_, who) => worker(['config', dir, 8, `022`, `w${who}`])));
  const { profiles } = readConfig(fileOf(dir));
  expect(Object.keys(profiles)).toHaveLength(6 * 8);
  expect(readdirSync(dir)).toEqual(['config.json']);
});

test('an incomplete file is never overwritten, and the error suggests a fix without showing the key', async () => {
  const dir = under('torn');
  const config = configAt(dir);
  await config.login('default', { key: KEY, baseUrl: 'https://api.example.test' });
  const whole = readFileSync(fileOf(dir), 'utf8').trimEnd();
  for (let length = 1; length < whole.length; length++) {
    const torn = whole.slice(0, length);
    writeFileSync(fileOf(dir), torn);
    const failure = await failureOf(() => config.read());
    expect(failure).toMatchObject({ kind: 'local', code: 'CONFIG_CORRUPT' });
    expect(failure.message).toContain(fileOf(dir));
    expect(failure.hint).toContain('auth login');
    expect(everythingOf(failure)).not.toContain('planted');
    if (length % 20 === 0) {
      await failureOf(() => config.login('default', { key: KEY }));
      expect(readFileSync(fileOf(dir), 'utf8')).toBe(torn);
    }
  }
});

test('a key in the wrong place of the file is not shown', async () => {
  for (const text of [
    `{"version":1,"profiles":{"a":{"key":"${KEY}"}} ${KEY}`,
    `${KEY}`,
    `"${KEY}"`,
    `{"version":1,"profiles":"${KEY}"}`,
    `{"version":1,"profiles":{"a":"${KEY}"}}`,
    `{"version":"${KEY}","profiles":{}}`,
  ]) {
    expect(everythingOf(await failureOf(() => parseConfig(text, '/c')))).not.toContain('planted');
  }
});

test('a file of a newer version is not changed', async () => {
  const dir = under('newer');
  mkdirSync(dir);
  const text = '{"version":2,"anything":true}';
  writeFileSync(fileOf(dir), text);
  const failure = await failureOf(() => configAt(dir).set('default', 'utc', 'true'));
  expect(failure).toMatchObject({ kind: 'local', code: 'CONFIG_NEWER' });
  expect(readFileSync(fileOf(dir), 'utf8')).toBe(text);
});

test('a crashed write keeps the old file, and the next write cleans up', async () => {
  const dir = under('crash');
  const config = configAt(dir);
  await config.login('default', { key: KEY });
  writeFileSync(join(dir, 'config.json.tmp-0123456789'), '{"vers');
  expect(profileOf(config.read(), 'default')?.key).toBe(KEY);
  await config.set('default', 'utc', 'true');
  expect(readdirSync(dir)).toEqual(['config.json']);
});

test('a symbolic link is followed', async () => {
  const [dir, elsewhere] = [under('linked'), under('elsewhere')];
  mkdirSync(dir);
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'trdr.json'), '');
  symlinkSync(join(elsewhere, 'trdr.json'), fileOf(dir));
  await configAt(dir).set('default', 'utc', 'true');
  expect(readlinkSync(fileOf(dir))).toBe(join(elsewhere, 'trdr.json'));
  expect(readConfig(join(elsewhere, 'trdr.json')).profiles).toEqual({ default: { utc: true } });
});

test('without write access, reading finds nothing and writing fails with a hint', async () => {
  const unwritable = configAt('/dev/null/none');
  expect(unwritable.read()).toEqual(emptyConfig);
  const failure = await failureOf(() => unwritable.login('p', { key: KEY }));
  expect(failure).toMatchObject({ kind: 'local', hint: expect.stringContaining('TRDR_CONFIG_DIR') });
  const homeless = configAt(undefined);
  expect(homeless.read()).toEqual(emptyConfig);
  expect(await failureOf(() => homeless.login('p', { key: KEY }))).toMatchObject({ code: 'NO_HOME' });
  const folder = under('folder');
  mkdirSync(fileOf(folder), { recursive: true });
  expect((await failureOf(() => configAt(folder).read())).message).toContain('it is a folder');
});

test('any text is a config or a failure that names the file', () => {
  const profiles = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()));
  const texts = fc.oneof(
    anyText,
    fc
      .record({ version: fc.constantFrom(0, 1, 2), current: fc.jsonValue(), profiles })
      .map((v) => JSON.stringify(v)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      try {
        expect(parseConfig(text, '/the/file').version).toBe(1);
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
        expect(String(error)).toContain('/the/file');
      }
    }),
    runs(500),
  );
  expect(parseConfig('\uFEFF \n', '/f')).toEqual(emptyConfig);
  expect(parseConfig('\uFEFF{"version":1,"profiles":{}}', '/f')).toEqual(emptyConfig);
});
