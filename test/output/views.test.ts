import { expect, test } from 'vitest';
import { createTable } from '../../src/output/format/table.ts';
import type { Column, View } from '../../src/output/view.ts';
import {
  boardView,
  calloutView,
  liveCalloutView,
  traderHistoryView,
} from '../../src/output/views/launchpad.ts';
import { meView } from '../../src/output/views/me.ts';
import { pnlView } from '../../src/output/views/pnl.ts';
import { planTableView, planView, priceView } from '../../src/output/views/price.ts';
import { checkView, profileView, settingView } from '../../src/output/views/settings.ts';
import { storeView } from '../../src/output/views/store.ts';
import { storeMetricsText } from '../../src/output/views/store-metrics.ts';
import { launchpadUserView, resolveView, whoisView } from '../../src/output/views/subject.ts';
import {
  confluenceView,
  fateOf,
  liveThesisView,
  refreshedView,
  thesisView,
} from '../../src/output/views/thesis.ts';
import { cacheView, reconcileView, usageView } from '../../src/output/views/usage.ts';

const details = storeView.columns.find(({ title }) => title === 'details');
const detailsOf = (row: Readonly<Record<string, string | number | null>>) =>
  details?.value?.({ item: '', name: 'x', state: 'idle', ...row });

test.each([thesisView, liveThesisView])('theses of 80 columns name author and token', (view) => {
  const post = { authorHandle: 'oraclediamond15', tokenSymbol: 'BREADDOG2', pnl: -2_661.71 };
  const figures = { authorTradeUsd: 2_136.51, holdingsUsd: 2_442.24, likeCount: 4, closedAt: null };
  const texts = { tokenNetwork: 'sol', thesis: 'Small bag of $BREADDOG2. '.repeat(9) };
  const rows = [{ ...post, ...figures, ...texts, platformCreatedAt: Date.UTC(2026, 10, 28) }];
  const style = (_: unknown, text: string) => text;
  const context = { utc: true, unicode: true, now: Date.now };
  for (const isLive of [false, true]) {
    const table = createTable(view.columns, rows, { width: 80, style, context }, isLive);
    expect(table.draw(rows, true)).toMatch(/@oraclediamond15 +\$BREADDOG2 /);
  }
});

test.each([
  [null, 'open', 'still open'],
  [1_795_910_000_000, 'closed', 'closed since'],
  ['2026-11-28T23:53:20Z', 'closed', 'closed since'],
  ['', undefined, 'unknown'],
  [false, undefined, 'unknown'],
  [undefined, undefined, 'unknown'],
])('a position is as author and --open read closedAt: %s', (closedAt, position, fate) => {
  const shown = thesisView.columns.find(({ title }) => title === 'position');
  expect(shown?.value?.({ closedAt })).toBe(position);
  expect(fateOf({ closedAt: null }, { closedAt, gone: false })).toBe(fate);
});

test.each([
  [{ closedAt: 5_000 }, 'closed before'],
  [{ closedAt: '' }, 'closed since'],
  [{ platformCreatedAt: 4_000 }, 'closed since'],
  [{ platformCreatedAt: 4_000, updatedAt: 5_000 }, 'closed before'],
])('what was not recorded as open was closed since if it was written before: %j', (post, fate) => {
  expect(fateOf(post, { closedAt: 5_000, gone: false })).toBe(fate);
});

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

test('a leaderboard of 100 columns shows the traders that were asked for', () => {
  const row = { username: 'oraclediamond15', wallet: '1'.repeat(44), trader: 'quantum-pilot12' };
  const figures = { pnlUsd: 197_377, pnlPercent: 88.6, realizedPnlUsd: 1e5, pnlSol: 1_233.61 };
  const board = [{ ...row, ...figures, rank: 1, unrealizedPnlUsd: 77_807, isVerified: true }];
  const style = (_: unknown, text: string) => text;
  const context = { utc: true, unicode: true, now: Date.now };
  for (const width of [80, 100]) {
    const table = createTable(boardView(true, true).columns, board, { width, style, context });
    expect(table.draw(board, true)).toContain('@quantum-pilot12');
  }
});

test('metrics of the store state times in seconds', () => {
  const text = storeMetricsText([
    { item: 'feed', name: 'thesis', state: 'led', leader: 'desk', lag: 1_500, entries: 2 },
  ]);
  expect(text).toContain('trdr_store_feed_lag_seconds{feed="thesis"} 1.5\n');
  expect(text).toContain('trdr_store_feed_posts{feed="thesis"} 2\n');
});

const views: readonly View<never>[] = [
  ...[boardView(true, true), calloutView, checkView, launchpadUserView, liveCalloutView],
  ...[meView(null, null), planTableView(true), planView, pnlView(['7d']), priceView],
  ...[profileView(true), reconcileView, liveThesisView],
  ...[cacheView, resolveView, settingView(true, String), storeView, thesisView, whoisView],
  usageView('day', { lost: true, unpriced: true, reveals: true }),
];

test('columns and cards show fields that the records have', () => {
  for (const { columns, card, fields } of views) {
    const shown = [...columns, ...(card?.lines ?? [])].filter(({ value }) => value === undefined);
    expect(fields()).toEqual(expect.arrayContaining(shown.map(({ field }) => field)));
  }
});

const address = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';

test.each([
  [thesisView, 'token', { tokenSymbol: '', tokenAddress: address }, { tokenSymbol: 'KOALA' }],
  [liveThesisView, 'token', { tokenAddress: address }, { tokenSymbol: 'KOALA' }],
  [refreshedView(() => undefined), 'token', { tokenAddress: address }, { tokenSymbol: 'KOALA' }],
  [confluenceView, 'token', { tokenAddress: address }, { tokenSymbol: 'KOALA' }],
  [calloutView, 'coin', { coinMint: address }, { coinName: 'koala' }],
  [liveCalloutView, 'by', { userName: null, wallet: address }, { userName: 'mira' }],
  [traderHistoryView, 'user', { username: null, wallet: address }, { username: 'mira' }],
])('an address in place of a name makes no column wide (%#)', (view, title, one, other) => {
  const columns = view.columns.filter((column) => column.title === title) as Column<unknown>[];
  const drawn = (isWide: boolean) => {
    const options = { width: 300, wide: isWide, style: (_: unknown, text: string) => text };
    const context = { utc: true, unicode: true, now: Date.now };
    return createTable(columns, [one, other], { ...options, context }).draw([one, other], false);
  };
  expect(drawn(false).split('\n')[0]?.trim()).toBe('7xKX…gAsU');
  expect(drawn(true)).toContain(address);
});
