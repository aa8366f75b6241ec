import { isRecord } from '../../base/json-object.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { closedAtOf, writtenAt } from '../../contract/read-record.ts';
import { ConfluenceRecord } from '../../contract/records/confluence.ts';
import { ListedThesis, RefreshedThesis, TailedThesis } from '../../contract/records/thesis.ts';
import { span } from '../format/time.ts';
import { truncate } from '../terminal/width.ts';
import type { Column, View } from '../view.ts';
import { nameOrAddress } from './named.ts';

type Post = Readonly<Record<string, unknown>>;

function author({ authorHandle, authorIsDev }: Post): string | null {
  if (typeof authorHandle !== 'string') return null;
  return `@${authorHandle}${authorIsDev === true ? ' (dev)' : ''}`;
}

function symbol({ tokenSymbol }: Post): string | null {
  if (typeof tokenSymbol !== 'string' || tokenSymbol === '') return null;
  return tokenSymbol.startsWith('$') ? tokenSymbol : `$${tokenSymbol}`;
}

const token: Column<Post> = {
  title: 'token',
  ...nameOrAddress<Post>(symbol, ({ tokenAddress }) => tokenAddress),
  field: 'tokenSymbol',
  min: 11,
};

/** While a position is open, its PnL still changes. */
function position(post: Post): string | undefined {
  const closedAt = closedAtOf(post);
  if (closedAt === undefined) return undefined;
  return closedAt === null ? 'open' : 'closed';
}

const columns: readonly Column<Post>[] = [
  { title: 'posted', kind: 'time', field: 'platformCreatedAt', rank: 1 },
  { title: 'author', kind: 'handle', value: author, field: 'authorHandle', min: 16 },
  token,
  { title: 'trade', kind: 'usd', field: 'authorTradeUsd', rank: 4 },
  { title: 'PnL', kind: 'signedUsd', field: 'pnl', rank: 2 },
  { title: 'position', kind: 'text', value: position, rank: 3 },
  { title: 'likes', kind: 'integer', field: 'likeCount', rank: 5 },
  { title: 'holdings', kind: 'usd', field: 'holdingsUsd', rank: 6 },
  { title: 'chain', kind: 'text', field: 'tokenNetwork', rank: 7 },
  { title: 'thesis', kind: 'text', field: 'thesis', wrap: true, below: true, lines: 8, min: 24 },
];

export const thesisView: View<Post> = {
  columns,
  fields: () => fieldPaths(ListedThesis),
  empty: 'no theses',
};

/** What became of a recorded post and its position. */
export type Fate =
  | 'closed since'
  | 'closed before'
  | 'still open'
  | 'unknown'
  | 'gone'
  | 'not read';

export function fateOf(recorded: Post = {}, post: Post = {}): Fate {
  const { gone } = post;
  if (gone !== false) return gone === true ? 'gone' : 'not read';
  const closedAt = closedAtOf(post);
  if (closedAt === undefined) return 'unknown';
  if (closedAt === null) return 'still open';
  const before = closedAtOf(recorded);
  const isSince = before === undefined ? closedAt > writtenAt(recorded) : before === null;
  return isSince ? 'closed since' : 'closed before';
}

/** Recorded posts as they are now, with what has changed. */
export function refreshedView(recordedOf: (post: Post) => Post | undefined): View<Post> {
  const change = (post: Post) => {
    const [now, before] = [post['pnl'], recordedOf(post)?.['pnl']];
    const isKnown = typeof now === 'number' && typeof before === 'number';
    return isKnown && post['gone'] === false ? now - before : null;
  };
  const changed: readonly Column<Post>[] = columns.flatMap((column) => {
    if (column.title === 'PnL')
      return [column, { title: 'Δ PnL', kind: 'signedUsd', value: change, rank: 2 }];
    if (column.title === 'position')
      return [
        { ...column, value: (post: Post) => fateOf(recordedOf(post), post), rank: 0, min: 13 },
      ];
    return column.title === 'likes' ? [] : [column];
  });
  return { ...thesisView, columns: changed, fields: () => fieldPaths(RefreshedThesis) };
}

/** A new post has no likes. */
export const liveThesisView: View<Post> = {
  ...thesisView,
  columns: columns.filter(({ title }) => title !== 'likes'),
  fields: () => fieldPaths(TailedThesis),
};

const TEXT_WIDTH = 80;

const textOf = (post: unknown, author: unknown) =>
  isRecord(post) ? [`${author}: ${truncate(String(post['thesis'] ?? ''), TEXT_WIDTH)}`] : [];

function texts({ posts, authors }: Post): string {
  const names: readonly unknown[] = Array.isArray(authors) ? authors : [];
  return (Array.isArray(posts) ? posts : [])
    .flatMap((post, at) => textOf(post, names[at]))
    .join(' | ');
}

export const confluenceView: View<Post> = {
  columns: [
    { title: 'last post', kind: 'time', field: 'lastAt', rank: 1 },
    token,
    { title: 'authors', kind: 'integer', field: 'count' },
    {
      title: 'within',
      kind: 'text',
      field: 'firstAt',
      rank: 2,
      value: ({ firstAt, lastAt }) => span(Number(lastAt) - Number(firstAt)),
    },
    { title: 'holdings', kind: 'usd', field: 'holdingsUsd', rank: 3 },
    { title: 'version', kind: 'integer', field: 'version', rank: 4 },
    {
      title: 'posts',
      kind: 'text',
      field: 'posts',
      value: texts,
      wrap: true,
      below: true,
      lines: 8,
    },
  ],
  fields: () => fieldPaths(ConfluenceRecord),
  empty: 'no confluence',
};
