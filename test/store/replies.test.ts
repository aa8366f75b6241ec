import { expect, it } from 'vitest';
import { readLead } from '../../src/store/feed/lease.ts';
import { readClaim } from '../../src/store/scripts/answers.ts';
import { readBegun } from '../../src/store/scripts/begin-reply.ts';
import { readList, readPublished } from '../../src/store/scripts/feed.ts';
import { readSlot } from '../../src/store/scripts/lanes.ts';

it.each([
  [['ok', ''], { is: 'reserved', dayStart: undefined, limits: {} }],
  [
    ['ok', '0', 'month', '500', 'day@desk', '70'],
    { is: 'reserved', dayStart: 0, limits: { month: 500, 'day@desk': 70 } },
  ],
  [['held'], { is: 'held' }],
  [['over'], { is: 'ended' }],
  [['reseed'], { is: 'restarted' }],
  [['refresh', 300], { is: 'old', reserved: 300 }],
  [['gone', 'day', 'month'], { is: 'gone', budgets: ['day', 'month'] }],
  [['unpriced', 'day', '500'], { is: 'refused', name: 'day', limit: 500, used: 0, reserved: 0 }],
  [
    ['refused', 'day', '500', 450, 100],
    { is: 'refused', name: 'day', limit: 500, used: 450, reserved: 100 },
  ],
])('reads the answer to a reservation: %j', (reply, begun) => {
  expect(readBegun(reply)).toEqual(begun);
});

it('takes no unknown answer for a reservation', () => {
  expect(() => readBegun([])).toThrow();
});

it.each([
  [['lead'], { is: 'ours' }],
  [undefined, { is: 'ours' }],
  [['wait'], { is: 'claimed' }],
  [['failed', '{}'], { is: 'failed', failure: '{}' }],
  [
    ['hit', '200', '17', '{}', 'ab', -5],
    { is: 'answered', answer: { status: '200', time: '17', record: '{}', seal: 'ab' }, ageMs: 0 },
  ],
])('reads the answer to a claim: %j', (reply, claim) => {
  expect(readClaim(reply)).toEqual(claim);
});

it.each([
  [[0, 0, 3, 0], { waitMs: 0, statedLimit: null, fleet: 3, isQueued: false }],
  [['1500.2', '60', 0, 1], { waitMs: 1_501, statedLimit: 60, fleet: 1, isQueued: true }],
])('reads a slot of a lane: %j', (reply, slot) => {
  expect(readSlot(reply)).toEqual(slot);
});

it('reads what was published, listed and led', () => {
  expect(readPublished(['ok', '1-0', 'a'])).toEqual({ entry: '1-0', last: 'a' });
  expect(readPublished(['fenced'])).toBeUndefined();
  expect(readList(['1-0', '2-0', 'b', '', '1-0', 'a', '17', 'cut'])).toEqual({
    oldest: '1-0',
    posts: [
      { entry: '2-0', id: 'b', time: '' },
      { entry: '1-0', id: 'a', time: '17' },
    ],
  });
  expect(readLead(['5:x'], 10)).toEqual({ token: '5:x' });
  expect([readLead(['', 7], 10), readLead(undefined, 10)]).toEqual([{ leftMs: 7 }, { leftMs: 10 }]);
});
