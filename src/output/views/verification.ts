import { fieldPaths } from '../../contract/paths.ts';
import { Verification, type VerifiedFile } from '../../contract/records/verification.ts';
import type { Column, View } from '../view.ts';

const columns: readonly Column<VerifiedFile>[] = [
  { title: 'file', kind: 'text', field: 'file', min: 40 },
  { title: 'status', kind: 'status', field: 'status' },
  { title: 'from', kind: 'time', field: 'from', rank: 1 },
  { title: 'to', kind: 'time', field: 'to', rank: 1 },
  { title: 'posts', kind: 'integer', field: 'rows' },
  { title: 'duplicates', kind: 'integer', field: 'duplicates', rank: 2 },
  { title: 'gaps', kind: 'integer', value: ({ gaps }) => gaps.length, field: 'gaps' },
];

export const verifiedFilesView: View<VerifiedFile> = {
  columns,
  fields: () => columns.flatMap(({ field }) => field ?? []),
  empty: '',
};

export const verificationView: View<Verification> = {
  columns: [],
  fields: () => fieldPaths(Verification),
  empty: '',
};
