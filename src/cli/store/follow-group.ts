import { instantAt } from '../../base/times.ts';
import { countText } from '../../base/units.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { View } from '../../output/view.ts';
import { ignoreUnusable } from '../../store/failures.ts';
import { followGroup, type GroupEvent } from '../../store/feed/group.ts';
import type { GroupPlace } from '../../store/feed/group-batches.ts';
import { PrintWriter } from '../../tail/output/print-writer.ts';
import type { Writer } from '../../tail/ports.ts';
import type { PostFields, TailRow } from '../../tail/post-row.ts';
import type { Context } from '../run/context.ts';
import { storeNow } from '../run/open-store.ts';
import { placeText } from '../tail/notice-text.ts';
import { printing, type RunWriter } from '../tail/output/run-writer.ts';
import type { Feeder } from '../tail/run-feed.ts';
import { type FollowerRun, type StoredPosts, storeFeeder, streamedRow } from './store-feeder.ts';

interface GroupPlan extends StoredPosts {
  readonly group: string;
  readonly shared: boolean;
  readonly view: View<PostFields>;
}

const BATCH = 100;

interface Delivering extends Omit<RunWriter<Writer>, 'writer'> {
  readonly batch: number;
  readonly lingerMs: number;
  deliver(rows: readonly TailRow[], over: AbortSignal): Promise<'done' | 'left' | 'closed'>;
}

async function openPrinting(context: Context, { view }: GroupPlan): Promise<Delivering> {
  const writer = new PrintWriter(await context.out.records(view));
  return {
    ...printing(writer),
    batch: BATCH,
    lingerMs: 0,
    async deliver(rows) {
      if (rows.length > 0 && !(await writer.write(rows))) return 'closed';
      return (await writer.flush()) ? 'done' : 'closed';
    },
  };
}

async function openExec(
  context: Context,
  { view, flags, feedId, group }: GroupPlan,
): Promise<Delivering> {
  const { openCourier } = await import('../tail/exec/open.ts');
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
    batch: courier.batch,
    lingerMs: courier.lingerMs,
    closed: undefined,
    check: courier.check,
    handoff: () => courier.health([]),
    async deliver(rows, over) {
      if (rows.length === 0) return 'done';
      number++;
      const lines = rows.map((row) => ({ id: row.id, at: row.at, line: courier.encode(row) }));
      const stop = AbortSignal.any([context.terminal.signal, over]);
      return (await courier.deliver({ number, rows: lines }, stop)) === 'left' ? 'left' : 'done';
    },
    async close() {
      courier.release();
    },
  };
}

/** Opens a run that reads a feed as a member of a group. Acknowledges each batch after its delivery. */
export async function openMember(context: Context, plan: GroupPlan): Promise<Feeder> {
  const { io } = context.terminal;
  const { settings } = context;
  const { store, flags, feedId, group, shared } = plan;
  const floor =
    flags.since === undefined
      ? Number.NEGATIVE_INFINITY
      : instantAt(flags.since, await storeNow(store, io.clock), settings.utc);
  const delivering = await (flags.exec === undefined ? openPrinting : openExec)(context, plan);
  const name = safeLine(group);
  const { memory } = store;
  const id = `${feedId}/${group}`;
  const member = {
    open: store.link.open,
    feed: store.keys.feed(feedId),
    name: group,
    shared,
    machine: store.machine,
    clock: io.clock,
    batch: delivering.batch,
    lingerMs: delivering.lingerMs,
    start: flags.since === undefined ? '$' : '0',
    memory: {
      read: () => memory.read().groups[id],
      save: (place: GroupPlace) =>
        memory.update({ groups: { ...memory.read().groups, [id]: place } }),
    },
  } as const;

  async function take(event: GroupEvent, run: FollowerRun): Promise<boolean> {
    if (event.kind === 'standby')
      context.terminal.notice(`standing by: another member of group ${name} is active`);
    if (event.kind === 'active')
      context.terminal.notice(
        `reading from the store (${feedId}) as a member of group ${name}: 0 CU`,
      );
    if (event.kind === 'lost') run.lost(event.from, `group ${name}`);
    if (event.kind === 'gap') {
      const what =
        event.missing === null
          ? `the store has lost group ${name}, and posts may be missing`
          : `the store no longer has ${countText(event.missing, 'post')} that group ${name} did not read`;
      run.gap(`${what}, between ${placeText(event.from)} and ${placeText(event.to)}`);
    }
    if (event.kind !== 'batch') return true;
    const wanted = run.wanted(event.rows.map(streamedRow), floor);
    const outcome = await delivering.deliver(wanted, event.over);
    // A batch that was left unacknowledged is given to a member again by the store.
    if (outcome !== 'done') return outcome === 'left';
    // If the batch cannot be acknowledged, the store also gives it to a member again.
    await event.ack().catch(ignoreUnusable);
    // Check --count only after a whole batch, because a batch is acknowledged as a whole.
    run.delivered(wanted);
    return run.left > 0;
  }

  return storeFeeder(context, plan, {
    ...delivering,
    events: ({ until }) => followGroup(member, until),
    take,
  });
}
