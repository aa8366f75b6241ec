import { expect, test } from 'vitest';
import { settingWord } from '../../../src/cli/settings/setting-records.ts';
import {
  readSetting,
  settingNames,
  settingRows,
} from '../../../src/state/config/settings-table.ts';

const defaults = settingNames.map((name) => [name, settingRows[name].fallback] as const);

test.each([
  ...defaults.filter(([, value]) => value !== undefined),
  ['timeout', 90_500] as const,
  ['maxAge', 0] as const,
  ['maxAge', 200_000_000] as const,
  ['budgetDay', 2_500_000] as const,
])(
  'what "config get %s" prints for %j is accepted by "config set" as the same value',
  (setting, value) => {
    expect(readSetting(setting, settingWord({ setting, value }), setting)).toBe(value);
  },
);
