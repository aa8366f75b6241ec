import { countText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CacheRecord, ReconcileRecord, type UsageRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';

type Group = 'command' | 'endpoint' | 'day' | 'profile' | 'host' | 'machine' | 'agent' | 'request';

const requestColumns: readonly Column<UsageRecord>[] = [
  { title: 'sent', kind: 'time', field: 'sentAt' },
  { title: 'endpoint', kind: 'text', field: 'endpoint' },
];

export function usageView(
  by: Group,
  {
    lost,
    unpriced,
    reveals,
  }: { readonly lost: boolean; readonly unpriced: boolean; readonly reveals: boolean },
): View<UsageRecord> {
  const columns: readonly Column<UsageRecord>[] = [
    { title: by, kind: 'text', value: (row) => row[by], min: 10, field: by },
    ...(by === 'request' ? requestColumns : []),
    { title: 'calls', kind: 'integer', field: 'calls' },
    { title: 'CU', kind: 'integer', field: 'cu' },
    {
      title: 'at most',
      kind: 'integer',
      value: (row) => row.cuAtMost ?? row.cu,
      rank: 1,
      field: 'cuAtMost',
    },
    { title: 'reveals', kind: 'integer', field: 'reveals', rank: 3 },
    {
      title: 'at most',
      kind: 'integer',
      value: (row) => row.revealsAtMost ?? row.reveals,
      rank: 4,
      field: 'revealsAtMost',
    },
    {
      title: 'unpriced calls',
      kind: 'integer',
      value: (row) => row.unpriced ?? 0,
      rank: 2,
      field: 'unpriced',
    },
  ];
  const hidden = new Set([
    ...(lost ? [] : ['cuAtMost']),
    ...(lost && reveals ? [] : ['revealsAtMost']),
    ...(reveals ? [] : ['reveals']),
    ...(unpriced ? [] : ['unpriced']),
  ]);
  const shown = columns.filter(({ field }) => !hidden.has(field ?? ''));
  return {
    columns: shown,
    fields: () => columns.flatMap(({ field }) => field ?? []),
    empty: 'no paid calls recorded',
  };
}

const sums: readonly Column<ReconcileRecord>[] = [
  { title: 'ledger', kind: 'integer', field: 'ledgerCu' },
  { title: 'service', kind: 'integer', field: 'serviceCu' },
  { title: 'difference', kind: 'integer', field: 'drift' },
];

export const reconcileView: View<ReconcileRecord> = {
  columns: [
    { title: 'period', kind: 'text', field: 'period' },
    ...sums,
    { title: 'uncertain', kind: 'integer', field: 'lostAtMost', rank: 1 },
  ],
  card: {
    title: (row) => `${row.period} (UTC month)`,
    lines: [
      ...sums,
      { title: 'uncertain', kind: 'integer', value: (row) => row.lostAtMost || undefined },
    ],
  },
  fields: () => fieldPaths(ReconcileRecord),
  empty: 'nothing to compare',
};

const cacheColumns: readonly Column<CacheRecord>[] = [
  { title: 'found', kind: 'integer', field: 'found', rank: 2 },
  { title: 'not found', kind: 'integer', field: 'missing', rank: 2 },
  { title: 'bytes', kind: 'integer', field: 'bytes' },
  { title: 'oldest', kind: 'time', field: 'oldest', rank: 1 },
  { title: 'newest', kind: 'time', field: 'newest', rank: 1 },
];

export const cacheView: View<CacheRecord> = {
  columns: [{ title: 'answers', kind: 'integer', field: 'entries' }, ...cacheColumns],
  card: {
    title: (row) => countText(row.entries, 'cached answer'),
    lines: [
      ...cacheColumns,
      { title: 'folder', kind: 'text', field: 'path' },
      { title: 'people', kind: 'integer', field: 'people' },
      { title: 'wallets', kind: 'integer', field: 'wallets' },
      { title: 'their bytes', kind: 'integer', field: 'peopleBytes' },
      { title: 'oldest', kind: 'time', field: 'peopleOldest' },
      { title: 'their folder', kind: 'text', field: 'peoplePath' },
    ],
  },
  fields: () => fieldPaths(CacheRecord),
  empty: 'no cached answers',
};
