import { isRecord, textOf } from '../../base/json-object.ts';
import { countText, group } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { listOf, numberOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import { TokenRecord } from '../../contract/records/position.ts';
import { numberText } from '../format/format-cell.ts';
import type { Column, Row, View } from '../view.ts';
import {
  besideText,
  closedText,
  completeText,
  figureColumns,
  openText,
  readAtLine,
  resultText,
  tokenOf,
} from './author.ts';
import { middleText } from './callers.ts';

const DAY_MS = 86_400_000;
/** A line has so many cells at most; of a longer time, each shows several days. */
const CELLS = 24;

/** The posts of each day from the first to the last one, or of each few days. */
function activity(record: Sent): readonly number[] | undefined {
  const days = recordsOf(record['days']).map(({ day, posts }) => ({
    at: Date.parse(textOf(day) ?? '') / DAY_MS,
    posts: numberOf(posts) ?? 0,
  }));
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined || days.length < 2) return undefined;
  const step = Math.ceil((last.at - first.at + 1) / CELLS);
  const cells = new Array<number>(Math.floor((last.at - first.at) / step) + 1).fill(0);
  for (const { at, posts } of days) {
    const cell = Math.floor((at - first.at) / step);
    cells[cell] = (cells[cell] ?? 0) + posts;
  }
  return cells;
}

function authorsText(record: Sent): string {
  const authors = recordsOf(record['authors']);
  const count = (status: string) => authors.filter((author) => author['status'] === status).length;
  const parts = [`${count('open')} open`, `${count('closed')} closed`];
  if (count('unknown') > 0) parts.push(`${count('unknown')} not known`);
  return `${group(authors.length)}: ${parts.join(', ')}`;
}

function devText(record: Sent): string | undefined {
  const texts = recordsOf(record['devs']).map((dev) => {
    const pnl = numberOf(dev['pnlUsd']);
    const result = pnl === undefined ? '' : ` ${numberText('signedUsd', pnl)}`;
    const posts = countText(Number(dev['posts']), 'post');
    return `${nameOf(dev)}: ${posts}, ${dev['status']}${result}`;
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}

const nameOf = ({ authorHandle, authorId }: Row): string =>
  typeof authorHandle === 'string' ? `@${authorHandle}` : String(authorId);

const calloutsOf = ({ callouts }: Sent): Sent | undefined =>
  isRecord(callouts) ? callouts : undefined;

function calloutsText(record: Sent): string | undefined {
  const callouts = calloutsOf(record);
  if (callouts === undefined) return undefined;
  const { posts, medianMultiple, multiples } = callouts;
  if (posts === 0) return 'none on the launchpad';
  const middle = middleText(medianMultiple, multiples);
  const since = `${middle}${medianMultiple === null ? '' : ' median'} since`;
  return `${posts}, ${completeText(callouts)}${middle === null ? '' : `, ${since}`}`;
}

function firstText({ first }: Sent): string | undefined {
  if (!isRecord(first)) return undefined;
  const { author, by } = first;
  return `${typeof author === 'string' ? `@${author}` : 'unknown'}, by a ${by}`;
}

const linesOf = (began: number): readonly Column<Sent>[] => [
  { title: 'token', kind: 'text', field: 'token' },
  { title: 'chain', kind: 'text', field: 'network' },
  {
    title: 'theses',
    kind: 'text',
    value: (record) => `${group(Number(record['posts']))}, ${completeText(record)}`,
  },
  { title: 'from', kind: 'time', field: 'from' },
  { title: 'to', kind: 'time', field: 'to' },
  readAtLine(began),
  { title: 'activity', kind: 'activity', value: activity },
  { title: 'authors', kind: 'text', value: authorsText },
  { title: 'dev', kind: 'text', value: devText },
  { title: 'open', kind: 'text', value: openText },
  { title: 'closed', kind: 'text', value: closedText },
  { title: 'closed PnL', kind: 'text', value: resultText },
  { title: 'callouts', kind: 'text', value: calloutsText },
  {
    title: 'callouts from',
    kind: 'time',
    value: (record) => calloutsOf(record)?.['from'] ?? undefined,
  },
  {
    title: 'callouts to',
    kind: 'time',
    value: (record) => calloutsOf(record)?.['to'] ?? undefined,
  },
  { title: 'was first', kind: 'text', value: firstText },
  { title: 'beside', kind: 'text', value: besideText },
];

const authorColumns: readonly Column<Row>[] = [
  { title: 'author', kind: 'handle', value: nameOf, field: 'authorHandle', min: 16 },
  ...figureColumns.filter(({ field }) => field !== 'heldMs' && field !== 'network'),
];

/** `shownOf` are the authors below the card; the run began at `began`. */
export const tokenView = (
  shownOf: (authors: readonly Sent[]) => readonly Sent[],
  began: number,
): View<Sent> => ({
  columns: [
    { title: 'token', kind: 'text', value: tokenOf, field: 'symbol', min: 8 },
    { title: 'chain', kind: 'text', field: 'network', rank: 2 },
    { title: 'theses', kind: 'integer', field: 'posts' },
    { title: 'authors', kind: 'integer', value: ({ authors }) => listOf(authors).length },
    { title: 'open', kind: 'integer', field: 'open.positions' },
    { title: 'running', kind: 'signedUsd', field: 'open.runningSumUsd' },
    { title: 'closed', kind: 'integer', field: 'closed.positions' },
    { title: 'sum', kind: 'signedUsd', field: 'closed.sumUsd', rank: 1 },
  ],
  card: {
    title: tokenOf,
    lines: linesOf(began),
    table: {
      columns: authorColumns,
      rows: ({ authors }) => shownOf(recordsOf(authors)),
    },
  },
  fields: () => fieldPaths(TokenRecord),
  empty: 'no theses',
});
