import { fieldPaths } from '../../contract/paths.ts';
import { Thesis } from '../../contract/records/thesis.ts';
import type { View } from '../view.ts';

const author = ({ authorHandle, authorIsDev }: Thesis) =>
  authorHandle === null ? null : `@${authorHandle}${authorIsDev ? ' (dev)' : ''}`;

const token = ({ tokenSymbol, tokenAddress }: Thesis) => (tokenSymbol ? `$${tokenSymbol}` : tokenAddress);

export const thesisView: View<Thesis> = {
  columns: [
    {
      title: 'posted',
      kind: 'time',
      value: (row) => row.platformCreatedAt,
      field: 'platformCreatedAt',
      rank: 1,
      min: 8,
    },
    { title: 'author', kind: 'handle', value: author, field: 'authorHandle', min: 10 },
    { title: 'token', kind: 'text', value: token, field: 'tokenSymbol', min: 6 },
    { title: 'trade', kind: 'usd', value: (row) => row.authorTradeUsd, field: 'authorTradeUsd', rank: 3 },
    { title: 'PnL', kind: 'signedUsd', value: (row) => row.pnl, field: 'pnl', rank: 2 },
    { title: 'likes', kind: 'integer', value: (row) => row.likeCount, field: 'likeCount', rank: 4 },
    {
      title: 'thesis',
      kind: 'text',
      value: (row) => row.thesis,
      field: 'thesis',
      wrap: true,
      below: true,
      lines: 6,
      min: 24,
    },
  ],
  fields: fieldPaths(Thesis),
  empty: 'no theses',
};
