import { isRecord } from '../../base/json-object.ts';
import { countText, group } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import { AuthorRecord, PositionRecord } from '../../contract/records/position.ts';
import type { SubjectRecord } from '../../contract/records/subject.ts';
import { numberText } from '../format/format-cell.ts';
import { span } from '../format/time.ts';
import type { Column, Row, View } from '../view.ts';
import { outcome, title } from './subject.ts';

const usd = (value: unknown): string =>
  typeof value === 'number' ? numberText('signedUsd', value) : 'unknown';

/** A part of the record of an author: what is closed, or what is open. */
function partOf(row: Row, name: 'closed' | 'open' | 'beside'): Sent | undefined {
  const part = row[name];
  return isRecord(part) ? part : undefined;
}

export const tokenOf = ({ symbol, token }: Row): string =>
  typeof symbol === 'string' && symbol !== '' ? `$${symbol.replace(/^\$/, '')}` : String(token);

export function closedText(row: Row): string | undefined {
  const closed = partOf(row, 'closed');
  if (closed === undefined) return undefined;
  const figures = ['positions', 'won', 'lost', 'unknown'].map((name) => numberOf(closed[name]));
  const [positions = 0, won = 0, lost = 0, unknown = 0] = figures;
  if (positions === 0) return 'none';
  const even = positions - won - lost - unknown;
  const parts = [`${won} won`, `${lost} lost`];
  if (even > 0) parts.push(`${even} even`);
  if (unknown > 0) parts.push(`${unknown} without a PnL`);
  return `${positions}: ${parts.join(', ')}`;
}

/** The values of few positions say more than their mean and median. */
export function resultText(row: Row): string | undefined {
  const { sumUsd, meanUsd, medianUsd, valuesUsd } = partOf(row, 'closed') ?? {};
  if (typeof sumUsd !== 'number') return undefined;
  if (Array.isArray(valuesUsd)) {
    const values = valuesUsd.map(usd).join(', ');
    return valuesUsd.length === 1 ? values : `${usd(sumUsd)} in sum: ${values}`;
  }
  return `${usd(sumUsd)} in sum, ${usd(meanUsd)} mean, ${usd(medianUsd)} median`;
}

const namedText = (name: 'best' | 'worst') => (row: SubjectRecord) => {
  const closed = partOf(row, 'closed');
  const named = closed?.[name];
  // A single position is neither.
  if (!isRecord(named) || knownOf(closed) < 2) return undefined;
  const { largestShare: share } = closed ?? {};
  const sum = numberOf(closed?.['sumUsd']) ?? 0;
  // The position with the largest result has the sign of the share of the sum that it makes.
  const isLargest =
    typeof share === 'number' && Math.abs(sum * share - Number(named['pnlUsd'])) < 0.005;
  const part = isLargest && share > 0 && sum !== 0 ? `, ${shareText(share)} the sum` : '';
  return `${tokenOf(named)} ${usd(named['pnlUsd'])}${part}`;
};

/** Next to a small sum, one position can be any number of times as large. */
const shareText = (share: number): string =>
  share > 1 ? 'more than' : `${Math.round(share * 100)}% of`;

/** How many closed positions have a PnL. */
const knownOf = (closed: Sent | undefined): number =>
  (numberOf(closed?.['positions']) ?? 0) - (numberOf(closed?.['unknown']) ?? 0);

export function openText(row: Row): string | undefined {
  const open = partOf(row, 'open');
  if (open === undefined) return undefined;
  const { positions, unknown, runningSumUsd } = open;
  if (positions === 0) return 'none';
  if (positions === unknown) return `${positions}: without a PnL`;
  const without = unknown === 0 ? '' : `, ${unknown} without a PnL`;
  return `${positions}: ${usd(runningSumUsd)} running${without}`;
}

export function completeText(row: Row): string {
  return row['complete'] === true ? 'complete' : 'not complete: there may be others';
}

function tokensText(row: SubjectRecord): string | undefined {
  if (row.found !== true) return undefined;
  const networks = Array.isArray(row['networks']) ? row['networks'] : [];
  return `${row['tokens']}${networks.length > 0 ? ` on ${networks.join(', ')}` : ''}`;
}

export function besideText(row: Row): string | undefined {
  const posts = Object.values(partOf(row, 'beside') ?? {}).reduce<number>(
    (sum, count) => sum + Number(count),
    0,
  );
  return posts === 0
    ? undefined
    : `${countText(posts, 'post')} without an id, an author, a token or a time: in no position`;
}

const heldText = (ms: unknown): string | undefined =>
  typeof ms === 'number' ? span(ms) : undefined;

/** When posts were read, unless all were since the run began. */
export const readAtLine = (began: number): Column<Row> => ({
  title: 'read',
  kind: 'time',
  field: 'readAt',
  value: ({ readAt }) => (typeof readAt === 'number' && readAt < began ? readAt : undefined),
});

const linesOf = (began: number): readonly Column<SubjectRecord>[] => [
  {
    title: 'name',
    kind: 'text',
    value: (row) => (row.found ? row['name'] || undefined : undefined),
  },
  {
    title: 'posts',
    kind: 'text',
    value: (row) =>
      row.found ? `${group(Number(row['posts']))}, ${completeText(row)}` : undefined,
  },
  { title: 'from', kind: 'time', field: 'from' },
  { title: 'to', kind: 'time', field: 'to' },
  readAtLine(began),
  { title: 'closed', kind: 'text', value: closedText },
  { title: 'closed PnL', kind: 'text', value: resultText },
  { title: 'best', kind: 'text', value: namedText('best') },
  { title: 'worst', kind: 'text', value: namedText('worst') },
  {
    title: 'held',
    kind: 'text',
    value: (row) => {
      const { heldMedianMs, positions } = partOf(row, 'closed') ?? {};
      const held = heldText(heldMedianMs);
      return positions === 1 ? held : held && `${held} median, of closed ones`;
    },
  },
  { title: 'open', kind: 'text', value: openText },
  {
    title: 'not known',
    kind: 'text',
    value: (row) =>
      row.found && row['unknownStatus'] !== 0
        ? `${row['unknownStatus']}: open or closed`
        : undefined,
  },
  {
    title: 'trade',
    kind: 'text',
    value: (row) =>
      row.found && typeof row['tradeMedianUsd'] === 'number'
        ? `${numberText('usd', row['tradeMedianUsd'])}${row['posts'] === 1 ? '' : ' median'}`
        : undefined,
  },
  { title: 'tokens', kind: 'text', value: tokensText },
  { title: 'beside', kind: 'text', value: besideText },
  { title: 'user id', kind: 'text', field: 'id' },
];

/** What the positions of an author, and the authors of a token, have in common. */
export const figureColumns: readonly Column<Row>[] = [
  {
    title: 'position',
    kind: 'text',
    field: 'status',
    value: ({ status }) => (status === 'open' ? 'open, running' : status),
    min: 13,
  },
  { title: 'PnL', kind: 'signedUsd', field: 'pnlUsd' },
  { title: 'PnL %', kind: 'percent', field: 'pnlPct', rank: 3 },
  { title: 'trade', kind: 'usd', field: 'tradeUsd', rank: 2 },
  {
    title: 'held',
    kind: 'text',
    field: 'heldMs',
    value: ({ heldMs }) => heldText(heldMs) ?? null,
    min: 4,
    rank: 4,
  },
  { title: 'last post', kind: 'time', field: 'lastAt', rank: 1 },
  { title: 'first post', kind: 'time', field: 'firstAt', rank: 5 },
  { title: 'posts', kind: 'integer', field: 'posts', rank: 5 },
  { title: 'holdings at post', kind: 'usd', field: 'holdingsUsd', rank: 6 },
  { title: 'chain', kind: 'text', field: 'network', rank: 7, min: 4 },
];

const positionColumns: readonly Column<Row>[] = [
  { title: 'token', kind: 'text', value: tokenOf, field: 'symbol', min: 7 },
  ...figureColumns,
];

const changeColumns: readonly Column<Sent>[] = [
  { title: 'change', kind: 'text', field: 'change', min: 7 },
  { title: 'Δ PnL', kind: 'signedUsd', field: 'changes.pnlUsd' },
];

export const positionsView = (isCompared = false): View<Sent> => ({
  columns: [
    { title: 'author', kind: 'handle', field: 'authorHandle', min: 16, value: nameOf },
    ...(isCompared ? changeColumns : []),
    ...positionColumns,
  ],
  fields: () => fieldPaths(PositionRecord),
  empty: isCompared ? 'nothing changed' : 'no positions',
  noun: ['position', 'positions'],
});

function nameOf({ authorHandle, subject }: Sent): string | undefined {
  const name = authorHandle ?? subject;
  return typeof name === 'string' ? `@${name.replace(/^@/, '')}` : undefined;
}

/** A number of posts is marked if there may be others. */
function postsOf(row: SubjectRecord): unknown {
  if (row.found !== true) return null;
  return row['complete'] === true ? row['posts'] : `${group(Number(row['posts']))}+`;
}

/** The number of those with a PnL is added if not all have one: else these would seem to be lost. */
function wonOf(row: SubjectRecord): unknown {
  const closed = partOf(row, 'closed');
  if (closed === undefined) return null;
  return closed['unknown'] === 0 ? closed['won'] : `${closed['won']} of ${knownOf(closed)}`;
}

/** `positionsOf` are those below the card of a single author; the run began at `began`. */
export const authorView = (
  positionsOf: (record: Sent) => readonly Sent[],
  began: number,
): View<SubjectRecord> => ({
  columns: [
    { title: 'author', kind: 'text', value: title, field: 'handle', min: 16 },
    { title: 'posts', kind: 'integer', field: 'posts', value: postsOf, rank: 2 },
    {
      title: 'read',
      kind: 'status',
      field: 'complete',
      value: (row) => (row.found ? completeText(row).split(':')[0] : outcome(row)),
      min: 10,
      rank: 6,
    },
    { title: 'closed', kind: 'integer', field: 'closed.positions' },
    { title: 'won', kind: 'integer', field: 'closed.won', value: wonOf, rank: 1 },
    { title: 'sum', kind: 'signedUsd', field: 'closed.sumUsd' },
    { title: 'median', kind: 'signedUsd', field: 'closed.medianUsd', rank: 3 },
    { title: 'worst', kind: 'signedUsd', field: 'closed.worst.pnlUsd', rank: 5 },
    { title: 'open', kind: 'integer', field: 'open.positions' },
    { title: 'running', kind: 'signedUsd', field: 'open.runningSumUsd', rank: 4 },
    { title: 'from', kind: 'time', field: 'from', rank: 7 },
  ],
  card: {
    title,
    lines: linesOf(began),
    table: {
      columns: positionColumns,
      rows: positionsOf,
    },
  },
  fields: () => fieldPaths(AuthorRecord),
  empty: 'no authors',
});
