import { share, units } from '../../base/amounts.ts';
import { duration, durationText, timeout } from '../../base/durations.ts';
import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { unitsText } from '../../base/units.ts';
import {
  type BudgetSetting,
  budgetSettingNames,
  budgetSettings,
  periodText,
} from '../../contract/budget.ts';
import type { SettingRecord } from '../../contract/records/tool.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import type { SourcedSettings } from '../../state/config/resolve-settings.ts';
import {
  configNames,
  isSettingName,
  type SettingName,
  settingRows,
} from '../../state/config/settings-table.ts';
import { originText } from './settings.ts';

/**
 * The names that `config get` accepts: the settings, the profile, the key and the password of the
 * store.
 */
export const readableSettings: readonly string[] = [
  'profile',
  'key',
  ...configNames,
  'storePassword',
];

export function settingRecords(settings: SourcedSettings, origins: boolean): SettingRecord[] {
  const { profile, key, storePassword } = settings;
  const rows = [
    { name: 'profile', ...profile },
    { name: 'key', ...key, value: key.value && maskKey(key.value) },
    ...configNames.map((name) => ({ name, ...settings[name] })),
    { name: 'storePassword', ...storePassword, value: storePassword.value && '****' },
  ];
  return rows.map((row) => ({
    setting: row.name,
    value: row.value ?? null,
    ...(origins && { origin: originText(row) }),
  }));
}

/** Whether a list shows a setting: of the store only once there is one, or if it is set. */
export function isListed(name: string, settings: SourcedSettings): boolean {
  if (settings.store.value !== undefined) return true;
  if (!isSettingName(name)) return name !== 'storePassword' || settings[name].value !== undefined;
  return !('isOfStore' in settingRows[name]) || settings[name].origin !== 'default';
}

const kindOf = (name: string) => (isSettingName(name) ? settingRows[name].kind : undefined);

export function settingWord({ setting, value }: SettingRecord): string {
  const kind = kindOf(setting);
  const isDuration = kind === duration || kind === timeout;
  return isDuration && typeof value === 'number' ? durationText(value) : String(value ?? '');
}

/** A value in a table; undefined to show it unchanged. */
export function settingText(row: SettingRecord): string | undefined {
  if (typeof row.value !== 'number') return undefined;
  const kind = kindOf(row.setting);
  if (kind === units) return unitsText(row.value);
  return kind === share ? `${Number((row.value * 100).toPrecision(12))}%` : settingWord(row);
}

function budgetHint(setting: BudgetSetting): readonly [problem: string, hint: string] {
  const { period, measure } = budgetSettings[setting];
  const flag = measure === 'reveals' ? ' --reveals' : '';
  return [
    `"trdr config" does not show or change the ${periodText(budgetSettings[setting])}`,
    `show it with "trdr budget show"; change it with "trdr budget set ${period} N${flag}" or "trdr budget unset ${period}${flag}"`,
  ];
}

/** What "trdr config" does not change, and how to change it. */
const elsewhere: Readonly<Record<string, readonly [problem: string, hint: string]>> = {
  key: [
    '"trdr config" cannot change the key of a profile',
    'save a key with "trdr auth login", or remove it with "trdr auth logout"',
  ],
  storePassword: [
    '"trdr config" cannot change the password of the store',
    'run "trdr store login URL" and type the new password, or nothing to remove the saved one',
  ],
  profile: ['the current profile is not a setting', 'change it with "trdr auth switch"'],
  ...Object.fromEntries(budgetSettingNames.map((name) => [name, budgetHint(name)])),
};

export function writableSetting(word: string): SettingName {
  const name = configNames.find((configName) => configName === word);
  if (name) return name;
  throw unknown(word, configNames);
}

export function readableSetting(word: string): string {
  if (readableSettings.includes(word)) return word;
  throw unknown(word, readableSettings);
}

function unknown(word: string, names: readonly string[]) {
  const problem = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined;
  if (problem) return usageError(...problem);
  const near = didYouMean(word, names);
  return usageError(`unknown setting "${word}"`, near || `available settings: ${names.join(', ')}`);
}
