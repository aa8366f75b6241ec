import { fieldPaths } from '../../contract/paths.ts';
import { CheckRecord } from '../../contract/records/tool.ts';
import type { View } from '../view.ts';

/** Each problem has its fix below. */
export const checkView: View<CheckRecord> = {
  columns: [
    { title: 'status', kind: 'status', field: 'verdict', min: 7 },
    { title: 'check', kind: 'text', field: 'check', min: 8 },
    { title: 'details', kind: 'text', field: 'detail', wrap: true, min: 24 },
    { title: 'fix', kind: 'text', value: (row) => row.next ?? '', wrap: true, below: true, field: 'next' },
  ],
  fields: fieldPaths(CheckRecord),
  empty: 'no checks',
};
