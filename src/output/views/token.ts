import { countText, group } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { type TokenAuthor, TokenRecord } from '../../contract/records/position.ts';
import { numberText } from '../format/format-cell.ts';
import type { Column, Row, View } from '../view.ts';
import {
  besideLine,
  closedLines,
  completeText,
  figureColumns,
  openLine,
  readingLines,
  textLine,
  tokenOf,
} from './author.ts';
import { middleText } from './callers.ts';

const DAY_MS = 86_400_000;
/** A line has so many cells at most; of a longer time, each shows several days. */
const CELLS = 24;

/** The posts of each day from the first to the last one, or of each few days. */
function activity({ days }: TokenRecord): readonly number[] | undefined {
  const counts = days.map(({ day, posts }) => ({ at: Date.parse(day) / DAY_MS, posts }));
  const [first, last] = [counts[0], counts.at(-1)];
  if (first === undefined || last === undefined || counts.length < 2) return undefined;
  const step = Math.ceil((last.at - first.at + 1) / CELLS);
  const cells = new Array<number>(Math.floor((last.at - first.at) / step) + 1).fill(0);
  for (const { at, posts } of counts) {
    const cell = Math.floor((at - first.at) / step);
    cells[cell] = (cells[cell] ?? 0) + posts;
  }
  return cells;
}

function authorsText({ authors }: TokenRecord): string {
  const count = (status: TokenAuthor['status']) =>
    authors.filter((author) => author.status === status).length;
  const parts = [`${count('open')} open`, `${count('closed')} closed`];
  if (count('unknown') > 0) parts.push(`${count('unknown')} not known`);
  return `${group(authors.length)}: ${parts.join(', ')}`;
}

function devText({ devs }: TokenRecord): string | undefined {
  const texts = devs.map((dev) => {
    const result = dev.pnlUsd === null ? '' : ` ${numberText('signedUsd', dev.pnlUsd)}`;
    return `${nameOf(dev)}: ${countText(dev.posts, 'post')}, ${dev.status}${result}`;
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}

const nameOf = ({ authorHandle, authorId }: Row): string =>
  typeof authorHandle === 'string' ? `@${authorHandle}` : String(authorId);

function calloutsText({ callouts }: TokenRecord): string | undefined {
  if (callouts === null) return undefined;
  return callouts.posts === 0
    ? 'none on the launchpad'
    : `${callouts.posts}, ${completeText(callouts)}`;
}

/** How the price has moved since the callouts. */
function priceText({ callouts }: TokenRecord): string | undefined {
  const middle = callouts && middleText(callouts.medianMultiple, callouts.multiples);
  if (!middle) return undefined;
  return `price ${middle}${callouts.medianMultiple === null ? '' : ', in the median'}`;
}

/** A callout may have the wallet of its author in place of a name. */
function firstText({ author, by }: NonNullable<TokenRecord['first']>): string {
  const name = by === 'thesis' ? `@${author}` : author;
  return `${author === null ? 'unknown' : name}, a ${by}`;
}

const linesOf = (began: number): readonly Column<TokenRecord>[] => [
  { title: 'token', kind: 'text', field: 'token' },
  { title: 'chain', kind: 'text', field: 'network' },
  ...readingLines('theses', began),
  { title: 'activity', kind: 'activity', value: activity },
  textLine('authors', authorsText),
  textLine('dev', devText),
  openLine,
  ...closedLines,
  textLine('callouts', calloutsText),
  { title: 'callouts from', kind: 'time', value: ({ callouts }) => callouts?.from ?? undefined },
  { title: 'callouts to', kind: 'time', value: ({ callouts }) => callouts?.to ?? undefined },
  textLine('since callouts', priceText),
  textLine('first post', ({ first }) => (first ? firstText(first) : undefined)),
  besideLine,
];

const authorColumns: readonly Column<Row>[] = [
  { title: 'author', kind: 'handle', value: nameOf, field: 'authorHandle', min: 16 },
  ...figureColumns.filter(({ field }) => field !== 'heldMs' && field !== 'network'),
];

/** `shownOf` are the authors below the card; the run began at `began`. */
export const tokenView = (
  shownOf: (authors: readonly Sent[]) => readonly Sent[],
  began: number,
): View<TokenRecord> => ({
  columns: [
    { title: 'token', kind: 'text', value: tokenOf, field: 'symbol', min: 8 },
    { title: 'chain', kind: 'text', field: 'network', rank: 2 },
    { title: 'theses', kind: 'integer', field: 'posts' },
    { title: 'authors', kind: 'integer', value: ({ authors }) => authors.length },
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
      rows: ({ authors }) => shownOf(authors),
    },
  },
  fields: () => fieldPaths(TokenRecord),
  empty: 'no theses',
});
