import type { CellKind, Column } from '../view.ts';
import { signedBarCell } from './bars.ts';
import type { Cell, FormatContext, Tone } from './cell.ts';
import { formatCell } from './format-cell.ts';
import { compactNumber, decimalsFor, fixedNumber, shortDollars } from './numbers.ts';
import { momentOf, tableClock } from './time.ts';

/** The format of one column, chosen from its first values, so that all its cells look alike. */
export interface ColumnFormat {
  /** Text to add to the title: the UTC offset for a column of times; empty for other columns. */
  readonly unit: string;
  cell(kind: CellKind, value: unknown): Cell;
  /** Whether this format shows a value unambiguously. */
  suits(value: unknown): boolean;
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Numbers of at least this size are shortened, because a double does not represent all of their digits. */
const LARGEST = 1e15;

/** Chooses the format of a column. */
export function columnFormat<T>(
  column: Column<T>,
  records: readonly T[],
  context: FormatContext,
): ColumnFormat {
  const plain: ColumnFormat = {
    unit: '',
    cell: (kind, value) => formatCell(kind, value, context),
    suits: () => true,
  };
  // Format each cell of a column with several kinds on its own, because its values have no common number of
  // decimals.
  if (column.kindOf) return plain;
  const values = records.map(column.value);
  switch (column.kind) {
    case 'time':
      return timeFormat(column, values, context, plain);
    case 'bar': {
      const isSigned = values.some((value) => isNumber(value) && value < 0);
      return isSigned
        ? {
            ...plain,
            cell: (kind, value) => signedBarCell(value, context) ?? formatCell(kind, value, context),
          }
        : plain;
    }
    case 'usd':
    case 'signedUsd':
    case 'percent':
    case 'number':
    case 'multiple':
      return numberFormat(column.kind, values.filter(isNumber), context, plain);
    default:
      return plain;
  }
}

function timeFormat<T>(
  { seconds }: Column<T>,
  values: readonly unknown[],
  context: FormatContext,
  plain: ColumnFormat,
): ColumnFormat {
  const moments = values.flatMap((value) => momentOf(value) ?? []);
  const clock = tableClock(moments, context.now(), context);
  return {
    unit: ` (${clock.zone})`,
    cell(kind, value) {
      const moment = momentOf(value);
      if (kind !== 'time' || moment === undefined) return plain.cell(kind, value);
      const [full, brief] = clock.forms(moment);
      return { forms: seconds ? [full] : [full, brief], tone: 'dim' };
    },
    suits(value) {
      const moment = momentOf(value);
      return moment === undefined || clock.covers(moment);
    },
  };
}

const signs = { minus: '-', plus: '+' } as const;

function numberFormat(
  kind: 'usd' | 'signedUsd' | 'percent' | 'number' | 'multiple',
  values: readonly number[],
  { unicode }: FormatContext,
  plain: ColumnFormat,
): ColumnFormat {
  const isSigned = kind === 'signedUsd' || kind === 'percent';
  const decimals = decimalsFor(kind === 'signedUsd' ? 'usd' : kind, values.map(Math.abs));
  if (decimals === undefined) return plain;
  const times = unicode ? '×' : 'x';
  return {
    ...plain,
    cell(given, value) {
      if (given !== kind || !isNumber(value) || Math.abs(value) >= LARGEST) return plain.cell(given, value);
      const size = Math.abs(value);
      const { below, digits } = fixedNumber(size, decimals);
      const sign = value < 0 ? signs.minus : value > 0 && isSigned ? signs.plus : '';
      const front = sign + (below ? '<' : '');
      if (kind === 'percent') return { forms: [`${front}${digits}%`], tone: toneOf(value, 0) };
      if (kind === 'multiple') return { forms: [`${front}${digits}${times}`], tone: toneOf(value, 1) };
      if (kind === 'number') return { forms: [front + digits, sign + compactNumber(size)], tone: 'plain' };
      const tone = kind === 'signedUsd' ? toneOf(value, 0) : 'plain';
      return {
        forms: [`${front}$${digits}`, below ? `${front}$${digits}` : sign + shortDollars(size)],
        tone,
      };
    },
  };
}

const toneOf = (value: number, even: number): Tone =>
  value < even ? 'bad' : value > even ? 'good' : 'plain';
