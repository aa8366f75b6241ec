import { bareHandle, beginsLikeAddress } from '../../contract/handles.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CallerRecord } from '../../contract/records/caller.ts';
import type { SubjectRecord, UnaskedSubject } from '../../contract/records/subject.ts';
import { numberText } from '../format/format-cell.ts';
import { span } from '../format/time.ts';
import type { Column, View } from '../view.ts';
import { nameOrAddress } from './named.ts';
import { outcome } from './subject.ts';

type Row = SubjectRecord | UnaskedSubject;

/** Several values in one cell are short. */
const shortText = (value: unknown): string => numberText('multiple', Number(value), '×', 1);

/** The median, or the values of which there are too few for one. */
export function middleText(median: unknown, values: unknown): string | null {
  if (typeof median === 'number') return numberText('multiple', median);
  return Array.isArray(values) ? values.map(shortText).join(' ') : null;
}

const middleOf =
  (median: string, values: string) =>
  (row: Row): unknown =>
    row.found === true ? middleText(row[median], row[values]) : null;

/** A wallet without an answer has no number of calls; one that has more is marked. */
function callsOf(row: Row): unknown {
  if (row.found === true) return `${row['calls']}${row['complete'] === false ? '+' : ''}`;
  return row.found === null ? 'failed' : outcome(row);
}

/** A handle is not an address, which would be shortened. */
const handleOf = ({ subject }: Row) =>
  beginsLikeAddress(subject) ? undefined : bareHandle(subject);

function heldText(row: Row): unknown {
  if (row.found !== true || typeof row['atLeast2x'] !== 'number') return null;
  return `${row['atLeast2x']} of ${row['priced']}`;
}

const ageText = (row: Row): unknown =>
  row.found === true && typeof row['medianAgeMs'] === 'number' ? span(row['medianAgeMs']) : null;

const columns: readonly Column<Row>[] = [
  {
    title: 'caller',
    ...nameOrAddress<Row>(
      (row) => (row.found === true && row['userName']) || handleOf(row),
      ({ subject }) => subject,
    ),
    field: 'userName',
    min: 12,
  },
  { title: 'calls', kind: 'text', value: callsOf, field: 'calls' },
  { title: 'now', kind: 'text', value: middleOf('medianMultiple', 'multiples'), min: 14 },
  { title: 'at 2x+', kind: 'text', value: heldText, field: 'atLeast2x' },
  {
    title: 'hindsight',
    kind: 'text',
    value: middleOf('medianMaxMultiplier', 'maxMultipliers'),
    rank: 2,
    min: 14,
  },
  { title: 'median age', kind: 'text', value: ageText, rank: 3, field: 'medianAgeMs', min: 10 },
  { title: 'last call', kind: 'time', field: 'lastAt', rank: 1 },
  { title: 'wallet', kind: 'address', field: 'wallet', rank: 4, min: 11 },
];

/** The rank of each wallet comes first if a board is read. */
export const callersView = (isBoard: boolean): View<Row> => ({
  columns: isBoard ? [{ title: '#', kind: 'integer', field: 'rank' }, ...columns] : columns,
  fields: () => fieldPaths(CallerRecord),
  empty: 'no callers',
});
