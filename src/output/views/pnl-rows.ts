import { copySources } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { numberOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';

/** The state of a record for a window: `ok` if it has numbers, otherwise the reason why not. */
type WindowState = 'ok' | 'not_held' | 'no_wallet' | 'no_numbers' | 'failed' | 'unmatched';

/** The numbers of one handle in one window: a row of the table and of the CSV. */
export interface PnlRow extends Readonly<Record<string, unknown>> {
  readonly subject: string;
  readonly found: boolean | null;
  readonly status: WindowState;
  readonly window: WindowName;
}

/** The fields of a trader that a row repeats for each window. */
export const traderFields = [
  'handle',
  'displayName',
  'avatarUrl',
  'twitter',
  'followers',
  'wallet',
  'evmWallet',
  'updatedAt',
] as const;

/** The numbers by which records can be sorted. */
export const sortKeys = ['netUsd', 'returnPct', 'volumeUsd', 'trades', 'rank'] as const;

/** The columns of the CSV that are always present. */
export const rowFields = [
  'subject',
  'found',
  'status',
  'code',
  ...traderFields,
  'window',
  ...sortKeys,
] as const;

/** The columns of the CSV of a comparison. */
export const comparedFields: readonly string[] = [
  ...rowFields,
  'change',
  ...sortKeys.map((name) => `${name}Change`),
];

export type SortKey = (typeof sortKeys)[number];

/** The numbers of a record for a window, unchanged; undefined if the record has no numbers for it. */
export function windowOf(record: PnlRecord, window: WindowName): Sent | undefined {
  if (record.found !== true || !isRecord(record['windows'])) return undefined;
  const numbers = record['windows'][window];
  return isRecord(numbers) ? numbers : undefined;
}

/** One number of a window; undefined if it is not a number. */
export const measureOf = (record: PnlRecord, window: WindowName, name: SortKey): number | undefined =>
  numberOf(windowOf(record, window)?.[name]);

/** The handle of a record; the requested subject if the record has no handle. */
export const handleOf = (record: PnlRecord): string =>
  (record.found === true ? textOf(record['handle']) : undefined) ?? record.subject.replace(/^@/, '');

/** The state of a record: `ok` if it has numbers for at least one of the windows. */
export function windowState(record: PnlRecord, windows: readonly WindowName[] = windowNames): WindowState {
  if (record.found === null) return 'failed';
  if (!record.found) return 'not_held';
  if (windows.some((window) => windowOf(record, window))) return 'ok';
  return record['wallet'] === null && record['evmWallet'] === null ? 'no_wallet' : 'no_numbers';
}

/** The result of `windowState` in words; empty for `ok`. */
export function windowStateText(record: PnlRecord, windows?: readonly WindowName[]): string {
  if (record.found === null) return `failed: ${record.error.code}`;
  return stateTexts[windowState(record, windows)] ?? '';
}

const stateTexts: Partial<Record<WindowState, string>> = {
  not_held: 'not found',
  no_wallet: 'no verified wallet',
  no_numbers: 'no numbers',
};

const known = new Set<string>([...rowFields, 'windows', 'error', 'change', 'changes']);

/** The undocumented members of a record or of its numbers. In a row, they follow the documented columns. */
function unknownOf(record: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const extras: Record<string, unknown> = {};
  for (const name in record) if (!known.has(name)) extras[name] = record[name];
  return extras;
}

/** What a comparison has found for a window, in columns of their own. */
function changesOf({ change, changes }: PnlRecord, window: WindowName): Record<string, unknown> {
  if (!isRecord(changes) || !isRecord(changes[window])) return {};
  const differences = changes[window];
  return Object.fromEntries([
    ['change', change],
    ...sortKeys.map((name) => [`${name}Change`, differences[name]]),
  ]);
}

/** Converts a record to rows, one per window. A window without numbers has a row too. */
export function rowsOf(record: PnlRecord, windows: readonly WindowName[]): PnlRow[] {
  const { subject, found } = record;
  const code = record.found === true ? null : record.found === null ? record.error.code : record.code;
  const of = (name: string) => (record.found === true ? record[name] : null);
  const person = {
    handle: of('handle'),
    displayName: of('displayName'),
    avatarUrl: of('avatarUrl'),
    twitter: of('twitter'),
    followers: of('followers'),
    wallet: of('wallet'),
    evmWallet: of('evmWallet'),
    updatedAt: of('updatedAt'),
  };
  const extras = unknownOf(record);
  return windows.map((window) => {
    const numbers = windowOf(record, window);
    const row = {
      subject,
      found,
      status: windowState(record, [window]),
      code,
      ...person,
      window,
      netUsd: numbers?.['netUsd'],
      returnPct: numbers?.['returnPct'],
      volumeUsd: numbers?.['volumeUsd'],
      trades: numbers?.['trades'],
      rank: numbers?.['rank'],
      ...changesOf(record, window),
      ...extras,
      ...unknownOf(numbers),
    };
    return copySources(row, record, numbers);
  });
}

/**
 * Converts a record to rows of the CSV. The error of a failed handle can contain entries of its batch that
 * match no requested handle. These entries were paid for, so their rows follow the rows of the failed handle.
 * Their `found` is null, because they belong to no requested handle.
 */
export function csvRowsOf(record: PnlRecord, windows: readonly WindowName[]): PnlRow[] {
  const rows = rowsOf(record, windows);
  if (record.found !== null) return rows;
  const { subject, error } = record;
  const others = recordsOf(error['unmatched']).flatMap((entry) =>
    rowsOf({ ...entry, subject, found: true }, windows),
  );
  return [
    ...rows,
    ...others.map((row) =>
      copySources({ ...row, found: null, status: 'unmatched' as const, code: error.code }, row),
    ),
  ];
}

/**
 * Sorts records by one number of one window, best first. Records without that number come last, in their
 * original order.
 */
export function sorted(records: readonly PnlRecord[], by: SortKey, window: WindowName): PnlRecord[] {
  const keyed = records.map((record) => {
    const value = measureOf(record, window, by);
    return { record, value: value === undefined ? Number.NEGATIVE_INFINITY : by === 'rank' ? -value : value };
  });
  // Records without the number have the value -Infinity. Test for equal values before subtracting, because
  // -Infinity minus -Infinity is NaN.
  return keyed.sort((a, b) => (a.value === b.value ? 0 : b.value - a.value)).map(({ record }) => record);
}

/** The largest absolute cash flow of each window, to which bars are relative. */
export function largestOf(records: readonly PnlRecord[]): (window: WindowName) => number {
  const largest = new Map<WindowName, number>();
  for (const record of records) {
    for (const window of windowNames) {
      const size = Math.abs(measureOf(record, window, 'netUsd') ?? 0);
      if (size > (largest.get(window) ?? 0)) largest.set(window, size);
    }
  }
  return (window) => largest.get(window) ?? 0;
}
