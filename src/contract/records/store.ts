import * as z from 'zod/mini';
import { field, loose, optional, string } from '../field.ts';

const figure = (text: string) => loose(z.number(), text);

export const StoreItem = z.looseObject({
  item: field(
    z.enum(['store', 'machine', 'lane', 'budget', 'feed']),
    'What the record describes; a lane is a set of calls that share one rate limit.',
  ),
  name: string('Name of the store, machine, lane, budget or feed.'),
  state: string('State of the store, machine, lane, budget or feed.'),
  measure: optional(
    z.enum(['units', 'reveals']),
    'What the figures of a budget are: CU if absent, or wallet reveals.',
  ),
  spent: figure(
    'CU spent: by the machine this month, from the budget, or by the leader of the feed.',
  ),
  lost: figure('CU that calls with lost answers may have cost.'),
  reserved: figure('CU reserved for calls in flight.'),
  limit: figure(
    'Calls per minute that the lane allows, or the budget in CU; null if there is no limit or it is not known.',
  ),
  left: figure('CU that the budget has left; null without a limit.'),
  renewsAt: figure('When the budget renews, in epoch milliseconds.'),
  sent: figure('Calls in the last minute.'),
  queued: figure('Calls waiting in the queue.'),
  blockedFor: figure('Milliseconds until the lane may send calls again.'),
  lastCallAgo: figure(
    "Milliseconds since the machine's last call; null without a call in the last two minutes.",
  ),
  leader: loose(z.string(), 'Machine that leads the feed; null if no machine does.'),
  entries: figure('Number of posts in the store.'),
  lastPostAgo: figure('Milliseconds since a post was last published to the store.'),
  lag: figure('Milliseconds since the feed was last verified to be complete.'),
  gaps: figure('Number of gaps that the present leader found.'),
});
