import { describe, expect, it } from 'vitest';
import {
  Board,
  type BoardEntry,
  type Callout,
  CalloutPage,
  LaunchpadUser,
} from '../../src/contract/records/launchpad.ts';
import { ask, first, NOON, sandbox, statusAndCode } from './help.ts';

const feed = '/v2/launchpad/thesis';
const board = '/v2/launchpad/leaderboard/traders';
const DAY = 86_400_000;

describe('the launchpad', () => {
  it('returns the account of a wallet, or 404', async () => {
    const service = await sandbox();
    const { wallet } = first((await ask(service, board)).body.entries as BoardEntry[]);
    const { status, body } = await ask(service, `/v2/launchpad/user/wallet/${wallet}`);
    expect([status, body.wallet]).toEqual([200, wallet]);
    expect(() => LaunchpadUser.parse(body)).not.toThrow();
    expect(await statusAndCode(service, '/v2/launchpad/user/wallet/nobody')).toBe(
      '404 NOT_OBSERVED',
    );
  });

  it('returns 25 callouts per page, newest first, up to the end', async () => {
    const service = await sandbox({ ratePerMinute: 10_000 });
    const rows: Callout[] = [];
    for (let before = ''; ; ) {
      const { body } = await ask(service, feed + before);
      expect(() => CalloutPage.parse(body)).not.toThrow();
      expect(Object.keys(body).sort()).toEqual(['count', 'hasMore', 'items', 'nextBefore']);
      expect(body.count).toBe(body.items.length);
      rows.push(...body.items);
      if (!body.hasMore) {
        expect(body.nextBefore).toBeNull();
        break;
      }
      expect([body.count, body.nextBefore]).toEqual([25, body.items[24].id]);
      before = `?before=${body.nextBefore}`;
    }
    expect(rows.length).toBeGreaterThan(100);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const times = rows.map(({ createdAt }) => createdAt).filter((time) => time !== null);
    expect(times).toEqual([...times].sort((one, other) => other - one));
  });

  it('filters callouts by coin and by wallet', async () => {
    const service = await sandbox();
    const { coinMint, wallet } = first((await ask(service, feed)).body.items as Callout[]);
    const ofCoin = (await ask(service, `${feed}/token/${coinMint}`)).body.items as Callout[];
    const byWallet = (await ask(service, `${feed}/wallet/${wallet}`)).body.items as Callout[];
    expect(new Set(ofCoin.map((item) => item.coinMint))).toEqual(new Set([coinMint]));
    expect(new Set(byWallet.map((item) => item.wallet))).toEqual(new Set([wallet]));
    expect((await ask(service, `${feed}/token/nothing`)).body).toEqual({
      count: 0,
      hasMore: false,
      nextBefore: null,
      items: [],
    });
  });

  it('rejects an unknown "before" cursor with 400 on all three feeds', async () => {
    const service = await sandbox();
    for (const path of [feed, `${feed}/token/x`, `${feed}/wallet/x`]) {
      expect(await statusAndCode(service, `${path}?before=nothing`)).toBe('400 VALIDATION_ERROR');
    }
    const { id } = first((await ask(service, feed)).body.items as Callout[]);
    expect(await statusAndCode(service, `${feed}/wallet/x?before=${id}`)).toBe(
      '400 VALIDATION_ERROR',
    );
  });

  it('shows a new callout first', async () => {
    const service = await sandbox();
    await service.advance(1_000);
    const id = service.postCallout()?.id;
    expect(first((await ask(service, feed)).body.items as Callout[]).id).toBe(id);
  });
});

describe('the leaderboard', () => {
  it('returns the top 100 in order, weekly by default', async () => {
    const service = await sandbox({ traders: 500 });
    const { body } = await ask(service, board);
    expect(() => Board.parse(body)).not.toThrow();
    expect([body.period, body.count]).toEqual(['weekly', body.entries.length]);
    expect(body.count).toBeLessThanOrEqual(100);
    expect(body.capturedAt).toBeLessThanOrEqual(NOON);
    const sums = body.entries
      .map((entry: BoardEntry) => entry.pnlUsd)
      .filter((sum: unknown) => sum !== null);
    expect(sums).toEqual([...sums].sort((one, other) => other - one));
  });

  it.each(['daily', 'weekly', 'monthly'])('accepts the period %s', async (period) => {
    expect((await ask(await sandbox(), `${board}?period=${period}`)).body.period).toBe(period);
  });

  it('returns the latest snapshot at or before a time, in epoch ms or ISO', async () => {
    const service = await sandbox();
    const latest = (await ask(service, board)).body;
    const at = latest.capturedAt;
    expect((await ask(service, `${board}?at=${at}`)).body).toEqual(latest);
    expect((await ask(service, `${board}?at=${new Date(at).toISOString()}`)).body).toEqual(latest);
    const earlier = (await ask(service, `${board}?at=${at - 1}`)).body;
    expect(earlier.capturedAt).toBeLessThan(at);
    const old = (await ask(service, `${board}?at=${NOON - 40 * DAY}`)).body;
    expect(old.capturedAt === null || old.capturedAt <= NOON - 40 * DAY).toBe(true);
  });
});
