import { countText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CacheRecord, ReconcileRecord, type UsageRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';

const lostColumn: Column<UsageRecord> = {
  title: 'at most',
  kind: 'integer',
  value: (row) => row.cuAtMost ?? row.cu,
  rank: 1,
  field: 'cuAtMost',
};

const unpricedColumn: Column<UsageRecord> = {
  title: 'unpriced calls',
  kind: 'integer',
  value: (row) => row.unpriced ?? 0,
  rank: 2,
  field: 'unpriced',
};

/** The fields by which the ledger can be grouped. */
type Group = 'command' | 'endpoint' | 'day' | 'profile' | 'host' | 'machine' | 'agent';

/** The calls of the ledger, summed by group. */
export const usageView = (
  by: Group,
  { lost, unpriced }: { readonly lost: boolean; readonly unpriced: boolean },
): View<UsageRecord> => ({
  columns: [
    { title: by, kind: 'text', value: (row) => row[by], min: 10, field: by },
    { title: 'calls', kind: 'integer', value: (row) => row.calls, field: 'calls' },
    { title: 'CU', kind: 'integer', value: (row) => row.cu, field: 'cu' },
    ...(lost ? [lostColumn] : []),
    ...(unpriced ? [unpricedColumn] : []),
  ],
  fields: [by, 'calls', 'cu', 'cuAtMost', 'unpriced'],
  empty: 'no paid calls recorded',
});

/** The CU in the ledger compared with the CU that the service has counted. */
export const reconcileView: View<ReconcileRecord> = {
  columns: [
    { title: 'period', kind: 'text', value: (row) => row.period, field: 'period' },
    { title: 'ledger', kind: 'integer', value: (row) => row.ledgerCu, field: 'ledgerCu' },
    { title: 'service', kind: 'integer', value: (row) => row.serviceCu, field: 'serviceCu' },
    { title: 'difference', kind: 'integer', value: (row) => row.drift, field: 'drift' },
    { title: 'uncertain', kind: 'integer', value: (row) => row.lostAtMost, rank: 1, field: 'lostAtMost' },
  ],
  card: {
    title: (row) => `${row.period} (UTC month)`,
    lines: [
      { label: 'ledger', kind: 'integer', value: (row) => row.ledgerCu },
      { label: 'service', kind: 'integer', value: (row) => row.serviceCu },
      { label: 'difference', kind: 'integer', value: (row) => row.drift },
      { label: 'uncertain', kind: 'integer', value: (row) => row.lostAtMost || undefined },
    ],
  },
  fields: fieldPaths(ReconcileRecord),
  empty: 'nothing to compare',
};

/** The statistics of the cache. */
export const cacheView: View<CacheRecord> = {
  columns: [
    { title: 'answers', kind: 'integer', value: (row) => row.entries, field: 'entries' },
    { title: 'found', kind: 'integer', value: (row) => row.found, rank: 2, field: 'found' },
    { title: 'not found', kind: 'integer', value: (row) => row.missing, rank: 2, field: 'missing' },
    { title: 'bytes', kind: 'integer', value: (row) => row.bytes, field: 'bytes' },
    { title: 'oldest', kind: 'time', value: (row) => row.oldest, rank: 1, field: 'oldest' },
    { title: 'newest', kind: 'time', value: (row) => row.newest, rank: 1, field: 'newest' },
  ],
  card: {
    title: (row) => countText(row.entries, 'cached answer'),
    lines: [
      { label: 'found', kind: 'integer', value: (row) => row.found },
      { label: 'not found', kind: 'integer', value: (row) => row.missing },
      { label: 'bytes', kind: 'integer', value: (row) => row.bytes },
      { label: 'oldest', kind: 'time', value: (row) => row.oldest },
      { label: 'newest', kind: 'time', value: (row) => row.newest },
      { label: 'folder', kind: 'text', value: (row) => row.path },
    ],
  },
  fields: fieldPaths(CacheRecord),
  empty: 'no cached answers',
};
