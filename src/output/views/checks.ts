import { fieldPaths } from '../../contract/paths.ts';
import { CheckRecord } from '../../contract/records/tool.ts';
import type { View } from '../view.ts';

/** The checks of `trdr doctor` and `trdr store check`. Each problem has its fix below. */
export const checkView: View<CheckRecord> = {
  columns: [
    { title: 'status', kind: 'status', value: (row) => row.verdict, min: 7, field: 'verdict' },
    { title: 'check', kind: 'text', value: (row) => row.check, min: 8, field: 'check' },
    {
      title: 'details',
      kind: 'text',
      value: (row) => row.detail,
      wrap: true,
      min: 24,
      field: 'detail',
    },
    { title: 'fix', kind: 'text', value: (row) => row.next ?? '', wrap: true, below: true, field: 'next' },
  ],
  fields: fieldPaths(CheckRecord),
  empty: 'no checks',
};
