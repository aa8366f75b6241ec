import { copySources } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { bareHandle } from '../../contract/handles.ts';
import { numberOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';

type WindowState = 'ok' | 'not_held' | 'no_wallet' | 'no_numbers' | 'failed' | 'unmatched';

export interface PnlRow extends Readonly<Record<string, unknown>> {
  readonly subject: string;
  readonly found: boolean | null;
  readonly status: WindowState;
  readonly window: WindowName;
}

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

export const sortKeys = ['netUsd', 'returnPct', 'volumeUsd', 'trades', 'rank'] as const;

export const measures = [
  { title: 'cash flow', kind: 'signedUsd', field: 'netUsd', rank: 0 },
  { title: 'return', kind: 'percent', field: 'returnPct', rank: 2 },
  { title: 'volume', kind: 'usd', field: 'volumeUsd', rank: 4 },
  { title: 'trades', kind: 'integer', field: 'trades', rank: 5 },
  { title: 'rank', kind: 'integer', field: 'rank', rank: 1 },
] as const;

/**
 * When the service observed the data, and when and how trdr read them; a miss has the last two as
 * well.
 */
export const readingFields = ['asOf', 'readAt', 'via'] as const;

export const rowFields = [
  'subject',
  'found',
  'status',
  'code',
  ...traderFields,
  'window',
  ...sortKeys,
  ...readingFields,
] as const;

export const comparedFields: readonly string[] = [
  ...rowFields,
  'change',
  ...sortKeys.map((name) => `${name}Change`),
  'was',
];

export type SortKey = (typeof sortKeys)[number];

export function windowOf(record: PnlRecord, window: WindowName): Sent | undefined {
  if (record.found !== true || !isRecord(record['windows'])) return undefined;
  const numbers = record['windows'][window];
  return isRecord(numbers) ? numbers : undefined;
}

export const measureOf = (
  record: PnlRecord,
  window: WindowName,
  name: SortKey,
): number | undefined => numberOf(windowOf(record, window)?.[name]);

export const handleOf = (record: PnlRecord | PnlRow): string =>
  bareHandle((record.found === true ? textOf(record['handle']) : undefined) ?? record.subject);

export function windowState(record: PnlRecord, windows: readonly WindowName[]): WindowState {
  if (record.found === null) return 'failed';
  if (!record.found) return 'not_held';
  if (windows.some((window) => windowOf(record, window))) return 'ok';
  return record['wallet'] === null && record['evmWallet'] === null ? 'no_wallet' : 'no_numbers';
}

const documented = new Set<string>([...rowFields, 'windows', 'error', 'change', 'was', 'changes']);

const rowOnly = new Set<string>(['status', 'code', 'window', ...sortKeys]);

/** Undocumented members. In a row, they follow the documented columns. */
function unknownOf(record: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const extras: Record<string, unknown> = {};
  for (const name in record) if (!documented.has(name)) extras[name] = record[name];
  return extras;
}

/**
 * What the columns of a row cannot hold of its windows: windows with another name, values of
 * another type, and members that are named as other columns are.
 */
function otherWindows(
  record: PnlRecord,
  windows: readonly string[],
  extras: Sent,
): Record<string, unknown> {
  const sent = record.found === true ? record['windows'] : null;
  if (!isRecord(sent)) return sent === null || sent === undefined ? {} : { windows: sent };
  const isOther = (name: string) =>
    Object.hasOwn(extras, name) || (documented.has(name) && !isMeasure(name));
  const others = Object.entries(sent).flatMap(([window, numbers]) => {
    if (numbers === null || (!windows.includes(window) && isWindowName(window))) return [];
    if (!isRecord(numbers) || !isWindowName(window)) return [[window, numbers]];
    const members = Object.entries(numbers).filter(([name]) => isOther(name));
    return members.length === 0
      ? []
      : [[window, copySources(Object.fromEntries(members), numbers)]];
  });
  return others.length === 0 ? {} : { windows: copySources(Object.fromEntries(others), sent) };
}

/** The members of a record that are named as columns which only rows have. */
function otherMembers(record: PnlRecord): Record<string, unknown> {
  const members = record.found === true ? Object.entries(record) : [];
  const others = members.filter(([name]) => rowOnly.has(name));
  return others.length === 0 ? {} : { record: copySources(Object.fromEntries(others), record) };
}

const isMeasure = (name: string) => sortKeys.some((key) => key === name);
const isWindowName = (name: string) => windowNames.some((window) => window === name);

function changesOf(
  { change, was, changes }: PnlRecord,
  window: WindowName,
): Record<string, unknown> {
  if (!isRecord(changes) || !isRecord(changes[window])) return {};
  const differences = changes[window];
  return Object.fromEntries([
    ['change', change],
    ['was', was ?? null],
    ...sortKeys.map((name) => [`${name}Change`, differences[name]]),
  ]);
}

/** Why there are no numbers; null if there are. */
function codeOf(record: PnlRecord): string | null {
  if (record.found === true) return null;
  return record.found === null ? record.error.code : record.code;
}

function rowsOf(record: PnlRecord, windows: readonly WindowName[]): PnlRow[] {
  const { subject, found } = record;
  const code = codeOf(record);
  const trader = Object.fromEntries(
    traderFields.map((name) => [name, record.found === true ? record[name] : null]),
  );
  const reading = Object.fromEntries(readingFields.map((name) => [name, record[name]]));
  const extras = unknownOf(record);
  const others = { ...otherWindows(record, windows, extras), ...otherMembers(record) };
  return windows.map((window) => {
    const numbers = windowOf(record, window);
    const row = {
      subject,
      found,
      status: windowState(record, [window]),
      code,
      ...trader,
      window,
      ...Object.fromEntries(sortKeys.map((name) => [name, numbers?.[name]])),
      ...reading,
      ...changesOf(record, window),
      ...unknownOf(numbers),
      ...extras,
      ...others,
    };
    return copySources(row, record, numbers);
  });
}

/** One row for a record without any numbers. */
export const tableRowsOf = (record: PnlRecord, windows: readonly WindowName[]): PnlRow[] =>
  rowsOf(record, windowState(record, windows) === 'ok' ? windows : windows.slice(0, 1));

/** Entries that match no handle were paid for too, so they follow as rows with `found` null. */
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
 * Best first, or worst first if `isReverse`. Records without the number come last, in their
 * original order.
 */
export function sorted(
  records: readonly PnlRecord[],
  by: SortKey,
  window: WindowName,
  isReverse = false,
): PnlRecord[] {
  // The best rank is the smallest.
  const sign = (by === 'rank') !== isReverse ? 1 : -1;
  return records.toSorted((one, other) => {
    const first = measureOf(one, window, by);
    const second = measureOf(other, window, by);
    if (first === undefined || second === undefined)
      return Number(first === undefined) - Number(second === undefined);
    return sign * (first - second);
  });
}
