import { fieldPaths } from '../../contract/paths.ts';
import { CheckRecord, ProfileRecord, SettingRecord } from '../../contract/records/tool.ts';
import type { View } from '../view.ts';

export const profileView = (checked: boolean): View<ProfileRecord> => ({
  columns: [
    { title: '', kind: 'text', value: (row) => (row.current ? '*' : ' ') },
    { title: 'profile', kind: 'text', field: 'profile', min: 8 },
    { title: 'base URL', kind: 'text', field: 'baseUrl', rank: 1, min: 16 },
    { title: 'from', kind: 'text', field: 'baseUrlFrom', rank: 4, min: 12 },
    { title: 'key', kind: 'text', field: 'key', min: 24 },
    { title: 'from', kind: 'text', field: 'keyFrom', rank: 3, min: 12 },
    { title: 'mode', kind: 'text', field: 'mode', rank: 2 },
    ...(checked
      ? [{ title: 'check', kind: 'status', value: checkText, min: 24, field: 'check' } as const]
      : []),
  ],
  fields: () => fieldPaths(ProfileRecord),
  empty: 'no profile, and no key in the environment',
});

/** The text of an error begins with `failed`. */
const checkText = ({ check }: ProfileRecord) =>
  check === undefined || check === 'ok' ? check : `failed: ${check}`;

const shown = (value: unknown) => (typeof value === 'object' ? value : String(value));

export const settingView = (
  origins: boolean,
  textOf: (row: SettingRecord) => string | undefined,
): View<SettingRecord> => ({
  columns: [
    { title: 'setting', kind: 'text', field: 'setting' },
    {
      title: 'value',
      kind: 'text',
      value: (row) => textOf(row) ?? shown(row.value),
      min: 16,
      wrap: true,
      field: 'value',
    },
    ...(origins ? [{ title: 'from', kind: 'text', field: 'origin', rank: 1 } as const] : []),
  ],
  fields: () => fieldPaths(SettingRecord),
  empty: 'no settings',
});

export const checkView: View<CheckRecord> = {
  columns: [
    { title: 'status', kind: 'status', field: 'verdict', min: 7 },
    { title: 'check', kind: 'text', field: 'check', min: 8 },
    { title: 'details', kind: 'text', field: 'detail', wrap: true, min: 24 },
    {
      title: 'fix',
      kind: 'text',
      value: (row) => row.next ?? '',
      wrap: true,
      below: true,
      field: 'next',
    },
  ],
  fields: () => fieldPaths(CheckRecord),
  empty: 'no checks',
};
