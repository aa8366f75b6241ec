import { group } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { Me, readAccount } from '../../contract/records/account.ts';
import type { View } from '../view.ts';

/** What is said of the rest of the month. */
export interface Outlook {
  readonly unitsByMonthEnd: number;
  readonly runsOutAt: number | null;
}

const used = (spent: number, left: number | null) => ({
  used: spent,
  of: left === null ? null : spent + left,
});

/** The key's plan and meters; `outlook` is what its use so far leads to. */
export const meView = (outlook: Outlook | null): View<Me> => ({
  columns: [
    { title: 'plan', kind: 'text', value: (me) => readAccount(me).plan },
    {
      title: 'a minute',
      kind: 'integer',
      value: (me) => readAccount(me).ratePerMinute,
      rank: 2,
      field: 'ratePerMinute',
    },
    { title: 'units used', kind: 'integer', value: (me) => me.usage.unitsUsed, field: 'usage.unitsUsed' },
    { title: 'left', kind: 'integer', value: (me) => me.usage.unitsRemaining, field: 'usage.unitsRemaining' },
    {
      title: 'reveals used',
      kind: 'integer',
      value: (me) => me.usage.revealsUsed,
      field: 'usage.revealsUsed',
    },
    {
      title: 'left',
      kind: 'integer',
      value: (me) => me.usage.revealsRemaining,
      field: 'usage.revealsRemaining',
    },
  ],
  card: {
    title: (me) => readAccount(me).account ?? 'this key',
    lines: [
      { label: 'plan', kind: 'text', value: (me) => planText(me) },
      { label: 'period', kind: 'text', value: (me) => `${me.usage.period} (UTC month)` },
      { label: 'units', kind: 'meter', value: (me) => used(me.usage.unitsUsed, me.usage.unitsRemaining) },
      { label: 'top-ups', kind: 'integer', value: (me) => me.usage.additionalUnits || undefined },
      {
        label: 'reveals',
        kind: 'meter',
        value: (me) => used(me.usage.revealsUsed, me.usage.revealsRemaining),
      },
      { label: 'by month end', kind: 'integer', value: () => outlook?.unitsByMonthEnd },
      { label: 'runs out', kind: 'time', value: () => outlook?.runsOutAt ?? undefined },
      { label: 'rate', kind: 'text', value: (me) => rateText(readAccount(me).ratePerMinute) },
      { label: 'scopes', kind: 'text', value: (me) => readAccount(me).scopes?.join(', ') },
    ],
  },
  fields: fieldPaths(Me),
  empty: 'no account',
});

function planText(me: Me): string {
  const { plan } = readAccount(me);
  const name = plan ?? 'not told';
  return me.entitlement.unmetered ? `${name}, unmetered: counted, never refused` : name;
}

const rateText = (rate: number | null) => (rate === null ? undefined : `${group(rate)} requests a minute`);
