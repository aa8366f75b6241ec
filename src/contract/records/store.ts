import * as z from 'zod/mini';
import { field } from '../field.ts';

const figure = (text: string) => z.optional(field(z.nullable(z.number()), text));

/** One line of `trdr store status` and `trdr budget show`. */
export const StoreItem = z.looseObject({
  item: field(z.enum(['store', 'machine', 'lane', 'budget', 'feed', 'group']), 'What the line is about.'),
  name: field(z.string(), 'Its name.'),
  state: field(z.string(), 'How it is doing.'),
  spent: figure('CU spent: by the machine this month, of the budget, or by the leader of the feed.'),
  lost: figure('CU of lost answers, which may have been charged.'),
  reserved: figure('CU held for calls in flight.'),
  limit: figure('Limit of the lane in calls per minute, or of the budget in CU; null: none known.'),
  left: figure('CU of the budget that can still be spent.'),
  renewsAt: figure('When the budget renews, in epoch milliseconds.'),
  sent: figure('Calls of the last minute.'),
  queued: figure('Calls that wait for their turn.'),
  blockedFor: figure('Milliseconds until calls may be sent again.'),
  lastCallAgo: figure('Milliseconds since the last call of the machine.'),
  leader: z.optional(field(z.nullable(z.string()), 'Machine that leads the feed; null: none.')),
  entries: figure('Posts in the store.'),
  lastPostAgo: figure('Milliseconds since the last post was published.'),
  lag: figure('Milliseconds since the feed was last verified to be complete.'),
  gaps: figure('Gaps of the present leader.'),
  members: figure('Members of the group.'),
  pending: figure('Posts that were delivered and not acknowledged.'),
  behind: figure('Posts that were not delivered yet.'),
  lastReadAgo: figure('Age in milliseconds of the last post delivered.'),
});
