import { safeLine } from '../../output/terminal/safe-text.ts';
import type { View } from '../../output/view.ts';
import { unusable } from '../../store/failures.ts';
import { followGroup } from '../../store/feed/group.ts';
import type { PostFields, TailRow } from '../../tail/row.ts';
import { instantAt } from '../args/values.ts';
import type { Context } from '../context.ts';
import type { TailFlags } from '../tail/run.ts';
import { openTailWriter } from '../tail/writer.ts';
import type { RunStore } from './open-store.ts';
import { streamedRow } from './streamed-row.ts';

/** The group that a tail joins as a member. */
export interface GroupPlan {
  readonly store: RunStore;
  readonly feedId: string;
  readonly group: string;
  readonly shared: boolean;
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
  readonly sieve: (row: TailRow) => boolean;
}

const BATCH = 100;

/** Reads a feed as a member of a group. A batch is acknowledged after its rows have left this process. */
export async function followAsMember(context: Context, plan: GroupPlan): Promise<void> {
  const { io, signal, notice, settings } = context;
  const { store, flags, feedId, group, shared } = plan;
  const records = await context.records(plan.view);
  const writer = openTailWriter(records, () => {});
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, records.closed]);
  if (flags.duration !== undefined) {
    void io.clock.sleep(flags.duration, until).then(
      () => ended.abort(),
      () => {},
    );
  }
  const floor = flags.since === undefined ? null : instantAt(flags.since, io.clock.now(), settings.utc);
  const limit = flags.count ?? Number.POSITIVE_INFINITY;
  let count = 0;
  const name = safeLine(group);
  const events = followGroup(
    {
      ...{ open: store.link.open, feed: store.keys.feed(feedId), name: group, shared },
      ...{ machine: store.machine, clock: io.clock, batch: BATCH, lingerMs: 0 },
      start: flags.since === undefined ? '$' : '0',
    },
    until,
  );
  try {
    for await (const event of events) {
      if (event.kind === 'standby') notice(`standing by: another member of group ${name} is active`);
      if (event.kind === 'active')
        notice(`reading from the store (${feedId}) as a member of group ${name}: 0 CU`);
      if (event.kind === 'away') notice(`${event.why}; waiting for it`);
      if (event.kind === 'back') notice('the store is back');
      if (event.kind === 'gap')
        notice(`GAP: the store no longer has ${event.missing} posts that group ${name} did not read`);
      if (event.kind !== 'batch') continue;
      const wanted = event.rows
        .map(streamedRow)
        .filter((row) => (floor === null || row.at === null || row.at >= floor) && plan.sieve(row));
      if (wanted.length > 0 && !(await writer.write(wanted))) break;
      if (!(await writer.flush())) break;
      // A batch that cannot be acknowledged is delivered again, to this member or another.
      await event.ack().catch(ignoreAway);
      count += wanted.length;
      // A batch is acknowledged as a whole, so it is printed as a whole.
      if (count >= limit) break;
    }
  } finally {
    ended.abort();
    if (!records.closed.aborted) await records.end();
  }
  notice(`stopped: ${count} rows, 0 CU`);
  signal.throwIfAborted();
}

function ignoreAway(error: unknown): void {
  if (!unusable(error)) throw error;
}
