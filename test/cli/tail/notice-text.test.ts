import { describe, expect, test } from 'vitest';
import { createNoticeLines, statusText } from '../../../src/cli/tail/notice-text.ts';
import { createNoticeLimit } from '../../../src/output/notice-limit.ts';
import { nothingMeasured } from '../../../src/tail/health.ts';
import type { Summary, TailNotice, TailStatus } from '../../../src/tail/notice.ts';

const tailText = (notice: TailNotice) => createNoticeLines(() => 0)(notice)[0];

const summary: Summary = {
  ...{
    reason: 'duration',
    rows: 1_287,
    filled: 0,
    printed: null,
    held: 0,
    late: 0,
    nameless: 0,
    gaps: [],
    connections: 1,
    pages: 3,
  },
  ...{ spent: { cu: 100_000, atMost: 107_600 }, durationMs: 283_000 },
  earlier: 0,
  verified: Date.UTC(2026, 10, 21, 21, 14, 34),
  readAt: Date.UTC(2026, 10, 21, 21, 16, 30),
  isUnseen: false,
};
const end = (given: Partial<Summary> = {}) =>
  tailText({ kind: 'end', summary: { ...summary, ...given } });

describe('the last line of a tail', () => {
  test('states duration, posts, gaps, reconnects, cost, and up to when the feed is complete', () => {
    expect(end()).toBe(
      'stopped after 4m43s: 1,287 posts, no gaps, 0 reconnects, 107,600 CU at most; complete up to 2026-11-21T21:14:34Z',
    );
  });

  test('says when a feed without posts was last read', () => {
    const empty = { rows: 0, verified: null, isUnseen: true };
    expect(end(empty)).toMatch(/; no posts yet, last read at 2026-11-21T21:16:30Z$/);
    expect(end({ ...empty, verified: 1 })).toMatch(/; no posts yet, last read at /);
    expect(end({ ...empty, readAt: null })).toMatch(/; nothing verified$/);
  });
});

test('the status line states what the end line will, without the minute that is only reserved', () => {
  const status: TailStatus = {
    ...{ ...nothingMeasured, ...summary, gaps: 0 },
    ...{ spent: { cu: 20_600, atMost: 40_600, minutes: 20_000, openMinutes: 20_000 } },
    ...{ turns: 1, neededCeiling: null },
  };
  expect(statusText(status)).toMatch(/^20,600 CU · /);
  expect(end({ spent: { cu: 20_600, atMost: 20_600 } })).toContain(', 20,600 CU;');
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
    expect(shown.slice(0, 6)).toEqual([
      ...Array<string>(5).fill('odd'),
      'odd (and 59 more like this)',
    ]);
    expect(shown.at(-1)).toBe('odd (and 3599 more like this)');
  });

  test('that were suppressed are counted at the end', () => {
    const limit = createNoticeLimit(() => 0, new Set(['frame']), 2);
    const shown = Array.from({ length: 9 }, (_, i) => limit.show('frame', `frame ${i}`));
    expect(shown.filter((text) => text !== undefined)).toEqual(['frame 0', 'frame 1']);
    expect([limit.rest(), limit.rest()]).toEqual([['frame 8 (and 6 more like this)'], []]);
  });
});
