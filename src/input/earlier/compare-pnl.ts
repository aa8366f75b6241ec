import { usageError } from '../../base/failure.ts';
import { copySources } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { atHandle, normalHandle } from '../../contract/handles.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { numberText } from '../../output/format/format-cell.ts';
import { isWanted, type Move, movesText } from '../../output/terminal/moves-text.ts';
import { handleOf, measureOf, sortKeys, windowOf } from '../../output/views/pnl-rows.ts';
import type { InputIo } from '../read-text.ts';
import { changeOf, noticeChangedOnly } from './change-of.ts';
import {
  type ExportedTrader,
  type FormerNames,
  isFound,
  pairTraders,
  tradersOf,
} from './match-traders.ts';
import { readExport } from './pnl-export.ts';

export interface Comparison {
  /** The records of the earlier export. */
  readonly earlier: readonly PnlRecord[];
  readonly formerNames: FormerNames;
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

/** Reads an earlier export, before anything is paid for. */
export async function readEarlier(
  path: string,
  io: InputIo,
  notice: Comparison['notice'],
): Promise<readonly PnlRecord[]> {
  const earlier: PnlRecord[] = [];
  for await (const record of readCompared(path, io, notice)) earlier.push(record);
  const answered = earlier.filter((record) => record.found === true);
  const hasNumbers = answered.length === 0 || answered.some(({ windows }) => isRecord(windows));
  if (earlier.length > 0 && hasNumbers) return earlier;
  const what = earlier.length === 0 ? 'records' : 'trading numbers';
  throw usageError(`${path} has no ${what} to compare with`, 'pass an export of "trdr pnl"');
}

/** The records of an export that is compared, which may be the output of a comparison itself. */
export async function* readCompared(
  path: string,
  io: InputIo,
  notice: Comparison['notice'],
): AsyncGenerator<PnlRecord, void, void> {
  const present: Pick<PnlRecord, 'change'>[] = [];
  for await (const record of readExport(path, io)) {
    const { change } = record;
    // A trader who had left by then is not in that export.
    if (change === 'left') continue;
    present.push({ change });
    yield record;
  }
  noticeChangedOnly(path, present, notice);
}

/** What a change of numbers means: up, down, or what else happened to the record. */
function kindOf(row: PnlRecord, window: WindowName): string {
  const { change } = row;
  const amount = differenceOf(row, window);
  if (change === 'changed' && amount) return amount > 0 ? 'up' : 'down';
  return typeof change === 'string' ? change : 'unknown';
}

/**
 * The records with what changed, without those that are not wanted. The traders that only the
 * earlier export has come last. All records are compared at once, because each may be a trader whom
 * the earlier export has by another name.
 */
export function compared(records: readonly PnlRecord[], comparison: Comparison): PnlRecord[] {
  const { earlier, formerNames, window, windows, changed, only, notice } = comparison;
  const [present, past] = [tradersOf(records), tradersOf(earlier)];
  const pairs = pairTraders(present, past, formerNames);
  const answered = new Set(past.filter(isFound).flatMap(({ subjects }) => subjects));
  const rows = new Map<PnlRecord, PnlRecord>();
  const moves: Move[] = [];
  const add = (record: PnlRecord, row: PnlRecord) => {
    if (isWanted(kindOf(row, window), changed, only)) rows.set(record, row);
  };
  for (const trader of present) {
    for (const record of trader.records) {
      const before = earlierOf(record, pairs.get(trader));
      // The trader who had this handle is there by another name.
      const isElsewhere =
        before === undefined && !record.found && answered.has(normalHandle(record.subject));
      const was = before === undefined ? false : before.found;
      const change = isElsewhere
        ? null
        : changeOf(record.found, was, () => isOther(record, before, windows));
      const row = withChange(record, change, before);
      if (record === trader.records[0]) moves.push(moveOf(row, window));
      add(record, row);
    }
  }
  const paired = new Set(pairs.values());
  const left = comparison.isPartial ? [] : past.filter((trader) => !paired.has(trader));
  for (const {
    records: [record],
  } of left) {
    if (record?.found !== true) continue;
    const none = Object.fromEntries(windowNames.map((name) => [name, null]));
    const row = withChange({ ...record, windows: none }, 'left', undefined);
    moves.push(moveOf(row, window));
    add(record, row);
  }
  notice(summaryText(moves, window));
  return [...records, ...earlier].flatMap((record) => rows.get(record) ?? []);
}

const moveOf = (row: PnlRecord, window: WindowName): Move => ({
  kind: kindOf(row, window),
  amount: differenceOf(row, window),
  name: atHandle(handleOf(row)),
});

function summaryText(moves: readonly Move[], window: WindowName): string {
  const words = { up: 'biggest gain', down: 'biggest loss' };
  const text = movesText(moves, words, (size) => numberText('signedUsd', size));
  return `cash flow ${window}: ${text}`;
}

/** The earlier record of the same subject, or another one of the same trader. */
const earlierOf = (record: PnlRecord, trader: ExportedTrader | undefined): PnlRecord | undefined =>
  trader?.records.find(({ subject }) => normalHandle(subject) === normalHandle(record.subject)) ??
  trader?.records[0];

/** Whether a trader has another handle or other numbers. */
const isOther = (
  now: PnlRecord,
  before: PnlRecord | undefined,
  windows: readonly WindowName[],
): boolean =>
  formerHandle(now, before) !== undefined ||
  windows.some((window) => isChanged(now, before, window));

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
