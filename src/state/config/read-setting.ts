import { Failure } from '../../base/failure.ts';
import type { Kind } from '../../base/values.ts';
import {
  isSettingName,
  type SettingName,
  type SettingValue,
  settingNames,
  settingRows,
} from './settings-table.ts';

type Plain = string | number | boolean;

/** The error does not quote the value, which may be a URL with a password. */
export function readSetting<N extends SettingName>(
  name: N,
  given: unknown,
  where: string,
  hint?: string,
): SettingValue<N> {
  const kind: Kind<SettingValue<SettingName> & Plain> = settingRows[name].kind;
  const plain = typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean';
  const value = plain ? kind.read(String(given).trim()) : undefined;
  if (value !== undefined) return value as SettingValue<N>;
  const problem = plain && kind.problem?.(String(given).trim());
  const why = problem || (hint === undefined ? '' : kind.hint);
  throw new Failure('usage', `invalid ${kind.noun} for ${where}${why === '' ? '' : `: ${why}`}`, {
    code: 'BAD_SETTING',
    hint: hint ?? kind.hint,
  });
}

export function storedSetting(name: SettingName, given: string): Plain {
  const value = readSetting(name, given, name);
  return settingRows[name].asWritten || value === undefined ? given.trim() : value;
}

export function needSettingName(name: string): SettingName {
  if (isSettingName(name)) return name;
  throw new Failure('usage', `unknown setting "${name}"`, {
    code: 'USAGE',
    hint: `available settings: ${settingNames.join(', ')}`,
  });
}
