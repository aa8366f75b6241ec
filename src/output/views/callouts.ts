import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { Callout } from '../../contract/records/launchpad.ts';
import type { Column, View } from '../view.ts';

/** The columns that begin each table of callouts. */
const postColumns: readonly Column<Sent>[] = [
  {
    title: 'posted',
    kind: 'time',
    value: (row) => row['createdAt'],
    rank: 2,
    field: 'createdAt',
  },
  {
    title: 'coin',
    kind: 'text',
    value: (row) => row['coinSymbol'] ?? row['coinName'] ?? row['coinMint'],
    min: 6,
    field: 'coinSymbol',
  },
  {
    title: 'by',
    kind: 'text',
    value: (row) => row['userName'] ?? row['wallet'],
    min: 8,
    field: 'userName',
  },
];

/** Callouts, newest first: the coin, its performance since the callout, and the author's reason. */
export const calloutView: View<Sent> = {
  columns: [
    ...postColumns,
    { title: 'now', kind: 'multiple', value: (row) => row['multiple'], field: 'multiple' },
    {
      title: 'best',
      kind: 'multiple',
      value: (row) => row['maxMultiplier'],
      rank: 3,
      field: 'maxMultiplier',
    },
    {
      title: 'mcap then',
      kind: 'usd',
      value: (row) => row['calledOutAtMcap'],
      rank: 1,
      field: 'calledOutAtMcap',
    },
    { title: 'wallet', kind: 'address', value: (row) => row['wallet'], rank: 4, field: 'wallet' },
    { title: 'mint', kind: 'address', value: (row) => row['coinMint'], rank: 5, field: 'coinMint' },
    {
      title: 'why',
      kind: 'text',
      value: (row) => row['thesis'],
      wrap: true,
      below: true,
      lines: 3,
      field: 'thesis',
    },
  ],
  fields: fieldPaths(Callout),
  empty: 'no callouts',
  noun: ['callout', 'callouts'],
};

/** Live callouts, in the order of their arrival. */
export const liveCalloutView: View<Sent> = {
  columns: [
    ...postColumns,
    { title: 'mcap', kind: 'usd', value: (row) => row['calledOutAtMcap'], rank: 1, field: 'calledOutAtMcap' },
    { title: 'mint', kind: 'address', value: (row) => row['coinMint'], rank: 3, field: 'coinMint' },
    {
      title: 'why',
      kind: 'text',
      value: (row) => row['thesis'],
      wrap: true,
      below: true,
      lines: 6,
      field: 'thesis',
    },
  ],
  fields: fieldPaths(Callout),
  empty: 'no callouts',
  noun: ['callout', 'callouts'],
};
