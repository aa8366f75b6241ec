import { countText, group } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import {
  AuthorRecord,
  type FoundAuthor,
  PositionRecord,
  type PositionsSummary,
} from '../../contract/records/position.ts';
import type { FailedSubject, MissingSubject } from '../../contract/records/subject.ts';
import { valueIn } from '../format/fields.ts';
import { numberText } from '../format/format-cell.ts';
import { span } from '../format/time.ts';
import type { Column, Row, View } from '../view.ts';
import { outcome, title } from './subject.ts';

type Closed = PositionsSummary['closed'];

type AuthorRow = FoundAuthor | MissingSubject | FailedSubject;

/** The positions that an answer sums up: null is what a filter leaves out. */
interface PositionSums {
  readonly closed: Closed | null;
  readonly open: PositionsSummary['open'] | null;
}

const usd = (value: number | null): string =>
  value === null ? 'unknown' : numberText('signedUsd', value);

export const tokenOf = ({ symbol, token }: Row): string =>
  typeof symbol === 'string' && symbol !== '' ? `$${symbol.replace(/^\$/, '')}` : String(token);

function closedText({ closed }: PositionSums): string | undefined {
  if (closed === null) return undefined;
  const { positions, won, lost, unknown } = closed;
  if (positions === 0) return 'none';
  const even = positions - won - lost - unknown;
  const parts = [`${won} won`, `${lost} lost`];
  if (even > 0) parts.push(`${even} even`);
  if (unknown > 0) parts.push(`${unknown} without a PnL`);
  return `${positions}: ${parts.join(', ')}`;
}

/** The values of few positions say more than their mean and median. */
function resultText({ closed }: PositionSums): string | undefined {
  if (closed === null || closed.sumUsd === null) return undefined;
  const { sumUsd, meanUsd, medianUsd, valuesUsd } = closed;
  if (valuesUsd === undefined)
    return `${usd(sumUsd)} in sum, ${usd(meanUsd)} mean, ${usd(medianUsd)} median`;
  const values = valuesUsd.map(usd).join(', ');
  return valuesUsd.length === 1 ? values : `${usd(sumUsd)} in sum: ${values}`;
}

const namedText =
  (name: 'best' | 'worst') =>
  ({ closed }: PositionSums): string | undefined => {
    const named = closed?.[name];
    // A single position is neither.
    if (closed === null || !named || withPnl(closed) < 2) return undefined;
    const { largestShare: share, sumUsd } = closed;
    // The position with the largest result has the sign of the share of the sum that it makes.
    const isLargest = share !== null && sumUsd && Math.abs(sumUsd * share - named.pnlUsd) < 0.005;
    const part = isLargest && share > 0 ? `, ${shareText(share)} the sum` : '';
    return `${tokenOf(named)} ${usd(named.pnlUsd)}${part}`;
  };

/** Next to a small sum, one position can be any number of times as large. */
const shareText = (share: number): string =>
  share > 1 ? 'more than' : `${Math.round(share * 100)}% of`;

/** How many closed positions have a PnL. */
const withPnl = ({ positions, unknown }: Closed): number => positions - unknown;

function heldText({ closed }: PositionSums): string | undefined {
  if (closed === null) return undefined;
  const { heldMedianMs, heldValuesMs = [], positions } = closed;
  if (heldMedianMs !== null) return `${span(heldMedianMs)} median, of closed ones`;
  const values = heldValuesMs.map((ms) => span(ms)).join(', ');
  const count = heldValuesMs.length;
  if (count === 0) return undefined;
  return count === positions ? values : `${values}; not known of ${positions - count}`;
}

function openText({ open }: PositionSums): string | undefined {
  if (open === null) return undefined;
  const { positions, unknown, runningSumUsd } = open;
  if (positions === 0) return 'none';
  if (positions === unknown) return `${positions}: without a PnL`;
  const without = unknown === 0 ? '' : `, ${unknown} without a PnL`;
  return `${positions}: ${usd(runningSumUsd)} running${without}`;
}

/** A line of a card with a text. */
export const textLine = <T>(title: string, value: (record: T) => unknown): Column<T> => ({
  title,
  kind: 'text',
  value,
});

export const closedLines: readonly Column<PositionSums>[] = [
  textLine('closed', closedText),
  textLine('closed PnL', resultText),
];
export const openLine: Column<PositionSums> = textLine('open', openText);

interface PostsRead {
  readonly posts: number;
  readonly complete: boolean;
  readonly readAt?: number | null | undefined;
}

const postsText = (read: PostsRead): string => `${group(read.posts)}, ${completeText(read)}`;

export const completeText = ({ complete }: Pick<PostsRead, 'complete'>): string =>
  complete ? 'complete' : 'not complete: there may be others';

/** What was read; when, unless all was since the run began. */
export const readingLines = (noun: string, began: number): readonly Column<PostsRead>[] => [
  textLine(noun, postsText),
  { title: 'from', kind: 'time', field: 'from' },
  { title: 'to', kind: 'time', field: 'to' },
  {
    title: 'read',
    kind: 'time',
    field: 'readAt',
    value: ({ readAt }) => (readAt && readAt < began ? readAt : undefined),
  },
];

export const besideLine: Column<{ readonly beside: object }> = textLine('beside', ({ beside }) => {
  const posts = Object.values(beside).reduce<number>((sum, count) => sum + Number(count), 0);
  return posts === 0
    ? undefined
    : `${countText(posts, 'post')} without an id, an author, a token or a time: in no position`;
});

function tradeText({ tradeMedianUsd, posts }: FoundAuthor): string | undefined {
  if (tradeMedianUsd === null) return undefined;
  return `${numberText('usd', tradeMedianUsd)}${posts === 1 ? '' : ' median'}`;
}

const linesOf = (began: number): readonly Column<FoundAuthor>[] => [
  textLine('name', ({ name }) => name || undefined),
  ...readingLines('posts', began),
  ...closedLines,
  textLine('best', namedText('best')),
  textLine('worst', namedText('worst')),
  textLine('held', heldText),
  openLine,
  textLine('not known', ({ unknownStatus }) =>
    unknownStatus === 0 ? undefined : `${unknownStatus}: open or closed`,
  ),
  textLine('trade', tradeText),
  textLine('tokens', ({ tokens, networks }) =>
    [tokens, ...(networks.length > 0 ? [networks.join(', ')] : [])].join(' on '),
  ),
  besideLine,
  { title: 'user id', kind: 'text', field: 'id' },
];

/** The line of an author who may not have been found. */
const whenFound = ({ title, kind, ...line }: Column<FoundAuthor>): Column<AuthorRow> => ({
  title,
  kind,
  value: (row) => (row.found === true ? valueIn(line, row) : undefined),
});

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
    value: ({ heldMs }) => (typeof heldMs === 'number' ? span(heldMs) : null),
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
  { title: 'token', kind: 'text', value: tokenOf, field: 'symbol', min: 10 },
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
});

const nameOf = ({ authorHandle, subject }: Sent): unknown => authorHandle ?? subject;

/** A number of posts is marked if there may be others. */
const postsOf = ({ posts, complete }: FoundAuthor) => (complete ? posts : `${group(posts)}+`);

/** The number of those with a PnL is added if not all have one: the others are not lost. */
function wonOf({ closed }: FoundAuthor): string | number | null {
  if (closed === null) return null;
  return closed.unknown === 0 ? closed.won : `${closed.won} of ${withPnl(closed)}`;
}

/** `positionsOf` are those below the card of a single author; the run began at `began`. */
export const authorView = (
  positionsBelow: () => readonly Sent[],
  began: number,
): View<AuthorRow> => ({
  columns: [
    { title: 'author', kind: 'text', value: title, field: 'handle', min: 16 },
    {
      title: 'posts',
      kind: 'integer',
      field: 'posts',
      value: (row) => (row.found === true ? postsOf(row) : null),
      rank: 2,
    },
    {
      title: 'read',
      kind: 'status',
      field: 'complete',
      value: (row) => (row.found === true ? completeText(row).split(':')[0] : outcome(row)),
      min: 10,
      rank: 6,
    },
    { title: 'closed', kind: 'integer', field: 'closed.positions' },
    {
      title: 'won',
      kind: 'integer',
      field: 'closed.won',
      value: (row) => (row.found === true ? wonOf(row) : null),
      rank: 1,
    },
    { title: 'sum', kind: 'signedUsd', field: 'closed.sumUsd' },
    { title: 'median', kind: 'signedUsd', field: 'closed.medianUsd', rank: 3 },
    { title: 'worst', kind: 'signedUsd', field: 'closed.worst.pnlUsd', rank: 5 },
    { title: 'open', kind: 'integer', field: 'open.positions' },
    { title: 'running', kind: 'signedUsd', field: 'open.runningSumUsd', rank: 4 },
    { title: 'from', kind: 'time', field: 'from', rank: 7 },
  ],
  card: {
    title,
    lines: linesOf(began).map(whenFound),
    table: {
      columns: positionColumns,
      rows: positionsBelow,
    },
  },
  fields: () => fieldPaths(AuthorRecord),
  empty: 'no authors',
});
