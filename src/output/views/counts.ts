import type { Sent } from '../../contract/read-record.ts';
import type { CellKind, Column, View } from '../view.ts';

const valueColumns: Readonly<Record<string, readonly [title: string, kind: CellKind]>> = {
  tokenSymbol: ['token', 'text'],
  coinSymbol: ['coin', 'text'],
  authorHandle: ['author', 'handle'],
  userName: ['author', 'text'],
  tokenNetwork: ['chain', 'text'],
};

/** The values of `field`, with the posts that have each, and their authors. */
export function countsView(field: string): View<Sent> {
  const [title, kind] = valueColumns[field] ?? [field, 'text'];
  const value: Column<Sent> =
    kind === 'handle'
      ? { title, kind, field, value: (row) => row[field] && `@${row[field]}`, min: 10 }
      : { title, kind, field, min: 10 };
  return {
    columns: [
      value,
      { title: 'posts', kind: 'integer', field: 'posts' },
      { title: 'authors', kind: 'integer', field: 'authors' },
      { title: '', kind: 'bar', field: 'posts', rank: 1 },
    ],
    fields: () => [field, 'posts', 'authors'],
    empty: 'nothing to count',
  };
}
