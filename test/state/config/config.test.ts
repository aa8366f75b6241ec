import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { openConfig } from '../../../src/state/config/config.ts';
import { emptyConfig, parseConfig } from '../../../src/state/config/config-file.ts';
import { anyText, room, runs } from '../room.ts';

const { under } = room();
const KEY = 'trdr_live_planted0secret0value';

function configAt(dir: string | undefined) {
  return openConfig({ config: dir, state: undefined, cache: undefined });
}
const fileOf = (dir: string) => join(dir, 'config.json');

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
