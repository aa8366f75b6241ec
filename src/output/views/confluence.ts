import { isRecord } from '../../base/json-object.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { ConfluenceRecord } from '../../contract/records/confluence.ts';
import { span } from '../format/time.ts';
import { truncate } from '../terminal/width.ts';
import type { View } from '../view.ts';

type Record = Readonly<globalThis.Record<string, unknown>>;

const handles = ({ authors }: Record): string[] => (Array.isArray(authors) ? authors.map(String) : []);

const TEXT_WIDTH = 80;

function texts(record: Record): string {
  const { posts } = record;
  const authors = handles(record);
  return (Array.isArray(posts) ? posts : [])
    .flatMap((post, i) =>
      isRecord(post) ? `${authors[i]}: ${truncate(String(post['thesis'] ?? ''), TEXT_WIDTH)}` : [],
    )
    .join(' | ');
}

export const confluenceView: View<Record> = {
  columns: [
    { title: 'last post', kind: 'time', field: 'lastAt', rank: 1 },
    {
      title: 'token',
      kind: 'text',
      field: 'tokenSymbol',
      min: 6,
      value: ({ tokenSymbol, tokenAddress }) =>
        typeof tokenSymbol === 'string' && tokenSymbol !== '' ? `$${tokenSymbol}` : tokenAddress,
    },
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
      min: 24,
    },
  ],
  fields: fieldPaths(ConfluenceRecord),
  empty: 'no confluence',
  noun: ['confluence', 'confluences'],
};
