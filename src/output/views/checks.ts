import { fieldPaths } from '../../contract/paths.ts';
import { CheckRecord } from '../../contract/records/tool.ts';
import type { View } from '../view.ts';

/** The checks of the doctor, each with what to do about it under its row. */
export const checkView: View<CheckRecord> = {
  columns: [
    { title: 'verdict', kind: 'status', value: (row) => row.verdict, min: 7, field: 'verdict' },
    { title: 'check', kind: 'text', value: (row) => row.check, min: 8, field: 'check' },
    {
      title: 'what was found',
      kind: 'text',
      value: (row) => row.detail,
      wrap: true,
      min: 24,
      field: 'detail',
    },
    { title: 'next', kind: 'text', value: (row) => row.next ?? '', wrap: true, below: true, field: 'next' },
  ],
  fields: fieldPaths(CheckRecord),
  empty: 'no checks',
};
