import { isRecord, textOf } from '../../base/json-object.ts';
import { group, unitsText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { type Forecast, isGrantedOnce, Me, readAccount } from '../../contract/records/account.ts';
import type { View } from '../view.ts';

const usageOf = (me: Sent): Sent => (isRecord(me['usage']) ? me['usage'] : {});
const isUnmetered = ({ entitlement }: Sent): boolean =>
  isRecord(entitlement) && entitlement['unmetered'] === true;

/** Undefined if both are absent; a text if an amount has an unexpected type. */
function usedMeter(me: Sent, what: 'units' | 'reveals'): unknown {
  const { [`${what}Used`]: spent, [`${what}Remaining`]: rest } = usageOf(me);
  // Of a key without a limit, what is left of the grant limits nothing.
  const left = what === 'units' && isUnmetered(me) ? null : rest;
  if (typeof spent === 'number' && (typeof left === 'number' || left === null)) {
    return { used: spent, of: left === null ? null : spent + left };
  }
  if (spent === undefined && left === undefined) return undefined;
  return `${valueText(spent)}, left: ${valueText(left)}`;
}

const valueText = (value: unknown): string =>
  typeof value === 'number'
    ? group(value)
    : (textOf(value) ?? JSON.stringify(value) ?? 'not reported');

const periodText = (period: unknown) =>
  typeof period === 'string' ? `${period} (UTC month)` : period;

export const meFields = () => fieldPaths(Me);

/** `unitsLeft` is null if it is not known, or has no limit. */
export const meView = (outlook: Forecast | null, unitsLeft: number | null): View<Sent> => ({
  columns: [
    { title: 'plan', kind: 'text', value: (me) => readAccount(me).plan },
    { title: 'requests/min', kind: 'integer', field: 'ratePerMinute' },
    { title: 'units used', kind: 'integer', field: 'usage.unitsUsed' },
    { title: 'left', kind: 'integer', field: 'usage.unitsRemaining' },
    { title: 'reveals used', kind: 'integer', field: 'usage.revealsUsed' },
    { title: 'left', kind: 'integer', field: 'usage.revealsRemaining' },
  ],
  card: {
    title: (me) => readAccount(me).account ?? 'this key',
    lines: [
      { title: 'plan', kind: 'text', value: (me) => planText(me) },
      { title: 'period', kind: 'text', value: (me) => periodText(usageOf(me)['period']) },
      { title: 'units used', kind: 'meter', value: (me) => usedMeter(me, 'units') },
      { title: 'units left', kind: 'text', value: (me) => unitsLeftText(me, unitsLeft) },
      { title: 'reveals used', kind: 'meter', value: (me) => usedMeter(me, 'reveals') },
      { title: 'forecast', kind: 'text', value: () => outlook && forecastText(outlook) },
      {
        title: 'resets',
        kind: 'text',
        value: (me) =>
          isGrantedOnce(me)
            ? 'reveals only: the units were granted once'
            : resetText(usageOf(me)['period']),
      },
      { title: 'runs out', kind: 'time', value: () => outlook?.runsOutAt ?? undefined },
      { title: 'rate', kind: 'text', value: (me) => rateText(readAccount(me).ratePerMinute) },
      { title: 'scopes', kind: 'text', value: (me) => readAccount(me).scopes?.join(', ') },
    ],
  },
  fields: meFields,
  empty: 'no account',
});

/**
 * The meter counts down from what is left, so after a top-up it no longer shows what the plan
 * grants.
 */
function unitsLeftText(me: Sent, left: number | null): string | undefined {
  const { usage, entitlement } = known(Me, me);
  const granted = entitlement?.monthlyUnits;
  const topUps = usage?.additionalUnits ?? 0;
  const parts = [
    entitlement?.unmetered === true ? 'not limited' : leftText(left),
    granted === undefined ? undefined : `the plan grants ${unitsText(granted)}`,
    topUps > 0 ? `${unitsText(topUps)} from top-ups` : undefined,
  ];
  return parts.filter((part) => part !== undefined).join('; ') || undefined;
}

const leftText = (left: number | null) => (left === null ? undefined : unitsText(left));

function planText(me: Sent): string {
  const { plan } = readAccount(me);
  const name = plan ?? 'not reported';
  return isUnmetered(me) ? `${name}, unmetered: usage is counted but not limited` : name;
}

const dayText = (ms: number): string =>
  new Date(ms).toLocaleDateString('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });

const forecastText = ({ unitsByMonthEnd, monthEndsAt }: Forecast): string =>
  `${group(unitsByMonthEnd)} CU by ${dayText(monthEndsAt - 1)}`;

/** The first day of the next UTC month; undefined if `period` is not a month. */
function resetText(period: unknown): string | undefined {
  const [, year, month] = (typeof period === 'string' && /^(\d{4})-(\d{2})$/.exec(period)) || [];
  return month === undefined
    ? undefined
    : `${dayText(Date.UTC(Number(year), Number(month), 1))} (UTC)`;
}

const rateText = (rate: number | null) =>
  rate === null ? undefined : `${group(rate)} requests/min`;
