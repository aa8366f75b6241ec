import { countText, group, unitsText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { span } from '../format/time.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { View } from '../view.ts';

/** Every figure may be absent. */
interface Item {
  readonly item: string;
  readonly name: string;
  readonly state: string;
  readonly [figure: string]: string | number | null | undefined;
}

const known = (value: Item[string]): value is number => typeof value === 'number';
const ago = (value: number) => `${span(value)} ago`;
const units = (value: Item[string]) => (known(value) ? unitsText(value) : '0 CU');
const some = (count: Item[string], what: string) =>
  known(count) && count > 0 ? [`${group(count)} ${what}`] : [];

/** Whatever the time zone of the table, because budgets renew at UTC midnight. */
const utc = (value: Item[string]) =>
  known(value) ? `${new Date(value).toISOString().slice(0, 16).replace('T', ' ')} UTC` : 'it renews';

function detail(row: Item): string {
  switch (row.item) {
    case 'machine':
      return [
        // The store forgets the time of a call after two minutes.
        known(row['lastCallAgo']) ? `last call ${ago(row['lastCallAgo'])}` : 'no recent call',
        `${units(row['spent'])} this month`,
        ...lost(row),
      ].join(', ');
    case 'lane': {
      const sent = Number(row['sent'] ?? 0);
      const calls = known(row['limit'])
        ? `${group(sent)} of ${countText(row['limit'], 'call')}`
        : countText(sent, 'call');
      return [`${calls} in the last minute`, ...some(row['queued'], 'queued')].join(', ');
    }
    case 'budget': {
      const left = known(row['limit'])
        ? [
            `${group(Number(row['left'] ?? 0))} of ${unitsText(row['limit'])} left until ${utc(row['renewsAt'])}`,
          ]
        : [];
      return [
        ...left,
        `${units(row['spent'])} spent`,
        ...some(row['reserved'], 'CU reserved'),
        ...lost(row),
      ].join(', ');
    }
    case 'feed': {
      const leader = row['leader'] ? [`led by ${safeLine(String(row['leader']))}`] : [];
      const lag = known(row['lag']) ? [`verified ${ago(row['lag'])}`] : [];
      return [
        ...leader,
        countText(Number(row['entries'] ?? 0), 'post'),
        ...(known(row['lastPostAgo']) ? [`last ${ago(row['lastPostAgo'])}`] : []),
        ...lag,
        ...(known(row['gaps']) && row['gaps'] > 0 ? [countText(row['gaps'], 'gap')] : []),
      ].join(', ');
    }
    case 'group':
      return [
        countText(Number(row['members'] ?? 0), 'member'),
        ...some(row['pending'], 'not acknowledged'),
        ...some(row['behind'], 'not delivered yet'),
        known(row['lastReadAgo'])
          ? `last delivered post from ${ago(row['lastReadAgo'])}`
          : 'no post delivered yet',
      ].join(', ');
    default:
      return '';
  }
}

const lost = (row: Item) => some(row['lost'], 'CU for lost answers').map((text) => `up to ${text}`);

export const storeView: View<Item> = {
  columns: [
    { title: 'item', kind: 'text', field: 'item', min: 7 },
    { title: 'name', kind: 'text', field: 'name', min: 8 },
    { title: 'state', kind: 'text', field: 'state', min: 8 },
    { title: 'details', kind: 'text', value: detail, wrap: true, min: 24 },
  ],
  fields: fieldPaths(StoreItem),
  empty: 'nothing to show',
};
