import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { everyCommonOption } from '../../../src/cli/args/common.ts';
import { longName } from '../../../src/cli/args/option.ts';
import { readSetting, storedSetting } from '../../../src/state/config/read-setting.ts';
import { resolveSettings } from '../../../src/state/config/resolve-settings.ts';
import { settingNames, settingRows } from '../../../src/state/config/settings-table.ts';
import { anyText, runs } from '../room.ts';

const KEY = 'trdr_live_planted0secret';
const file = {
  version: 1 as const,
  current: 'work',
  profiles: {
    work: { key: KEY, baseUrl: 'https://work.example.test', output: 'csv', maxAge: '2h', utc: true },
    odd: { output: 'xml', key: 'two words', retries: [4] },
  },
};

test('base URLs are normalized from every source', () => {
  const flags = { baseUrl: 'HTTPS://Api.Example.test/v/' };
  const settings = resolveSettings({ flags, env: {}, file });
  expect(settings.baseUrl).toEqual({
    value: 'https://api.example.test/v',
    origin: 'flag',
    from: '--base-url',
  });
  const secret = { baseUrl: `https://${KEY}@host` };
  expect(() => resolveSettings({ flags: secret, env: {}, file })).toThrow('invalid base URL for --base-url');
});

test('a named profile must exist, unless it is about to be created', () => {
  for (const sources of [
    { flags: { profile: 'wrok' }, env: {} },
    { flags: {}, env: { TRDR_PROFILE: 'wrok' } },
  ]) {
    expect(() => resolveSettings({ ...sources, file })).toThrow(
      expect.objectContaining({ code: 'NO_PROFILE', hint: expect.stringContaining('work, odd') }),
    );
    expect(resolveSettings({ ...sources, file, newProfile: true }).profile.value).toBe('wrok');
  }
  const inherited = { flags: { profile: 'constructor' }, env: {}, file };
  expect(() => resolveSettings(inherited)).toThrow('unknown profile "constructor"');
});

test('an invalid value is rejected with its source, or skipped by the commands that fix it', () => {
  const at = (env: Record<string, string>, profile = 'work') => ({ flags: { profile }, env, file });
  expect(() => resolveSettings(at({ TRDR_OUTPUT: 'xml' }))).toThrow('invalid value for TRDR_OUTPUT');
  expect(() => resolveSettings(at({ TRDR_BASE_URL: `https://${KEY}@h` }))).not.toThrow(/planted/);
  expect(() => resolveSettings(at({}, 'odd'))).toThrow('output of profile "odd"');
  const settings = resolveSettings({ ...at({ TRDR_API_KEY: 'a\nb' }, 'odd'), tolerant: true });
  expect(settings.problems.map(({ code }) => code).sort()).toEqual([
    'BAD_KEY',
    'BAD_KEY',
    'BAD_SETTING',
    'BAD_SETTING',
  ]);
  expect(settings.retries).toEqual({ value: 4, origin: 'default' });
  const hints = settings.problems.filter(({ code }) => code === 'BAD_KEY').map(({ hint }) => hint);
  expect(hints).toEqual([
    expect.stringContaining('or unset TRDR_API_KEY'),
    expect.stringContaining('trdr auth login --profile odd'),
  ]);
});

test('any environment and file give settings, or a failure without the key', () => {
  const names = fc.constantFrom('TRDR_OUTPUT', 'TRDR_BASE_URL', 'TRDR_PROFILE', 'TRDR_API_KEY');
  const env = fc.dictionary(names, anyText);
  const profile = fc.dictionary(fc.constantFrom(...settingNames), fc.jsonValue());
  fc.assert(
    fc.property(env, profile, fc.boolean(), (variables, held, tolerant) => {
      const profiles = { default: { ...held, key: KEY } };
      try {
        resolveSettings({ flags: {}, env: variables, file: { version: 1, profiles }, tolerant });
      } catch (error) {
        expect(tolerant).toBe(false);
        expect(error).toBeInstanceOf(Failure);
        expect(String(error)).not.toContain('planted');
      }
    }),
    runs(400),
  );
});

test('every default equals its documented text', () => {
  for (const name of settingNames) {
    const { kind, fallback, fallbackText } = settingRows[name];
    if (fallback !== undefined) expect(kind.read(fallbackText.split(';')[0] ?? '')).toBe(fallback);
    for (const one of kind.choices ?? []) {
      expect(readSetting(name, storedSetting(name, one), name)).toBe(kind.read(one));
    }
  }
});

test('a flag and a setting of the same name parse alike', () => {
  const texts = fc.oneof(
    anyText,
    fc.constantFrom('0', '1h30m', '10k', '1,5M', '10%', 'true', 'a.test', '30d'),
  );
  const flags = new Map(Object.values(everyCommonOption).map((option) => [longName(option), option]));
  fc.assert(
    fc.property(fc.constantFrom(...settingNames), texts, (name, text) => {
      const { flag = '' } = settingRows[name];
      const kind = flags.get(flag.replace('--', ''))?.value;
      // Skip the base URL, which is read a second time when the settings are resolved.
      if (kind === undefined || name === 'baseUrl') return;
      let setting: unknown;
      try {
        setting = readSetting(name, text, name);
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
      expect(setting).toEqual(kind.read(text.trim()));
    }),
    runs(400),
  );
});

test('a flag has the name of its setting', () => {
  for (const name of settingNames) {
    const { flag }: { flag?: string } = settingRows[name];
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (flag !== undefined) expect(flag).toBe(`--${dashed}`);
  }
});
