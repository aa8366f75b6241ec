import type { CellKind, Column, View } from '../view.ts';
import { at } from './fields.ts';

function kindOf(path: string, sample: unknown): CellKind {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (typeof sample === 'boolean') return 'flag';
  if (typeof sample === 'number') {
    if (/At$/.test(name)) return 'time';
    if (/(?:^pnl|^netUsd|PnlUsd)$/.test(name)) return 'signedUsd';
    if (/Usd$|Mcap$/.test(name)) return 'usd';
    if (/Pct$|[Pp]ercent|^percentage/.test(name)) return 'percent';
    return Number.isInteger(sample) ? 'integer' : 'number';
  }
  return /(?:[aA]ddress|[wW]allet|Mint|^subject)$/.test(name) ? 'address' : 'text';
}

/** None is dropped or shortened. The view determines the kinds of its fields; others are guessed. */
export function columnsOf<T>(view: View<T>, fields: readonly string[], records: readonly T[]): Column<T>[] {
  return fields.map((path) => {
    const known = view.columns.find((column) => column.field === path);
    const sample = records
      .map((record) => at(record, path))
      .find((value) => value !== null && value !== undefined);
    const kind = known?.kind ?? kindOf(path, sample);
    return {
      title: path,
      kind,
      value: (record: T) => at(record, path),
      whole: true,
      ...(kind === 'text' && { wrap: true, min: 24 }),
    };
  });
}
