import { countText, group, unitsText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { span } from '../format/time.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { View } from '../view.ts';

interface Item {
  readonly item: string;
  readonly name: string;
  readonly state: string;
  readonly [figure: string]: string | number | null | undefined;
}

const isNumber = (value: Item[string]): value is number => typeof value === 'number';
const count = (value: Item[string], one: string) => countText(Number(value ?? 0), one);
const cu = (value: Item[string]) => unitsText(Number(value ?? 0));
const unitOf = ({ measure }: Item) => (measure === 'reveals' ? 'wallet reveals' : 'CU');
const amount = (row: Item, field: string) =>
  row['measure'] === 'reveals' ? count(row[field], 'wallet reveal') : cu(row[field]);
const ago = (value: Item[string], before: string) =>
  isNumber(value) && `${before} ${span(value)} ago`;
const some = (value: Item[string], what: string, before = '') =>
  isNumber(value) && value > 0 && `${before}${group(value)} ${what}`;

/** Whatever the time zone of the table, because budgets renew at UTC midnight. */
const utc = (value: Item[string]) =>
  isNumber(value)
    ? `${new Date(value).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : 'it renews';

const lost = (row: Item) => some(row['lost'], 'CU for lost answers', 'up to ');

const details: Readonly<Record<string, (row: Item) => readonly (string | false)[]>> = {
  machine: (row) => [
    // The store forgets the time of a call after two minutes.
    ago(row['lastCallAgo'], 'last call') || 'no recent call',
    `${cu(row['spent'])} this month`,
    lost(row),
  ],
  lane: ({ sent, limit, queued }) => [
    `${isNumber(limit) ? `${group(Number(sent ?? 0))} of ${count(limit, 'call')}` : count(sent, 'call')} in the last minute`,
    some(queued, 'queued'),
  ],
  budget: (row) => [
    isNumber(row['limit']) &&
      `${group(Number(row['left'] ?? 0))} of ${amount(row, 'limit')} left until ${utc(row['renewsAt'])}`,
    `${amount(row, 'spent')} spent`,
    some(row['reserved'], `${unitOf(row)} reserved`),
    some(row['lost'], `${unitOf(row)} for lost answers`, 'up to '),
  ],
  feed: (row) => [
    !!row['leader'] && `led by ${safeLine(String(row['leader']))}`,
    count(row['entries'], 'post'),
    ago(row['lastPostAgo'], 'last'),
    ago(row['lag'], 'verified'),
    isNumber(row['gaps']) && row['gaps'] > 0 && count(row['gaps'], 'gap'),
  ],
};

const detail = (row: Item) => (details[row.item]?.(row) ?? []).filter(Boolean).join(', ');

export const storeView: View<Item> = {
  columns: [
    { title: 'item', kind: 'text', field: 'item', min: 7 },
    { title: 'name', kind: 'text', field: 'name', min: 8 },
    { title: 'state', kind: 'text', field: 'state', min: 8 },
    { title: 'details', kind: 'text', value: detail, wrap: true, min: 24 },
  ],
  fields: () => fieldPaths(StoreItem),
  empty: 'nothing to show',
};
