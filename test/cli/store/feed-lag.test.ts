import { describe, expect, it } from 'vitest';
import { feedLagFailure } from '../../../src/cli/store/feed-lag.ts';

const feed = (leader: string | null, lag: number | null) =>
  ({ item: 'feed', name: 'thesis', state: 'poll', leader, lag }) as const;

describe('the failure of a feed that lags', () => {
  it.each([
    ['has no leader', feed(null, null), 'feed thesis: no leader', /start a relay/],
    ['was never verified', feed('desk', null), 'thesis: not verified yet', /stderr of the relay/],
    [
      'was verified too long ago',
      feed('desk', 60_001),
      /last verified longer ago than/,
      /stderr of the relay/,
    ],
  ])('names the cause if a feed %s', (_, item, message, hint) => {
    const failure = feedLagFailure([feed('desk', 60_000), item], 60_000);
    expect(failure?.message).toMatch(message);
    expect(failure?.hint).toMatch(hint);
  });

  it('is absent if all feeds were verified recently', () => {
    const items = [feed('desk', 60_000), { item: 'lane', name: 'key', state: 'free' } as const];
    expect(feedLagFailure(items, 60_000)).toBeUndefined();
  });
});
