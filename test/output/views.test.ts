import { expect, test } from 'vitest';
import type { View } from '../../src/output/view.ts';
import { boardView, calloutView, liveCalloutView } from '../../src/output/views/launchpad.ts';
import { meView } from '../../src/output/views/me.ts';
import { pnlView } from '../../src/output/views/pnl.ts';
import { planTableView, planView, priceView } from '../../src/output/views/price.ts';
import { checkView, profileView, settingView } from '../../src/output/views/settings.ts';
import { storeView } from '../../src/output/views/store.ts';
import { storeMetricsText } from '../../src/output/views/store-metrics.ts';
import { launchpadUserView, resolveView, whoisView } from '../../src/output/views/subject.ts';
import { liveThesisView, thesisView } from '../../src/output/views/thesis.ts';
import { cacheView, reconcileView, usageView } from '../../src/output/views/usage.ts';

const details = storeView.columns.find(({ title }) => title === 'details');
const detailsOf = (row: Readonly<Record<string, string | number | null>>) =>
  details?.value?.({ item: '', name: 'x', state: 'idle', ...row });

test('a machine without a recent call is not described as one that never called', () => {
  expect(detailsOf({ item: 'machine', lastCallAgo: null, spent: 30_000, lost: 0 })).toBe(
    'no recent call, 30,000 CU this month',
  );
  expect(detailsOf({ item: 'machine', lastCallAgo: 5_000, spent: 0, lost: 200 })).toBe(
    'last call 5s ago, 0 CU this month, up to 200 CU for lost answers',
  );
});

test('counts and nouns of lanes and feeds agree', () => {
  expect(detailsOf({ item: 'lane', sent: 1, limit: null, queued: 0 })).toBe(
    '1 call in the last minute',
  );
  expect(detailsOf({ item: 'lane', sent: 1, limit: 600, queued: 2 })).toBe(
    '1 of 600 calls in the last minute, 2 queued',
  );
  expect(detailsOf({ item: 'feed', leader: null, entries: 1, gaps: 1, lag: null })).toBe(
    '1 post, 1 gap',
  );
});
test('metrics of the store state times in seconds', () => {
  const text = storeMetricsText([
    { item: 'feed', name: 'thesis', state: 'led', leader: 'desk', lag: 1_500, entries: 2 },
  ]);
  expect(text).toContain('trdr_store_feed_lag_seconds{feed="thesis"} 1.5\n');
  expect(text).toContain('trdr_store_feed_posts{feed="thesis"} 2\n');
});

const views: readonly View<never>[] = [
  ...[
    boardView(true, true),
    calloutView,
    checkView,
    launchpadUserView,
    liveCalloutView,
    liveThesisView,
  ],
  ...[
    meView(null),
    planTableView,
    planView,
    pnlView(['7d']),
    priceView,
    profileView(true),
    reconcileView,
  ],
  ...[cacheView, resolveView, settingView(true, String), storeView, thesisView, whoisView],
  usageView('day', { lost: true, unpriced: true }),
];

test('columns and cards show fields that the records have', () => {
  for (const { columns, card, fields } of views) {
    const shown = [...columns, ...(card?.lines ?? [])].filter(({ value }) => value === undefined);
    expect(fields).toEqual(expect.arrayContaining(shown.map(({ field }) => field)));
  }
});
