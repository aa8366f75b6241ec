import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { everyCommonOption } from '../../../src/cli/args/common.ts';
import { resolveSettings } from '../../../src/state/config/resolve-settings.ts';
import {
  readSetting,
  settingNames,
  settingRows,
  storedSetting,
} from '../../../src/state/config/settings-table.ts';
import { anyText, runs } from '../room.ts';

const KEY = 'trdr_live_planted0secret';

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
  const flags = new Map(Object.values(everyCommonOption).map((option) => [option.name(), option]));
  fc.assert(
    fc.property(fc.constantFrom(...settingNames), texts, (name, text) => {
      const { flag = '' } = settingRows[name];
      const kind = flags.get(flag.replace('--', ''))?.kind;
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
