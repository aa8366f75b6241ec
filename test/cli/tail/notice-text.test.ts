import { describe, expect, test } from 'vitest';
import { createNoticeLimit } from '../../../src/cli/output/notice-limit.ts';
import { createNoticeLines, gapText, placeText, tailText } from '../../../src/cli/tail/notice-text.ts';
import type { Gap, Summary } from '../../../src/tail/notice.ts';

const summary: Summary = {
  ...{ reason: 'duration', rows: 1_287, filled: 0, late: 0, nameless: 0, gaps: [], connections: 1, pages: 3 },
  ...{ spent: { cu: 100_000, atMost: 107_600 }, durationMs: 283_000 },
  earlier: 0,
  verified: Date.UTC(2026, 10, 21, 21, 14, 34),
};
const end = (given: Partial<Summary> = {}) => tailText({ kind: 'end', summary: { ...summary, ...given } });

describe('the last line of a tail', () => {
  test('states duration, posts, gaps, reconnects, cost, and up to when the feed is complete', () => {
    expect(end()).toBe(
      'stopped after 4m43s: 1,287 posts, no gaps, 0 reconnects, 107,600 CU at most; complete up to 2026-11-21T21:14:34Z',
    );
  });

  test('counts unusual events, and states if nothing was verified', () => {
    const text = end({ rows: 1, durationMs: 90_000_000, nameless: 2, late: 3, filled: 4, verified: null });
    expect(text).toMatch(
      /^stopped after 1d1h: 1 post, .*4 found by polling, 3 came late, 2 skipped without an id; nothing verified$/,
    );
    expect(end({ durationMs: 400 })).toContain('after 0s:');
  });
});

test('a longer polling interval is described as sufficient only if the budget lasts with it', () => {
  const told = (everyMs: number) =>
    tailText({ kind: 'stretched', perMinute: 600, stretched: { everyMs, until: Date.UTC(2026, 10, 23) } });
  expect(told(46_000)).toBe(
    'polling every 46s so that the budget lasts until 2026-11-23 00:00 UTC (600 CU/min)',
  );
  expect(told(3_600_000)).toBe(
    'polling every 1h, the longest interval, although the budget may not last until 2026-11-23 00:00 UTC (600 CU/min)',
  );
});

describe('posts that were not read', () => {
  const gap: Gap = { why: 'WALK_STUCK', from: null, to: 0, open: false };

  test('are a gap with its bounds, whatever their times are', () => {
    expect(gapText(gap)).toBe(
      'posts may be missing between the start of the feed and 1970-01-01T00:00:00.000Z',
    );
    expect(gapText({ ...gap, from: 1e300 })).toContain('between 1e+300 and');
    expect(gapText({ ...gap, to: null })).toMatch(/ and the end of this run$/);
  });

  test('are not called a gap if the next run reads them', () => {
    const why = { failure: 'the service\u001b[2J failed' };
    const text = tailText({ kind: 'gap', ...gap, why, from: 0, to: null, open: true });
    expect(text).toMatch(
      /^posts since 1970-01-01T00:00:00.000Z were not all read: .*; the next run reads them$/,
    );
    expect(text).not.toContain('\u001b');
    expect(tailText({ kind: 'gap', ...gap })).toMatch(/^GAP: posts may be missing /);
  });

  test('begin after a post whose unknown id is omitted', () =>
    expect(placeText({ id: '', at: 0 })).toBe('1970-01-01T00:00:00.000Z'));
});

describe('repeated notices', () => {
  test('are limited and counted, and appear at least once an hour', () => {
    let now = 0;
    const limit = createNoticeLimit(() => now, new Set(['frame']));
    const shown: string[] = [];
    for (; now < 86_400_000; now += 1_000) {
      const text = limit.show('frame', 'odd');
      if (text !== undefined) shown.push(text);
    }
    expect(shown.length).toBeLessThan(40);
    expect(shown.slice(0, 6)).toEqual([...Array<string>(5).fill('odd'), 'odd (and 59 more like this)']);
    expect(shown.at(-1)).toBe('odd (and 3599 more like this)');
  });

  test('that were suppressed are counted at the end', () => {
    const limit = createNoticeLimit(() => 0, new Set(['frame']), 2);
    const shown = Array.from({ length: 9 }, (_, i) => limit.show('frame', `frame ${i}`));
    expect(shown.filter((text) => text !== undefined)).toEqual(['frame 0', 'frame 1']);
    expect([limit.rest(), limit.rest()]).toEqual([['frame 8 (and 6 more like this)'], []]);
  });

  test('are summarized at the end of a tail', () => {
    const lines = createNoticeLines(() => 0);
    for (let i = 0; i < 7; i++) lines({ kind: 'frame', text: `odd ${i}` });
    expect(lines({ kind: 'end', summary })[0]).toContain('odd 6');
  });

  test('of other kinds are all shown', () => {
    const limit = createNoticeLimit(() => 0, new Set<'gap' | 'frame'>(['frame']));
    for (let i = 0; i < 20; i++) expect(limit.show('gap', `gap ${i}`)).toBe(`gap ${i}`);
  });
});

test('a connection that was never open is not reported as lost', () => {
  const down = { kind: 'down', text: 'connection reset', waitMs: 2_000 } as const;
  expect(tailText({ ...down, why: 'refused' })).toBe('cannot connect (connection reset); retrying in 2s');
  expect(tailText({ ...down, why: 'reset', text: '1006', waitMs: 0 })).toBe(
    'connection lost (reset: 1006); reconnecting',
  );
});
