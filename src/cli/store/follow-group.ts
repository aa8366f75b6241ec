import { instantAt } from '../../base/time-values.ts';
import { countText, unitsText } from '../../base/units.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { View } from '../../output/view.ts';
import { ignoreUnusable } from '../../store/failures.ts';
import { followGroup } from '../../store/feed/group.ts';
import type { GroupPlace } from '../../store/feed/group-batches.ts';
import type { HandoffHealth } from '../../tail/exec/handoff-meter.ts';
import type { PostFields, TailRow } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import { lockFiles } from '../tail/files.ts';
import { gapFailure } from '../tail/gap-failure.ts';
import { placeText } from '../tail/notice-text.ts';
import { openTailWriter } from '../tail/output/writer.ts';
import type { TailFlags } from '../tail/run.ts';
import { endAfter } from './end-after.ts';
import { type RunStore, storeNow } from './open-store.ts';
import { streamedRow } from './streamed-row.ts';
import { watchFollower } from './watch-follower.ts';

/** The group that a tail joins as a member. */
export interface GroupPlan {
  readonly store: RunStore;
  readonly feedId: string;
  readonly group: string;
  readonly shared: boolean;
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
  readonly filter: (row: TailRow) => boolean;
}

const BATCH = 100;

/** How batches are delivered: to stdout, or to a command. */
interface Delivering {
  readonly batch: number;
  readonly lingerMs: number;
  deliver(rows: readonly TailRow[], over: AbortSignal): Promise<'done' | 'left' | 'closed'>;
  /** Aborted when the reader closes the output; undefined for a command. */
  readonly closed: AbortSignal | undefined;
  end(): Promise<void>;
  check(): void;
  readonly handoff?: () => HandoffHealth;
}

/** Prints batches. A batch counts as delivered when it has left this process. */
async function openPrinting(context: Context, { view }: GroupPlan): Promise<Delivering> {
  const records = await context.records(view);
  const writer = openTailWriter(records, () => {});
  return {
    batch: BATCH,
    lingerMs: 0,
    closed: records.closed,
    check() {},
    async deliver(rows) {
      if (rows.length > 0 && !(await writer.write(rows))) return 'closed';
      return (await writer.flush()) ? 'done' : 'closed';
    },
    async end() {
      if (!records.closed.aborted) await records.end();
    },
  };
}

/** Hands batches over to a command. A batch counts as delivered when the command has acknowledged it. */
async function openExec(context: Context, { view, flags, feedId, group }: GroupPlan): Promise<Delivering> {
  const { BATCH: batch, LINGER_MS, openCourier } = await import('../tail/exec/open.ts');
  const feed = `group ${group} of ${feedId}`;
  const courier = await openCourier(context, {
    view,
    flags,
    feed,
    checkpoint: undefined,
    remembered: true,
  });
  let number = 0;
  return {
    batch: flags.batch ?? batch,
    lingerMs: flags.linger ?? LINGER_MS,
    closed: undefined,
    check: courier.check,
    handoff: () => courier.health([]),
    async deliver(rows, over) {
      if (rows.length === 0) return 'done';
      number++;
      const lines = rows.map((row) => ({ id: row.id, at: row.at, line: courier.encode(row) }));
      const stop = AbortSignal.any([context.signal, over]);
      return (await courier.deliver({ number, rows: lines }, stop)) === 'left' ? 'left' : 'done';
    },
    async end() {
      courier.release();
    },
  };
}

/** Reads a feed as a member of a group. Acknowledges each batch after its delivery. */
export async function followAsMember(context: Context, plan: GroupPlan): Promise<void> {
  const { io, signal, notice, settings } = context;
  const { store, flags, feedId, group, shared } = plan;
  const delivering = await (flags.exec === undefined ? openPrinting : openExec)(context, plan);
  const { closed } = delivering;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, ...(closed ? [closed] : [])]);
  endAfter(io.clock, flags.duration, ended, until);
  until.addEventListener('abort', context.diskWait.close, { once: true });
  const floor =
    flags.since === undefined ? null : instantAt(flags.since, await storeNow(store, io.clock), settings.utc);
  const limit = flags.count ?? Number.POSITIVE_INFINITY;
  let count = 0;
  const gaps: string[] = [];
  /** What may be missing if the run ends after the store has lost the group; undefined if it has not. */
  let loss: string | undefined;
  const name = safeLine(group);
  const memory = groupMemory(context, store, `${feedId}/${group}`);
  const events = followGroup(
    {
      open: store.link.open,
      feed: store.keys.feed(feedId),
      name: group,
      shared,
      machine: store.machine,
      clock: io.clock,
      batch: delivering.batch,
      lingerMs: delivering.lingerMs,
      start: flags.since === undefined ? '$' : '0',
      memory,
    },
    until,
  );
  const { status } = flags;
  const unlock = lockFiles({ out: undefined, checkpoint: undefined, status, state: undefined });
  try {
    const watch = watchFollower(context, { ...plan, handoff: delivering.handoff });
    for await (const event of events) {
      watch.heard(event.kind);
      if (event.kind === 'standby') notice(`standing by: another member of group ${name} is active`);
      if (event.kind === 'active')
        notice(`reading from the store (${feedId}) as a member of group ${name}: 0 CU`);
      if (event.kind === 'away' || event.kind === 'interrupted') notice(event.why);
      if (event.kind === 'back') notice('the store is available again');
      if (event.kind === 'lost') {
        const last = event.from ? ` after ${placeText(event.from)}` : '';
        loss = `posts${last} may be missing: the store has lost group ${name}`;
        notice(`${loss}; waiting for the next post`);
      }
      if (event.kind === 'found') notice('the store has the feed again, and no post is missing');
      if (event.kind === 'gap') {
        const what =
          event.missing === null
            ? `the store has lost group ${name}, and posts may be missing`
            : `the store no longer has ${countText(event.missing, 'post')} that group ${name} did not read`;
        gaps.push(`${what}, between ${placeText(event.from)} and ${placeText(event.to)}`);
        notice(`GAP: ${gaps.at(-1)}`);
      }
      if (event.kind === 'gap' || event.kind === 'found') loss = undefined;
      if (event.kind !== 'batch') continue;
      const wanted = event.rows
        .map(streamedRow)
        .filter((row) => (floor === null || row.at === null || row.at >= floor) && plan.filter(row));
      const outcome = await delivering.deliver(wanted, event.over);
      if (outcome === 'closed') break;
      // Leave this batch unacknowledged, so that the store gives it to a member again.
      if (outcome === 'left') continue;
      // If the batch cannot be acknowledged, the store also gives it to a member again.
      await event.ack().catch(ignoreUnusable);
      count += wanted.length;
      watch.delivered(wanted);
      // Check --count only after a whole batch, because a batch is acknowledged as a whole.
      if (count >= limit) break;
    }
  } finally {
    ended.abort();
    await delivering.end();
    memory.end();
    unlock();
  }
  if (loss !== undefined) gaps.push(loss);
  notice(
    `stopped: ${countText(count, 'post')}, ${gaps.length === 0 ? 'no gaps' : countText(gaps.length, 'gap')}, ${unitsText(context.spent)}`,
  );
  signal.throwIfAborted();
  const [gap] = gaps;
  if (gap !== undefined && closed?.aborted !== true) throw gapFailure(gap);
  delivering.check();
}

/** How often the position of a group is saved at most. */
const SAVE_MS = 1_000;

/** What this machine remembers of the position of a group. */
function groupMemory({ io: { clock } }: Context, { memory }: RunStore, name: string) {
  let unsaved: GroupPlace | undefined;
  let savedAt = Number.NEGATIVE_INFINITY;
  const end = () => {
    if (unsaved) memory.update({ groups: { ...memory.read().groups, [name]: unsaved } });
    [unsaved, savedAt] = [undefined, clock.mono()];
  };
  return {
    read: () => memory.read().groups[name],
    save(place: GroupPlace) {
      unsaved = place;
      if (clock.mono() - savedAt >= SAVE_MS) end();
    },
    end,
  };
}
