import { copySources } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { numberText } from '../../output/format/format-cell.ts';
import { isWanted, type Move, movesText } from '../../output/terminal/moves-text.ts';
import { handleOf, measureOf, sortKeys, windowOf } from '../../output/views/pnl-rows.ts';
import type { InputIo } from '../read-text.ts';
import { readExport } from './pnl-export.ts';

export interface Comparison {
  /** The records of the earlier export. */
  readonly earlier: readonly PnlRecord[];
  readonly byName: ReadonlyMap<string, PnlRecord>;
  /** What a trader was called before, for records that share no name with the earlier export. */
  readonly formerNames: (record: PnlRecord) => readonly string[];
  /** The window whose cash flow decides what went up and down. */
  readonly window: WindowName;
  /** The windows that are shown: what changed in the others is not reported. */
  readonly windows: readonly WindowName[];
  readonly changed: boolean;
  readonly only: readonly string[];
  readonly notice: (text: string) => void;
  /**
   * Whether not all subjects of the run have a record, so that nothing is known about the others.
   */
  readonly isPartial?: boolean;
}

/**
 * The names of a trader, by which records of two exports are matched: the handle first, because it
 * is the clearest.
 */
export const namesOf = (record: PnlRecord): string[] => {
  const own =
    record.found === true ? [record['handle'], record['wallet'], record['evmWallet']] : [];
  const [handle, ...wallets] = own.map(textOf);
  return [handle, record.subject, ...wallets].flatMap((name) => (name ? [normalHandle(name)] : []));
};

/** Reads an earlier export, before anything is paid for. */
export async function readEarlier(
  path: string,
  io: InputIo,
): Promise<Pick<Comparison, 'earlier' | 'byName'>> {
  const earlier: PnlRecord[] = [];
  const byName = new Map<string, PnlRecord>();
  for await (const record of readExport(path, io)) {
    // A trader who had left by then is not in that export.
    if (record['change'] === 'left') continue;
    earlier.push(record);
    for (const name of namesOf(record)) if (!byName.has(name)) byName.set(name, record);
  }
  return { earlier, byName };
}

/** What a change of numbers means: up, down, or what else happened to the record. */
function kindOf(change: string | null, amount: number | undefined): string {
  if (change !== 'changed' || amount === undefined || amount === 0) return change ?? 'unknown';
  return amount > 0 ? 'up' : 'down';
}

/** Skips records that are not wanted. The traders that only the earlier export has come last. */
export async function* compared(
  records: AsyncIterable<PnlRecord>,
  comparison: Comparison,
): AsyncGenerator<PnlRecord> {
  const { earlier, window, windows, changed, only, notice } = comparison;
  const moves: Move[] = [];
  const met = new Set<PnlRecord>();
  const accepted = (record: PnlRecord, change: string | null): boolean => {
    const amount = differenceOf(record, window);
    const kind = kindOf(change, amount);
    moves.push({ kind, amount, name: `@${handleOf(record)}` });
    return isWanted(kind, changed, only);
  };
  for await (const record of records) {
    const before = earlierOf(record, comparison);
    if (before) met.add(before);
    const change = changeOf(record, before, windows);
    const row = withChange(record, change, before);
    if (accepted(row, change)) yield row;
  }
  for (const record of comparison.isPartial ? [] : earlier) {
    if (met.has(record) || record.found !== true) continue;
    const none = Object.fromEntries(windowNames.map((name) => [name, null]));
    const row = withChange({ ...record, windows: none }, 'left', undefined);
    if (accepted(row, 'left')) yield row;
  }
  notice(
    movesText(moves, { up: 'biggest gain', down: 'biggest loss' }, (size) =>
      numberText('signedUsd', size),
    ),
  );
}

/** The record of the same trader in the earlier export. */
function earlierOf(
  record: PnlRecord,
  { byName, formerNames }: Pick<Comparison, 'byName' | 'formerNames'>,
): PnlRecord | undefined {
  const named = (names: readonly string[]) => names.flatMap((name) => byName.get(name) ?? [])[0];
  return named(namesOf(record)) ?? named(formerNames(record));
}

/** What changed; null if one of the two records failed, so that this is not known. */
function changeOf(
  now: PnlRecord,
  before: PnlRecord | undefined,
  windows: readonly WindowName[],
): string | null {
  if (now.found === null || before?.found === null) return null;
  const was = before?.found ?? false;
  if (now.found !== was) return now.found ? 'new' : 'left';
  if (!now.found) return 'same';
  const isOther =
    formerHandle(now, before) !== undefined ||
    windows.some((window) => isChanged(now, before, window));
  return isOther ? 'changed' : 'same';
}

/**
 * The handle of the trader in the earlier export; undefined if it is the same now, or not known.
 */
function formerHandle(now: PnlRecord, before: PnlRecord | undefined): string | undefined {
  if (now.found !== true || before?.found !== true) return undefined;
  const handle = textOf(now['handle']);
  const former = textOf(before['handle']);
  if (!handle || !former || normalHandle(handle) === normalHandle(former)) return undefined;
  return former;
}

/** Whether a window changed. Exports may lack windows, about which nothing is known. */
function isChanged(now: PnlRecord, before: PnlRecord | undefined, window: WindowName): boolean {
  const has = (record: PnlRecord | undefined) =>
    isRecord(record?.['windows']) && Object.hasOwn(record['windows'], window);
  if (!before || !has(now) || !has(before)) return false;
  if ((windowOf(now, window) === undefined) !== (windowOf(before, window) === undefined))
    return true;
  return sortKeys.some((name) => measureOf(now, window, name) !== measureOf(before, window, name));
}

/**
 * The record with its change, and the differences of all numbers. A positive rank is the number of
 * places gained.
 */
function withChange(
  record: PnlRecord,
  change: string | null,
  before: PnlRecord | undefined,
): PnlRecord {
  const changes = Object.fromEntries(
    windowNames.map((window) => {
      const differences = sortKeys.map((name) => {
        const [now, old] = [
          measureOf(record, window, name),
          before && measureOf(before, window, name),
        ];
        if (now === undefined || old === undefined) return [name, null];
        return [name, name === 'rank' ? old - now : difference(now, old)];
      });
      return [window, Object.fromEntries(differences)];
    }),
  );
  const was = formerHandle(record, before);
  const compared = was === undefined ? { change, changes } : { change, was, changes };
  return copySources({ ...record, ...compared }, record);
}

const differenceOf = (record: PnlRecord, window: WindowName): number | undefined => {
  const changes = isRecord(record['changes']) ? record['changes'][window] : undefined;
  const netUsd = isRecord(changes) ? changes['netUsd'] : undefined;
  return typeof netUsd === 'number' ? netUsd : undefined;
};

/**
 * A double has about 15 digits, so the difference of two has no more decimals than the larger one.
 */
function difference(now: number, old: number): number {
  const digits = Math.ceil(Math.log10(Math.max(Math.abs(now), Math.abs(old), 1)));
  return Number((now - old).toFixed(Math.max(0, 14 - digits)));
}
